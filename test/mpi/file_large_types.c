/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Datatypes made with large counts (MPI_Type_vector_c) in views and as types of buffers, in accesses of
 * all kinds: the file and the buffers have what the type made with ints says. So have views of arrays
 * and vectors with more than INT_MAX elements; other types with gaps and such a count are errors of
 * the file. */
#include "folder.h"

#define REPEAT 3
#define INTS 2000               /* ints in the memory that REPEAT elements of any type span */

enum { ALONE, NONBLOCKING, COLLECTIVE, BOTH, SPLIT, WAYS };

enum { CONTIGUOUS, VECTOR, HVECTOR, INDEXED, HINDEXED, INDEXED_BLOCK, HINDEXED_BLOCK, STRUCT,
    SUBARRAY_C, SUBARRAY_FORTRAN, SUBARRAY_1D, DARRAY, RESIZED, DUP, INSIDE, KINDS
};

static const char *const names[KINDS] = {
    "contiguous", "vector", "hvector", "indexed", "hindexed", "indexed_block", "hindexed_block",
    "struct", "subarray in C", "subarray in Fortran", "subarray of a row", "darray", "resized", "dup",
    "vector of a large one"
};

static MPI_File file;
static MPI_Offset mine;         /* where this process accesses the file */
static int data[INTS], found[INTS], expected[INTS];

/* The lists of a constructor, in both forms. */
static const int blocks[3] = { 2, 1, 3 }, places[3] = { 1, 4, 6 };
static const MPI_Count blocks_c[3] = { 2, 1, 3 }, places_c[3] = { 1, 4, 6 };

static MPI_Aint span(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MT_OK(MPI_Type_get_extent(type, &lb, &extent));
    return extent;
}

static MPI_Datatype indexed(int kind, int large, MPI_Datatype old)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    MPI_Aint bytes[3];
    MPI_Count bytes_c[3];
    for (int i = 0; i < 3; i++)
        bytes_c[i] = bytes[i] = places[i] * span(old);
    if (kind == INDEXED)
        MT_OK(large ? MPI_Type_indexed_c(3, blocks_c, places_c, old, &t) :
              MPI_Type_indexed(3, blocks, places, old, &t));
    else if (kind == HINDEXED)
        MT_OK(large ? MPI_Type_create_hindexed_c(3, blocks_c, bytes_c, old, &t) :
              MPI_Type_create_hindexed(3, blocks, bytes, old, &t));
    else if (kind == INDEXED_BLOCK)
        MT_OK(large ? MPI_Type_create_indexed_block_c(3, 2, places_c, old, &t) :
              MPI_Type_create_indexed_block(3, 2, places, old, &t));
    else
        MT_OK(large ? MPI_Type_create_hindexed_block_c(3, 2, bytes_c, old, &t) :
              MPI_Type_create_hindexed_block(3, 2, bytes, old, &t));
    return t;
}

/* The first block has no data. */
static MPI_Datatype structure(int large, MPI_Datatype old)
{
    static const int n[4] = { 2, 2, 1, 3 };
    static const MPI_Count n_c[4] = { 2, 2, 1, 3 };
    const MPI_Aint at[4] = { 8 * span(old), 0, 2 * span(old), 4 * span(old) };
    const MPI_Count at_c[4] = { at[0], at[1], at[2], at[3] };
    MPI_Datatype types[4] = { MPI_DATATYPE_NULL, old, MPI_SHORT, old }, gaps, t;
    MT_OK(MPI_Type_vector(2, 1, 2, old, &gaps));
    MT_OK(MPI_Type_vector(2, 0, 3, gaps, &types[0]));
    MT_OK(large ? MPI_Type_create_struct_c(4, n_c, at_c, types, &t) :
          MPI_Type_create_struct(4, n, at, types, &t));
    MT_OK(MPI_Type_free(&types[0]));
    MT_OK(MPI_Type_free(&gaps));
    return t;
}

static MPI_Datatype subarray(int large, int dims, int order, MPI_Datatype old)
{
    static const int sizes[3] = { 3, 4, 5 }, parts[3] = { 2, 2, 3 }, starts[3] = { 1, 0, 1 };
    static const MPI_Count sizes_c[3] = { 3, 4, 5 }, parts_c[3] = { 2, 2, 3 };
    static const MPI_Count starts_c[3] = { 1, 0, 1 };
    MPI_Datatype t;
    MT_OK(large ? MPI_Type_create_subarray_c(dims, sizes_c, parts_c, starts_c, order, old, &t) :
          MPI_Type_create_subarray(dims, sizes, parts, starts, order, old, &t));
    return t;
}

