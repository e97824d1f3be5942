/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if !defined(MPIDI_CH4_DIRECT_NETMOD) && defined(POSIX_EAGER_INLINE) && \
    POSIX_EAGER_INLINE == __posix_eager_inline_ring__

#include "mpidu_init_shm.h"
#include "threads/settings.h"
#include "tsm/tsm_copy.h"
#include "tsm/tsm_load.h"

MPIDI_POSIX_ring_global_t MPIDI_POSIX_ring_global;

/* The least size of a cell: the largest header of an active message, and some data. */
#define LEAST_CELL 1024

/* 0: prints what is wrong with a setting. */
static int cells_are_possible(void)
{
    const int cells = MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS;
    const int size = MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE;

    if (cells < 1) {
        MPIDI_settings_print("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS=%d: must be at least 1\n",
                             cells);
        return 0;
    }
    if (size < LEAST_CELL || size % MAX_ALIGNMENT) {
        MPIDI_settings_print("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE=%d: must be at least %d, and "
                             "a multiple of %d\n", size, LEAST_CELL, MAX_ALIGNMENT);
        return 0;
    }
    return 1;
}

/* Of each VCI. Twice the setting, so that a process may have that many if it is the only one; see
 * ring_cells.h. */
static uint32_t cells_of_vsi(void)
{
    return 2 * (uint32_t) MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS;
}

static size_t up_to(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Where the parts of a box are. Cells begin a page, so that they stay untouched until they are used. */
static void lay_out(MPIDI_POSIX_ring_global_t * g)
{
    const size_t page = 4096;
    const size_t cells = cells_of_vsi();

    g->cell_size = MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE;
    g->returns_at = tsm_ring_size(MPIDI_POSIX_RING_SLOTS, MPIDI_POSIX_RING_SLOT_SIZE);
    g->cells_at = up_to(g->returns_at + tsm_returns_size(cells), page);
    g->box_size = up_to(g->cells_at + cells * g->cell_size, page);
}

/* 1 if all processes of the node lay the segment out alike; else its parts would be elsewhere for some.
 * Collective over the node. */
static int is_alike(const MPIDI_POSIX_ring_global_t * g)
{
    int ours[3] = { g->num_vsis, (int) cells_of_vsi() / 2, (int) g->cell_size }, theirs[3];
    int alike;

    if (MPIDI_POSIX_global.num_local == 1)
        return 1;       /* with --enable-nolocal there is nothing to put it into */
    alike = MPIDU_Init_shm_put(ours, sizeof(ours)) == MPI_SUCCESS &&
        MPIDU_Init_shm_barrier() == MPI_SUCCESS;

    for (int i = 0; alike && i < MPIDI_POSIX_global.num_local; i++) {
        alike = MPIDU_Init_shm_get(i, sizeof(theirs), theirs) == MPI_SUCCESS &&
            !memcmp(ours, theirs, sizeof(ours));
        if (!alike)
            MPIDI_settings_print("MPIR_CVAR_CH4_NUM_VCIS=%d, MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS="
                                 "%d, MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE=%d: another process of "
                                 "the node has %d, %d, %d\n", ours[0], ours[1], ours[2], theirs[0],
                                 theirs[1], theirs[2]);
    }
    return MPIDU_Init_shm_barrier() == MPI_SUCCESS && alike;
}

/* The shared parts of our own boxes, which nobody uses before the barrier. A segment of several
 * processes is new from the kernel; one of a single process is from malloc. */
static int fill_own(MPIDI_POSIX_ring_global_t * g)
{
    const int rank = MPIDI_POSIX_global.my_local_rank;
    int mpi_errno = MPI_SUCCESS;

    for (int vsi = 0; vsi < g->num_vsis; vsi++) {
        MPIDI_POSIX_ring_vsi_t *v = &g->vsi[vsi];
        tsm_ring_t *ring = (tsm_ring_t *) MPIDI_POSIX_ring_box(rank, vsi);
        if (MPIDI_POSIX_global.num_local == 1)
            tsm_ring_init(ring, MPIDI_POSIX_RING_SLOTS, MPIDI_POSIX_RING_SLOT_SIZE);
        tsm_ring_reader_init(&v->reader, ring, MPIDI_POSIX_RING_SLOTS, MPIDI_POSIX_RING_SLOT_SIZE);
        MPIR_ERR_CHKANDJUMP(!MPIDI_POSIX_ring_cells_init
                            (&v->cells, MPIDI_POSIX_ring_returns(rank, vsi),
                             (int) cells_of_vsi(), MPIDI_POSIX_global.num_local),
                            mpi_errno, MPI_ERR_OTHER, "**nomem");
    }

  fn_fail:
    return mpi_errno;
}

int MPIDI_POSIX_ring_init(int rank, int size)
{
    MPIDI_POSIX_ring_global_t *g = &MPIDI_POSIX_ring_global;
    const int boxes = MPIDI_POSIX_global.num_local * MPIDI_POSIX_global.num_vsis;
    int mpi_errno = MPI_SUCCESS;
    MPIR_CHKPMEM_DECL(1);

    MPL_COMPILE_TIME_ASSERT(sizeof(MPIDI_POSIX_ring_slot_t) == MPIDI_POSIX_RING_SLOT_SIZE);
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIDI_POSIX_ring_slot_t, u) % MAX_ALIGNMENT == 0);
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIDI_POSIX_ring_slot_t, brief) +
                            sizeof(MPIDI_POSIX_ring_brief_t) <= TSM_CACHELINE);
    MPL_COMPILE_TIME_ASSERT(offsetof(MPIDI_POSIX_ring_slot_t, brief.data) % 8 == 0);
    MPIR_ERR_CHKANDJUMP(!cells_are_possible(), mpi_errno, MPI_ERR_OTHER, "**other");
    g->num_vsis = MPIDI_POSIX_global.num_vsis;
    g->nontemporal = MPIR_CVAR_CH4_SHM_NONTEMPORAL;
    lay_out(g);
    MPIR_ERR_CHKANDJUMP(!is_alike(g), mpi_errno, MPI_ERR_OTHER, "**other");
    MPIR_CHKPMEM_MALLOC(g->writers, tsm_ring_writer_t *, boxes * sizeof(tsm_ring_writer_t),
                        mpi_errno, "rings", MPL_MEM_SHM);
    mpi_errno = MPIDU_Init_shm_alloc(boxes * g->box_size, (void *) &g->segment);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = fill_own(g);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < boxes; i++)
        tsm_ring_writer_init(&g->writers[i], (tsm_ring_t *) (g->segment + i * g->box_size),
                             MPIDI_POSIX_RING_SLOTS, MPIDI_POSIX_RING_SLOT_SIZE);
    mpi_errno = MPIDU_Init_shm_barrier();
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_CHKPMEM_COMMIT();

  fn_exit:
    return mpi_errno;
  fn_fail:
    MPIR_CHKPMEM_REAP();
    goto fn_exit;
}

