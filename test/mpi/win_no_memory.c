/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A window that cannot be made: all processes, or one of them, ask for more memory than they may have,
 * or the info object is wrong. Each process gets an error, and the next window is as ever. A sanitizer
 * needs memory without limit. */
#include "mt.h"

#include <sys/resource.h>

#define LIMIT    ((MPI_Aint) 1 << 30)
#define TOO_MUCH (LIMIT + 1)
#define LITTLE   1000

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CAN_FAIL 0
#else
#define CAN_FAIL 1
#endif

static MPI_Comm node;
static MPI_Info wrong;

static void sound(void)
{
    MPI_Win win;
    char *memory, one = 1;

    MT_OK(MPI_Win_allocate(LITTLE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memory[LITTLE - 1] = 0;
    MT_OK(MPI_Win_fence(0, win));
    MT_OK(MPI_Put(&one, 1, MPI_BYTE, mt.peer, LITTLE - 1, 1, MPI_BYTE, win));
    MT_OK(MPI_Win_fence(0, win));
    MT_CHECK(memory[LITTLE - 1] == 1, "the put has not come");
    MT_OK(MPI_Win_free(&win));
}

static void limit(rlim_t bytes)
{
    struct rlimit r;

    MT_CHECK(getrlimit(RLIMIT_AS, &r) == 0, "getrlimit");
    r.rlim_cur = bytes < r.rlim_max ? bytes : r.rlim_max;
    MT_CHECK(setrlimit(RLIMIT_AS, &r) == 0, "setrlimit");
}

/* greedy: the rank of the process that asks for too much; -1: all do. */
static void too_much(int greedy)
{
    MPI_Aint bytes = greedy < 0 || greedy == mt.rank ? TOO_MUCH : LITTLE;
    char *memory;
    MPI_Win win;
    int rc;

    if (!CAN_FAIL)
        return;
    limit((rlim_t) LIMIT);
    rc = MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    mt_fails(rc, MPI_ERR_NO_MEM, "MPI_Win_allocate");
    sound();
    rc = MPI_Win_allocate_shared(TOO_MUCH, 1, MPI_INFO_NULL, node, &memory, &win);
    MT_CHECK(rc != MPI_SUCCESS, "MPI_Win_allocate_shared gave no error");
    limit(RLIM_INFINITY);
    sound();
}

static void wrong_info(void)
{
    char *memory, one;
    MPI_Win win;

    MT_CHECK(MPI_Win_create(&one, 1, 1, wrong, MPI_COMM_WORLD, &win) != MPI_SUCCESS, "create");
    MT_CHECK(MPI_Win_create_dynamic(wrong, MPI_COMM_WORLD, &win) != MPI_SUCCESS, "create_dynamic");
    MT_CHECK(MPI_Win_allocate(LITTLE, 1, wrong, MPI_COMM_WORLD, &memory, &win) != MPI_SUCCESS,
             "allocate");
    MT_CHECK(MPI_Win_allocate_shared(LITTLE, 1, wrong, node, &memory, &win) != MPI_SUCCESS,
             "allocate_shared");
    sound();
}

int main(int argc, char **argv)
{
    mt_init(argc, argv, 1, 2);
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MT_OK(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN));
    MT_OK(MPI_Info_create(&wrong));
    MT_OK(MPI_Info_set(wrong, "accumulate_ordering", "wrong"));
    for (int i = 0; i < (int) mt.iters; i++) {
        for (int greedy = -1; greedy < mt.size; greedy++)
            too_much(greedy);
        wrong_info();
    }
    MT_OK(MPI_Info_free(&wrong));
    MT_OK(MPI_Comm_free(&node));
    return mt_finish();
}
