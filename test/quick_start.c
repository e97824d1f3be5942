/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

/*
 * Preloaded into the programs of the tests, so that they start in a tenth of the time.
 *
 * What Debian's libfabric 1.17 loads and does at start has nothing to do with MPI: libinfinipath
 * measures the rate of the time stamp counter for 0.2 s when it is loaded, and the verbs and EFA
 * providers read all symbols of the kernel, to find out whether it knows memory of GPUs.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static int called_by(const char *library, const void *address)
{
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, library);
}

/* While its clock goes backwards, libinfinipath does not measure, and reads /proc/cpuinfo. */
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    static time_t calls;
    struct timespec t;
    (void) zone;
    clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec;
    now->tv_usec = t.tv_nsec / 1000;
    if (called_by("libinfinipath", __builtin_return_address(0)))
        now->tv_sec -= ++calls;
    return 0;
}

/* It would say that it has done so. */
void ipath_syslog(void);
void ipath_syslog(void)
{
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next) (const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return next(strcmp(path, "/proc/kallsyms") ? path : "/dev/null", mode);
}
