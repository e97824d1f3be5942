/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* A program that goes wrong as its argument says; see the script faults. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one child of our parent that is not a user is the ghost. */
static void kill_ghost(const pid_t *users, int n)
{
    char command[64], line[64];
    snprintf(command, sizeof(command), "pgrep -P %d", (int) getppid());
    FILE *list = popen(command, "r");
    while (list && fgets(line, sizeof(line), list)) {
        pid_t pid = (pid_t) atoi(line);
        int is_user = 0;
        for (int i = 0; i < n; i++)
            is_user |= users[i] == pid;
        if (!is_user)
            kill(pid, SIGKILL);
    }
    if (list)
        pclose(list);
}

int main(int argc, char **argv)
{
    const char *fault = argc == 2 ? argv[1] : "";
    int rank, size, x = 0;
    if (strcmp(fault, "session") == 0) {
        MPI_Session session;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    }
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pid_t me = getpid(), users[64];
    MPI_Allgather(&me, sizeof(me), MPI_BYTE, users, sizeof(me), MPI_BYTE, MPI_COMM_WORLD);
    if (rank == 0 && strcmp(fault, "leave") == 0)
        _exit(0);
    if (rank == 0 && strcmp(fault, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0 && strcmp(fault, "kill-ghost") == 0)
        kill_ghost(users, size);
    if (rank == 1 && strcmp(fault, "none") != 0)
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
