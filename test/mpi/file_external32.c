/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Records of different types go to a file in the format external32, from memory with gaps and to places
 * with gaps. With a native view their bytes are big-endian, and they are read back as they were.
 * Several datatypes describe the same memory, and all kinds of calls write and read it. */
#include "folder.h"

#define RECORDS 5
#define RECORD 16               /* bytes, in memory and in the file */
#define IN_MEMORY 24            /* from one to the next */
#define IN_FILE 32

#define AWAY 4000               /* bytes from the address that is given to the data */

typedef struct {
    const char *name;
    MPI_Datatype type;
    int n;
    MPI_Aint at;                /* of the first record, from the address */
} shape;

typedef int access_fn(MPI_File file, void *buf, int n, MPI_Datatype type, MPI_Status * status);

static MPI_Datatype record, in_memory, in_file;
static unsigned char out[RECORDS * IN_MEMORY], in[RECORDS * IN_MEMORY], big[RECORDS * RECORD];

static void make_types(void)
{
    MPI_Datatype types[3] = { MPI_INT, MPI_FLOAT, MPI_DOUBLE };
    int lengths[3] = { 1, 1, 1 };
    MPI_Aint at[3] = { 0, 4, 8 };
    MT_OK(MPI_Type_create_struct(3, lengths, at, types, &record));
    MT_OK(MPI_Type_commit(&record));
    MT_OK(MPI_Type_create_hvector(RECORDS, 1, IN_MEMORY, record, &in_memory));
    MT_OK(MPI_Type_commit(&in_memory));
    MT_OK(MPI_Type_create_resized(record, 0, IN_FILE, &in_file));
    MT_OK(MPI_Type_commit(&in_file));
}

static void fill(void)
{
    unsigned char *to = big;
    memset(out, 0xff, sizeof(out));
    for (int n = 0; n < RECORDS; n++) {
        unsigned char *at = out + n * IN_MEMORY;
        int i = 0x01020304 + n;
        float f = 1.25F * (float) n;
        double d = -3.5 * n;
        uint32_t words[2];
        uint64_t all;
        memcpy(at, &i, sizeof(i));
        memcpy(at + 4, &f, sizeof(f));
        memcpy(at + 8, &d, sizeof(d));
        memcpy(words, at, sizeof(words));
        memcpy(&all, at + 8, sizeof(all));
        for (int k = 0; k < 8; k++) {
            *to++ = (unsigned char) (words[k / 4] >> (8 * (3 - k % 4)));
            if (k == 7)
                for (int m = 7; m >= 0; m--)
                    *to++ = (unsigned char) (all >> (8 * m));
        }
    }
}

static void check_bytes(MPI_File file, const char *what)
{
    unsigned char bytes[RECORD];
    MT_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int n = 0; n < RECORDS; n++) {
        MT_OK(MPI_File_read_at(file, n * IN_FILE, bytes, RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int k = 0; k < RECORD; k++)
            MT_CHECK(bytes[k] == big[n * RECORD + k], "%s: record %d, byte %d: %02x instead of %02x",
                     what, n, k, bytes[k], big[n * RECORD + k]);
    }
}

/* One item of `old` that begins `at` bytes behind its address, and extends so far. */
static MPI_Datatype displaced(MPI_Datatype old, MPI_Aint at, MPI_Aint extent)
{
    MPI_Datatype there, type;
    MPI_Aint address = at;
    int one = 1;
    MT_OK(MPI_Type_create_hindexed(1, &one, &address, old, &there));
    MT_OK(MPI_Type_create_resized(there, 0, extent, &type));
    MT_OK(MPI_Type_commit(&type));
    MT_OK(MPI_Type_free(&there));
    return type;
}

static void set_view(MPI_File file)
{
    MT_OK(MPI_File_set_view(file, 0, record, in_file, "external32", MPI_INFO_NULL));
}

#define ACCESS(name_, call_) \
    static int name_(MPI_File file, void *buf, int n, MPI_Datatype type, MPI_Status * status) \
    { \
        return call_; \
    }
#define IACCESS(name_, call_) \
    static int name_(MPI_File file, void *buf, int n, MPI_Datatype type, MPI_Status * status) \
    { \
        MPI_Request request; \
        MT_OK(call_); \
        return MPI_Wait(&request, status); \
    }
