/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* More pieces of memory by MPI_Alloc_mem than a process can have mappings, of which each piece of
 * direct memory is one, in the ghost too: the last ones are ordinary memory, and no process is left
 * without any. Where the system permits very many mappings, nothing is shown. */
#include "../mt.h"

enum { BYTES = 4096, MOST = 50000 };

static char *piece[MOST];

/* With two users, somewhat more than the ghost can map. */
static int pieces(void)
{
    int n = 65530;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (file && fscanf(file, "%d", &n) != 1)
        n = 65530;
    if (file)
        fclose(file);
    n = n / 2 + 1000;
    return n < MOST ? n : 1000;
}

static void exchange(char *out)
{
    char in[BYTES];
    memset(out, mt.rank + 1, BYTES);
    MT_OK(MPI_Sendrecv(out, BYTES, MPI_CHAR, mt.peer, 1, in, BYTES, MPI_CHAR, mt.peer, 1,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MT_CHECK(in[BYTES - 1] == mt.peer + 1, "data");
}

int main(int argc, char **argv)
{
    const int n = pieces();
    mt_init(argc, argv, 1, 1);
    for (int i = 0; i < n; i++) {
        MT_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &piece[i]));
        piece[i][BYTES - 1] = 1;
    }
    exchange(piece[0]);
    exchange(piece[n - 1]);
    for (int i = 0; i < n; i++)
        MT_OK(MPI_Free_mem(piece[i]));
    return mt_finish();
}
