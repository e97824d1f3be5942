/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Data that a ghost cannot read, as in the memory of some devices; here in memory without permissions.
 * Both ends of the message get an error, whether its receive is posted before or after, and later
 * messages arrive. */
#include "../mt.h"

#include <sys/mman.h>

#define MOST 1000000
#define EARLY 1                 /* the message comes before its receive */
#define GO 2
#define POSTED 3
#define GOOD 4

static void must_fail(int rc, const char *what, int bytes)
{
    int class;

    MPI_Error_class(rc, &class);
    MT_CHECK(class == MPI_ERR_BUFFER, "%s of %d unreadable bytes gave class %d", what, bytes, class);
}

static void send_all(const char *unreadable, int bytes)
{
    MPI_Request r;

    if (bytes <= 65536) {       /* a larger one would wait for its receive */
        MT_OK(MPI_Isend(unreadable, bytes, MPI_BYTE, mt.peer, EARLY, MPI_COMM_WORLD, &r));
        must_fail(MPI_Wait(&r, MPI_STATUS_IGNORE), "a send", bytes);
    }
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, mt.peer, GO, MPI_COMM_WORLD));
    MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt.peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_OK(MPI_Isend(unreadable, bytes, MPI_BYTE, mt.peer, POSTED, MPI_COMM_WORLD, &r));
    must_fail(MPI_Wait(&r, MPI_STATUS_IGNORE), "a send to a posted receive", bytes);
    MT_OK(MPI_Send(&bytes, 1, MPI_INT, mt.peer, GOOD, MPI_COMM_WORLD));
}

static void receive_all(char *in, int bytes)
{
    int good = 0;
    MPI_Request r;

    MT_OK(MPI_Recv(NULL, 0, MPI_BYTE, mt.peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (bytes <= 65536)
        must_fail(MPI_Recv(in, bytes, MPI_BYTE, mt.peer, EARLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                  "a receive", bytes);
    MT_OK(MPI_Irecv(in, bytes, MPI_BYTE, mt.peer, POSTED, MPI_COMM_WORLD, &r));
    MT_OK(MPI_Send(NULL, 0, MPI_BYTE, mt.peer, GO, MPI_COMM_WORLD));
    must_fail(MPI_Wait(&r, MPI_STATUS_IGNORE), "a posted receive", bytes);
    MT_OK(MPI_Recv(&good, 1, MPI_INT, mt.peer, GOOD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_CHECK(good == bytes, "the message after it is %d, not %d", good, bytes);
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 5000, 65536, 100000, MOST };
    char *unreadable, *in;

    mt_init(argc, argv, 1, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unreadable = mmap(NULL, MOST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MT_CHECK(unreadable != MAP_FAILED, "no memory");
    in = mt_alloc(MOST);
    for (int i = 0; i < 4 && mt.peer != mt.rank; i++) {
        if (mt.rank % 2 == 0)
            send_all(unreadable, sizes[i]);
        else
            receive_all(in, sizes[i]);
    }
    free(in);
    munmap(unreadable, MOST);
    return mt_finish();
}
