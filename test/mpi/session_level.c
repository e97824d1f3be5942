/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* MPI_Session_get_info has the thread level of the session: that of MPI_Init, if it came first. */
#include "mt.h"

static void must_have(const char *level)
{
    MPI_Session s;
    MPI_Info info;
    char value[64] = "";
    int found;

    MT_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s));
    MT_OK(MPI_Session_get_info(s, &info));
    MT_OK(MPI_Info_get(info, "thread_level", sizeof(value) - 1, value, &found));
    MT_CHECK(found && !strcmp(value, level), "the level is '%s' instead of %s", value, level);
    MT_OK(MPI_Info_free(&info));
    MT_OK(MPI_Session_finalize(&s));
}

int main(int argc, char **argv)
{
    static const struct {
        int level;
        const char *name;
    } levels[] = {
        { MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE" }, { MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED" },
        { MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED" },
        { MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE" }
    };
    const int i = argc > 1 ? atoi(argv[1]) : 0;
    int provided;

    MT_OK(MPI_Init_thread(NULL, NULL, levels[i].level, &provided));
    MT_CHECK(provided == levels[i].level, "level %d instead of %d", provided, levels[i].level);
    must_have(levels[i].name);
    return mt_finish();
}
