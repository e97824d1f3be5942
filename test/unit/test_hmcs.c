/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* The HMCS lock: trees of several shapes, that of this machine, and those of hwloc's synthetic
 * machines. Built with hwloc, where it is installed, and without. */

#include "unit_lock.h"

#include "lock/tsm_hmcs.h"
#include "lock/tsm_hmcs_topology.h"

#define DOMAINS_MAX 32

static tsm_hmcs_t lock;
static tsm_hmcs_domain_t domain[DOMAINS_MAX];

typedef struct shape {
    uint32_t depth;
    uint32_t widths[6];
} shape_t;

static const shape_t shapes[] = {
    { 1, { 1 } },
    { 2, { 1, 2 } },
    { 2, { 1, 5 } },
    { 3, { 1, 2, 4 } },
    { 3, { 1, 2, 5 } },
    { 4, { 1, 2, 2, 6 } },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void init(const shape_t *shape, uint32_t threshold)
{
    assert_true(tsm_hmcs_domains(shape->widths, shape->depth) <= DOMAINS_MAX);
    memset(domain, 0xa5, sizeof(domain));
    tsm_hmcs_init(&lock, domain, shape->widths, shape->depth, threshold);
}

/* No thread is left at the lock. */
static void check_free(void)
{
    for (tsm_hmcs_domain_t *d = lock.root; d < lock.leaf + lock.leaves; d++)
        assert_null(tsm_load(&d->mcs.tail, TSM_ACQUIRE));
}

typedef struct member {
    tsm_hmcs_node_t node;
    uint32_t leaf;              /* or any that we happen to run on */
    int here;
} member_t;

static void *begin(int id)
{
    member_t *member = malloc(sizeof(*member));

    *member = (member_t) {
        .node = TSM_HMCS_NODE_INITIALIZER,
        .leaf = (uint32_t) id % lock.leaves,
        .here = id % 3 == 2,
    };
    return member;
}

static void end(void *thread)
{
    free(thread);
}

static void acquire(void *thread)
{
    member_t *member = thread;

    if (member->here)
        member->leaf = tsm_hmcs_leaf_here(&lock);
    tsm_hmcs_acquire(&lock, &member->node, member->leaf);
}

static int try(void *thread)
{
    return tsm_hmcs_try(&lock, &((member_t *) thread)->node);
}

static void release(void *thread)
{
    tsm_hmcs_release(&lock, &((member_t *) thread)->node);
}

static const unit_lock_t ops = { begin, end, acquire, try, release };

/* The leaf is the thread's id, always. */
static void acquire_at_leaf(void *thread)
{
    member_t *member = thread;

    tsm_hmcs_acquire(&lock, &member->node, member->leaf);
}

static const unit_lock_t at_leaf = { begin, end, acquire_at_leaf, try, release };

static void test_shapes(void **state)
{
    (void) state;
    for (size_t s = 0; s < SHAPES; s++) {
        init(&shapes[s], 1);
        assert_ptr_equal(lock.root, domain);
        assert_null(lock.root->parent);
        assert_int_equal(lock.leaves, shapes[s].widths[shapes[s].depth - 1]);
        for (uint32_t leaf = 0; leaf < lock.leaves; leaf++) {
            uint32_t levels = 1;
            tsm_hmcs_domain_t *d = &lock.leaf[leaf];
            for (; d->parent != NULL; d = d->parent, levels++)
                assert_true(d->parent < d);
            assert_ptr_equal(d, lock.root);
            assert_int_equal(levels, lock.depth);
        }
        assert_true(tsm_hmcs_leaf_here(&lock) < lock.leaves);
    }
}

static void test_try(void **state)
{
    (void) state;
    for (size_t s = 0; s < SHAPES; s++) {
        init(&shapes[s], 2);
        unit_try(&ops);
        check_free();
    }
}

static void exclusion(unit_body_t body)
{
    for (size_t s = 0; s < SHAPES; s++) {
        for (uint32_t threshold = 0; threshold < 12; threshold += 5) {
            init(&shapes[s], threshold);
            unit_exclusion(&ops, body, 9000);
            check_free();
        }
    }
}

static void test_exclusion(void **state)
{
    (void) state;
    exclusion(unit_acquire_body);
}

static void test_exclusion_with_try(void **state)
{
    (void) state;
    exclusion(unit_mixed_body);
}

static void test_come_and_go(void **state)
{
    (void) state;
    init(&shapes[4], 3);
    unit_come_and_go(&ops);
    check_free();
}

static void add(unit_line_t *line, int id)
{
    tsm_hmcs_domain_t *leaf = &lock.leaf[(uint32_t) id % lock.leaves];
    tsm_mcs_node_t *before = tsm_load(&leaf->mcs.tail, TSM_ACQUIRE);

    unit_line_add(line, id);
    unit_wait_until(tsm_load(&leaf->mcs.tail, TSM_ACQUIRE) != before);
    if (before != NULL)         /* linked: from now on the holder sees it */
        unit_wait_until(tsm_load(&before->next, TSM_ACQUIRE) != NULL);
    else if (leaf->parent != NULL)
        unit_wait_until(tsm_load(&leaf->parent->mcs.tail, TSM_ACQUIRE) == &leaf->node);
}

/* On one leaf the order is that of arrival, whatever the threshold. */
static void test_fifo_on_a_leaf(void **state)
{
    (void) state;
    for (uint32_t threshold = 0; threshold < 4; threshold++) {
        for (size_t s = 0; s < SHAPES; s++) {
            unit_line_t line = { .lock = &at_leaf };
            init(&shapes[s], threshold);
            void *thread = begin(0);
            acquire_at_leaf(thread);
            for (int i = 1; i < 8; i++)
                add(&line, i * (int) lock.leaves);
            release(thread);
            unit_line_end(&line);
            for (int i = 1; i < 8; i++)
                assert_int_equal(line.order[i - 1], i * (int) lock.leaves);
            end(thread);
            check_free();
        }
    }
}

/* Two leaves: the holder's goes first, up to threshold hand-overs, then the other one. order: the ids
 * that are certain; after that, leaves race to the root. */
static void passing(uint32_t threshold, int certain, const int *order)
{
    unit_line_t line = { .lock = &at_leaf };

    init(&shapes[1], threshold);
    void *thread = begin(0);
    acquire_at_leaf(thread);
    for (int id = 1; id <= 6; id++)     /* even ones on our leaf, odd ones on the other */
        add(&line, id);
    release(thread);
    unit_line_end(&line);
    for (int i = 0; i < certain; i++)
        assert_int_equal(line.order[i], order[i]);
    end(thread);
    check_free();
}

static void test_threshold(void **state)
{
    static const int none[] = { 1 };
    static const int one[] = { 2, 1, 3 };
    static const int two[] = { 2, 4, 1, 3, 5, 6 };
    static const int all[] = { 2, 4, 6, 1, 3, 5 };

    (void) state;
    passing(0, 1, none);
    passing(1, 3, one);
    passing(2, 6, two);
    passing(100, 6, all);
}

/* A thread stops on its leaf between swap and link: its leaf waits when the holder leaves it, no
 * hand-over is lost, and the other leaf goes on once the root is released. */
static void test_stopped_before_link(void **state)
{
    unit_line_t line = { .lock = &at_leaf }, releasing = { .lock = &at_leaf };
    tsm_mcs_node_t stopped, *pred;

    (void) state;
    init(&shapes[1], 5);
    member_t *holder = begin(1);
    tsm_hmcs_acquire(&lock, &holder->node, 1);
    unit_line_add(&releasing, 0);       /* it will hold leaf 0 and wait for the root */
    unit_wait_until(tsm_load(&lock.root->mcs.tail, TSM_ACQUIRE) == &lock.leaf[0].node);
    tsm_store(&stopped.next, NULL, TSM_RELAXED);
    tsm_store(&stopped.status, TSM_MCS_WAITING, TSM_RELAXED);
    pred = tsm_swap(&lock.leaf[0].mcs.tail, &stopped, TSM_ACQ_REL);
    unit_line_add(&line, 1);
    release(holder);
    unit_line_end(&line);               /* leaf 1 again, past the stopped one */
    unit_wait_until(try(holder));       /* once leaf 0 has released the root */
    release(holder);

    tsm_store(&pred->next, &stopped, TSM_RELEASE);
    tsm_wait_word(&stopped.status, TSM_MCS_WAITING, TSM_MCS_PARKED, TSM_WAIT_PARK);
    /* alone: it would have to take the root itself */
    assert_int_equal(tsm_load(&stopped.status, TSM_RELAXED), TSM_MCS_GRANTED);
    assert_int_equal(try(holder), 1);
    release(holder);
    tsm_mcs_release(&lock.leaf[0].mcs, &stopped);
    unit_line_end(&releasing);
    end(holder);
    check_free();
}

/* Every processor has a leaf, and every leaf a path of all levels to the root. */
static void check_topology(const tsm_hmcs_topology_t *topology, uint32_t depth)
{
    assert_true(topology->depth >= 1 && topology->depth <= depth);
    assert_int_equal(tsm_hmcs_init_topology(&lock, topology, TSM_HMCS_THRESHOLD), 0);
    assert_int_equal(lock.depth, topology->depth);
    for (uint32_t leaf = 0; leaf < lock.leaves; leaf++) {
        uint32_t levels = 1;
        for (tsm_hmcs_domain_t *d = &lock.leaf[leaf]; d->parent != NULL; d = d->parent, levels++)
            assert_true(d->parent < d && d->parent >= lock.root);
        assert_int_equal(levels, lock.depth);
    }
    for (uint32_t cpu = 0; lock.leaf_of_cpu != NULL && cpu < lock.cpus; cpu++)
        assert_true(lock.leaf_of_cpu[cpu] < lock.leaves);
    assert_true(tsm_hmcs_leaf_here(&lock) < lock.leaves);
}

static void test_topology(void **state)
{
    tsm_hmcs_topology_t topology;

    (void) state;
    for (uint32_t depth = 1; depth <= 4; depth++) {
        assert_int_equal(tsm_hmcs_topology_init(&topology, depth), 0);
        check_topology(&topology, depth);
        unit_try(&ops);
        unit_exclusion(&ops, unit_mixed_body, 2000);
        check_free();
        tsm_hmcs_destroy_topology(&lock);
        tsm_hmcs_topology_destroy(&topology);
    }
}

#if TSM_HAVE_HWLOC
/* Synthetic machines of hwloc, and the shapes that they must get: the innermost levels that hold more
 * than one processor each. */
static const struct machine {
    const char *synthetic;
    uint32_t depth;             /* asked for */
    shape_t shape;
} machines[] = {
    { "pu:4", 4, { 1, { 1 } } },
    { "core:4 pu:1", 4, { 1, { 1 } } },
    { "pack:2 core:4 pu:1", 4, { 2, { 1, 2 } } },
    { "pack:2 core:4 pu:2", 4, { 3, { 1, 2, 8 } } },
    { "pack:2 core:4 pu:2", 2, { 2, { 1, 8 } } },
    { "pack:2 core:4 pu:2", 1, { 1, { 1 } } },
    { "pack:2 l3:4 l2:8 l1:1 core:1 pu:2", 4, { 4, { 1, 2, 8, 64 } } },
    { "pack:2 l3:4 l2:8 l1:1 core:1 pu:2", 3, { 3, { 1, 8, 64 } } },
    { "pack:2 l3:4 l2:8 l1:1 core:1 pu:2", 2, { 2, { 1, 64 } } },
    { "pack:2 l3:4 l2:8 l1:1 core:1 pu:1", 3, { 3, { 1, 2, 8 } } },
    { "group:2 pack:2 l3:3 l2:2 core:2 pu:2", 3, { 3, { 1, 24, 48 } } },
    { "group:2 pack:2 l3:3 l2:2 core:2 pu:2", 6, { 6, { 1, 2, 4, 12, 24, 48 } } },
};

static void describe(const char *synthetic, uint32_t depth, tsm_hmcs_topology_t *topology)
{
    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    assert_int_equal(tsm_hmcs_topology_init(topology, depth), 0);
    unsetenv("HWLOC_SYNTHETIC");
}

static void test_topology_of_others(void **state)
{
    tsm_hmcs_topology_t topology;

    (void) state;
    for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
        const struct machine *machine = &machines[m];
        describe(machine->synthetic, machine->depth, &topology);
        check_topology(&topology, machine->depth);
        assert_int_equal(topology.depth, machine->shape.depth);
        for (uint32_t i = 0; i < topology.depth; i++)
            assert_int_equal(topology.widths[i], machine->shape.widths[i]);
        tsm_hmcs_destroy_topology(&lock);
        tsm_hmcs_topology_destroy(&topology);
    }
}

