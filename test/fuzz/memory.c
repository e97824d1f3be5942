/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Memory of buffers: ordinary, of MPI_Alloc_mem, or a part of a window of MPI_Win_allocate_shared that
 * a seed has for all its lanes. Ghost processes map the last two. */
#include "fuzz.h"

enum { ORDINARY, ALLOC_MEM, SHARED, PLACES };

#define ALIGN 64

/* Each lane's part of the window is given out from its beginning, and again once all is back. Threads
 * of a lane that complete requests together give memory back at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    size_t used;
    int live;
} part[FZ_MAX_THREADS];
static size_t part_bytes;
static unsigned char *base;
static MPI_Win win = MPI_WIN_NULL;

void fz_shared_mem_begin(void)
{
    MPI_Aint bytes = (MPI_Aint) fz.plan.shared_bytes;
    MPI_Comm node;

    if (bytes == 0)
        return;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &base, &win);
    MPI_Comm_free(&node);
    part_bytes = (size_t) bytes / (size_t) fz.plan.threads / ALIGN * ALIGN;
}

void fz_shared_mem_end(void)
{
    if (win == MPI_WIN_NULL)
        return;
    for (int i = 0; i < fz.plan.threads; i++)
        FZ_CHECK(&fz.lane[i], part[i].live == 0, "%d buffers are left in the shared window",
                 part[i].live);
    MPI_Win_free(&win);
}

static void *take_shared(int lane, size_t bytes)
{
    void *p = NULL;

    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&lock);
    if (part[lane].used + bytes <= part_bytes) {
        p = base + (size_t) lane * part_bytes + part[lane].used;
        part[lane].used += bytes;
        part[lane].live++;
    }
    pthread_mutex_unlock(&lock);
    return p;
}

static void give_shared(int lane)
{
    pthread_mutex_lock(&lock);
    if (--part[lane].live == 0)
        part[lane].used = 0;
    pthread_mutex_unlock(&lock);
}

fz_mem_t fz_mem_new(fz_lane_t * l, size_t bytes)
{
    fz_mem_t m = {.place = fz_own_draw(l, PLACES),.lane = l->id };

    bytes = bytes ? bytes : 1;
    if (m.place == SHARED && win != MPI_WIN_NULL)
        m.p = take_shared(l->id, bytes);
    if (m.place == ALLOC_MEM)
        MPI_Alloc_mem((MPI_Aint) bytes, MPI_INFO_NULL, &m.p);
    if (m.p == NULL) {
        m.place = ORDINARY;
        m.p = malloc(bytes);
    }
    FZ_CHECK(l, m.p, "no memory");
    return m;
}

void fz_mem_free(fz_mem_t * m)
{
    switch (m->place) {
        case SHARED: give_shared(m->lane); break;
        case ALLOC_MEM: MPI_Free_mem(m->p); break;
        default: free(m->p);
    }
    m->p = NULL;
}
