/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* What went wrong, where, and how it came about. */

#include "model.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 400              /* the last ones that -t prints */

typedef struct event {
    int thread;
    int order;
    const char *what;
    uintptr_t address;
    uint64_t value;
    void *pc;
} event_t;

void model_event(const char *what, const volatile void *p, uint64_t value, int order, void *pc)
{
    if (model->trace)
        model->events[model->event_count++ % EVENTS] = (event_t) {
            .thread = model_index(model->self), .order = order, .what = what,
            .address = (uintptr_t) p, .value = value, .pc = pc
        };
}

/* Ask addr2line; the address itself if there is none. */
const char *model_where(void *pc)
{
    static char text[256];
    char command[128], function[96] = "", line[128] = "";
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/exe", (int) getpid());
    snprintf(command, sizeof(command), "addr2line -s -f -e %s %#lx 2>/dev/null", path,
             (unsigned long) pc - 1);
    FILE *out = popen(command, "r");
    if (out) {
        if (fgets(function, sizeof(function), out) && fgets(line, sizeof(line), out)) {
            function[strcspn(function, "\n")] = '\0';
            line[strcspn(line, " \n")] = '\0';
        }
        pclose(out);
    }
    if (line[0])
        snprintf(text, sizeof(text), "%s (%s)", function, line);
    else
        snprintf(text, sizeof(text), "%p", pc);
    return text;
}

static const char *order_name(int order)
{
    static const char *const names[] =
        { "relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst" };

    return order >= 0 && order < 6 ? names[order] : "?";
}

static void print_events(void)
{
    long first = model->event_count > EVENTS ? model->event_count - EVENTS : 0;

    for (long i = first; i < model->event_count; i++) {
        const event_t *e = &model->events[i % EVENTS];
        printf("  %4ld thread %d %-17s %#lx = %#lx %s, %s\n", i, e->thread, e->what,
               (unsigned long) e->address, (unsigned long) e->value, order_name(e->order),
               model_where(e->pc));
    }
}

void model_fail(const char *check, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("%s: %s %lu: %s: ", model->name, model->enumerating ? "execution" : "seed",
           (unsigned long) model->seed, check);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    if (model->trace)
        print_events();
    fflush(stdout);
    _exit(1);
}

static void crashed(int signal_number)
{
    if (signal_number == SIGALRM)
        model_fail("livelock", "a loop without shared accesses");
    model_fail("crash", "signal %d in thread %d", signal_number,
               model->self ? model_index(model->self) : -1);
}

void report_create(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM };

    model->events = model_map(EVENTS * sizeof(event_t));
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], crashed);
}
