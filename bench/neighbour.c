/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* What waiting threads cost a neighbour: processes that only compute share the cores with two processes
 * of which T threads each wait in MPI_Recv for a message that comes late. Prints the work that the
 * neighbours do meanwhile, as a share of what they do while nobody is in MPI. */
#include "bench_common.h"
#include <sys/wait.h>

#define USAGE "neighbour [-t waiting threads 1,2,..] [-d seconds] " \
    "[-c computing processes] [-j]"

#define MAX_NEIGHBOURS 64
#define SETTLE 0.05             /* seconds for the threads to reach MPI_Recv, and to fall asleep */

typedef struct {
    int json, neighbours;
    double duration;
    bench_points_t points;
} options_t;

typedef struct {
    pid_t pid;
    int order, answer;          /* pipes: seconds to compute; turns done */
} neighbour_t;

static options_t opt;
static int rank;
static neighbour_t neighbour[MAX_NEIGHBOURS];

static void sleep_for(double seconds)
{
    struct timespec ts = {.tv_sec = (time_t) seconds };
    ts.tv_nsec = (long) (1e9 * (seconds - (double) ts.tv_sec));
    while (nanosleep(&ts, &ts) && errno == EINTR);
}

static double turns_in(double seconds)
{
    double turns = 0, end = bench_now() + seconds;
    volatile unsigned long x = 88172645463325252ul;
    for (; bench_now() < end; turns++)
        for (int i = 0; i < 1000; i++)
            x = x * 6364136223846793005ul + 1442695040888963407ul;
    return turns;
}

/* Ends when the other end of `order` is closed. */
static void compute(int order, int answer)
{
    double seconds;
    while (read(order, &seconds, sizeof(seconds)) == sizeof(seconds)) {
        double turns = turns_in(seconds);
        if (write(answer, &turns, sizeof(turns)) != sizeof(turns))
            break;
    }
    _exit(0);
}

static void give_up(const char *what)
{
    fprintf(stderr, "neighbour: %s: %s\n", what, strerror(errno));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The child never calls MPI. It closes the ends of the others, or it would keep them from ending. */
static void start_neighbour(int k)
{
    int order[2], answer[2];
    if (pipe(order) || pipe(answer))
        give_up("pipe");
    pid_t pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        for (int i = 0; i < k; i++)
            close(neighbour[i].order);
        close(order[1]);
        compute(order[0], answer[1]);
    }
    close(order[0]);
    close(answer[1]);
    neighbour[k] = (neighbour_t) {.pid = pid,.order = order[1],.answer = answer[0] };
}

/* Turns of all neighbours in a stretch of opt.duration. The caller sleeps meanwhile. */
static double work_of_all(void)
{
    double sum = 0, turns;
    for (int k = 0; k < opt.neighbours; k++)
        if (write(neighbour[k].order, &opt.duration, sizeof(double)) != sizeof(double))
            give_up("write");
    for (int k = 0; k < opt.neighbours; k++) {
        if (read(neighbour[k].answer, &turns, sizeof(turns)) != sizeof(turns))
            give_up("a neighbour has ended");
        sum += turns;
    }
    return sum;
}

/* Rank 0 asks the neighbours, the other sleeps as long. */
static double stretch(void)
{
    sleep_for(SETTLE);
    if (rank == 0)
        return work_of_all();
    sleep_for(opt.duration);
    return 0;
}

static void *waiter(void *arg)
{
    MPI_Recv(NULL, 0, MPI_CHAR, !rank, *(int *) arg, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static double run_point(int threads)
{
    pthread_t tid[BENCH_MAX_THREADS];
    int tag[BENCH_MAX_THREADS];

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < threads; i++) {
        tag[i] = i;
        if (pthread_create(&tid[i], NULL, waiter, &tag[i]))
            give_up("pthread_create");
    }
    double turns = stretch();
    for (int i = 0; i < threads; i++)
        MPI_Send(NULL, 0, MPI_CHAR, !rank, i, MPI_COMM_WORLD);
    for (int i = 0; i < threads; i++)
        pthread_join(tid[i], NULL);
    return turns;
}

static void report(int threads, double share)
{
    if (opt.json)
        printf("{\"bench\": \"neighbour\", \"mode\": \"recv\", \"threads\": %d, \"bytes\": 0, "
               "\"neighbours\": %d, \"value\": %.6g, \"unit\": \"share of the work alone\"}\n",
               threads, opt.neighbours, share);
    else
        printf("%8d %8.3f\n", threads, share);
    fflush(stdout);
}

static void parse(int argc, char **argv)
{
    int c;
    opt = (options_t) {.duration = 1.0,.neighbours = (int) sysconf(_SC_NPROCESSORS_ONLN) };
    if (opt.neighbours > MAX_NEIGHBOURS)
        opt.neighbours = MAX_NEIGHBOURS;
    bench_thread_list("-t", "1,4,16", &opt.points);
    while ((c = bench_getopt(argc, argv, "t:d:c:j", USAGE)) != -1) {
        switch (c) {
            case 't': bench_thread_list("-t", optarg, &opt.points); break;
            case 'd': opt.duration = bench_seconds("-d", optarg); break;
            case 'c': opt.neighbours = (int) bench_int("-c", optarg, 1, MAX_NEIGHBOURS); break;
            case 'j': opt.json = 1; break;
        }
    }
}

int main(int argc, char **argv)
{
    rank = bench_init(&argc, &argv);
    parse(argc, argv);
    for (int k = 0; rank == 0 && k < opt.neighbours; k++)
        start_neighbour(k);
    if (rank == 0 && !opt.json)
        printf("# %d computing processes\n# threads    share\n", opt.neighbours);
    double alone = run_point(0);
    if (rank == 0 && alone <= 0)
        bench_wrong("neighbour: the computing processes did nothing while alone: -d is too short");
    for (int i = 0; i < opt.points.n; i++) {
        double turns = run_point(opt.points.threads[i]);
        if (rank == 0)
            report(opt.points.threads[i], turns / alone);
    }
    for (int k = 0; rank == 0 && k < opt.neighbours; k++) {
        close(neighbour[k].order);
        waitpid(neighbour[k].pid, NULL, 0);
    }
    MPI_Finalize();
    return 0;
}
