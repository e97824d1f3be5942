/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* While the ghost of one node copies much between two users that compute, a third user there exchanges
 * a small message with the other node: it must not wait for the end of the copies. Six users on two
 * nodes, by MPIR_CVAR_ODD_EVEN_CLIQUES. */
#define PV_PREFIX "ch4_casper_"
#include "../pvars.h"

enum { MESSAGES = 24, BYTES = 1 << 24 };

static MPI_Win win;
static atomic_int *has_ended;   /* shared by the users of the node: the small message is there */

static void share_word(void)
{
    MPI_Comm node;
    MPI_Aint bytes;
    int unit;
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, node, &has_ended, &win));
    atomic_store(has_ended, 0);
    MT_OK(MPI_Win_shared_query(win, 0, &bytes, &unit, &has_ended));
    MT_OK(MPI_Comm_free(&node));
}

/* Both compute, and so leave the messages to the ghost. */
static void exchange_much(int is_sender)
{
    MPI_Request req[MESSAGES];
    char *data[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        data[i] = is_sender && i > 0 ? data[0] : mt_alloc(BYTES);
        if (is_sender)
            MT_OK(MPI_Isend(data[i], BYTES, MPI_CHAR, 2, i, MPI_COMM_WORLD, &req[i]));
        else
            MT_OK(MPI_Irecv(data[i], BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, &req[i]));
    }
    while (!atomic_load(has_ended))
        usleep(1000);
    MT_OK(MPI_Waitall(MESSAGES, req, MPI_STATUSES_IGNORE));
    for (int i = 0; i < (is_sender ? 1 : MESSAGES); i++)
        free(data[i]);
}

static void exchange_little(pv_set_t *set)
{
    const double all = (double) MESSAGES * BYTES;
    double copied;
    int word = 4711, got = 0;
    while (pv(set, "ghost_copied") < 1)
        usleep(50);
    MT_OK(MPI_Sendrecv(&word, 1, MPI_INT, 5, 0, &got, 1, MPI_INT, 5, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    copied = pv(set, "ghost_copied");
    atomic_store(has_ended, 1);
    MT_CHECK(got == word, "received %d", got);
    MT_CHECK(copied < all, "a small message has waited for %g bytes", copied);
}

int main(int argc, char **argv)
{
    int word;
    mt_init(argc, argv, 1, 1);
    MT_CHECK(mt.size == 6, "%d users, not 6", mt.size);
    pv_find();
    pv_set_t *set = pv_start();
    share_word();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0 || mt.rank == 2) {
        exchange_much(mt.rank == 0);
    } else if (mt.rank == 4) {
        exchange_little(set);
    } else if (mt.rank == 5) {
        MT_OK(MPI_Recv(&word, 1, MPI_INT, 4, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        MT_OK(MPI_Send(&word, 1, MPI_INT, 4, 0, MPI_COMM_WORLD));
    }
    pv_free(set);
    MT_OK(MPI_Win_free(&win));
    return mt_finish();
}
