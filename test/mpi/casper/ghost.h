/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#ifndef GHOST_H_INCLUDED
#define GHOST_H_INCLUDED

/* The ghosts of two users, and to stop one. */
#include "../mt.h"

#define MOST_GHOSTS 8

static pid_t ghost;             /* one of them; most tests have one only */
static pid_t ghosts[MOST_GHOSTS];
static int n_ghosts;

/* The children of our parent that are not users are ghosts. */
static void find_ghost(void)
{
    char command[64], line[64];
    pid_t me = getpid(), users[2];
    MT_OK(MPI_Allgather(&me, sizeof(me), MPI_BYTE, users, sizeof(me), MPI_BYTE, MPI_COMM_WORLD));
    snprintf(command, sizeof(command), "pgrep -P %d", (int) getppid());
    FILE *list = popen(command, "r");
    while (list && fgets(line, sizeof(line), list)) {
        pid_t pid = (pid_t) atoi(line);
        if (pid == users[0] || pid == users[1] || kill(pid, 0) != 0)
            continue;
        MT_CHECK(n_ghosts < MOST_GHOSTS, "too many ghosts");
        ghost = ghosts[n_ghosts++] = pid;
    }
    if (list)
        pclose(list);
    MT_CHECK(ghost, "no ghost");
}

/* It sleeps by now. */
static inline void stop_ghost(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep(20000);
    if (mt.rank == 0)
        MT_CHECK(kill(ghost, SIGSTOP) == 0, "cannot stop the ghost");
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static inline void continue_ghost(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        MT_CHECK(kill(ghost, SIGCONT) == 0, "cannot let the ghost go on");
}

#endif /* GHOST_H_INCLUDED */
