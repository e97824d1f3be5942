/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* The check of bfs must accept its own tree and refuse it once a rule is broken. One process. */
#define main bfs_main
#include "../../bench/apps/bfs.c"
#undef main

static int64_t parent[1 << 8], root, level[1 << 8];
static int failed;

static void expect(const char *what, int wrong)
{
    int found = tree_errors(parent, root) != 0;

    printf("%s tree: %s\n", found == wrong ? "PASS" : "FAIL", what);
    failed += found != wrong;
}

/* Tries the tree with another parent of v. */
static void expect_refused(const char *what, int64_t v, int64_t other)
{
    int64_t good = parent[v];

    parent[v] = other;
    expect(what, 1);
    parent[v] = good;
}

/* The first vertex at the level, or above it if that is -2. */
static int64_t vertex_at(int64_t wanted)
{
    for (int64_t v = 0; v < graph.vertices; v++) {
        if (level[v] == wanted)
            return v;
    }
    fprintf(stderr, "no vertex at level %" PRId64 ": choose another seed\n", wanted);
    exit(1);
}

/* A neighbour of v at its own level, or -1. */
static int64_t sibling_of(int64_t v)
{
    for (int64_t w = 0; w < graph.vertices; w++) {
        if (w != v && level[w] == level[v] && is_edge(v, w))
            return w;
    }
    return -1;
}

static int64_t stranger_to(int64_t v)
{
    for (int64_t w = 0; w < graph.vertices; w++) {
        if (level[w] == level[v] - 1 && !is_edge(v, w))
            return w;
    }
    return -1;
}

int main(int argc, char **argv)
{
    search_t *s;
    thread_t *thread;
    int64_t *found, low, late;

    app_size = bench_start(&argc, &argv, &app_rank);
    scale = 8;
    edge_factor = 2;            /* leaves vertices alone */
    make_graph();
    s = make_search(2);
    thread = make_threads(s);
    root = choose_root(&graph, 0);
    search(s, thread, root);
    found = gather(s);
    memcpy(parent, found, sizeof(parent));
    find_levels(parent, root, level);
    low = vertex_at(2);
    for (late = low; sibling_of(late) < 0 || level[late] < 1; late = (late + 1) % graph.vertices)
        ;
    expect("as found", 0);
    expect_refused("the root has another parent", root, vertex_at(1));
    expect_refused("a parent out of range", low, graph.vertices);
    expect_refused("a vertex of the tree is missing", vertex_at(3), -1);
    expect_refused("a parent that is no neighbour", low, stranger_to(low));
    expect_refused("a parent that is not on a shortest path", late, sibling_of(late));
    expect_refused("a vertex that is not reached has a parent", vertex_at(-1), root);
    expect_refused("a cycle", parent[low], low);
    free(found);
    free_threads(thread, 2);
    free_search(s);
    MPI_Finalize();
    return failed != 0;
}
