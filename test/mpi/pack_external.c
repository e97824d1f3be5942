/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Data in the format external32, of datatypes with members of different types: big-endian, in the order
 * of the type, without the gaps. Unpacked, it is what it was, and the gaps are untouched. */
#include "mt.h"
#include <stddef.h>

#define SIZE 2048
#define ORIGIN 512              /* displacements may be negative */
#define START 8                 /* of the packed data */

static unsigned char out[SIZE], want[SIZE];
static int bytes;               /* of want */

/* What is to be packed next: where it is, and what it looks like. */
static void item(MPI_Aint at, const void *value, size_t size, uint64_t bits, int width)
{
    memcpy(out + ORIGIN + at, value, size);
    while (width--)
        want[bytes++] = (unsigned char) (bits >> (8 * width));
}

static void an_int(MPI_Aint at, int value)
{
    item(at, &value, sizeof(value), (uint64_t) value, 4);
}

static void a_short(MPI_Aint at, short value)
{
    item(at, &value, sizeof(value), (uint64_t) value, 2);
}

static void a_char(MPI_Aint at, char value)
{
    item(at, &value, sizeof(value), (uint64_t) value, 1);
}

/* Four bytes in external32. */
static void a_long(MPI_Aint at, long value)
{
    item(at, &value, sizeof(value), (uint64_t) value, 4);
}

static void a_double(MPI_Aint at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    item(at, &value, sizeof(value), bits, 8);
}

static void a_complex(MPI_Aint at, double value)
{
    a_double(at, value);
    a_double(at + (MPI_Aint) sizeof(double), -value);
}

static void begin(void)
{
    memset(out, 0xff, SIZE);
    bytes = 0;
}

/* The type is freed. */
static void check(const char *what, MPI_Datatype type, int count)
{
    static unsigned char in[SIZE], packed[SIZE];
    MPI_Aint size, position = START;
    MPI_Datatype t;
    MT_OK(MPI_Type_dup(type, &t));
    MT_OK(MPI_Type_commit(&type));
    MT_OK(MPI_Type_commit(&t));
    MT_OK(MPI_Pack_external_size("external32", count, type, &size));
    MT_CHECK(size == bytes, "%s: the size is %ld instead of %d", what, (long) size, bytes);
    memset(packed, 0x77, SIZE);
    MT_OK(MPI_Pack_external("external32", out + ORIGIN, count, type, packed, SIZE, &position));
    MT_CHECK(position == START + bytes, "%s: %ld bytes were packed instead of %d", what,
             (long) position - START, bytes);
    for (int i = 0; i < bytes; i++)
        MT_CHECK(packed[START + i] == want[i], "%s: byte %d of %d is %02x instead of %02x", what, i,
                 bytes, packed[START + i], want[i]);
    MT_CHECK(packed[START - 1] == 0x77 && packed[START + bytes] == 0x77, "%s: overrun", what);
    memset(in, 0xff, SIZE);
    position = START;
    /* another type with the same data */
    MT_OK(MPI_Unpack_external("external32", packed, SIZE, &position, in + ORIGIN, count, t));
    MT_CHECK(position == START + bytes, "%s: %ld bytes were unpacked instead of %d", what,
             (long) position - START, bytes);
    for (int i = 0; i < SIZE; i++)
        MT_CHECK(in[i] == out[i], "%s: byte %d is %02x instead of %02x after unpacking", what,
                 i - ORIGIN, in[i], out[i]);
    MT_OK(MPI_Type_free(&type));
    MT_OK(MPI_Type_free(&t));
}

/* The mixed type that all others are made of. */
#define PIECE 16

static MPI_Datatype mixed(void)
{
    MPI_Datatype types[2] = { MPI_INT, MPI_DOUBLE }, whole, type;
    int lengths[2] = { 1, 1 };
    MPI_Aint at[2] = { 0, 8 };
    MT_OK(MPI_Type_create_struct(2, lengths, at, types, &whole));
    MT_OK(MPI_Type_create_resized(whole, 0, PIECE, &type));
    MT_OK(MPI_Type_free(&whole));
    return type;
}

static void pieces(MPI_Aint at, int n)
{
    static int next;
    for (int i = 0; i < n; i++) {
        next++;
        an_int(at + i * PIECE, 0x01020304 * (next % 9) - next);
        a_double(at + i * PIECE + 8, 1.5 * next);
    }
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MT_OK(MPI_Type_get_extent(type, &lb, &extent));
    return extent;
}