static MPI_Datatype darray(int large, MPI_Datatype old)
{
    static const int sizes[2] = { 5, 7 }, procs[2] = { 2, 2 };
    static const MPI_Count sizes_c[2] = { 5, 7 };
    static const int how[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
    static const int args[2] = { MPI_DISTRIBUTE_DFLT_DARG, 2 };
    MPI_Datatype t;
    MT_OK(large ? MPI_Type_create_darray_c(4, 1, 2, sizes_c, how, args, procs, MPI_ORDER_C, old, &t) :
          MPI_Type_create_darray(4, 1, 2, sizes, how, args, procs, MPI_ORDER_C, old, &t));
    return t;
}

/* Not committed. */
static MPI_Datatype vector(int kind, int large, MPI_Datatype old)
{
    const MPI_Aint stride = 4 * span(old);
    MPI_Datatype t = MPI_DATATYPE_NULL;
    if (kind == CONTIGUOUS)
        MT_OK(large ? MPI_Type_contiguous_c(5, old, &t) : MPI_Type_contiguous(5, old, &t));
    else if (kind == VECTOR)
        MT_OK(large ? MPI_Type_vector_c(3, 2, 4, old, &t) : MPI_Type_vector(3, 2, 4, old, &t));
    else if (kind == HVECTOR)
        MT_OK(large ? MPI_Type_create_hvector_c(3, 2, stride, old, &t) :
              MPI_Type_create_hvector(3, 2, stride, old, &t));
    else
        MT_OK(large ? MPI_Type_create_resized_c(old, 0, 2 * span(old), &t) :
              MPI_Type_create_resized(old, 0, 2 * span(old), &t));
    return t;
}

static MPI_Datatype around(int kind, int large, MPI_Datatype old)
{
    MPI_Datatype inner = vector(VECTOR, large, old), t;
    MT_OK(kind == DUP ? MPI_Type_dup(inner, &t) : MPI_Type_vector(2, 1, 2, inner, &t));
    MT_OK(MPI_Type_free(&inner));
    return t;
}

static MPI_Datatype make(int kind, int large, MPI_Datatype old)
{
    MPI_Datatype t;
    switch (kind) {
        case INDEXED:
        case HINDEXED:
        case INDEXED_BLOCK:
        case HINDEXED_BLOCK: t = indexed(kind, large, old); break;
        case STRUCT: t = structure(large, old); break;
        case SUBARRAY_C: t = subarray(large, 3, MPI_ORDER_C, old); break;
        case SUBARRAY_FORTRAN: t = subarray(large, 3, MPI_ORDER_FORTRAN, old); break;
        case SUBARRAY_1D: t = subarray(large, 1, MPI_ORDER_C, old); break;
        case DARRAY: t = darray(large, old); break;
        case DUP:
        case INSIDE: t = around(kind, large, old); break;
        default: t = vector(kind, large, old);
    }
    MT_OK(MPI_Type_commit(&t));
    return t;
}

static void put(int way, MPI_Offset at, const void *buf, int n, MPI_Datatype type)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (way == ALONE)
        MT_OK(MPI_File_write_at(file, at, buf, n, type, MPI_STATUS_IGNORE));
    else if (way == NONBLOCKING)
        MT_OK(MPI_File_iwrite_at(file, at, buf, n, type, &r));
    else if (way == COLLECTIVE)
        MT_OK(MPI_File_write_at_all(file, at, buf, n, type, MPI_STATUS_IGNORE));
    else if (way == BOTH)
        MT_OK(MPI_File_iwrite_at_all(file, at, buf, n, type, &r));
    else
        MT_OK(MPI_File_write_at_all_begin(file, at, buf, n, type));
    MT_OK(way == SPLIT ? MPI_File_write_at_all_end(file, buf, MPI_STATUS_IGNORE) :
          MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void get(int way, MPI_Offset at, void *buf, int n, MPI_Datatype type)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (way == ALONE)
        MT_OK(MPI_File_read_at(file, at, buf, n, type, MPI_STATUS_IGNORE));
    else if (way == NONBLOCKING)
        MT_OK(MPI_File_iread_at(file, at, buf, n, type, &r));
    else if (way == COLLECTIVE)
        MT_OK(MPI_File_read_at_all(file, at, buf, n, type, MPI_STATUS_IGNORE));
    else if (way == BOTH)
        MT_OK(MPI_File_iread_at_all(file, at, buf, n, type, &r));
    else
        MT_OK(MPI_File_read_at_all_begin(file, at, buf, n, type));
    MT_OK(way == SPLIT ? MPI_File_read_at_all_end(file, buf, MPI_STATUS_IGNORE) :
          MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void view(MPI_Offset at, MPI_Datatype type)
{
    MT_OK(MPI_File_set_view(file, at, MPI_BYTE, type, "native", MPI_INFO_NULL));
}

static void same(const int *a, int bytes, int kind, int way, const char *what)
{
    MT_CHECK(memcmp(a, expected, (size_t) bytes) == 0, "%s of %s, way %d: wrong data", what,
             names[kind], way);
}

/* The type of a buffer. */
static void in_memory(int kind, int way, MPI_Datatype plain, MPI_Datatype large, int bytes)
{
    int at = 0;
    put(way, mine, data, REPEAT, large);
    MT_OK(MPI_Pack(data, REPEAT, plain, expected, sizeof(expected), &at, MPI_COMM_WORLD));
    get(ALONE, mine, found, bytes, MPI_BYTE);
    same(found, bytes, kind, way, "buffer written");
    memset(found, 0, sizeof(found));
    get(way, mine, found, REPEAT, large);
    at = 0;
    MT_OK(MPI_Pack(data, REPEAT, plain, data + INTS / 2, sizeof(data) / 2, &at, MPI_COMM_WORLD));
    memset(expected, 0, sizeof(expected));
    at = 0;
    MT_OK(MPI_Unpack(data + INTS / 2, bytes, &at, expected, REPEAT, plain, MPI_COMM_WORLD));
    same(found, sizeof(found), kind, way, "buffer read");
}

static void in_view(int kind, int way, MPI_Datatype plain, MPI_Datatype large, int bytes)
{
    int at = 0;
    memset(expected, 0, sizeof(expected));
    put(ALONE, mine, expected, sizeof(expected), MPI_BYTE);
    view(mine, large);
    put(way, 0, data, bytes, MPI_BYTE);
    view(0, MPI_BYTE);
    get(ALONE, mine, found, sizeof(found), MPI_BYTE);
    MT_OK(MPI_Unpack(data, bytes, &at, expected, REPEAT, plain, MPI_COMM_WORLD));
    same(found, sizeof(found), kind, way, "view written");
    view(mine, large);
    get(way, 0, found, bytes, MPI_BYTE);
    view(0, MPI_BYTE);
    memcpy(expected, data, (size_t) bytes);
    same(found, bytes, kind, way, "view read");
}

static void kind_of_type(int kind, MPI_Datatype plain_old, MPI_Datatype large_old)
{
    MPI_Datatype plain = make(kind, 0, plain_old), large = make(kind, 1, large_old);
    int bytes;
    MT_OK(MPI_Type_size(plain, &bytes));
    bytes *= REPEAT;
    MT_CHECK(span(plain) * REPEAT <= (MPI_Aint) sizeof(data) / 2, "%s is too large", names[kind]);
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < INTS; i++)
            data[i] = (mt.rank * KINDS + kind) * INTS + i + way;
        in_memory(kind, way, plain, large, bytes);
        in_view(kind, way, plain, large, bytes);
    }
    MT_OK(MPI_Type_free(&plain));
    MT_OK(MPI_Type_free(&large));
}

static void views_are_given(void)
{
    MPI_Datatype type = make(VECTOR, 1, MPI_INT), etype, filetype;
    MPI_Offset at;
    char form[MPI_MAX_DATAREP_STRING];
    int bytes;
    MT_OK(MPI_File_set_view(file, 8, type, type, "native", MPI_INFO_NULL));
    MT_OK(MPI_File_get_view(file, &at, &etype, &filetype, form));
    MT_OK(MPI_Type_size(filetype, &bytes));
    MT_CHECK(at == 8 && bytes == 6 * (int) sizeof(int), "a view is not what it was set to");
    MT_OK(MPI_Type_free(&etype));
    MT_OK(MPI_Type_free(&filetype));
    view(0, MPI_BYTE);
    MT_OK(MPI_Type_free(&type));
}

static void count(MPI_File * handle, int *code, ...)
{
    (void) code;
    MT_CHECK(*handle == file, "the handler has another file");
    data[0]++;
}

static void refused(MPI_Datatype type)
{
    MPI_Errhandler handler;
    MT_OK(MPI_Type_commit(&type));
    MT_OK(MPI_File_create_errhandler(count, &handler));
    MT_OK(MPI_File_set_errhandler(file, handler));
    data[0] = 0;
    mt_fails(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL),
             MPI_ERR_UNSUPPORTED_OPERATION, "a view");
    mt_fails(MPI_File_write_at(file, mine, data, 1, type, MPI_STATUS_IGNORE),
             MPI_ERR_UNSUPPORTED_OPERATION, "a write");
    mt_fails(MPI_File_read_at_all(file, mine, data, 1, type, MPI_STATUS_IGNORE),
             MPI_ERR_UNSUPPORTED_OPERATION, "a collective read");
    MT_CHECK(data[0] == 3, "the handler ran %d times", data[0]);
    MT_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    MT_OK(MPI_Errhandler_free(&handler));
    MT_OK(MPI_Type_free(&type));
}