/* Processors whose numbers jump between the caches: the table follows the caches. */
static void test_topology_numbers(void **state)
{
    static const uint32_t leaf_of_cpu[] = { 0, 2, 1, 3, 0, 2, 1, 3 };
    tsm_hmcs_topology_t topology;

    (void) state;
    describe("l3:2 core:2 pu:2(indexes=0,4,2,6,1,5,3,7)", 3, &topology);
    check_topology(&topology, 3);
    assert_int_equal(lock.depth, 3);
    assert_int_equal(lock.cpus, 8);
    for (uint32_t cpu = 0; cpu < 8; cpu++)
        assert_int_equal(lock.leaf_of_cpu[cpu], leaf_of_cpu[cpu]);
    for (uint32_t leaf = 0; leaf < 4; leaf++)
        assert_ptr_equal(lock.leaf[leaf].parent, &lock.root[1 + leaf / 2]);
    unit_exclusion(&ops, unit_mixed_body, 9000);
    check_free();
    tsm_hmcs_destroy_topology(&lock);
    tsm_hmcs_topology_destroy(&topology);
}
#else
/* The shapes for machines that we do not have. */
static void test_topology_of_others(void **state)
{
    tsm_hmcs_topology_t topology = { 0 };

    (void) state;
    for (uint32_t cpus = 1; cpus < 2000; cpus++) {
        for (uint32_t depth = 1; depth <= TSM_HMCS_DEPTH_MAX; depth++) {
            tsm_hmcs_blocks_(&topology, cpus, depth);
            assert_true(topology.depth >= 1 && topology.depth <= depth);
            assert_true(tsm_hmcs_domains(topology.widths, topology.depth) <= cpus + 1);
        }
    }
    tsm_hmcs_blocks_(&topology, 256, 3);
    assert_int_equal(topology.depth, 3);
    assert_int_equal(topology.widths[1], 8);
    assert_int_equal(topology.widths[2], 32);
    check_topology(&topology, 3);
    tsm_hmcs_destroy_topology(&lock);
}
#endif

