/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include <pthread.h>
#include "csp_count.h"
#include "csp_node.h"
#include "threads/stats/mpit_lock.h"

#define PREFIX "ch4_casper_"

csp_counts_t csp_counts;

static csp_ghost_counts_t last; /* of the ghost, at the end */

/* Held while a counter of the ghost is read: another thread may read in MPI_Finalize, and the memory of
 * the node goes there. Threads of a tool may call MPI_T whatever the thread level of MPI is. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static csp_ghost_counts_t *of_ghost;

typedef struct pvar {
    const char *name;
    int is_ghosts, is_level;
    size_t place;               /* in csp_counts, or the ghost's */
    const char *help;
} pvar_t;

#define MINE(field_)  0, 0, offsetof(csp_counts_t, field_)
#define GHOST(field_) 1, 0, offsetof(csp_ghost_counts_t, field_)
#define LEVEL(field_) 1, 1, offsetof(csp_ghost_counts_t, field_)

static const pvar_t pvars[] = {
    {PREFIX "sends", MINE(sends), "sends that this process has given to its ghost"},
    {PREFIX "receives", MINE(receives), "receives that this process has given to its ghost"},
    {PREFIX "probes", MINE(probes), "probes that this process has given to its ghost"},
    {PREFIX "late", MINE(late), "calls that found no room in the ring to the ghost"},
    {PREFIX "copied", MINE(copied), "bytes of messages that this process has copied in place of "
     "its ghost"},
    {PREFIX "ghost_copied", GHOST(copied), "bytes of messages between its users that the ghost of "
     "this process has copied"},
    {PREFIX "ghost_kept", LEVEL(kept), "bytes that this ghost keeps now of messages that nobody has "
     "received"},
    {PREFIX "ghost_turns", GHOST(turns), "turns of the loop of this ghost"},
    {PREFIX "ghost_idle", GHOST(idle_turns), "turns that found nothing to do"}
};

#define PVARS ((int) (sizeof(pvars) / sizeof(pvars[0])))

/* The callback of MPI_T. */
static void read_pvar(void *addr, void *obj_handle, int count, void *buf)
{
    const pvar_t *p = addr;

    (void) obj_handle;
    (void) count;
    pthread_mutex_lock(&mutex);
    char *counts = p->is_ghosts ? (char *) of_ghost : (char *) &csp_counts;
    *(unsigned long long *) buf = tsm_load((csp_counter_t *) (counts + p->place), TSM_RELAXED);
    pthread_mutex_unlock(&mutex);
}

static void read_from(csp_ghost_counts_t * counts)
{
    pthread_mutex_lock(&mutex);
    of_ghost = counts;
    pthread_mutex_unlock(&mutex);
}

static int is_registered(const pvar_t * p, MPIR_T_pvar_class_t class)
{
    name2index_hash_t *found;

    HASH_FIND_STR(pvar_hashs[class - MPIR_T_PVAR_CLASS_FIRST], p->name, found);
    return found != NULL;
}

static void register_pvars(void)
{
    for (int i = 0; i < PVARS; i++) {
        const pvar_t *p = &pvars[i];
        const MPIR_T_pvar_class_t class = p->is_level ? MPI_T_PVAR_CLASS_LEVEL :
            MPI_T_PVAR_CLASS_COUNTER;
        const int flags = p->is_level ? MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS :
            MPIR_T_PVAR_FLAG_SUM;

        if (is_registered(p, class))
            return;
        MPIR_T_PVAR_REGISTER_impl(class, MPI_UNSIGNED_LONG_LONG, p->name, (void *) p, 1,
                                  MPI_T_ENUM_NULL, MPI_T_VERBOSITY_USER_DETAIL, MPI_T_BIND_NO_OBJECT,
                                  flags, read_pvar, NULL, "CH4_CASPER", p->help);
    }
}

void csp_count_start(void)
{
    read_from(&csp_node.my_ghost->counts);
    MPIDI_mpit_enter();
    register_pvars();
    MPIDI_mpit_exit();
}

static void copy(csp_counter_t * to, csp_counter_t * from)
{
    tsm_store(to, tsm_load(from, TSM_RELAXED), TSM_RELAXED);
}

void csp_count_end(void)
{
    csp_ghost_counts_t *counts = &csp_node.my_ghost->counts;

    copy(&last.turns, &counts->turns);
    copy(&last.idle_turns, &counts->idle_turns);
    copy(&last.copied, &counts->copied);
    copy(&last.kept, &counts->kept);
    read_from(&last);
}
