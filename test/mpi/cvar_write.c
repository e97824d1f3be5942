/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_T_cvar_write of our control variables, and of two of MPICH's with limits. Before MPI_Init: the
 * library follows them. Afterwards: what was read in MPI_Init takes any value, without effect, and a
 * truth value any number; the others take values in their limits. Strings are the values in force, or
 * what was written. */
#include "mt.h"

#define CH4 "MPIR_CVAR_CH4_"

static const char *const once[] = {
    CH4 "SERVER_THREADS", CH4 "SHM_INJECT", CH4 "SLICE_EXTENSION", CH4 "OVERSUBSCRIBED",
    CH4 "THREAD_TRACE_SAMPLE", CH4 "THREAD_TRACE_SIZE", CH4 "THREAD_TRACE", CH4 "THREAD_CS",
    CH4 "THREAD_PROGRESS", CH4 "THREAD_LOCK", CH4 "HMCS_LEVELS", CH4 "POST_QUEUE",
    CH4 "MATCH_TABLE", CH4 "MATCH_PASSED",
    "MPIR_CVAR_PROGRESS_TIMEOUT"
};

static const struct {
    const char *name;
    int good, bad;
} free_ones[] = {
    { CH4 "WAIT_SPIN_USEC", 0, -1 }, { CH4 "TAKEN_PAUSES", 1, 0 }, { CH4 "EARLY_YIELD", 0, -1 },
    { CH4 "SHM_BATCH", 2, 0 }, { CH4 "NETMOD_TURN", 4096, 4097 }, { CH4 "MAX_COMBINE", 123, 0 },
    { CH4 "WAIT_POLLS", 1, 0 }, { CH4 "POLL_PAUSES", 65536, 65537 }, { CH4 "POLLER_YIELD", 1, 0 },
    { CH4 "NAP_TURNS", 0, -1 }, { CH4 "TEST_BACKOFF_NSEC", 0, -1 }, { CH4 "TEST_YIELD", 1, 0 },
    { CH4 "LOCK_SPIN_NSEC", 0, -1 }, { CH4 "ASYNC_PAUSES", 0, -1 }, { CH4 "SERVER_NAP_USEC", 1, 0 },
    { "MPIR_CVAR_REQUEST_BATCH_SIZE", 1, 0 }, { "MPIR_CVAR_REQUEST_POLL_FREQ", 1, 0 }
};

static MPI_T_cvar_handle handle_of(const char *name, int *is_text)
{
    MPI_T_cvar_handle handle;
    int index, count, verbosity, bind, scope, none = 0;
    MPI_Datatype type;
    MPI_T_enum enumtype;

    MT_OK(MPI_T_cvar_get_index(name, &index));
    MT_OK(MPI_T_cvar_get_info(index, NULL, &none, &verbosity, &type, &enumtype, NULL, &none, &bind,
                              &scope));
    MT_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    *is_text = type == MPI_CHAR;
    return handle;
}

static int write_of(const char *name, const void *value)
{
    int is_text, rc;
    MPI_T_cvar_handle handle = handle_of(name, &is_text);

    rc = MPI_T_cvar_write(handle, value);
    MT_OK(MPI_T_cvar_handle_free(&handle));
    return rc;
}

/* Returns whether it is a string. */
static int read_of(const char *name, char *value)
{
    int is_text;
    MPI_T_cvar_handle handle = handle_of(name, &is_text);

    MT_OK(MPI_T_cvar_read(handle, value));
    MT_OK(MPI_T_cvar_handle_free(&handle));
    return is_text;
}

static void write_once(const char *name)
{
    static char before[4096], value[4096], after[4096];
    int is_text = read_of(name, before);

    strcpy(value, "blocking");
    if (!is_text)
        *(int *) value = *(int *) before + 1;
    MT_OK(write_of(name, value));
    read_of(name, after);
    MT_CHECK(!memcmp(value, after, is_text ? strlen(value) + 1 : sizeof(int)),
             "%s is not what was written", name);
    MT_OK(write_of(name, before));
}

static void write_free(const char *name, int good, int bad)
{
    int value, rc;

    MT_OK(write_of(name, &good));
    rc = write_of(name, &bad);
    MT_CHECK(rc == MPI_T_ERR_INVALID, "write of %d to %s gave %d", bad, name, rc);
    read_of(name, (char *) &value);
    MT_CHECK(value == good, "%s is %d after a write of %d", name, value, good);
}

int main(int argc, char **argv)
{
    const char *model = getenv("MT_MODEL");
    static char text[4096];
    int provided, two = 2;

    MT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    MT_OK(write_of(CH4 "THREAD_CS", model));
    MT_OK(write_of(CH4 "TAKEN_PAUSES", &two));
    mt_init(argc, argv, 1, 1);
    read_of(CH4 "THREAD_CS", text);
    MT_CHECK(!strcmp(text, model), "the model is %s, not %s", text, model);
    for (unsigned i = 0; i < sizeof(once) / sizeof(once[0]); i++)
        write_once(once[i]);
    for (unsigned i = 0; i < sizeof(free_ones) / sizeof(free_ones[0]); i++)
        write_free(free_ones[i].name, free_ones[i].good, free_ones[i].bad);
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    MT_OK(MPI_T_finalize());
    return mt_finish();
}
