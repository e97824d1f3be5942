/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The performance variables of the thread-safety models, or those whose names begin with PV_PREFIX,
 * through MPI_T: a set has a session of its own with a handle of each variable, started when the set
 * was made. Included by one source. */
#ifndef PVARS_H_INCLUDED
#define PVARS_H_INCLUDED

#include "mt.h"

#include <sched.h>

#ifndef PV_PREFIX
#define PV_PREFIX "ch4_threads_"
#endif
#define PV_MOST 100             /* variables */
#define PV_ELEMENTS 64

typedef struct {
    char name[64];
    int index;
    int class;
    MPI_Datatype type;
} pv_info_t;

typedef struct {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle[PV_MOST];
    int count[PV_MOST];
} pv_set_t;

static pv_info_t pv_info[PV_MOST];
static int pv_num;

/* Find the variables, with their type and a description. After MPI_Init. */
static inline void pv_find(void)
{
    int all, provided;
    MT_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    MT_OK(MPI_T_pvar_get_num(&all));
    for (int i = 0; i < all; i++) {
        char name[64], text[256];
        int length = sizeof(name), text_length = sizeof(text), verbosity, bind, ro, cont, atomic;
        MPI_T_enum values;
        pv_info_t *v = &pv_info[pv_num];
        MT_OK(MPI_T_pvar_get_info(i, name, &length, &verbosity, &v->class, &v->type, &values, text,
                                  &text_length, &bind, &ro, &cont, &atomic));
        if (strncmp(name, PV_PREFIX, strlen(PV_PREFIX)))
            continue;
        MT_CHECK(strlen(text) > 10, "%s has no description", name);
        MT_CHECK(v->type == MPI_UNSIGNED_LONG_LONG || v->type == MPI_DOUBLE, "type of %s", name);
        strcpy(v->name, name + strlen(PV_PREFIX));
        v->index = i;
        MT_CHECK(++pv_num < PV_MOST, "too many variables");
    }
}

static inline pv_set_t *pv_start(void)
{
    pv_set_t *set = mt_alloc(sizeof(*set));
    MT_OK(MPI_T_pvar_session_create(&set->session));
    for (int n = 0; n < pv_num; n++) {
        MT_OK(MPI_T_pvar_handle_alloc(set->session, pv_info[n].index, NULL, &set->handle[n],
                                      &set->count[n]));
        MT_CHECK(set->count[n] >= 1 && set->count[n] <= PV_ELEMENTS, "%s has %d elements",
                 pv_info[n].name, set->count[n]);
        if (pv_info[n].class != MPI_T_PVAR_CLASS_LEVEL)
            MT_OK(MPI_T_pvar_start(set->session, set->handle[n]));
    }
    return set;
}

static inline void pv_free(pv_set_t * set)
{
    MT_OK(MPI_T_pvar_session_free(&set->session));
    free(set);
}

static inline int pv_number(const char *name)
{
    int n = 0;
    while (n < pv_num && strcmp(pv_info[n].name, name))
        n++;
    MT_CHECK(n < pv_num, "there is no variable %s%s", PV_PREFIX, name);
    return n;
}

static inline double pv_element(pv_set_t * set, const char *name, int i)
{
    int n = pv_number(name);
    union {
        unsigned long long count[PV_ELEMENTS];
        double real[PV_ELEMENTS];
    } buf;
    MT_CHECK(i < set->count[n], "%s has no element %d", name, i);
    MT_OK(MPI_T_pvar_read(set->session, set->handle[n], &buf));
    return pv_info[n].type == MPI_DOUBLE ? buf.real[i] : (double) buf.count[i];
}

static inline int pv_count(pv_set_t * set, const char *name)
{
    return set->count[pv_number(name)];
}

/* The sum of the elements: over VCIs, or the buckets of a histogram. */
static inline double pv(pv_set_t * set, const char *name)
{
    double sum = 0;
    for (int i = 0; i < pv_count(set, name); i++)
        sum += pv_element(set, name, i);
    return sum;
}

/* Wait until a variable has a value: threads of the library may be behind the program. */
static inline void pv_await(pv_set_t * set, const char *name, double value)
{
    while (pv(set, name) != value)
        sched_yield();
}

#define PV_IS(set_, name_, value_) \
    MT_CHECK(pv(set_, name_) == (double) (value_), "%s is %.17g instead of %.17g", name_, \
             pv(set_, name_), (double) (value_))

#endif /* PVARS_H_INCLUDED */