int MPIDI_POSIX_ring_finalize(void)
{
    MPIDI_POSIX_ring_global_t *g = &MPIDI_POSIX_ring_global;
    int mpi_errno = MPI_SUCCESS;

    if (g->segment)
        mpi_errno = MPIDU_Init_shm_free(g->segment);
    MPL_free(g->writers);
    for (int vsi = 0; vsi < g->num_vsis; vsi++)
        MPIDI_POSIX_ring_cells_free(&g->vsi[vsi].cells);
    memset(g, 0, sizeof(*g));
    return mpi_errno;
}

/* 1 if the data of a segment may go past the caches: not if a GPU may have it, or if it has gaps. */
static int may_go_away(const MPIDI_POSIX_ring_segment_t * segment)
{
#ifdef MPL_HAVE_GPU
    return 0;
#else
    int is_contig;

    MPIDI_Datatype_check_contig(segment->datatype, is_contig);
    return is_contig && segment->size >= MPIDI_POSIX_RING_WAY_LEAST &&
        MPIDI_POSIX_ring_global.nontemporal != 0;
#endif
}

/* How the data of a segment is copied. way: NULL if that is not to be found out. */
typedef struct plan {
    MPIDI_POSIX_ring_way_t *way;
    int away, is_timed;
} plan_t;

static plan_t choose_way(MPIDI_POSIX_ring_cells_t * cells, int local_rank,
                         const MPIDI_POSIX_ring_segment_t * segment)
{
    plan_t plan = { NULL, 0, 0 };

    if (!may_go_away(segment))
        return plan;
    if (MPIDI_POSIX_ring_global.nontemporal > 0) {
        plan.away = 1;
        return plan;
    }
    plan.way = MPIDI_POSIX_ring_way_of(cells->ways, local_rank, (size_t) segment->size);
    plan.away = MPIDI_POSIX_ring_way_choose(plan.way, cells->timed == TSM_RETURNS_NONE,
                                            &plan.is_timed);
    return plan;
}

static MPI_Aint copy_away(char *to, MPI_Aint room, const MPIDI_POSIX_ring_segment_t * segment)
{
    const MPI_Aint size = MPL_MIN(room, segment->size);
    MPI_Aint lb;

    MPIDI_Datatype_check_lb(segment->datatype, lb);
    tsm_copy_away(to, (const char *) segment->buf + lb + segment->offset, (size_t) size);
    return size;
}

/* Copy header and data into the cell. Returns the size of the payload. */
static MPI_Aint fill_cell(char *cell, const MPIDI_POSIX_ring_segment_t * segment, int away,
                          MPI_Aint * sent)
{
    MPI_Aint used = segment->am_hdr ? MPIDI_POSIX_ring_header_room(segment->am_hdr_sz) : 0;
    const MPI_Aint room = (MPI_Aint) MPIDI_POSIX_ring_global.cell_size - used;

    if (segment->am_hdr)
        memcpy(cell, segment->am_hdr, segment->am_hdr_sz);
    if (sent) {
        if (away)
            *sent = copy_away(cell + used, room, segment);
        else
            MPIR_Typerep_pack(segment->buf, segment->count, segment->datatype, segment->offset,
                              cell + used, room, sent);
        used += *sent;
    }
    return used;
}