/* In a view of `large` is what a view of `plain` says. Both are freed. */
static void same_view(MPI_Datatype plain, MPI_Datatype large)
{
    MT_OK(MPI_Type_commit(&plain));
    MT_OK(MPI_Type_commit(&large));
    memset(expected, 0, sizeof(expected));
    put(ALONE, mine, expected, sizeof(expected), MPI_BYTE);
    view(mine, large);
    put(ALONE, 0, data, 64, MPI_BYTE);
    view(mine, plain);
    get(ALONE, 0, found, 64, MPI_BYTE);
    memcpy(expected, data, 64);
    same(found, 64, SUBARRAY_C, ALONE, "huge view");
    view(mine, large);
    for (int way = 0; way < WAYS; way++) {
        get(way, 8, found, 56, MPI_BYTE);
        memcpy(expected, data + 2, 56);
        same(found, 56, SUBARRAY_C, way, "huge view");
    }
    view(0, MPI_BYTE);
    MT_OK(MPI_Type_free(&plain));
    MT_OK(MPI_Type_free(&large));
}

#define MANY ((MPI_Count) 3 << 30)

/* The first bytes are accessed only. */
static void huge_views(void)
{
    static const int sizes[2] = { 1000, 20 }, parts[2] = { 50, 4 }, starts[2] = { 3, 5 };
    static const MPI_Count sizes_c[2] = { MANY, 20 }, parts_c[2] = { 50, 4 }, starts_c[2] = { 3, 5 };
    static const MPI_Count size = MANY, part = 1000, start = 3;
    MPI_Datatype plain, large, block;
    MT_OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &plain));
    MT_OK(MPI_Type_create_subarray_c(2, sizes_c, parts_c, starts_c, MPI_ORDER_C, MPI_INT, &large));
    same_view(plain, large);
    MT_OK(MPI_Type_create_subarray(1, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &plain));
    MT_OK(MPI_Type_create_subarray_c(1, &size, &part, &start, MPI_ORDER_FORTRAN, MPI_INT, &large));
    same_view(plain, large);
    MT_OK(MPI_Type_vector(2, 40, 50, MPI_INT, &plain));
    MT_OK(MPI_Type_vector_c(2, 40, MANY, MPI_INT, &large));
    same_view(plain, large);
    MT_OK(MPI_Type_vector(2, 40, 50, MPI_INT, &plain));
    MT_OK(MPI_Type_create_hvector_c(2, 40, MANY, MPI_INT, &block));
    MT_OK(MPI_Type_vector_c(1, 1, MANY, block, &large));
    MT_OK(MPI_Type_free(&block));
    same_view(plain, large);
    MT_OK(MPI_Type_vector(2, 40, 50, MPI_INT, &plain));
    MT_OK(MPI_Type_vector_c(2, MANY, MANY + 1, MPI_INT, &large));       /* an int would be 0 */
    same_view(plain, large);
    MT_OK(MPI_Type_contiguous(20, MPI_INT, &plain));
    MT_OK(MPI_Type_contiguous_c(MANY, MPI_INT, &block));
    MT_OK(MPI_Type_create_resized_c(block, 0, MANY * 8, &large));
    MT_OK(MPI_Type_free(&block));
    same_view(plain, large);
}

