/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

#ifndef GHOST_H_INCLUDED
#define GHOST_H_INCLUDED

/* The ghosts of a few users, and to stop one. */
#include "../mt.h"
#include <dirent.h>

#define MOST_GHOSTS 8
#define MOST_USERS 8

/* The parent of a process, and its state; 0 if there is none. */
static int parent_of(pid_t pid, char *state)
{
    char name[64];
    int parent = 0;
    snprintf(name, sizeof(name), "/proc/%d/stat", (int) pid);
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c %d", state, &parent) != 2)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

static pid_t ghost;             /* one of them; most tests have one only */
static pid_t ghosts[MOST_GHOSTS];
static int n_ghosts;

/* The children of our parent that are not users are ghosts. comm: of all users. */
static inline void find_ghost_of(MPI_Comm comm)
{
    pid_t me = getpid(), users[MOST_USERS];
    struct dirent *entry;
    char state;
    MT_CHECK(mt.size <= MOST_USERS, "too many users");
    MT_OK(MPI_Allgather(&me, sizeof(me), MPI_BYTE, users, sizeof(me), MPI_BYTE, comm));
    DIR *all = opendir("/proc");
    while (all && (entry = readdir(all))) {
        pid_t pid = (pid_t) atoi(entry->d_name);
        int is_user = 0;
        for (int i = 0; i < mt.size; i++)
            is_user |= pid == users[i];
        if (pid <= 0 || is_user || parent_of(pid, &state) != getppid() || state == 'Z')
            continue;
        MT_CHECK(n_ghosts < MOST_GHOSTS, "too many ghosts");
        ghost = ghosts[n_ghosts++] = pid;
    }
    if (all)
        closedir(all);
    MT_CHECK(ghost, "no ghost");
}

static inline void find_ghost(void)
{
    find_ghost_of(MPI_COMM_WORLD);
}

static inline void await_state(char wanted)
{
    char state = 0;
    while (parent_of(ghost, &state) && state != wanted)
        usleep(200);
}

/* Whether the ghost, which is stopped, was inside a system call. Where the system does not tell, it is
 * taken to have been. */
static inline int was_in_system_call(void)
{
    char name[64], line[256];
    int is_outside = 0;
    snprintf(name, sizeof(name), "/proc/%d/syscall", (int) ghost);
    FILE *file = fopen(name, "r");
    if (file && fgets(line, sizeof(line), file))
        is_outside = line[0] == '-';
    if (file)
        fclose(file);
    return !is_outside;
}

/* It is stopped while it sleeps: elsewhere it may be at the desk, where users would wait for it. */
static inline void stop_asleep(void)
{
    while (1) {
        await_state('S');
        MT_CHECK(kill(ghost, SIGSTOP) == 0, "cannot stop the ghost");
        await_state('T');
        if (was_in_system_call())
            return;
        MT_CHECK(kill(ghost, SIGCONT) == 0, "cannot let the ghost go on");
    }
}

static inline void stop_ghost(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        stop_asleep();
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static inline void continue_ghost(void)
{
    MT_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mt.rank == 0)
        MT_CHECK(kill(ghost, SIGCONT) == 0, "cannot let the ghost go on");
}

#endif /* GHOST_H_INCLUDED */
