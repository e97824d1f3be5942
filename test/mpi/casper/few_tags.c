/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* With CSP_MATCHING=tag and a network of few tag bits, two users of a ghost still get the tags that MPI
 * asks for, but fewer than without ghosts; a third user is refused, with one line. Starts itself: this
 * process alone starts three jobs by the mpirun of its own job. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpirun.h"

#define BITS "MPIR_CVAR_CH4_OFI_TAG_BITS=20"
#define ENV  "env -u PMI_FD -u PMI_RANK -u PMI_SIZE -u PMI_PORT -u PMI_ID MPIR_CVAR_NOLOCAL=0 " BITS
#define TAG  " CSP_NG=1 CSP_MATCHING=tag"
#define LINE "CSP_MATCHING=tag: so many users of a ghost leave only tags up to "
#define HERE "MPI_TAG_UB is "

/* What a job has printed. */
typedef struct job {
    int status, tag_ub, refusals;
} job_t;

static int in_job(void)
{
    int rank, flag, *tag_ub;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    if (rank == 0)
        printf(HERE "%d\n", flag ? *tag_ub : -1);
    MPI_Finalize();
    return 0;
}

static job_t start(const char *program, const char *settings, int processes)
{
    char command[PATH_MAX + 1024], line[1024];
    job_t job = { 0, -1, 0 };
    FILE *out;

    snprintf(command, sizeof(command), ENV "%s timeout -k 5 20 %s -n %d %s in-job 2>&1 </dev/null",
             settings, mpirun(), processes, program);
    out = popen(command, "r");
    if (!out) {
        perror(command);
        exit(1);
    }
    while (fgets(line, sizeof(line), out)) {
        if (strncmp(line, HERE, strlen(HERE)) == 0)
            job.tag_ub = atoi(line + strlen(HERE));
        job.refusals += strstr(line, LINE) != NULL;
    }
    job.status = pclose(out);
    return job;
}

static int tell(const char *what, const job_t * job)
{
    printf("%s: exit status %d, MPI_TAG_UB %d, %d refusals\n", what, job->status, job->tag_ub,
           job->refusals);
    return 1;
}

int main(int argc, char **argv)
{
    job_t without, two, three;

    if (argc == 2)
        return in_job();
    without = start(argv[0], "", 2);
    if (without.status || without.tag_ub < 0 || without.refusals)
        return tell("without ghosts", &without);
    two = start(argv[0], TAG, 3);
    if (two.status || two.refusals || two.tag_ub < 32767 || two.tag_ub >= without.tag_ub)
        return tell("two users", &two);
    three = start(argv[0], TAG, 4);
    if (!three.status || three.refusals != 1 || three.tag_ub >= 0)
        return tell("three users", &three);
    printf(" No Errors\n");
    return 0;
}