/* A message like this one may follow: ask for the lines of its cell, which its receiver had last. */
static void ask_next_cell(const MPIDI_POSIX_ring_cells_t * cells, int src_vsi, MPI_Aint size)
{
    const uint32_t cell = MPIDI_POSIX_ring_cells_next(cells);

    if (cell != TSM_RETURNS_NONE && size <= MPIDI_POSIX_RING_TINY_PAYLOAD &&
        MPIR_CVAR_CH4_SHM_PREFETCH) {
        const char *at = MPIDI_POSIX_ring_cell(MPIDI_POSIX_global.my_local_rank, src_vsi, cell);
        for (MPI_Aint i = 0; i < size; i += TSM_CACHELINE)
            tsm_prefetch_write(at + i);
    }
}

/* The data is packed before a slot is claimed, as in send_cell. */
int MPIDI_POSIX_ring_send_packed(tsm_ring_writer_t * writer, int src_vsi,
                                 const MPIDI_POSIX_ring_segment_t * segment, MPI_Aint * sent)
{
    char packed[MPIDI_POSIX_RING_SLOT_ROOM] __attribute__((aligned(MAX_ALIGNMENT)));
    MPI_Aint size;

    if (tsm_ring_is_full(writer))
        return MPIDI_POSIX_NOK;
    MPIR_Typerep_pack(segment->buf, segment->count, segment->datatype, segment->offset, packed,
                      segment->size, &size);
    return MPIDI_POSIX_ring_send_slot(writer, src_vsi, segment->msg_hdr, segment->am_hdr,
                                      segment->am_hdr_sz, packed, size, sent);
}

/* The receiver of a timed copy leaves its time at the end of the cell, which it has read. */
static void begin_timing(MPIDI_POSIX_ring_cells_t * cells, uint32_t cell, char *at,
                         const plan_t * plan, uint64_t ns)
{
    cells->timed = cell;
    cells->ways->timing = (MPIDI_POSIX_ring_timing_t) {
        plan->way, MPIDI_POSIX_ring_time_at(at), ns, plan->away
    };
}

/* The cell is filled before a slot is claimed, since the slots behind a claimed one wait for it. */
int MPIDI_POSIX_ring_send_cell(tsm_ring_writer_t * writer, int local_rank, int src_vsi,
                               const MPIDI_POSIX_ring_segment_t * segment, MPI_Aint * sent)
{
    MPIDI_POSIX_ring_cells_t *cells = &MPIDI_POSIX_ring_global.vsi[src_vsi].cells;
    int is_new, flags = MPIDI_POSIX_RING_IN_CELL;
    MPIDI_POSIX_ring_slot_t *slot;
    MPI_Aint payload_size;
    uint64_t position, ns;
    uint32_t cell;
    plan_t plan;
    char *at;

    if (tsm_ring_is_full(writer))
        return MPIDI_POSIX_NOK;
    plan = choose_way(cells, local_rank, segment);
    cell = MPIDI_POSIX_ring_cells_take(cells, local_rank, segment->size, plan.away, &is_new);
    if (cell == TSM_RETURNS_NONE)
        return MPIDI_POSIX_NOK;
    if (is_new)
        plan.is_timed = 0;
    at = MPIDI_POSIX_ring_cell(MPIDI_POSIX_global.my_local_rank, src_vsi, cell);
    ns = plan.is_timed ? tsm_now_ns() : 0;
    payload_size = fill_cell(at, segment, plan.away, sent);
    if (plan.is_timed)
        ns = tsm_now_ns() - ns;
    slot = (MPIDI_POSIX_ring_slot_t *) tsm_ring_claim(writer, &position);
    if (!slot) {
        MPIDI_POSIX_ring_cells_keep(cells, cell);
        return MPIDI_POSIX_NOK;
    }
    if (plan.way)
        MPIDI_POSIX_ring_way_sent(plan.way, plan.away, plan.is_timed);
    if (plan.is_timed) {
        begin_timing(cells, cell, at, &plan, ns);
        flags |= MPIDI_POSIX_RING_TIMED;
    }
    /* Not if several receivers give cells back: each would take the line from the others twice. */
    if (!MPIDI_POSIX_ring_cells_looks(segment->size, plan.away) &&
        MPIDI_POSIX_ring_global.vsi[src_vsi].sent_to == writer)
        flags |= MPIDI_POSIX_RING_LATER;
    MPIDI_POSIX_ring_fetch_ahead(writer, position, src_vsi, 1);
    MPIDI_POSIX_ring_fill(slot, src_vsi, segment->msg_hdr,
                          segment->am_hdr ? MPIDI_POSIX_ring_header_room(segment->am_hdr_sz) : 0,
                          payload_size, flags);
    slot->u.cell = cell;
    tsm_ring_publish(&slot->slot, position);
    ask_next_cell(cells, src_vsi, payload_size);
    return MPIDI_POSIX_OK;
}

#endif
