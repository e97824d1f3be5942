/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Breadth-first search of a Graph500 graph, one level after the other (TOPC, section 7.2.1;
 * ICS'19, section 4.4, "Breadth-First Search"). Every thread of a process expands vertices of the
 * frontier, sends to the owners of their neighbours from buffers of its own, one pair for each
 * process, and has one posted receive; it only calls MPI_Test to progress.
 *
 * A level ends by NBX (Hoefler, Siebert, Lumsdaine, PPoPP 2010). The sends are synchronous, so a
 * complete send has been matched. When all sends of a process are complete, its last thread
 * starts MPI_Ibarrier; when that completes, every message of the level has been matched
 * everywhere. No thread can see whether its own posted receive is among the matched ones, so this
 * thread then sends one empty message to the own process for each thread: a thread ends the level
 * when it receives one. A process may be in the next level by then, so the tag tells odd from
 * even levels.
 *
 * No thread ever waits without testing its receive, so sends to it always complete.
 *
 * The tree is checked by the rules of the Graph500 specification. All processes generate all
 * edges and keep their own, so the graph itself does not depend on the library. */
#include "apps.h"
#include <stdatomic.h>

#define CHUNK 32                /* vertices of the frontier that a thread takes at once */

typedef struct {
    int64_t child, parent;
} pair_t;

/* The graph as one process sees it. Process v % app_size owns vertex v, at index v / app_size. */
typedef struct {
    int64_t vertices;           /* of the whole graph */
    int64_t own;
    int64_t *first;             /* the neighbours of own vertex i begin at adj[first[i]] */
    int64_t *adj;               /* and end before adj[first[i + 1]] */
    char *linked;               /* for each vertex of the whole graph: has it a neighbour? */
} graph_t;

/* A search, shared by the threads of a process. */
typedef struct {
    MPI_Comm comm;
    int threads, tag;
    _Atomic int64_t *parent;    /* of own vertices; -1: not reached */
    int64_t *frontier, *next;   /* own vertices of this level and of the next one */
    int64_t frontier_size;
    atomic_long next_size;
    atomic_long taken;          /* vertices of the frontier that threads have taken */
    atomic_int finished;        /* threads whose sends are complete */
    atomic_long strays;         /* received vertices of other processes */
} search_t;

typedef struct {
    int fill;                   /* pairs in out */
    pair_t *out, *sent;         /* being filled, being sent */
    MPI_Request request;        /* of sent */
} lane_t;

typedef struct {
    search_t *s;
    lane_t *lane;               /* to each process */
    pair_t *in;
    MPI_Request receive;
    int ended;                  /* has received the empty message of this level */
} thread_t;

static long scale = 13, edge_factor = 16, roots = 16, pairs = 128;
static graph_t graph;

/* A bijection of 0 .. 2^scale - 1, so that a vertex's number does not tell its degree. */
static int64_t scramble(uint64_t v)
{
    const uint64_t mask = ((uint64_t) 1 << scale) - 1;

    for (uint64_t round = 0; round < 3; round++) {
        v = (v * (app_random((uint64_t) app_seed, ~round) | 1) + round) & mask;
        v ^= v >> (scale / 2 + 1);
    }
    return (int64_t) v;
}

/* The ends of an edge of the Kronecker graph with A, B, C of Graph500: 0.57, 0.19, 0.19. */
static void edge_ends(int64_t edge, int64_t ends[2])
{
    uint64_t u = 0, v = 0;

    for (int bit = 0; bit < scale; bit++) {
        double r = app_random_real((uint64_t) app_seed, (uint64_t) edge * 64 + (uint64_t) bit);

        u = u << 1 | (r >= 0.76);
        v = v << 1 | ((r >= 0.57 && r < 0.76) || r >= 0.95);
    }
    ends[0] = scramble(u);
    ends[1] = scramble(v);
}

/* Enters all edges of own vertices: with adj NULL counts them in first[i + 1], else stores them at
 * first[i], which moves on. A loop is no edge. */
static void enter_edges(graph_t * g)
{
    const int64_t edges = edge_factor * g->vertices;

    for (int64_t e = 0; e < edges; e++) {
        int64_t end[2];

        edge_ends(e, end);
        if (end[0] == end[1])
            continue;
        for (int k = 0; k < 2; k++) {
            g->linked[end[k]] = 1;
            if (end[k] % app_size != app_rank)
                continue;
            if (g->adj)
                g->adj[g->first[end[k] / app_size]++] = end[!k];
            else
                g->first[end[k] / app_size + 1]++;
        }
    }
}

static void make_graph(void)
{
    graph_t *g = &graph;

    g->vertices = (int64_t) 1 << scale;
    g->own = (g->vertices - app_rank + app_size - 1) / app_size;
    g->first = bench_alloc((size_t) (g->own + 1) * sizeof(int64_t));
    g->linked = bench_alloc((size_t) g->vertices);
    enter_edges(g);
    if (!memchr(g->linked, 1, (size_t) g->vertices))    /* the same in all processes */
        bench_usage_error("bfs: with -s %ld -e %ld -r %ld the graph has loops only", scale,
                          edge_factor, app_seed);
    for (int64_t i = 0; i < g->own; i++)
        g->first[i + 1] += g->first[i];
    g->adj = bench_alloc((size_t) (g->first[g->own] + 1) * sizeof(int64_t));
    enter_edges(g);
    memmove(g->first + 1, g->first, (size_t) g->own * sizeof(int64_t));
    g->first[0] = 0;
}

static int64_t choose_root(const graph_t * g, long number)
{
    int64_t v = (int64_t) (app_random(~(uint64_t) app_seed, (uint64_t) number) %
                           (uint64_t) g->vertices);

    for (int64_t i = 0; i < g->vertices && !g->linked[v]; i++)
        v = (v + 1) % g->vertices;
    return v;
}

/* The first to name a parent wins. */
static void claim(search_t * s, int64_t child, int64_t parent)
{
    int64_t none = -1, i = child / app_size;

    if (child < 0 || child >= graph.vertices || child % app_size != app_rank)
        atomic_fetch_add(&s->strays, 1);
    else if (atomic_load_explicit(&s->parent[i], memory_order_relaxed) < 0 &&
             atomic_compare_exchange_strong(&s->parent[i], &none, parent))
        s->next[atomic_fetch_add(&s->next_size, 1)] = child;
}

static void post_receive(thread_t * t)
{
    MPI_Irecv(t->in, (int) pairs * 2, MPI_INT64_T, MPI_ANY_SOURCE, t->s->tag, t->s->comm,
              &t->receive);
}

/* Takes in what has arrived. */
static void poll_receive(thread_t * t)
{
    MPI_Status status;
    int arrived, words;

    if (t->ended)
        return;
    MPI_Test(&t->receive, &arrived, &status);
    if (!arrived)
        return;
    MPI_Get_count(&status, MPI_INT64_T, &words);
    if (words == 0) {
        t->ended = 1;
        return;
    }
    for (int i = 0; i < words / 2; i++)
        claim(t->s, t->in[i].child, t->in[i].parent);
    post_receive(t);
}

/* Waits for a request that is not the receive. */
static void complete(thread_t * t, MPI_Request * request)
{
    int done = 0;

    for (;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        poll_receive(t);
    }
}

static void send_lane(thread_t * t, int to)
{
    lane_t *lane = &t->lane[to];
    pair_t *out = lane->out;

    complete(t, &lane->request);
    MPI_Issend(out, lane->fill * 2, MPI_INT64_T, to, t->s->tag, t->s->comm, &lane->request);
    lane->out = lane->sent;
    lane->sent = out;
    lane->fill = 0;
}

static void expand(thread_t * t, int64_t v)
{
    const int64_t i = v / app_size;

    for (int64_t k = graph.first[i]; k < graph.first[i + 1]; k++) {
        int64_t w = graph.adj[k];
        int to = (int) (w % app_size);
        lane_t *lane = &t->lane[to];

        if (to == app_rank) {
            claim(t->s, w, v);
            continue;
        }
        lane->out[lane->fill++] = (pair_t) {.child = w,.parent = v };
        if (lane->fill == pairs)
            send_lane(t, to);
    }
}

/* The last thread of a process: all sends of the process are complete. */
static void end_level(thread_t * t)
{
    search_t *s = t->s;
    MPI_Request barrier, wake[BENCH_MAX_THREADS];

    MPI_Ibarrier(s->comm, &barrier);
    complete(t, &barrier);
    for (int i = 0; i < s->threads; i++)
        MPI_Isend(NULL, 0, MPI_INT64_T, app_rank, s->tag, s->comm, &wake[i]);
    for (int i = 0; i < s->threads; i++)
        complete(t, &wake[i]);
}

static void run_level(thread_t * t)
{
    search_t *s = t->s;
    long from;

    t->ended = 0;
    post_receive(t);
    while ((from = atomic_fetch_add(&s->taken, CHUNK)) < s->frontier_size) {
        for (long i = from; i < from + CHUNK && i < s->frontier_size; i++)
            expand(t, s->frontier[i]);
        poll_receive(t);
    }
    for (int to = 0; to < app_size; to++) {
        if (t->lane[to].fill)
            send_lane(t, to);
    }
    for (int to = 0; to < app_size; to++)
        complete(t, &t->lane[to].request);
    if (atomic_fetch_add(&s->finished, 1) == s->threads - 1)
        end_level(t);
    while (!t->ended)
        poll_receive(t);
}

/* Makes the next level the current one. Returns 0 if it is empty in all processes. */
static int next_level(search_t * s)
{
    int64_t size = atomic_load(&s->next_size), sum, *frontier = s->frontier;

    s->frontier = s->next;
    s->next = frontier;
    s->frontier_size = size;
    atomic_store(&s->next_size, 0);
    atomic_store(&s->taken, 0);
    atomic_store(&s->finished, 0);
    s->tag ^= 1;
    MPI_Allreduce(&size, &sum, 1, MPI_INT64_T, MPI_SUM, s->comm);
    return sum > 0;
}

static thread_t *make_threads(search_t * s)
{
    thread_t *t = bench_alloc((size_t) s->threads * sizeof(thread_t));
    const size_t bytes = (size_t) pairs * sizeof(pair_t);

    for (int i = 0; i < s->threads; i++) {
        t[i].s = s;
        t[i].in = bench_alloc(bytes);
        t[i].lane = bench_alloc((size_t) app_size * sizeof(lane_t));
        for (int p = 0; p < app_size; p++)
            t[i].lane[p] = (lane_t) {.out = bench_alloc(bytes),.sent = bench_alloc(bytes),
                .request = MPI_REQUEST_NULL };
    }
    return t;
}

static void free_threads(thread_t * t, int threads)
{
    for (int i = 0; i < threads; i++) {
        for (int p = 0; p < app_size; p++) {
            free(t[i].lane[p].out);
            free(t[i].lane[p].sent);
        }
        free(t[i].lane);
        free(t[i].in);
    }
    free(t);
}

/* Returns the seconds that the search from root took. */
static double search(search_t * s, thread_t * thread, int64_t root)
{
    double start;
    int more;

    for (int64_t i = 0; i < graph.own; i++)
        atomic_init(&s->parent[i], -1);
    if (root % app_size == app_rank)
        claim(s, root, root);
    MPI_Barrier(s->comm);
    start = bench_now();
    more = next_level(s);
#pragma omp parallel num_threads(s->threads)
    {
        app_check_team(s->threads);
        while (more) {
            run_level(&thread[omp_get_thread_num()]);
#pragma omp barrier
#pragma omp single
            more = next_level(s);
        }
    }
    return bench_now() - start;
}

/* The parents of all vertices, in their order. The caller frees them. */
static int64_t *gather(const search_t * s)
{
    const int64_t most = (graph.vertices + app_size - 1) / app_size;
    int64_t *mine = bench_alloc((size_t) most * sizeof(int64_t));
    int64_t *parts = bench_alloc((size_t) (most * app_size) * sizeof(int64_t));
    int64_t *parent = bench_alloc((size_t) graph.vertices * sizeof(int64_t));

    for (int64_t i = 0; i < graph.own; i++)
        mine[i] = atomic_load(&s->parent[i]);
    MPI_Allgather(mine, (int) most, MPI_INT64_T, parts, (int) most, MPI_INT64_T, s->comm);
    for (int64_t v = 0; v < graph.vertices; v++)
        parent[v] = parts[v % app_size * most + v / app_size];
    free(mine);
    free(parts);
    return parent;
}

/* Sets level[v], the distance from the root in the tree, for each v of the tree and -1 for the
 * others. Returns 0 if a vertex has a parent that is none, or leads to no root: the tree has a
 * cycle. */
static int find_levels(const int64_t * parent, int64_t root, int64_t * level)
{
    int64_t *path = bench_alloc((size_t) graph.vertices * sizeof(int64_t));
    int good = parent[root] == root;

    for (int64_t v = 0; v < graph.vertices; v++)
        level[v] = -1;
    level[root] = 0;
    for (int64_t v = 0; v < graph.vertices && good; v++) {
        int64_t n = 0, at = v;

        if (parent[v] == -1)
            continue;
        while (good && level[at] < 0) {
            path[n++] = at;
            at = parent[at];
            good = n < graph.vertices && at >= 0 && at < graph.vertices;
        }
        for (int64_t above = good ? level[at] : 0; good && n > 0;)
            level[path[--n]] = ++above;
    }
    free(path);
    return good;
}

/* Is w a neighbour of own vertex v? */
static int is_edge(int64_t v, int64_t w)
{
    const int64_t i = v / app_size;

    for (int64_t k = graph.first[i]; k < graph.first[i + 1]; k++) {
        if (graph.adj[k] == w)
            return 1;
    }
    return 0;
}

/* The check: how many rules of a breadth-first tree the own vertices break. parent has all
 * vertices. The rules: from every vertex of the tree, parents lead to the root; each of them is a
 * neighbour; the ends of each edge of the graph are both in the tree, on levels that differ by
 * one at most, or neither is. So the tree has all that the root reaches, on shortest paths. */
static long tree_errors(const int64_t * parent, int64_t root)
{
    int64_t *level = bench_alloc((size_t) graph.vertices * sizeof(int64_t));
    long errors = !find_levels(parent, root, level);

    for (int64_t i = 0; i < graph.own && !errors; i++) {
        int64_t v = i * app_size + app_rank;

        errors += level[v] > 0 && !is_edge(v, parent[v]);
        for (int64_t k = graph.first[i]; k < graph.first[i + 1]; k++) {
            int64_t w = graph.adj[k];

            errors += (level[v] < 0) != (level[w] < 0) || llabs(level[v] - level[w]) > 1;
        }
    }
    free(level);
    return errors;
}

/* Edges of the part of the graph that the root reaches. */
static double traversed(const int64_t * parent)
{
    int64_t ends = 0, sum;

    for (int64_t i = 0; i < graph.own; i++) {
        if (parent[i * app_size + app_rank] >= 0)
            ends += graph.first[i + 1] - graph.first[i];
    }
    MPI_Allreduce(&ends, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return (double) sum / 2.0;
}

static search_t *make_search(int threads)
{
    search_t *s = bench_alloc(sizeof(search_t));
    const size_t bytes = (size_t) graph.own * sizeof(int64_t) + sizeof(int64_t);

    MPI_Comm_dup(MPI_COMM_WORLD, &s->comm);
    s->threads = threads;
    s->parent = bench_alloc(bytes);
    s->frontier = bench_alloc(bytes);
    s->next = bench_alloc(bytes);
    return s;
}

static void free_search(search_t * s)
{
    MPI_Comm_free(&s->comm);
    free(s->parent);
    free(s->frontier);
    free(s->next);
    free(s);
}

/* The rate is the harmonic mean over the roots, as in Graph500. */
static long run(int threads, double *rate)
{
    search_t *s = make_search(threads);
    thread_t *thread = make_threads(s);
    double seconds_per_edge = 0.0;
    long errors = 0;

    for (long n = 0; n < roots && !errors; n++) {
        int64_t root = choose_root(&graph, n), *parent;
        double seconds = search(s, thread, root);
        long mine;

        parent = gather(s);
        mine = atomic_load(&s->strays) + tree_errors(parent, root);
        MPI_Allreduce(&mine, &errors, 1, MPI_LONG, MPI_SUM, s->comm);
        seconds_per_edge += seconds / traversed(parent);
        free(parent);
    }
    *rate = (double) roots / seconds_per_edge;
    free_threads(thread, threads);
    free_search(s);
    return errors;
}

int main(int argc, char **argv)
{
    static const app_option_t options[] = {
        {'s', "scale", "the graph has 2^N vertices", &scale, 1, 24},
        {'e', "edge_factor", "edges for each vertex", &edge_factor, 1, 64},
        {'n', "roots", "searches from so many roots", &roots, 1, 10000},
        {'b', "pairs", "vertices in a message", &pairs, 1, 65536},
        {0}
    };
    static const app_t app = {
        .name = "bfs",.unit = "MTEPS",.options = options,.setup = make_graph,.run = run,
        .about = "Breadth-first search of a Graph500 graph; prints million traversed edges/s.",
        .threads = "threads of a process"
    };

    return app_main(&app, argc, argv);
}