static void huge(void)
{
    static const MPI_Count at[2] = { 0, MANY };
    MPI_Datatype type, outer;
    MT_OK(MPI_Type_create_indexed_block_c(2, 1, at, MPI_INT, &type));
    MT_OK(MPI_Type_contiguous(1, type, &outer));
    refused(type);
    refused(outer);
    MT_OK(MPI_Type_create_hvector_c(MANY, 1, 8, MPI_INT, &type));
    refused(type);
    MT_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &outer));
    MT_OK(MPI_Type_vector_c(2, MANY, MANY + 1, outer, &type));
    MT_OK(MPI_Type_free(&outer));
    refused(type);
}

int main(int argc, char **argv)
{
    MPI_Datatype plain, large;
    mt_init(argc, argv, 1, 1);
    make_folder("file_large_types");
    file = open_in_folder(MPI_COMM_WORLD, "data", MPI_INFO_NULL);
    mine = mt.rank * (MPI_Offset) sizeof(data);
    plain = make(VECTOR, 0, MPI_SHORT);
    large = make(VECTOR, 1, MPI_SHORT);
    for (int kind = 0; kind < KINDS; kind++) {
        kind_of_type(kind, MPI_INT, MPI_INT);
        kind_of_type(kind, plain, large);
    }
    MT_OK(MPI_Type_free(&plain));
    MT_OK(MPI_Type_free(&large));
    views_are_given();
    huge_views();
    huge();
    MT_OK(MPI_File_close(&file));
    remove_folder();
    return mt_finish();
}
