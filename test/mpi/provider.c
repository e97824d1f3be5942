/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Of libfabric's providers MPI_Init takes neither sockets, which matches wrongly (doc/models.md), nor
 * udp;ofi_rxd, shm or net, if nobody asks for one and there is another; and not net without tcp, which
 * the argument forbids. */
#include "mt.h"

#define BEGINS "libfabric provider: "

/* What MPI_Init prints goes to a file. */
static FILE *init(int argc, char **argv)
{
    FILE *said = tmpfile();
    const int out = dup(STDOUT_FILENO);

    if (!said || out < 0 || dup2(fileno(said), STDOUT_FILENO) < 0)
        abort();
    mt_init(argc, argv, 1, 1);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(said);
    return said;
}

int main(int argc, char **argv)
{
    char line[256], name[256] = "";
    const int without_tcp = argc > 1;
    FILE *said;

    setenv("MPIR_CVAR_DEBUG_SUMMARY", "1", 1);
    unsetenv("FI_PROVIDER");
    if (without_tcp)
        setenv("FI_PROVIDER", "^tcp", 1);
    said = init(1, argv);
    while (fgets(line, sizeof(line), said)) {
        if (!strncmp(line, BEGINS, strlen(BEGINS)))
            sscanf(line + strlen(BEGINS), "%255s", name);
    }
    fclose(said);
    if (mt.rank == 0) {         /* which prints it */
        MT_CHECK(name[0], "MPI_Init prints no provider");
        MT_CHECK(strcmp(name, "udp;ofi_rxd") && strcmp(name, "shm") && strcmp(name, "net") &&
                 (without_tcp || strcmp(name, "sockets")), "the provider is %s", name);
    }
    return mt_finish();
}