static void structs(void)
{
    MPI_Datatype piece = mixed(), type, types[4] = { MPI_SHORT, piece, MPI_INT, MPI_CHAR };
    int lengths[4] = { 1, 2, 0, 3 };
    MPI_Aint at[4] = { 0, 8, 4, 41 }, extent;
    for (int count = 0; count < 6; count++) {
        begin();
        pieces(0, count);
        check("struct", mixed(), count);
    }
    MT_OK(MPI_Type_create_struct(4, lengths, at, types, &type));
    extent = extent_of(type);
    begin();
    for (int i = 0; i < 3; i++) {
        a_short(i * extent, (short) (-300 - i));
        pieces(i * extent + 8, 2);
        for (int k = 0; k < 3; k++)
            a_char(i * extent + 41 + k, (char) (10 * i + k));
    }
    check("nested struct", type, 3);
    types[0] = types[2] = types[3] = MPI_LONG;
    lengths[2] = 1;
    MT_OK(MPI_Type_create_struct(3, lengths, (MPI_Aint[3]) {
                                 8, 16, -8}, types, &type));
    begin();
    a_long(8, -70000);
    pieces(16, 2);
    a_long(-8, 123456789);
    check("struct with MPI_LONG", type, 1);
    MT_OK(MPI_Type_free(&piece));
}

static void strided(void)
{
    MPI_Datatype piece = mixed(), type, wide;
    MT_OK(MPI_Type_contiguous(3, piece, &type));
    begin();
    pieces(0, 6);
    check("contiguous", type, 2);
    MT_OK(MPI_Type_vector(3, 2, 3, piece, &type));
    begin();
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            pieces((8 * i + 3 * k) * PIECE, 2);
    check("vector", type, 2);
    MT_OK(MPI_Type_create_hvector(3, 2, -40, piece, &type));
    begin();
    for (int k = 0; k < 3; k++)
        pieces(-40 * k, 2);
    check("hvector", type, 1);
    MT_OK(MPI_Type_create_resized(piece, -8, 40, &wide));
    begin();
    for (int i = 0; i < 3; i++)
        pieces(40 * i, 1);
    MT_OK(MPI_Type_dup(wide, &type));
    check("resized", type, 3);
    MT_OK(MPI_Type_vector(2, 2, 3, wide, &type));
    begin();
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            pieces((3 * i + k) * 40, 1);
    check("vector of resized", type, 1);
    MT_OK(MPI_Type_free(&piece));
    MT_OK(MPI_Type_free(&wide));
}

static void indexed(void)
{
    MPI_Datatype piece = mixed(), type;
    int lengths[3] = { 1, 0, 2 }, places[3] = { 3, 9, -2 };
    MPI_Aint at[3] = { 64, -32, 120 };
    MT_OK(MPI_Type_indexed(3, lengths, places, piece, &type));
    begin();
    pieces(3 * PIECE, 1);
    pieces(-2 * PIECE, 2);
    check("indexed", type, 1);
    MT_OK(MPI_Type_create_hindexed(3, lengths, at, piece, &type));
    begin();
    pieces(64, 1);
    pieces(120, 2);
    check("hindexed", type, 1);
    MT_OK(MPI_Type_create_indexed_block(3, 2, places, piece, &type));
    begin();
    for (int i = 0; i < 3; i++)
        pieces(places[i] * PIECE, 2);
    check("indexed block", type, 1);
    MT_OK(MPI_Type_create_hindexed_block(3, 2, at, piece, &type));
    begin();
    for (int i = 0; i < 3; i++)
        pieces(at[i], 2);
    check("hindexed block", type, 1);
    MT_OK(MPI_Type_free(&piece));
}

static void arrays(void)
{
    MPI_Datatype piece = mixed(), type;
    int sizes[2] = { 4, 3 }, part[2] = { 2, 2 }, starts[2] = { 2, 1 };
    MT_OK(MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, piece, &type));
    begin();
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            pieces((12 * i + 3 * (2 + k) + 1) * PIECE, 2);
    check("subarray", type, 2);
    MT_OK(MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_FORTRAN, piece, &type));
    begin();
    for (int k = 0; k < 2; k++)
        pieces((4 * (1 + k) + 2) * PIECE, 2);
    check("subarray in Fortran's order", type, 1);
    MT_OK(MPI_Type_free(&piece));
}

