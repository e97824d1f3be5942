/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "mpidu_init_shm.h"
#include "csp_copy.h"
#include "csp_desk.h"
#include "csp_node.h"

csp_node_t csp_node;

static void *shared;
static uint64_t probe_word;

#define PROBE_WORD 0x6373703a70726f62ull

/* A process that has ended, and that its process manager has not waited for, still has its pid, but its
 * file says that it has ended. */
int csp_node_lives(int pid)
{
#ifdef SYS_pidfd_open
    struct pollfd end = {.fd = (int) syscall(SYS_pidfd_open, pid, 0),.events = POLLIN };

    if (end.fd >= 0) {
        int has_ended = poll(&end, 1, 0) == 1;
        close(end.fd);
        return !has_ended;
    }
#endif
    return kill(pid, 0) == 0 || errno != ESRCH;
}

/* The ghost of this node with this number. */
static csp_ghost_t *ghost_with(int number)
{
    csp_ghost_t *ghost = csp_node.ghost;

    while (ghost->number != number)
        ghost++;
    return ghost;
}

void csp_node_wake(int number)
{
    if (MPIR_Process.node_map[number] == MPIR_Process.node_map[MPIR_Process.rank])
        tsm_bell_ring_shared(&ghost_with(number)->bell);
}

int csp_node_is_mate(int i)
{
    return csp_world.users + csp_world.ghost_of[csp_node.user[i].number] ==
        csp_node.my_ghost->number;
}

/* The index among the ghosts of this node. */
static int place_of_ghost(int number)
{
    int place = 0;

    for (int i = csp_world.users; i < number; i++)
        place += MPIR_Process.node_map[i] == MPIR_Process.node_map[number];
    return place;
}

/* Bytes of is_full[] of one ghost, in whole cache lines. */
static size_t flags_size(void)
{
    size_t size = csp_world.ghosts * sizeof(*csp_node.is_full);

    return (size + TSM_CACHELINE - 1) / TSM_CACHELINE * TSM_CACHELINE;
}

static void find_flags(void)
{
    char *flags = (char *) (csp_node.user + csp_node.users);

    csp_node.is_full = (void *) (flags + (csp_node.my_ghost - csp_node.ghost) * flags_size());
}

static void find_places(void)
{
    csp_node.ghosts = csp_world.settings.ghosts;
    csp_node.users = MPIR_Process.local_size - csp_node.ghosts;
    csp_node.ghost = shared;
    csp_node.user = (csp_user_t *) (csp_node.ghost + csp_node.ghosts);
    if (csp_world.is_ghost) {
        csp_node.my_ghost = csp_node.ghost + place_of_ghost(MPIR_Process.rank);
    } else {
        csp_node.me = MPIR_Process.local_rank;
        csp_node.my_user = csp_node.user + csp_node.me;
        csp_node.my_ghost = csp_node.ghost +
            place_of_ghost(csp_world.users + csp_world.ghost_of[MPIR_Process.rank]);
    }
    find_flags();
}

/* Robust, where there is that: if its holder has ended, the next one gets an error, and does not wait
 * for ever. Returns 0, or an error number. */
static int init_mutex(MPL_proc_mutex_t * mutex)
{
    int error = MPL_SUCCESS;

#if defined MPL_HAVE_PTHREAD_MUTEXATTR_SETPSHARED && _POSIX_VERSION >= 200809L
    pthread_mutexattr_t attr;

    error = pthread_mutexattr_init(&attr);
    if (error)
        return error;
    error = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    if (!error)
        error = pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    if (!error)
        error = pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
#else
    MPL_proc_mutex_create(mutex, &error);
#endif
    return error;
}

static void make_mutex(void)
{
    if (csp_node.my_ghost != csp_node.ghost || !MPL_proc_mutex_enabled())
        return;
    if (init_mutex(&csp_node.my_ghost->accumulates))
        csp_fail("cannot make a mutex in shared memory");
}

/* The memory is all zeros, so the rings and lists are empty. */
static void fill_in(void)
{
    probe_word = PROBE_WORD ^ (uint64_t) MPIR_Process.rank;
    if (csp_world.is_ghost) {
        make_mutex();
        csp_node.my_ghost->number = MPIR_Process.rank;
        tsm_bell_init(&csp_node.my_ghost->bell);
        csp_node.my_ghost->pid = getpid();
        csp_node.my_ghost->probe = (uint64_t) (uintptr_t) & probe_word;
    } else {
        csp_desk_give_items();
        tsm_slots_init(&csp_node.my_user->free_slots, CSP_SLOTS);
        csp_node.my_user->pid = getpid();
        csp_node.my_user->number = MPIR_Process.rank;
        csp_node.my_user->probe = (uint64_t) (uintptr_t) & probe_word;
    }
}

/* Processes of containers may have the same numbers of processes. */
static int can_reach(int pid, uint64_t probe, int number)
{
    const csp_spot_t spot = {.pid = pid,.addr = probe };
    uint64_t word = 0;

    if (pid == getpid() && number != MPIR_Process.rank)
        return 0;
    return !csp_copy_from(&spot, 0, &word, sizeof(word)) &&
        word == (PROBE_WORD ^ (uint64_t) number) &&
        !csp_copy_to(&spot, 0, &word, sizeof(word));
}

/* Can this process read and write the memory of its ghost and of the users of that? */
static int can_reach_all(void)
{
    for (int i = 0; i < csp_node.users; i++) {
        const csp_user_t *user = &csp_node.user[i];
        if (csp_node_is_mate(i) && !can_reach(user->pid, user->probe, user->number))
            return 0;
    }
    return can_reach(csp_node.my_ghost->pid, csp_node.my_ghost->probe, csp_node.my_ghost->number);
}

/* MPI_COMM_WORLD still holds all processes. A ghost must reach its users; what users cannot do they
 * leave to it. */
int csp_node_agree(void)
{
    int reaches = can_reach_all();
    MPIR_Errflag_t errflag = MPIR_ERR_NONE;

    tsm_store(&csp_node.reaches, reaches, TSM_RELAXED);
    if (!csp_world.is_ghost)
        reaches = 1;
    int mpi_errno = MPIR_Allreduce(MPI_IN_PLACE, &reaches, 1, MPI_INT, MPI_MIN,
                                   MPIR_Process.comm_world, &errflag);

    csp_world.offloads = reaches;
    if (!reaches && MPIR_Process.rank == 0)
        fprintf(stderr, "MPI ghost processes: the system does not permit process_vm_readv between "
                "processes of a user: no message is offloaded\n");
    return mpi_errno;
}

int csp_node_open(void)
{
    int mpi_errno = MPI_SUCCESS;
    size_t size = csp_world.settings.ghosts * (sizeof(csp_ghost_t) + flags_size()) +
        (MPIR_Process.local_size - csp_world.settings.ghosts) * sizeof(csp_user_t);

    mpi_errno = MPIDU_Init_shm_alloc(size, &shared);
    MPIR_ERR_CHECK(mpi_errno);
    find_places();
    fill_in();
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
    mpi_errno = MPIDU_Init_shm_barrier();
    MPIR_ERR_CHECK(mpi_errno);

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int csp_node_close(void)
{
    return MPIDU_Init_shm_free(shared);
}
