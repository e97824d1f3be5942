/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The network does not register memory while a window is made, in both processes or in one of them:
 * the window is as any other. Memory that is attached to a dynamic one later may be registered. */
#define _GNU_SOURCE
#include "mt.h"

#include "fabric.h"

static atomic_int refuses;
static int (*real_reg) (struct fid *, const void *, size_t, uint64_t, uint64_t, uint64_t, uint64_t,
                        struct fid_mr **, void *);

static int reg_or_refuse(struct fid *domain, const void *buf, size_t len, uint64_t access,
                         uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr,
                         void *context)
{
    if (atomic_load(&refuses)) {
        atomic_store(&refuses, 2);
        return -FI_ENOMEM;
    }
    return real_reg(domain, buf, len, access, offset, key, flags, mr, context);
}

void fabric_domain(struct fid_domain *d)
{
    FABRIC_REPLACE(d->mr, reg, real_reg, reg_or_refuse);
}

static void begin(int rank)
{
    atomic_store(&refuses, rank < 0 || rank == mt.rank);
}

static void end(void)
{
    MT_CHECK(atomic_load(&refuses) != 1, "nothing was registered");
    atomic_store(&refuses, 0);
}

/* at: a number in the memory of the peer. */
static void use(MPI_Win win, MPI_Aint at)
{
    const int one = 1, five = 5;
    int was = -1;

    MT_OK(MPI_Win_lock_all(0, win));
    MT_OK(MPI_Put(&five, 1, MPI_INT, mt.peer, at, 1, MPI_INT, win));
    MT_OK(MPI_Win_flush(mt.peer, win));
    MT_OK(MPI_Accumulate(&one, 1, MPI_INT, mt.peer, at, 1, MPI_INT, MPI_SUM, win));
    MT_OK(MPI_Fetch_and_op(&one, &was, MPI_INT, mt.peer, at, MPI_SUM, win));
    MT_OK(MPI_Win_unlock_all(win));
    MT_CHECK(was == 6, "the number was %d", was);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void dynamic(int rank, MPI_Info info, int *number)
{
    MPI_Aint mine, at;
    MPI_Win win;

    begin(rank);
    MT_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
    atomic_store(&refuses, 0);  /* not each network is asked to register nothing */
    MT_OK(MPI_Win_attach(win, number, sizeof(*number)));
    MT_OK(MPI_Get_address(number, &mine));
    MT_OK(MPI_Sendrecv(&mine, 1, MPI_AINT, mt.peer, 0, &at, 1, MPI_AINT, mt.peer, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    use(win, at);
    MT_OK(MPI_Win_detach(win, number));
    MT_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    int number = -1;
    MPI_Info together;
    MPI_Win win;

    mt_init(argc, argv, 1, 3);
    MT_CHECK(mt.size == 2, "run with 2 processes");
    MT_OK(MPI_Info_create(&together));
    MT_OK(MPI_Info_set(together, "coll_attach", "true"));
    for (int i = 0; i < (int) mt.iters; i++) {
        for (int rank = -1; rank < 2; rank++) {
            begin(rank);
            MT_OK(MPI_Win_create(&number, sizeof(number), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
            end();
            use(win, 0);
            MT_OK(MPI_Win_free(&win));
            dynamic(rank, MPI_INFO_NULL, &number);
            dynamic(rank, together, &number);
        }
    }
    MT_OK(MPI_Info_free(&together));
    return mt_finish();
}
