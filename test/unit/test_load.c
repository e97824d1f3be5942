/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The measure of load, and the patience that uses it. The clock stands still unless a test moves it,
 * so the tests know when figures are taken and when threads cease to count. */

#include "unit.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic(uint64_t) test_now = 1000000000;
static _Atomic(long) test_reads;

static uint64_t test_clock(void)
{
    test_reads++;
    return test_now;
}

#define TSM_NOW_NS() test_clock()

#include "tsm_load.c"

#include "tsm_patience.h"
#include "tsm_wait.h"

static cpu_set_t everything;
static int cpus[2];                     /* two processors, if there are as many */
static int cpu_count;

/* Move the clock by this many milliseconds and take the figures again. */
static void later(int ms)
{
    test_now += (uint64_t) ms * 1000000u;
    for (int i = 0; i < TOUCHES; i++)
        tsm_load_touch();
}

/* Until each mask has been read again. */
static void later_all_masks(void)
{
    for (int i = 0; i <= 2 * (record_count / MASKS + 2); i++)
        later(1);
}

static void bind(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void unbind(void)
{
    assert_int_equal(sched_setaffinity(0, sizeof(everything), &everything), 0);
}

/* A thread that does one step at a time, as the test sets. */
enum { TOUCH, BIND_0, BIND_1, END };

typedef struct puppet {
    pthread_t thread;
    sem_t go;
    sem_t done;
    int step;
} puppet_t;

static void *puppet_main(void *arg)
{
    puppet_t *p = arg;

    for (;;) {
        while (sem_wait(&p->go) != 0);
        int step = p->step;
        if (step == TOUCH)
            tsm_load_touch();
        else if (step != END)
            bind(cpus[step - BIND_0]);
        sem_post(&p->done);
        if (step == END)
            return NULL;
    }
}

static void tell(puppet_t *p, int step)
{
    p->step = step;
    sem_post(&p->go);
    while (sem_wait(&p->done) != 0);
    if (step == END)
        assert_int_equal(pthread_join(p->thread, NULL), 0);
}

static void puppet_start(puppet_t *p)
{
    sem_init(&p->go, 0, 0);
    sem_init(&p->done, 0, 0);
    assert_int_equal(pthread_create(&p->thread, NULL, puppet_main, p), 0);
}

static int clean(void **state)
{
    (void) state;
    unbind();
    tsm_load_unshare();
    tsm_load_override(-1);
    later_all_masks();
    assert_int_equal(record_count, 1);
    assert_int_equal(tsm_load_wanted(), 1);
    assert_int_equal(tsm_load_processors(), cpu_count);
    return 0;
}

/* The processors are those of all threads, whichever came first and whenever they were bound. */
static void test_union_of_masks(void **state)
{
    puppet_t p;

    (void) state;
    if (cpu_count < 2)
        skip();
    puppet_start(&p);
    tell(&p, TOUCH);
    bind(cpus[0]);
    later_all_masks();
    assert_int_equal(tsm_load_processors(), cpu_count);
    tell(&p, BIND_1);
    later_all_masks();
    assert_int_equal(tsm_load_processors(), 2);
    tell(&p, BIND_0);
    later_all_masks();
    assert_int_equal(tsm_load_processors(), 1);
    unbind();
    later(1);
    later(1);
    assert_int_equal(tsm_load_processors(), cpu_count);
    tell(&p, END);
}

/* A thread on a processor of its own counts with it from its first touch. */
static void test_new_thread_brings_its_processor(void **state)
{
    puppet_t p;

    (void) state;
    if (cpu_count < 2)
        skip();
    bind(cpus[0]);
    later_all_masks();
    assert_int_equal(tsm_load_processors(), 1);
    puppet_start(&p);
    tell(&p, BIND_1);
    tell(&p, TOUCH);
    assert_int_equal(tsm_load_processors(), 2);
    tell(&p, END);
    later_all_masks();
    assert_int_equal(tsm_load_processors(), 1);
}

/* A thread counts for a while after its touch, and no longer; and not when it has ended. */
static void test_quiet_threads_do_not_count(void **state)
{
    puppet_t p[3];

    (void) state;
    for (int i = 0; i < 3; i++) {
        puppet_start(&p[i]);
        tell(&p[i], TOUCH);
    }
    later(1);
    assert_int_equal(tsm_load_wanted(), 4);
    tell(&p[0], END);
    for (int ms = 2; ms <= TSM_LOAD_WINDOW_MS; ms++) {
        later(1);
        assert_int_equal(tsm_load_wanted(), 3);
    }
    tell(&p[1], TOUCH);
    later(1);
    assert_int_equal(tsm_load_wanted(), 2);
    tell(&p[1], END);
    tell(&p[2], END);
}

typedef struct sleeping {
    TSM_ATOMIC(uint32_t) word;
    TSM_ATOMIC(int) entered;
} sleeping_t;

static int in_wait(void)
{
    int count = 0;

    pthread_mutex_lock(&mutex);
    for (tsm_load_record_t *r = records; r != NULL; r = r->next)
        count += (int) tsm_load(&r->in_wait, TSM_RELAXED);
    pthread_mutex_unlock(&mutex);
    return count;
}

static void sleeping_body(int id, void *arg)
{
    sleeping_t *s = arg;

    if (id > 0) {
        while (tsm_load_self_ == NULL)  /* a first touch that finds the mutex taken does not count */
            tsm_load_touch();
        tsm_wait_word(&s->word, 0, 1, (tsm_wait_policy_t) {0, 0, 1});
        return;
    }
    while (in_wait() < 3)
        sched_yield();
    /* those that sleep count, however long they do */
    for (int i = 0; i < 10; i++) {
        later(TSM_LOAD_WINDOW_MS + 1);
        later(1);
        tsm_fetch_add(&s->entered, tsm_load_wanted() == 4, TSM_RELAXED);
    }
    tsm_wake_word(&s->word, 2, 1);
}

static void test_sleepers_count(void **state)
{
    sleeping_t s = { 0, 0 };

    (void) state;
    tsm_load_touch();
    later(TSM_LOAD_WINDOW_MS + 1);      /* the main thread is in pthread_join */
    unit_team(4, sleeping_body, &s);
    assert_int_equal(s.entered, 10);
}

/* At most one refresh in a millisecond, but a new thread counts at once. */
static void test_refresh_is_rare(void **state)
{
    puppet_t p;

    (void) state;
    puppet_start(&p);
    later(1);
    tell(&p, TOUCH);
    assert_int_equal(tsm_load_wanted(), 2);
    tell(&p, END);
    later(0);
    assert_int_equal(tsm_load_wanted(), 2);
    later(1);
    assert_int_equal(tsm_load_wanted(), 1);
}

static void test_crowded(void **state)
{
    puppet_t p;

    (void) state;
    bind(cpus[0]);
    later_all_masks();
    assert_int_equal(tsm_load_crowded(), 0);
    puppet_start(&p);                   /* it inherits the mask */
    tell(&p, TOUCH);
    later(1);
    assert_int_equal(tsm_load_crowded(), 1);
    /* the question alone takes the figures when they say so */
    test_now += (uint64_t) (TSM_LOAD_WINDOW_MS + 1) * 1000000u;
    assert_int_equal(tsm_load_crowded(), 0);
    tell(&p, TOUCH);
    later(1);
    assert_int_equal(tsm_load_crowded(), 1);
    tell(&p, END);
    later(1);
    assert_int_equal(tsm_load_crowded(), 0);
}

/* What another process would show. */
static void pretend(tsm_load_slot_t *other, int cpu, uint32_t wanted)
{
    memset((void *) other, 0, sizeof(*other));
    tsm_store(&other->mask[cpu / 64], (uint64_t) 1 << cpu % 64, TSM_RELAXED);
    tsm_store(&other->words, (uint32_t) (cpu / 64 + 1), TSM_RELAXED);
    tsm_store(&other->wanted, wanted, TSM_RELAXED);
    tsm_store(&other->tick, (uint32_t) (test_now / TICK_NS), TSM_RELAXED);
}

static tsm_load_slot_t board[2];

static void test_override(void **state)
{
    (void) state;
    tsm_load_override(1);
    later(1);
    assert_int_equal(tsm_load_crowded(), 1);
    bind(cpus[0]);
    tsm_load_override(0);
    tsm_load_share(board, 2, 0);
    pretend(&board[1], cpus[0], 1000);
    later(1);
    assert_int_equal(tsm_load_crowded(), 0);
    tsm_load_override(-1);
    later(1);
    assert_int_equal(tsm_load_crowded(), 1);
}

static void test_other_processes(void **state)
{
    tsm_load_slot_t *shown = calloc(3, sizeof(*shown));
    int elsewhere = cpus[0] + 1;

    (void) state;
    bind(cpus[0]);
    tsm_load_share(shown, 3, 1);
    later_all_masks();
    assert_int_equal(tsm_load_crowded(), 0);
    assert_int_equal(tsm_load(&shown[1].wanted, TSM_RELAXED), 1);
    assert_int_equal(tsm_load(&shown[1].mask[cpus[0] / 64], TSM_RELAXED), 1ull << cpus[0] % 64);

    tsm_load_rest();                     /* until the next refresh */
    assert_int_equal(tsm_load(&shown[1].wanted, TSM_RELAXED), 0);
    later(1);
    assert_int_equal(tsm_load_crowded(), 0);
    assert_int_equal(tsm_load(&shown[1].wanted, TSM_RELAXED), 1);
    pretend(&shown[2], elsewhere, 7);    /* other processors */
    later(1);
    assert_int_equal(tsm_load_crowded(), 0);
    pretend(&shown[0], cpus[0], 0);      /* no thread in the library */
    later(1);
    assert_int_equal(tsm_load_crowded(), 0);
    pretend(&shown[0], cpus[0], 1);
    later(1);
    assert_int_equal(tsm_load_crowded(), 1);
    later(TSM_LOAD_SHARED_MS);          /* it has not been heard of since */
    assert_int_equal(tsm_load_crowded(), 0);
    pretend(&shown[0], cpus[0], 1);
    later(1);
    assert_int_equal(tsm_load_crowded(), 1);
    tsm_load_unshare();
    later(1);
    assert_int_equal(tsm_load_crowded(), 0);
    assert_int_equal(tsm_load(&shown[1].tick, TSM_RELAXED), 0);
    free(shown);
}

/* A child is a process of its own, and one that dies is forgotten. */
static void test_fork(void **state)
{
    tsm_load_slot_t *shown = mmap(NULL, 2 * sizeof(*shown), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    puppet_t p;
    int status;

    (void) state;
    assert_true(shown != MAP_FAILED);
    bind(cpus[0]);
    puppet_start(&p);
    tell(&p, TOUCH);
    tsm_load_share(shown, 2, 0);
    later_all_masks();
    assert_int_equal(tsm_load_wanted(), 2);
    pid_t child = fork();
    if (child == 0) {
        int wrong = record_count != 1;
        tsm_load_share(shown, 2, 1);
        later_all_masks();
        wrong += tsm_load_wanted() != 1 || tsm_load_processors() != 1;
        _exit(wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(tsm_load(&shown[1].wanted, TSM_RELAXED), 1);
    tell(&p, END);
    later(1);
    assert_int_equal(tsm_load_wanted(), 1);
    assert_int_equal(tsm_load_crowded(), 1);
    later(2 * TSM_LOAD_SHARED_MS);
    assert_int_equal(tsm_load_crowded(), 0);
    tsm_load_unshare();
    munmap(shown, 2 * sizeof(*shown));
}

static void busy_body(int id, void *arg)
{
    (void) arg;
    for (long i = 0; i < 200; i++) {
        tsm_load_touch();
        if (i % 16 == id % 16) {
            test_now += 1000000u;
            tsm_load_sleep(1);
            if (tsm_load_crowded())
                tsm_yield();
            tsm_load_sleep(0);
        }
    }
}

/* Threads start and end, and all ask at the same time. */
static void test_come_and_go(void **state)
{
    (void) state;
    for (long i = unit_scaled(40); i > 0; i--)
        unit_team(i % 8 ? 8 : UNIT_TEAM_MAX, busy_body, NULL);
    later_all_masks();
    assert_int_equal(record_count, 1);
    assert_true(cursor == records && records == tsm_load_self_);
}

static void *tell_tid(void *arg)
{
    *(int *) arg = current_tid();
    return NULL;
}

/* Its processors do not count any more, and not all of the machine instead. */
static void test_mask_of_a_thread_that_has_ended(void **state)
{
    pthread_t thread;
    mask_t mask;
    int tid = 0;

    (void) state;
    assert_int_equal(pthread_create(&thread, NULL, tell_tid, &tid), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    /* the kernel may take a moment longer */
    for (int i = 0; i < 1000 && syscall(SYS_tgkill, getpid(), tid, 0) == 0; i++)
        usleep(1000);
    mask_read(tid, &mask);
    assert_int_equal(mask_count(&mask), 0);
}

static void test_errno(void **state)
{
    (void) state;
    errno = 77;
    later(1);
    tsm_load_sleep(1);
    tsm_load_sleep(0);
    tsm_load_crowded();
    tsm_load_processors();
    assert_int_equal(errno, 77);
}

/* Polls until the patience is over, while each takes step_ns. */
static long patience_polls(tsm_patience_t *patience, uint64_t step_ns)
{
    long polls = 1;

    while (tsm_patience_step(patience, 1) == TSM_PATIENCE_SPIN) {
        test_now += step_ns;
        polls++;
    }
    return polls;
}

/* Each wait has the whole time, and a clock that jumps before a wait takes nothing from it. */
static void test_patience(void **state)
{
    tsm_patience_t patience;

    (void) state;
    tsm_load_override(0);
    for (int wait = 0; wait < 3; wait++) {
        tsm_patience_begin(&patience, 1000000, 8);
        test_now += 1000000000;
        long reads = test_reads, polls = patience_polls(&patience, 1000);
        assert_in_range(polls, 1000, 1000 + 2 * TSM_PATIENCE_LOOK);
        assert_in_range(test_reads - reads, 1, 3 * polls / TSM_PATIENCE_LOOK);
        assert_int_equal(tsm_patience_step(&patience, 1), TSM_PATIENCE_SLEEP);
        assert_int_equal(tsm_patience_step(&patience, 0), TSM_PATIENCE_YIELD);
    }
}

static void test_patience_when_crowded(void **state)
{
    tsm_patience_t patience;

    (void) state;
    tsm_load_override(1);
    for (int wait = 0; wait < 3; wait++) {
        tsm_patience_begin(&patience, 1000000, 8);
        assert_int_equal(patience_polls(&patience, 0), 9);
        assert_int_equal(tsm_patience_step(&patience, 0), TSM_PATIENCE_YIELD);
    }
    tsm_load_override(0);               /* room again: the rest of the time */
    assert_in_range(patience_polls(&patience, 1000), 1000, 1000 + 2 * TSM_PATIENCE_LOOK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_union_of_masks, clean),
        cmocka_unit_test_teardown(test_new_thread_brings_its_processor, clean),
        cmocka_unit_test_teardown(test_quiet_threads_do_not_count, clean),
        cmocka_unit_test_teardown(test_sleepers_count, clean),
        cmocka_unit_test_teardown(test_refresh_is_rare, clean),
        cmocka_unit_test_teardown(test_crowded, clean),
        cmocka_unit_test_teardown(test_override, clean),
        cmocka_unit_test_teardown(test_other_processes, clean),
        cmocka_unit_test_teardown(test_fork, clean),
        cmocka_unit_test_teardown(test_come_and_go, clean),
        cmocka_unit_test_teardown(test_mask_of_a_thread_that_has_ended, clean),
        cmocka_unit_test_teardown(test_errno, clean),
        cmocka_unit_test_teardown(test_patience, clean),
        cmocka_unit_test_teardown(test_patience_when_crowded, clean),
    };

    if (sched_getaffinity(0, sizeof(everything), &everything) != 0)
        return 0;                       /* more processors than a cpu_set_t has room for */
    cpu_count = CPU_COUNT(&everything);
    for (int cpu = 0, n = 0; cpu < CPU_SETSIZE && n < 2; cpu++) {
        if (CPU_ISSET(cpu, &everything))
            cpus[n++] = cpu;
    }
    return cmocka_run_group_tests_name("load", tests, NULL, NULL);
}