static MPI_Datatype darray(int rank, int order, MPI_Datatype old)
{
    int sizes[2] = { 3, 7 }, kinds[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
    int args[2] = { MPI_DISTRIBUTE_DFLT_DARG, 2 }, procs[2] = { 2, 2 };
    MPI_Datatype type;
    MT_OK(MPI_Type_create_darray(4, rank, 2, sizes, kinds, args, procs, order, old, &type));
    return type;
}

/* Of 3 times 7 items process 1 has two rows, and 2, 3 and 6 of each; process 2 has 0, 1, 4, 5 of the
 * third row. */
static void darrays(void)
{
    MPI_Datatype piece = mixed();
    begin();
    for (int i = 0; i < 2; i++) {
        pieces((7 * i + 2) * PIECE, 2);
        pieces((7 * i + 6) * PIECE, 1);
    }
    check("darray", darray(1, MPI_ORDER_C, piece), 1);
    begin();
    pieces((2 * 7 + 0) * PIECE, 2);
    pieces((2 * 7 + 4) * PIECE, 2);
    check("darray of process 2", darray(2, MPI_ORDER_C, piece), 1);
    begin();
    pieces(2 * 3 * PIECE, 2);
    pieces(3 * 3 * PIECE, 2);
    pieces(6 * 3 * PIECE, 2);
    check("darray in Fortran's order", darray(1, MPI_ORDER_FORTRAN, piece), 1);
    begin();
    for (int i = 0; i < 2; i++)
        for (int k = 2; k < 7; k += k == 3 ? 3 : 1)
            an_int((7 * i + k) * (MPI_Aint) sizeof(int), 100 * i + k);
    check("darray of int", darray(1, MPI_ORDER_C, MPI_INT), 1);
    MT_OK(MPI_Type_free(&piece));
}

static void pairs(void)
{
    struct double_int {
        double a;
        int b;
    };
    struct short_int {
        short a;
        int b;
    };
    struct long_int {
        long a;
        int b;
    };
    MPI_Datatype type;
    MT_OK(MPI_Type_contiguous(2, MPI_DOUBLE_INT, &type));
    begin();
    for (int i = 0; i < 6; i++) {
        a_double(i * (MPI_Aint) sizeof(struct double_int), 0.75 * i);
        an_int(i * (MPI_Aint) sizeof(struct double_int) + (MPI_Aint) offsetof(struct double_int, b), i);
    }
    check("MPI_DOUBLE_INT", type, 3);
    MT_OK(MPI_Type_contiguous(2, MPI_SHORT_INT, &type));
    begin();
    for (int i = 0; i < 6; i++) {
        a_short(i * (MPI_Aint) sizeof(struct short_int), (short) (1000 - i));
        an_int(i * (MPI_Aint) sizeof(struct short_int) + (MPI_Aint) offsetof(struct short_int, b), -i);
    }
    check("MPI_SHORT_INT", type, 3);
    MT_OK(MPI_Type_dup(MPI_LONG_INT, &type));
    begin();
    for (int i = 0; i < 2; i++) {
        a_long(i * (MPI_Aint) sizeof(struct long_int), -5 - i);
        an_int(i * (MPI_Aint) sizeof(struct long_int) + (MPI_Aint) offsetof(struct long_int, b), i);
    }
    check("MPI_LONG_INT", type, 2);
    MT_OK(MPI_Type_vector(2, 1, 2, MPI_2INT, &type));
    begin();
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            an_int((4 * i + k) * (MPI_Aint) sizeof(int), 77777 * (2 * i + k));
    check("MPI_2INT", type, 1);
}

/* Types that need no struct work as before, also within one. */
static void plain(void)
{
    MPI_Datatype type, row;
    MT_OK(MPI_Type_vector(2, 2, 3, MPI_SHORT, &row));
    MT_OK(MPI_Type_create_struct(3, (int[3]) {
                                 1, 2, 1}, (MPI_Aint[3]) {
                                 -16, 32, 128}, (MPI_Datatype[3]) {
                                 MPI_C_DOUBLE_COMPLEX, row, MPI_INT}, &type));
    begin();
    a_complex(-16, 3.25);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            for (int m = 0; m < 2; m++)
                a_short(32 + 2 * (5 * i + 3 * k + m), (short) (256 * i + 16 * k + m));
    an_int(128, 99);
    check("struct with a vector", type, 1);
    begin();
    for (int k = 0; k < 4; k++)
        a_short(2 * (k / 2 * 3 + k % 2), (short) (k << 8));
    check("vector of short", row, 1);
}

static void large_counts(void)
{
    MPI_Datatype piece = mixed(), type, wide, types[2] = { piece, MPI_SHORT };
    MPI_Count lengths[2] = { 2, 3 }, at[2] = { 16, 0 }, places[2] = { 5, -3 };
    MPI_Count sizes[2] = { 3, 2 }, part[2] = { 2, 1 }, starts[2] = { 1, 1 };
    MT_OK(MPI_Type_create_struct_c(2, lengths, at, types, &type));
    MT_OK(MPI_Type_create_hvector_c(2, 1, 64, type, &wide));
    MT_OK(MPI_Type_free(&type));
    begin();
    for (int i = 0; i < 2; i++) {
        pieces(64 * i + 16, 2);
        for (int k = 0; k < 3; k++)
            a_short(64 * i + 2 * k, (short) (3000 + k));
    }
    check("struct and hvector, large", wide, 1);
    MT_OK(MPI_Type_indexed_c(2, lengths, places, piece, &type));
    begin();
    pieces(5 * PIECE, 2);
    pieces(-3 * PIECE, 3);
    check("indexed, large", type, 1);
    MT_OK(MPI_Type_create_hindexed_block_c(2, 2, (MPI_Count[2]) {
                                           72, -64}, piece, &type));
    begin();
    pieces(72, 2);
    pieces(-64, 2);
    check("hindexed block, large", type, 1);
    MT_OK(MPI_Type_vector_c(2, 1, 2, piece, &wide));
    MT_OK(MPI_Type_create_resized_c(wide, 0, 4 * PIECE, &type));
    MT_OK(MPI_Type_free(&wide));
    MT_OK(MPI_Type_contiguous_c(2, type, &wide));
    MT_OK(MPI_Type_free(&type));
    begin();
    for (int i = 0; i < 4; i++)
        pieces(2 * i * PIECE, 1);
    check("contiguous and vector, large", wide, 1);
    MT_OK(MPI_Type_create_subarray_c(2, sizes, part, starts, MPI_ORDER_C, piece, &type));
    begin();
    pieces((2 + 1) * PIECE, 1);
    pieces((4 + 1) * PIECE, 1);
    check("subarray, large", type, 1);
    MT_OK(MPI_Type_free(&piece));
}

/* Members that are anywhere in memory. MPICH 4.0.2 refuses MPI_BOTTOM. */
static void addresses(void)
{
    static int i = 0x11223344;
    static double d[2] = { 2.5, -1 };
    static short s = -2;
    MPI_Datatype types[3] = { MPI_DOUBLE, MPI_INT, MPI_SHORT }, type;
    int lengths[3] = { 2, 1, 1 };
    MPI_Aint at[3], base, position = 0;
    unsigned char packed[22];
    MT_OK(MPI_Get_address(out, &base));
    MT_OK(MPI_Get_address(d, &at[0]));
    MT_OK(MPI_Get_address(&i, &at[1]));
    MT_OK(MPI_Get_address(&s, &at[2]));
    for (int k = 0; k < 3; k++)
        at[k] = MPI_Aint_diff(at[k], base);
    MT_OK(MPI_Type_create_struct(3, lengths, at, types, &type));
    MT_OK(MPI_Type_commit(&type));
    begin();
    a_double(0, d[0]);
    a_double(0, d[1]);
    an_int(0, i);
    a_short(0, s);
    MT_OK(MPI_Pack_external("external32", out, 1, type, packed, sizeof(packed), &position));
    MT_CHECK(position == bytes && !memcmp(packed, want, (size_t) bytes), "addresses: wrong data");
    i = s = 0;
    d[0] = d[1] = 0;
    position = 0;
    MT_OK(MPI_Unpack_external("external32", packed, sizeof(packed), &position, out, 1, type));
    MT_CHECK(position == bytes && i == 0x11223344 && d[0] == 2.5 && d[1] == -1 && s == -2,
             "addresses: %d, %g, %g and %d were unpacked", i, d[0], d[1], s);
    MT_OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    mt_init_spawned(argc, argv, 1, 1);
    structs();
    strided();
    indexed();
    arrays();
    darrays();
    pairs();
    plain();
    large_counts();
    addresses();
    return mt_finish();
}
