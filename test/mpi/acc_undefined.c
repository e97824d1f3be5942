/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Accumulates whose operation is not defined for their type: each call gives MPI_ERR_OP, or the flush
 * does; none waits for ever. Those whose elements are of several types, or of another at the target,
 * give MPI_ERR_TYPE; neither process ends. Those that are defined, and MPI_REPLACE and MPI_NO_OP, are
 * carried out. Without elements no operation is refused. */
#include "mt.h"

static MPI_Win win;
static MPI_Datatype pair;       /* of bytes */

static void fails_by_op(const char *what, int rc)
{
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_flush(1, win);
    mt_fails(rc, MPI_ERR_OP, what);
}

static void undefined(void)
{
    char in[16] = { 0 }, out[16];
    MPI_Request r;

    fails_by_op("MPI_Accumulate", MPI_Accumulate(in, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, MPI_SUM, win));
    fails_by_op("a derived type", MPI_Accumulate(in, 4, pair, 1, 0, 4, pair, MPI_SUM, win));
    fails_by_op("MPI_Get_accumulate", MPI_Get_accumulate(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 1, 0, 1,
                                                         MPI_DOUBLE, MPI_BAND, win));
    fails_by_op("MPI_Fetch_and_op", MPI_Fetch_and_op(in, out, MPI_INT, 1, 0, MPI_MINLOC, win));
    fails_by_op("MPI_Raccumulate", MPI_Raccumulate(in, 1, MPI_DOUBLE_INT, 1, 0, 1, MPI_DOUBLE_INT,
                                                   MPI_SUM, win, &r));
    fails_by_op("MPI_Rget_accumulate", MPI_Rget_accumulate(in, 8, MPI_BYTE, out, 8, MPI_BYTE, 1, 0, 8,
                                                           MPI_BYTE, MPI_PROD, win, &r));
}

/* Logical operations take no floating-point numbers. */
static void logical(void)
{
    double in[2] = { 0 }, out[2];

    fails_by_op("MPI_LAND", MPI_Accumulate(in, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, MPI_LAND, win));
    fails_by_op("MPI_LOR", MPI_Accumulate(in, 1, MPI_FLOAT, 1, 0, 1, MPI_FLOAT, MPI_LOR, win));
    mt_fails(MPI_Reduce_local(in, out, 1, MPI_DOUBLE, MPI_LAND), MPI_ERR_OP, "MPI_Reduce_local");
    mt_fails(MPI_Allreduce(in, out, 1, MPI_FLOAT, MPI_LOR, MPI_COMM_SELF), MPI_ERR_OP,
             "MPI_Allreduce");
}

static MPI_Datatype new_struct(int ints)
{
    int lengths[2] = { 1, ints };
    MPI_Aint at[2] = { 0, sizeof(long) };
    MPI_Datatype types[2] = { MPI_LONG, MPI_INT }, type;

    MT_OK(MPI_Type_create_struct(2, lengths, at, types, &type));
    MT_OK(MPI_Type_commit(&type));
    return type;
}

