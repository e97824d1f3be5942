/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Derived datatypes that MPICH's engine dataloop had wrong: distributed arrays (random ones, each part
 * compared with what the definition of MPI gives the process), blocks of types without extent, structs
 * with empty pieces, subarrays in external32, MPI_SHORT_INT in MPI_Fetch_and_op, MPI_Get_elements. One
 * process. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIMS   4
#define ARRAYS 3000
#define CELLS  4096     /* of an array, at most: 8 in each dimension */

static int errors;

static void check(int good, const char *what)
{
    if (!good && ++errors < 20)
        printf("wrong: %s\n", what);
}

typedef struct {
    int dims, order, size;
    int gsizes[DIMS], distribs[DIMS], dargs[DIMS], psizes[DIMS];
} array_t;

static int random_to(int n)
{
    return rand() % n;
}

static int block_of(const array_t * a, int d)
{
    if (a->dargs[d] != MPI_DISTRIBUTE_DFLT_DARG)
        return a->dargs[d];
    return a->distribs[d] == MPI_DISTRIBUTE_CYCLIC ? 1 :
        (a->gsizes[d] + a->psizes[d] - 1) / a->psizes[d];
}

static array_t random_array(void)
{
    static const int distribs[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
    array_t a = {.dims = 1 + random_to(DIMS),.size = 1 };

    a.order = random_to(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int d = 0; d < a.dims; d++) {
        a.gsizes[d] = 1 + random_to(8);
        a.distribs[d] = distribs[random_to(3)];
        a.psizes[d] = a.distribs[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + random_to(3);
        a.dargs[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (a.distribs[d] == MPI_DISTRIBUTE_CYCLIC && random_to(2))
            a.dargs[d] = 1 + random_to(3);
        else if (a.distribs[d] == MPI_DISTRIBUTE_BLOCK && random_to(2))
            a.dargs[d] = block_of(&a, d) + random_to(2);
        a.size *= a.psizes[d];
    }
    return a;
}

/* The process that has the cell with this number in memory. */
static int owner(const array_t * a, int cell)
{
    int at[DIMS], rank = 0;

    for (int i = 0; i < a->dims; i++) {
        int d = a->order == MPI_ORDER_C ? a->dims - 1 - i : i;
        at[d] = cell % a->gsizes[d];
        cell /= a->gsizes[d];
    }
    for (int d = 0; d < a->dims; d++) {
        int block = at[d] / block_of(a, d);
        if (a->distribs[d] == MPI_DISTRIBUTE_CYCLIC)
            block %= a->psizes[d];
        rank = rank * a->psizes[d] + (a->distribs[d] == MPI_DISTRIBUTE_NONE ? 0 : block);
    }
    return rank;
}

/* Two arrays after each other, so that the extent counts, too. */
static void check_darray(const array_t * a, int rank, MPI_Datatype old)
{
    static int16_t memory[4 * CELLS], packed[4 * CELLS], wanted[4 * CELLS];
    int cells = 1, n = 0, position = 0, step;
    MPI_Datatype type;

    MPI_Type_size(old, &step);
    step = old == MPI_SHORT ? 1 : 2;    /* the other one is resized to two shorts */
    for (int d = 0; d < a->dims; d++)
        cells *= a->gsizes[d];
    for (int i = 0; i < 2 * cells; i++) {
        memory[i * step] = (int16_t) i;
        if (owner(a, i % cells) == rank)
            wanted[n++] = (int16_t) i;
    }
    MPI_Type_create_darray(a->size, rank, a->dims, a->gsizes, a->distribs, a->dargs, a->psizes,
                           a->order, old, &type);
    MPI_Type_commit(&type);
    MPI_Pack(memory, 2, type, packed, sizeof(packed), &position, MPI_COMM_SELF);
    check(position == n * 2 && memcmp(packed, wanted, (size_t) position) == 0, "part of a darray");
    MPI_Type_free(&type);
}

static void darrays(void)
{
    MPI_Datatype wide;

    MPI_Type_create_resized(MPI_SHORT, 0, 4, &wide);
    for (int i = 0; i < ARRAYS; i++) {
        array_t a = random_array();
        check_darray(&a, random_to(a.size), random_to(2) ? wide : MPI_SHORT);
    }
    MPI_Type_free(&wide);
}

/* Blocks of a type without extent are all at the same place. */
static void no_extent(void)
{
    int lengths[] = { 1, 2, 1 }, places[] = { 0, 5, 9 }, number = 7, packed[8], position = 0;
    MPI_Datatype empty, still, type;

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_indexed(3, lengths, places, empty, &type);
    MPI_Type_commit(&type);
    MPI_Pack(&number, 1, type, packed, sizeof(packed), &position, MPI_COMM_SELF);
    check(position == 0, "blocks of an empty type");
    MPI_Type_free(&type);
    MPI_Type_create_resized(MPI_INT, 0, 0, &still);
    MPI_Type_indexed(3, lengths, places, still, &type);
    MPI_Type_commit(&type);
    MPI_Pack(&number, 1, type, packed, sizeof(packed), &position, MPI_COMM_SELF);
    check(position == 16 && packed[0] == 7 && packed[3] == 7, "blocks of a type without extent");
    MPI_Type_free(&type);
    MPI_Type_free(&still);
    MPI_Type_free(&empty);
}

/* What has no data has no bounds. */
static void empty_piece(void)
{
    int lengths[] = { 1, 1 };
    MPI_Aint places[] = { 0, 80 }, lb, extent, true_lb, true_extent;
    MPI_Datatype types[] = { MPI_DATATYPE_NULL, MPI_INT }, type;

    MPI_Type_contiguous(0, MPI_INT, &types[0]);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    check(lb == 80 && extent == 4 && true_lb == 80 && true_extent == 4, "bounds of an empty piece");
    MPI_Type_free(&type);
    MPI_Type_free(&types[0]);
}

static void external32(void)
{
    int size = 4, part = 2, first = 1, numbers[] = { 0, 1, 0x01020304, 0 };
    unsigned char packed[8];
    static const unsigned char wanted[] = { 0, 0, 0, 1, 1, 2, 3, 4 };
    MPI_Aint position = 0;
    MPI_Datatype type;

    MPI_Type_create_subarray(1, &size, &part, &first, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external("external32", numbers, 1, type, packed, sizeof(packed), &position);
    check(position == 8 && memcmp(packed, wanted, 8) == 0, "a subarray in external32");
    MPI_Type_free(&type);
}

static void short_int(void)
{
    struct pair {
        short s;
        int i;
    } here = { 5, 0x0abbccdd }, mine = { 7, 0x12345678 }, result;
    MPI_Win win;

    memset(&result, 0xff, sizeof(result));
    MPI_Win_create(&here, sizeof(here), 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Fetch_and_op(&mine, &result, MPI_SHORT_INT, 0, 0, MPI_MAXLOC, win);
    MPI_Win_unlock(0, win);
    check(result.s == 5 && result.i == 0x0abbccdd, "what MPI_Fetch_and_op of MPI_SHORT_INT returns");
    check(here.s == 7 && here.i == 0x12345678, "what MPI_Fetch_and_op of MPI_SHORT_INT leaves");
    MPI_Win_free(&win);
}

/* MPI_Get_elements of messages that end behind any element of two items, or within the next one. The
 * type is `items` of a struct whose elements have these sizes. */
static void check_elements(MPI_Datatype type, int items, int n, const int sizes[], const char *what)
{
    int bytes = 0, found;
    MPI_Count found_x;
    MPI_Status status = { 0 };

    MPI_Type_commit(&type);
    for (int i = 0; i < 2 * items * n; i++) {
        for (int more = 0; more < sizes[i % n]; more += sizes[i % n] - 1) {
            MPI_Status_set_elements(&status, MPI_BYTE, bytes + more);
            MPI_Get_elements(&status, type, &found);
            MPI_Get_elements_x(&status, type, &found_x);
            check(found == i && found_x == i, what);
        }
        bytes += sizes[i % n];
    }
    MPI_Type_free(&type);
}

/* Two elements of one size; an empty block, a pair and a longer block; in types of all other kinds. */
static void elements(void)
{
    int two[] = { 1, 1 }, three[] = { 0, 2, 1, 3 }, lengths[] = { 2, 0, 1 }, places[] = { 4, 0, 1 };
    int sizes[] = { 3, 4 }, parts[] = { 2, 3 }, starts[] = { 1, 0 }, one_process[] = { 1, 1 };
    int cyclic[] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK };
    int dargs[] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG };
    static const int in_same[] = { 4, 4 }, in_mixed[] = { 8, 4, 8, 4, 2, 8, 8, 8 };
    MPI_Aint at[] = { 0, 4, 48, 56 };
    MPI_Datatype same_types[] = { MPI_INT, MPI_FLOAT }, same, mixed, type;
    MPI_Datatype mixed_types[] = { MPI_INT, MPI_DOUBLE_INT, MPI_SHORT, MPI_DOUBLE };

    MPI_Type_create_struct(2, two, at, same_types, &same);
    MPI_Type_create_struct(4, three, at, mixed_types, &mixed);
    MPI_Type_dup(mixed, &type);
    check_elements(type, 1, 8, in_mixed, "elements of a dup");
    MPI_Type_contiguous(3, same, &type);
    check_elements(type, 3, 2, in_same, "elements of a contiguous type");
    MPI_Type_vector(2, 3, 5, mixed, &type);
    check_elements(type, 6, 8, in_mixed, "elements of a vector");
    MPI_Type_indexed(3, lengths, places, mixed, &type);
    check_elements(type, 3, 8, in_mixed, "elements of an indexed type");
    MPI_Type_create_indexed_block(2, 2, places, same, &type);
    check_elements(type, 4, 2, in_same, "elements of an indexed block");
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, mixed, &type);
    check_elements(type, 6, 8, in_mixed, "elements of a subarray");
    MPI_Type_create_darray(1, 0, 2, sizes, cyclic, dargs, one_process, MPI_ORDER_C, mixed, &type);
    check_elements(type, 12, 8, in_mixed, "elements of a darray");
    MPI_Type_create_resized(same, -4, 40, &type);
    check_elements(type, 1, 2, in_same, "elements of a resized type");
    check_elements(same, 1, 2, in_same, "elements of a struct");
    check_elements(mixed, 1, 8, in_mixed, "elements of a struct with a pair");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    srand(argc > 1 ? (unsigned) atoi(argv[1]) : 1);
    darrays();
    empty_piece();
    external32();
    short_int();
    no_extent();
    elements();
    if (!errors)
        printf(" No Errors\n");
    MPI_Finalize();
    return errors != 0;
}
