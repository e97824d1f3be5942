/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The ways to complete a list of requests: wait and test, each one, all, any and some, and shared
 * with a second thread. Each checks that every request completes exactly once. */
#include "fuzz.h"

#define MAX 64

typedef struct {
    fz_lane_t *l;
    int n, left;
    int base;                   /* the caller's index of the first */
    MPI_Request *reqs;
    char active[MAX];
    fz_done_t done;
    void *arg;
} list_t;

void fz_completed_nothing(void *arg, int i, const MPI_Status * st)
{
    (void) arg, (void) i, (void) st;
}

/* rc: of a call that stores an error for each request */
static void check_errors(const list_t * x, int rc, int n, const MPI_Status * st)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;

    if (rc == MPI_SUCCESS)
        return;
    for (int i = 0; i < n; i++) {
        if (st[i].MPI_ERROR == MPI_SUCCESS || st[i].MPI_ERROR == MPI_ERR_PENDING)
            continue;
        MPI_Error_string(st[i].MPI_ERROR, text, &len);
        fz_fail(x->l, "completion %d of %d, source %d, tag %d: %s", i, n, st[i].MPI_SOURCE,
                st[i].MPI_TAG, text);
    }
    fz_fail(x->l, "error %d, but none in the statuses", rc);
}

static void completed(list_t * x, int i, const MPI_Status * st)
{
    FZ_CHECK(x->l, i >= 0 && i < x->n, "completion of request %d of %d", i, x->n);
    FZ_CHECK(x->l, x->active[i], "request %d of %d completed twice", i, x->n);
    x->active[i] = 0;
    x->left--;
    x->done(x->arg, x->base + i, st);
}

static void wait_all(list_t * x)
{
    MPI_Status st[MAX];

    check_errors(x, MPI_Waitall(x->n, x->reqs, st), x->n, st);
    for (int i = 0; i < x->n; i++) {
        if (x->active[i])
            completed(x, i, &st[i]);
    }
}

static void test_all(list_t * x)
{
    MPI_Status st[MAX];
    int flag = 0;

    while (!flag)
        check_errors(x, MPI_Testall(x->n, x->reqs, &flag, st), x->n, st);
    for (int i = 0; i < x->n; i++) {
        if (x->active[i])
            completed(x, i, &st[i]);
    }
}

static void wait_each(list_t * x)
{
    MPI_Status st;
    int first = fz_own_draw(x->l, x->n);

    for (int k = 0; k < x->n; k++) {
        int i = (first + k) % x->n;
        if (!x->active[i])
            continue;
        MPI_Wait(&x->reqs[i], &st);
        completed(x, i, &st);
    }
}

static void test_each(list_t * x)
{
    MPI_Status st;
    int flag;

    for (int i = 0; x->left > 0; i = (i + 1) % x->n) {
        if (!x->active[i])
            continue;
        MPI_Test(&x->reqs[i], &flag, &st);
        if (flag)
            completed(x, i, &st);
    }
}

static void look_then_wait(list_t * x)
{
    MPI_Status st;
    int flag;

    for (int i = 0; i < x->n; i++) {
        if (!x->active[i])
            continue;
        for (flag = 0; !flag;)
            MPI_Request_get_status(x->reqs[i], &flag, &st);
        MPI_Wait(&x->reqs[i], &st);
        completed(x, i, &st);
    }
}

static void any(list_t * x, int test)
{
    MPI_Status st;
    int i, flag = 1;

    while (x->left > 0) {
        if (test)
            MPI_Testany(x->n, x->reqs, &i, &flag, &st);
        else
            MPI_Waitany(x->n, x->reqs, &i, &st);
        if (flag)
            completed(x, i, &st);
    }
}

static void some(list_t * x, int test)
{
    MPI_Status st[MAX];
    int index[MAX], many, rc;

    while (x->left > 0) {
        if (test)
            rc = MPI_Testsome(x->n, x->reqs, &many, index, st);
        else
            rc = MPI_Waitsome(x->n, x->reqs, &many, index, st);
        FZ_CHECK(x->l, many != MPI_UNDEFINED, "no active request, but %d are left", x->left);
        check_errors(x, rc, many, st);
        for (int k = 0; k < many; k++)
            completed(x, index[k], &st[k]);
    }
}

static void *helper(void *arg)
{
    list_t *x = arg;

    wait_all(x);
    return NULL;
}

/* Another thread, which comes and goes, completes the second half. */
static void share(list_t * x)
{
    list_t a = *x, b = *x;
    pthread_t thread;

    a.n = x->n / 2;
    b.n = x->n - a.n;
    b.base = a.n;
    b.reqs += a.n;
    a.left = b.left = 0;
    for (int i = 0; i < a.n; i++)
        a.left += a.active[i];
    memmove(b.active, x->active + a.n, (size_t) b.n);
    for (int i = 0; i < b.n; i++)
        b.left += b.active[i];
    FZ_CHECK(x->l, pthread_create(&thread, NULL, helper, &b) == 0, "no more threads");
    if (a.n > 0)
        wait_each(&a);
    pthread_join(thread, NULL);
    x->left = 0;
}

void fz_complete(fz_lane_t * l, int n, MPI_Request * reqs, fz_done_t done, void *arg)
{
    list_t x = {.l = l,.n = n,.reqs = reqs,.done = done,.arg = arg };

    FZ_CHECK(l, n <= MAX, "too many requests for fz_complete");
    for (int i = 0; i < n; i++) {
        x.active[i] = reqs[i] != MPI_REQUEST_NULL;
        x.left += x.active[i];
    }
    if (x.left == 0)
        return;
    switch (fz_own_draw(l, 10)) {
        case 0: wait_all(&x); break;
        case 1: test_all(&x); break;
        case 2: wait_each(&x); break;
        case 3: test_each(&x); break;
        case 4: look_then_wait(&x); break;
        case 5: any(&x, 0); break;
        case 6: any(&x, 1); break;
        case 7: some(&x, 0); break;
        case 8: some(&x, 1); break;
        case 9: share(&x); break;
    }
    FZ_CHECK(l, x.left == 0, "%d requests are left", x.left);
}

/* One by one. */
void fz_complete_each(fz_lane_t * l, int n, MPI_Request * reqs)
{
    for (int i = 0; i < n; i++) {
        int flag = fz_own_draw(l, 2);
        if (flag) {
            MPI_Wait(&reqs[i], MPI_STATUS_IGNORE);
            continue;
        }
        while (!flag)
            MPI_Test(&reqs[i], &flag, MPI_STATUS_IGNORE);
    }
}

void fz_complete_collectives(fz_lane_t * l, int n, MPI_Request * reqs, int persistent)
{
    if (persistent && fz.without.persistent_coll_any)
        fz_complete_each(l, n, reqs);
    else
        fz_complete(l, n, reqs, fz_completed_nothing, NULL);
    for (int i = 0; persistent && i < n; i++)
        MPI_Request_free(&reqs[i]);
}