#define SPLIT(name_, call_) \
    static int name_(MPI_File file, void *buf, int n, MPI_Datatype type, MPI_Status * status) \
    { \
        MT_OK(call_##_begin(file, buf, n, type)); \
        return call_##_end(file, buf, status); \
    }

ACCESS(write_own, MPI_File_write(file, buf, n, type, status))
ACCESS(read_own, MPI_File_read(file, buf, n, type, status))
ACCESS(write_all, MPI_File_write_at_all(file, 0, buf, n, type, status))
ACCESS(read_all, MPI_File_read_at_all(file, 0, buf, n, type, status))
ACCESS(write_shared, MPI_File_write_shared(file, buf, n, type, status))
ACCESS(read_shared, MPI_File_read_shared(file, buf, n, type, status))
ACCESS(write_ordered, MPI_File_write_ordered(file, buf, n, type, status))
ACCESS(read_ordered, MPI_File_read_ordered(file, buf, n, type, status))
IACCESS(iwrite_at, MPI_File_iwrite_at(file, 0, buf, n, type, &request))
IACCESS(iread_at, MPI_File_iread_at(file, 0, buf, n, type, &request))
IACCESS(iwrite_all, MPI_File_iwrite_all(file, buf, n, type, &request))
IACCESS(iread_all, MPI_File_iread_all(file, buf, n, type, &request))
IACCESS(iwrite_shared, MPI_File_iwrite_shared(file, buf, n, type, &request))
IACCESS(iread_shared, MPI_File_iread_shared(file, buf, n, type, &request))
SPLIT(split_write_all, MPI_File_write_all)
SPLIT(split_read_all, MPI_File_read_all)
SPLIT(split_write_ordered, MPI_File_write_ordered)
SPLIT(split_read_ordered, MPI_File_read_ordered)

static const struct {
    const char *name;
    access_fn *write, *read;
} calls[] = {
    { "write", write_own, read_own },
    { "write_at_all", write_all, read_all },
    { "write_shared", write_shared, read_shared },
    { "write_ordered", write_ordered, read_ordered },
    { "iwrite_at", iwrite_at, iread_at },
    { "iwrite_all", iwrite_all, iread_all },
    { "iwrite_shared", iwrite_shared, iread_shared },
    { "write_all_begin", split_write_all, split_read_all },
    { "write_ordered_begin", split_write_ordered, split_read_ordered }
};

/* Without a type: one with the addresses of the records themselves. */
static void access_records(MPI_File file, access_fn * call, void *buf, const shape * s,
                           const char *what)
{
    void *address = (void *) ((uintptr_t) buf - (uintptr_t) s->at);
    MPI_Datatype type = s->type;
    MPI_Status status;
    MPI_Aint at;
    int n;
    if (type == MPI_DATATYPE_NULL) {
        MT_OK(MPI_Get_address(buf, &at));
        type = displaced(in_memory, at, sizeof(in));
        address = MPI_BOTTOM;
    }
    MT_OK(call(file, address, s->n, type, &status));
    MT_OK(MPI_Get_count(&status, type, &n));
    MT_CHECK(n == s->n, "%s: %d items instead of %d", what, n, s->n);
    if (s->type == MPI_DATATYPE_NULL)
        MT_OK(MPI_Type_free(&type));
}

static MPI_Datatype resized(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent)
{
    MPI_Datatype t;
    MT_OK(MPI_Type_create_resized(type, lb, extent, &t));
    MT_OK(MPI_Type_commit(&t));
    return t;
}

/* All records, with an empty block between. */
static MPI_Datatype indexed(MPI_Datatype old)
{
    int lengths[4] = { 1, 2, 0, 2 }, at[4] = { 0, 1, 100, 3 };
    MPI_Datatype t;
    MT_OK(MPI_Type_indexed(4, lengths, at, old, &t));
    MT_OK(MPI_Type_commit(&t));
    return t;
}

static void write_and_read(const shape * s, int call)
{
    char what[80];
    MPI_File file = open_in_folder(MPI_COMM_SELF, "records", MPI_INFO_NULL);
    snprintf(what, sizeof(what), "%s, %s", calls[call].name, s->name);
    set_view(file);
    access_records(file, calls[call].write, out, s, what);
    check_bytes(file, what);
    set_view(file);
    memset(in, 0xff, sizeof(in));
    access_records(file, calls[call].read, in, s, what);
    MT_CHECK(!memcmp(in, out, sizeof(in)), "%s: read is not what was written, or gaps changed", what);
    MT_OK(MPI_File_close(&file));
}

/* A folder can be opened, but not read; what was not read is not converted. */
static void fail_to_read(void)
{
    MPI_File file;
    int value = 1234;
    if (MPI_File_open(MPI_COMM_SELF, folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return;
    MT_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    MT_CHECK(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS,
             "a folder was read");
    MT_CHECK(value == 1234, "%d, converted from nothing", value);
    MT_OK(MPI_File_close(&file));
}

/* Pairs with gaps: as items of their own, and within another type. */
static void pairs(MPI_Datatype pair, size_t size, size_t data, const char *view)
{
    unsigned char from[4 * sizeof(long double) * 2], to[sizeof(from)], packed[sizeof(from)];
    unsigned char bytes[sizeof(from)];
    int end = 0;
    MPI_Datatype four;
    MPI_File file = open_in_folder(MPI_COMM_SELF, "pairs", MPI_INFO_NULL);
    MT_OK(MPI_Type_contiguous(4, pair, &four));
    MT_OK(MPI_Type_commit(&four));
    for (size_t i = 0; i < sizeof(from); i++)
        from[i] = (unsigned char) (i % 64);
    MT_OK(MPI_Pack(from, 4, pair, packed, (int) sizeof(packed), &end, MPI_COMM_SELF));
    MT_CHECK((size_t) end == 4 * data, "%d bytes of pairs", end);
    for (int call = 0; call < 2; call++) {
        MPI_Datatype out_type = call ? four : pair, in_type = call ? pair : four;
        MT_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, view, MPI_INFO_NULL));
        MT_OK(MPI_File_write_at(file, 0, from, call ? 1 : 4, out_type, MPI_STATUS_IGNORE));
        memset(to, 0xff, sizeof(to));
        MT_OK(MPI_File_read_at(file, 0, to, call ? 4 : 1, in_type, MPI_STATUS_IGNORE));
        for (size_t i = 0; i < 4 * size; i++)
            MT_CHECK(to[i] == from[i] || to[i] == 0xff, "%s: byte %d of pairs", view, (int) i);
        end = 0;
        MT_OK(MPI_Pack(to, 4, pair, bytes, (int) sizeof(bytes), &end, MPI_COMM_SELF));
        MT_CHECK(!memcmp(bytes, packed, 4 * data), "%s: pairs are not what was written", view);
        if (strcmp(view, "native"))
            continue;
        MT_OK(MPI_File_read_at(file, 0, bytes, (int) (4 * data), MPI_BYTE, MPI_STATUS_IGNORE));
        MT_CHECK(!memcmp(bytes, packed, 4 * data), "the file has other pairs");
    }
    MT_OK(MPI_File_close(&file));
    MT_OK(MPI_Type_free(&four));
}

/* What lies beyond the end of the file stays as it was. */
static void read_beyond_the_end(void)
{
    int value[5] = { 1, 2, 3, -7, -7 };
    MPI_Request r;
    MPI_File file = open_in_folder(MPI_COMM_SELF, "short", MPI_INFO_NULL);
    MT_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    MT_OK(MPI_File_write_at(file, 0, value, 3, MPI_INT, MPI_STATUS_IGNORE));
    memset(value, 0, 3 * sizeof(int));
    MT_OK(MPI_File_iread_at(file, 0, value, 5, MPI_INT, &r));
    MT_OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < 5; i++)
        MT_CHECK(value[i] == (i < 3 ? i + 1 : -7), "value %d is %d", i, value[i]);
    MT_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    mt_init_spawned(argc, argv, 1, 1);
    make_folder("file_external32");
    make_types();
    fill();
    shape shapes[] = {
        { "one item", in_memory, 1, 0 },
        { "several items", displaced(record, 0, IN_MEMORY), RECORDS, 0 },
        { "behind the address", displaced(record, AWAY, IN_MEMORY), RECORDS, AWAY },
        { "before the address", displaced(record, -AWAY, IN_MEMORY), RECORDS, -AWAY },
        { "a lower bound below", resized(in_memory, -8, sizeof(out)), 1, 0 },
        { "a lower bound above", resized(record, 8, IN_MEMORY), RECORDS, 0 },
        { "resized twice", resized(resized(record, -4, 40), 0, IN_MEMORY), RECORDS, 0 },
        { "indexed", indexed(resized(record, 0, IN_MEMORY)), 1, 0 },
        { "one item, far from the next", resized(in_memory, 0, (MPI_Aint) 1 << 44), 1, 0 },
        { "MPI_BOTTOM", MPI_DATATYPE_NULL, 1, 0 }
    };
    for (int i = 0; i < (int) (sizeof(shapes) / sizeof(shapes[0])); i++)
        for (int call = 0; call < (int) (sizeof(calls) / sizeof(calls[0])); call++)
            write_and_read(&shapes[i], call);
    fail_to_read();
    for (int i = 0; i < 2; i++) {
        const char *view = i ? "external32" : "native";
        pairs(MPI_DOUBLE_INT, 2 * sizeof(double), sizeof(double) + sizeof(int), view);
        pairs(MPI_SHORT_INT, 2 * sizeof(int), sizeof(short) + sizeof(int), view);
    }
    read_beyond_the_end();
    remove_folder();
    return mt_finish();
}
