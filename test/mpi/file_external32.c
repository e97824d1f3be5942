/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Records of different types go to a file in the format external32, from memory with gaps and to places
 * with gaps. With a native view their bytes are big-endian, and they are read back as they were. */
#include "folder.h"

#define RECORDS 5
#define RECORD 16               /* bytes, in memory and in the file */
#define IN_MEMORY 24            /* from one to the next */
#define IN_FILE 32

static MPI_Datatype record, in_memory, in_file;

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

static void fill(unsigned char *memory, unsigned char *big)
{
    memset(memory, 0xff, RECORDS * IN_MEMORY);
    for (int n = 0; n < RECORDS; n++) {
        unsigned char *at = memory + n * IN_MEMORY;
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
            *big++ = (unsigned char) (words[k / 4] >> (8 * (3 - k % 4)));
            if (k == 7)
                for (int m = 7; m >= 0; m--)
                    *big++ = (unsigned char) (all >> (8 * m));
        }
    }
}

static void check_bytes(MPI_File file, const unsigned char *big)
{
    unsigned char bytes[RECORD];
    MT_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int n = 0; n < RECORDS; n++) {
        MT_OK(MPI_File_read_at(file, n * IN_FILE, bytes, RECORD, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int k = 0; k < RECORD; k++)
            MT_CHECK(bytes[k] == big[n * RECORD + k], "record %d, byte %d: %02x instead of %02x", n, k,
                     bytes[k], big[n * RECORD + k]);
    }
}

int main(int argc, char **argv)
{
    static unsigned char out[RECORDS * IN_MEMORY], in[RECORDS * IN_MEMORY], big[RECORDS * RECORD];
    MPI_File file;
    mt_init_spawned(argc, argv, 1, 1);
    make_folder("file_external32");
    make_types();
    fill(out, big);
    file = open_in_folder(MPI_COMM_SELF, "records", MPI_INFO_NULL);
    MT_OK(MPI_File_set_view(file, 0, record, in_file, "external32", MPI_INFO_NULL));
    MT_OK(MPI_File_write_at(file, 0, out, 1, in_memory, MPI_STATUS_IGNORE));
    check_bytes(file, big);
    MT_OK(MPI_File_set_view(file, 0, record, in_file, "external32", MPI_INFO_NULL));
    memset(in, 0xff, sizeof(in));
    MT_OK(MPI_File_read_at(file, 0, in, 1, in_memory, MPI_STATUS_IGNORE));
    MT_CHECK(!memcmp(in, out, sizeof(in)), "other data is read than was written, or gaps were changed");
    MT_OK(MPI_File_close(&file));
    MT_OK(MPI_Type_free(&record));
    MT_OK(MPI_Type_free(&in_memory));
    MT_OK(MPI_Type_free(&in_file));
    remove_folder();
    return mt_finish();
}
