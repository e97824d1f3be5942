/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/* Which processes of a node become ghosts, and whose (src/casper/csp_place.h), on machines that hwloc
 * makes up, as HWLOC_SYNTHETIC does, and the properties of every choice on random ones. */

#include "unit.h"

#include <string.h>

#ifdef TSM_HAVE_HWLOC
#define HAVE_HWLOC 1
#endif
#include "../../src/casper/csp_place.c"
#include "../../src/casper/csp_domain.c"

#define MOST 64

static void expect(const int *domain, int n, int ghosts, const int *expected)
{
    int owner[MOST];

    assert_true(csp_place(domain, n, ghosts, owner));
    assert_memory_equal(owner, expected, (size_t) n * sizeof(int));
}

/* As ever: the last ones, users in blocks. */
static void test_machine(void **state)
{
    const int domain[7] = { 0 }, one[7] = { 0, 0, 0, 0, 0, 0, -1 };
    const int two[7] = { 0, 0, 0, 1, 1, -1, -1 };

    (void) state;
    expect(domain, 7, 1, one);
    expect(domain, 7, 2, two);
}

static void test_ghost_for_each_domain(void **state)
{
    const int blocks[8] = { 0, 0, 0, 0, 1, 1, 1, 1 }, in_blocks[8] = { 0, 0, 0, -1, 1, 1, 1, -1 };
    const int turns[8] = { 5, 3, 5, 3, 5, 3, 5, 3 }, in_turns[8] = { 0, 1, 0, 1, 0, 1, -1, -1 };

    (void) state;
    expect(blocks, 8, 2, in_blocks);
    expect(turns, 8, 2, in_turns);
}

/* Each domain gets a ghost, the larger one then a second; users without one have the idlest ghost. */
static void test_uneven(void **state)
{
    const int domain[8] = { 0, 0, 0, 0, 0, 0, 1, 1 }, three[8] = { 0, 0, 1, 1, -1, -1, 2, -1 };
    const int lone[6] = { 0, 0, 0, 0, 1, 2 }, one[6] = { 0, 0, 0, -1, 0, 0 };

    (void) state;
    expect(domain, 8, 3, three);
    expect(lone, 6, 1, one);
}

/* Of equal domains the last ones get the ghosts. */
static void test_equal(void **state)
{
    (void) state;
    expect((const int[]) { 0, 1 }, 2, 1, (const int[]) { 0, -1 });
    expect((const int[]) { 0, 1, 1 }, 3, 2, (const int[]) { 0, -1, -1 });
}

static void check_choice(const int *domain, int n, int ghosts)
{
    int owner[MOST], users[MOST] = { 0 }, found = 0;

    assert_true(csp_place(domain, n, ghosts, owner));
    for (int i = 0; i < n; i++) {
        assert_in_range(owner[i] + 1, 0, ghosts);
        if (owner[i] == CSP_IS_GHOST)
            found++;
        else
            users[owner[i]]++;
    }
    assert_int_equal(found, ghosts);
    assert_int_not_equal(owner[0], CSP_IS_GHOST);       /* it has the standard input */
}

/* A user whose domain has a ghost gets one of them. */
static void check_neighbours(const int *domain, int n, int ghosts)
{
    int owner[MOST], home[MOST], k = 0;

    assert_true(csp_place(domain, n, ghosts, owner));
    for (int i = 0; i < n; i++) {
        if (owner[i] == CSP_IS_GHOST)
            home[k++] = domain[i];
    }
    for (int i = 0; i < n; i++) {
        int has_ghost = 0;
        for (k = 0; k < ghosts; k++)
            has_ghost |= home[k] == domain[i];
        if (owner[i] != CSP_IS_GHOST && has_ghost)
            assert_int_equal(home[owner[i]], domain[i]);
    }
}

static void test_any(void **state)
{
    unsigned seed = 1;

    (void) state;
    for (long round = 0; round < unit_scaled(20000); round++) {
        int domain[MOST], n = 2 + rand_r(&seed) % (MOST - 2), kinds = 1 + rand_r(&seed) % 6;
        for (int i = 0; i < n; i++)
            domain[i] = rand_r(&seed) % kinds - 1;
        int ghosts = 1 + rand_r(&seed) % (n - 1);
        check_choice(domain, n, ghosts);
        check_neighbours(domain, n, ghosts);
    }
}

#ifdef HAVE_HWLOC

/* The domains of processes that are bound to one processor each, in order. */
static void domains_of(const char *machine, csp_domain_kind_t kind, int n, int *domain)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t set = hwloc_bitmap_alloc();

    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, machine), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    for (int i = 0; i < n; i++) {
        hwloc_bitmap_only(set, (unsigned) i);
        domain[i] = csp_domain_of_set(topology, set, kind);
    }
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
}

static void test_synthetic(void **state)
{
    const int by_numa[8] = { 0, 0, 1, 1, 2, 2, 3, 3 }, by_socket[8] = { 0, 0, 0, 0, 1, 1, 1, 1 };
    int domain[8];

    (void) state;
    domains_of("pack:2 numa:2 core:2 pu:1", CSP_NUMA, 8, domain);
    assert_memory_equal(domain, by_numa, sizeof(domain));
    domains_of("pack:2 numa:2 core:2 pu:1", CSP_SOCKET, 8, domain);
    assert_memory_equal(domain, by_socket, sizeof(domain));
    expect(domain, 8, 2, (const int[]) { 0, 0, 0, -1, 1, 1, 1, -1 });
    domains_of("pack:2 numa:2 core:2 pu:1", CSP_NUMA, 8, domain);
    expect(domain, 8, 4, (const int[]) { 0, -1, 1, -1, 2, -1, 3, -1 });
}

/* A process that may run anywhere, or nowhere that we know, has no domain. */
static void test_not_bound(void **state)
{
    hwloc_topology_t topology;
    hwloc_cpuset_t set = hwloc_bitmap_alloc();

    (void) state;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, "numa:2 pu:2"), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(csp_domain_of_set(topology, set, CSP_NUMA), -1);
    hwloc_bitmap_set_range(set, 2, 3);
    assert_int_equal(csp_domain_of_set(topology, set, CSP_NUMA), 1);
    assert_int_equal(csp_domain_of_set(topology, set, CSP_MACHINE), -1);
    hwloc_bitmap_set(set, 1);
    assert_int_equal(csp_domain_of_set(topology, set, CSP_NUMA), -1);
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_ghost_for_each_domain),
        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_any),
#ifdef HAVE_HWLOC
        cmocka_unit_test(test_synthetic),
        cmocka_unit_test(test_not_bound),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