static void test_held_at_any_step(void **state)
{
    (void) state;
    init(&shapes[4], 3);
    unit_held(&ops);
    check_free();
}

static void no_level(void *arg)
{
    (void) arg;
    init(&(shape_t) { 0, { 1 } }, 1);
}

static void two_roots(void *arg)
{
    (void) arg;
    init(&(shape_t) { 2, { 2, 4 } }, 1);
}

static void no_such_leaf(void *arg)
{
    (void) arg;
    tsm_hmcs_node_t node = TSM_HMCS_NODE_INITIALIZER;

    init(&shapes[1], 1);
    tsm_hmcs_acquire(&lock, &node, 2);
}

static void release_without_acquire(void *arg)
{
    (void) arg;
    init(&shapes[1], 1);
    release(begin(0));
}

static void acquire_twice(void *arg)
{
    (void) arg;
    init(&shapes[1], 1);
    void *thread = begin(0);
    acquire(thread);
    acquire(thread);
}

static void test_misuse(void **state)
{
    (void) state;
    unit_aborts(no_level, NULL);
    unit_aborts(two_roots, NULL);
    unit_aborts(no_such_leaf, NULL);
    unit_aborts(release_without_acquire, NULL);
    unit_aborts(acquire_twice, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_try),
        cmocka_unit_test(test_fifo_on_a_leaf),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_stopped_before_link),
        cmocka_unit_test(test_exclusion),
        cmocka_unit_test(test_exclusion_with_try),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_held_at_any_step),
        cmocka_unit_test(test_topology),
        cmocka_unit_test(test_topology_of_others),
#if TSM_HAVE_HWLOC
        cmocka_unit_test(test_topology_numbers),
#endif
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("hmcs", tests, NULL, NULL);
}
