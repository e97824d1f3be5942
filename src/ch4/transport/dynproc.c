/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"
#include "dynproc.h"

/* Connecting: what dynproc.h says of it. */

/* Tags below are of ports. The least that a netmod has is 20 bits. */
#define REPLY_TAG_FIRST (1 << 17)
#define VERDICT_BIT (1 << 18)

/* Context id and reply tag are those of the connecting process. */
typedef struct verdict {
    int is_go;
    int reply_tag;
    int name_len;
    char name[MPI_MAX_PORT_NAME];
} verdict_t;

/* Verdicts that a thread has received for another one: two processes may use the same reply tag. */
typedef struct kept {
    verdict_t verdict;
    struct kept *next;
} kept_t;

static kept_t *kept;            /* under the mutex */

static void keep(const verdict_t * verdict)
{
    kept_t *k = MPL_malloc(sizeof(*k), MPL_MEM_ADDRESS);

    MPIR_Assert(k);
    k->verdict = *verdict;
    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_DYNPROC_MUTEX);
    k->next = kept;
    kept = k;
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_DYNPROC_MUTEX);
}

static bool is_on(const verdict_t * verdict, const verdict_t * wanted)
{
    return verdict->reply_tag == wanted->reply_tag && verdict->name_len == wanted->name_len &&
        !memcmp(verdict->name, wanted->name, wanted->name_len);
}

static bool take_kept(verdict_t * wanted)
{
    bool found = false;

    MPID_THREAD_CS_ENTER(VCI, MPIDIU_THREAD_DYNPROC_MUTEX);
    for (kept_t ** k = &kept; *k; k = &(*k)->next) {
        if (is_on(&(*k)->verdict, wanted)) {
            kept_t *mine = *k;
            *wanted = mine->verdict;
            *k = mine->next;
            MPL_free(mine);
            found = true;
            break;
        }
    }
    MPID_THREAD_CS_EXIT(VCI, MPIDIU_THREAD_DYNPROC_MUTEX);
    return found;
}

static void verdict_init(verdict_t * verdict, int reply_tag, const char *name, int name_len)
{
    MPIR_Assert(name_len >= 0 && name_len <= (int) sizeof(verdict->name));
    verdict->is_go = 0;
    verdict->reply_tag = reply_tag;
    verdict->name_len = name_len;
    memcpy(verdict->name, name, name_len);
}

/* Wait up to timeout seconds (less than 0: only look), unless another thread has received it.
 * MPI_ERR_PORT if there is none. */
static int verdict_recv(verdict_t * wanted, int timeout)
{
    verdict_t got;
    int mpi_errno = MPI_SUCCESS;

    if (take_kept(wanted))
        return MPI_SUCCESS;
    mpi_errno = MPIDI_NM_dynamic_recv(wanted->reply_tag | VERDICT_BIT, &got, sizeof(got), timeout);
    if (mpi_errno != MPI_SUCCESS)
        return mpi_errno;
    if (is_on(&got, wanted)) {
        *wanted = got;
        return MPI_SUCCESS;
    }
    keep(&got);
    return MPI_ERR_PORT;
}

/* A second at a time, in case another thread receives it meanwhile. A turn is shorter if this thread
 * receives that of another. */
static int verdict_wait(verdict_t * wanted, int timeout)
{
    MPL_time_t start, now;
    double gap;
    int mpi_errno;

    MPL_wtime(&start);
    do {
        mpi_errno = verdict_recv(wanted, 1);
        MPL_wtime(&now);
        MPL_wtime_diff(&start, &now, &gap);
    } while (mpi_errno == MPI_ERR_PORT && (timeout == 0 || gap < (double) timeout));
    if (mpi_errno == MPI_ERR_PORT && take_kept(wanted))
        mpi_errno = MPI_SUCCESS;
    return mpi_errno;
}

int MPIDI_dynproc_reply_tag(void)
{
    static MPL_atomic_int_t n = MPL_ATOMIC_INT_T_INITIALIZER(0);
    const unsigned from = (unsigned) getpid() * 61u;

    MPIR_Assert(MPIR_MAX_CONTEXT_MASK * 8 * sizeof(int) <= REPLY_TAG_FIRST);
    return REPLY_TAG_FIRST + (int) ((from + (unsigned) MPL_atomic_fetch_add_int(&n, 1)) %
                                    (VERDICT_BIT - REPLY_TAG_FIRST));
}

int MPIDI_dynproc_reply(uint64_t lpid, int reply_tag, const char *name, int name_len, int timeout,
                        MPIR_Context_id_t * context_id)
{
    int mpi_errno, err;
    verdict_t verdict;

    verdict_init(&verdict, reply_tag, name, name_len);
    mpi_errno = MPIDI_NM_dynamic_recv(reply_tag, context_id, sizeof(*context_id), timeout);
    verdict.is_go = (mpi_errno == MPI_SUCCESS);
    /* giving up must not take as long again */
    err = MPIDI_NM_dynamic_send(lpid, reply_tag | VERDICT_BIT, &verdict,
                                offsetof(verdict_t, name) + name_len, verdict.is_go ? timeout : 1);
    return mpi_errno ? mpi_errno : err;
}

int MPIDI_dynproc_answer(uint64_t * lpid, int reply_tag, const char *name, int name_len,
                         int timeout, MPIR_Context_id_t context_id, bool * is_taken_back)
{
    int mpi_errno = MPI_SUCCESS;
    verdict_t verdict;

    *is_taken_back = false;
    verdict_init(&verdict, reply_tag, name, name_len);
    /* a process that has given up may have ended, too: if it is known already, send nothing */
    mpi_errno = verdict_recv(&verdict, -1);
    if (mpi_errno == MPI_ERR_PORT) {
        mpi_errno = MPIDI_NM_dynamic_send(*lpid, reply_tag, &context_id, sizeof(context_id),
                                          timeout);
        MPIR_ERR_CHECK(mpi_errno);
        mpi_errno = verdict_wait(&verdict, timeout);
    }
    MPIR_ERR_CHECK(mpi_errno);
    if (!verdict.is_go) {
        *is_taken_back = true;
        MPID_Release_lpids(1, lpid);
        *lpid = 0;
    }

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

void MPIDI_dynproc_end(void)
{
    while (kept) {
        kept_t *next = kept->next;
        MPL_free(kept);
        kept = next;
    }
}