static void other_types(void)
{
    long in[2] = { 0 }, out[2] = { 0 };
    MPI_Datatype mixed = new_struct(1), one = new_struct(0);
    MPI_Request r;

    mt_fails(MPI_Accumulate(in, 1, MPI_LONG, 1, 0, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE, "ints");
    mt_fails(MPI_Raccumulate(in, 1, MPI_LONG, 1, 0, 8, MPI_BYTE, MPI_REPLACE, win, &r), MPI_ERR_TYPE,
             "MPI_REPLACE of bytes");
    mt_fails(MPI_Get_accumulate(in, 4, pair, out, 8, MPI_BYTE, 1, 0, 1, MPI_LONG, MPI_SUM, win),
             MPI_ERR_TYPE, "a derived type of bytes");
    mt_fails(MPI_Accumulate(in, 1, mixed, 1, 0, 1, mixed, MPI_SUM, win), MPI_ERR_TYPE, "two types");
    mt_fails(MPI_Accumulate(in, 1, mixed, 1, 0, 1, mixed, MPI_REPLACE, win), MPI_ERR_TYPE,
             "MPI_REPLACE of two types");
    MT_OK(MPI_Accumulate(in, 1, one, 1, 0, 1, MPI_LONG, MPI_SUM, win));
    MT_OK(MPI_Get_accumulate(in, 1, mixed, out, 1, MPI_LONG, 1, 0, 1, MPI_LONG, MPI_NO_OP, win));
    MT_OK(MPI_Win_flush(1, win));
    MT_OK(MPI_Type_free(&mixed));
    MT_OK(MPI_Type_free(&one));
}

static void defined(void)
{
    int in[2] = { 3, 1 }, more[2] = { 5, 2 }, was[2] = { -1, -1 }, out[2] = { -1, -1 };

    MT_OK(MPI_Accumulate(in, 2, MPI_INT, 1, 0, 2, MPI_INT, MPI_SUM, win));
    MT_OK(MPI_Accumulate(more, 1, MPI_2INT, 1, 0, 1, MPI_2INT, MPI_MAXLOC, win));
    MT_OK(MPI_Accumulate(in, 4, pair, 1, 8, 4, pair, MPI_REPLACE, win));
    MT_OK(MPI_Win_flush(1, win));
    MT_OK(MPI_Fetch_and_op(NULL, &was[0], MPI_INT, 1, 0, MPI_NO_OP, win));
    MT_OK(MPI_Fetch_and_op(NULL, &was[1], MPI_INT, 1, sizeof(int), MPI_NO_OP, win));
    MT_OK(MPI_Get_accumulate(NULL, 0, MPI_BYTE, out, 8, MPI_BYTE, 1, 8, 8, MPI_BYTE, MPI_NO_OP, win));
    MT_OK(MPI_Win_flush(1, win));
    MT_CHECK(was[0] == 5 && was[1] == 2, "MPI_SUM and MPI_MAXLOC gave %d, %d", was[0], was[1]);
    MT_CHECK(out[0] == 3 && out[1] == 1, "MPI_REPLACE gave %d, %d", out[0], out[1]);
}

/* The elements of a derived type are pairs. */
static void pairs(void)
{
    static const struct {
        long value;
        int index;
    } in = { 7, 4 };
    MPI_Datatype one;

    MT_OK(MPI_Type_contiguous(1, MPI_LONG_INT, &one));
    MT_OK(MPI_Type_commit(&one));
    MT_OK(MPI_Accumulate(&in, 1, MPI_LONG_INT, 1, 0, 1, one, MPI_REPLACE, win));
    MT_OK(MPI_Accumulate(&in, 1, one, 1, 0, 1, MPI_LONG_INT, MPI_MAXLOC, win));
    fails_by_op("pairs", MPI_Accumulate(&in, 1, one, 1, 0, 1, one, MPI_SUM, win));
    MT_OK(MPI_Win_flush(1, win));
    MT_OK(MPI_Type_free(&one));
}

static void empty(void)
{
    char none[1] = { 0 }, out[1];
    MPI_Request r[2];

    MT_OK(MPI_Accumulate(none, 0, MPI_BYTE, 1, 0, 0, MPI_BYTE, MPI_SUM, win));
    MT_OK(MPI_Get_accumulate(none, 0, MPI_BYTE, out, 0, MPI_BYTE, 1, 0, 0, MPI_BYTE, MPI_SUM, win));
    MT_OK(MPI_Raccumulate(none, 0, MPI_DOUBLE, 1, 0, 0, MPI_DOUBLE, MPI_BAND, win, &r[0]));
    MT_OK(MPI_Rget_accumulate(none, 0, pair, out, 0, pair, 1, 0, 0, pair, MPI_PROD, win, &r[1]));
    MT_OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    MT_OK(MPI_Win_flush(1, win));
}

int main(int argc, char **argv)
{
    char *memory;

    mt_init(argc, argv, 1, 1);
    MT_OK(MPI_Type_contiguous(2, MPI_BYTE, &pair));
    MT_OK(MPI_Type_commit(&pair));
    memory = mt_alloc(16);
    MT_OK(MPI_Win_create(memory, 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    MT_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    MT_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));  /* for MPI_Reduce_local */
    MT_OK(MPI_Win_lock_all(0, win));
    if (mt.rank == 0) {
        undefined();
        logical();
        other_types();
        defined();
        pairs();
        empty();
    }
    MT_OK(MPI_Win_unlock_all(win));
    MT_OK(MPI_Win_free(&win));
    MT_OK(MPI_Type_free(&pair));
    free(memory);
    return mt_finish();
}
