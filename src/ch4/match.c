/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpidimpl.h"

#if MPIR_REQUEST_IS_CACHED

#include <sys/mman.h>

/* A table grows in one step to a bucket for each of its requests. The requests of a bucket stay in
 * their order, so those with the same source, tag and context do. It never shrinks: a program that had
 * so many requests once tends to have them again. The memory comes from the kernel, as malloc has locks
 * of its own (request_cache.c). */

/*
=== BEGIN_MPI_T_CVAR_INFO_BLOCK ===

cvars:
    - name        : MPIR_CVAR_CH4_MATCH_TABLE
      category    : CH4_THREADS
      type        : boolean
      default     : true
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Find receives and early messages of active messages (shared memory) by a hash of communicator,
        source and tag. Otherwise in a list from its front, for comparison.

    - name        : MPIR_CVAR_CH4_MATCH_PASSED
      category    : CH4_THREADS
      type        : int
      default     : 16
      class       : none
      verbosity   : MPI_T_VERBOSITY_USER_BASIC
      scope       : MPI_T_SCOPE_LOCAL
      description : >-
        Requests that do not match and that a search may pass before the table of hashes grows;
        2147483647: it does not. At least 1.

=== END_MPI_T_CVAR_INFO_BLOCK ===
*/

/* At most so many buckets, 8 MiB of them: one for each request of a VCI. */
#define MOST_BITS 20

void MPIDI_match_init(MPIDI_match_table_t * table)
{
    memset(table, 0, sizeof(*table));
    table->bucket = table->first;
    table->bits = MPIR_CVAR_CH4_MATCH_TABLE ? MPIDI_MATCH_BITS : 0;     /* one bucket: a list */
    table->most_passed = MPIR_CVAR_CH4_MATCH_TABLE ? MPIR_CVAR_CH4_MATCH_PASSED : INT_MAX;
}

static size_t bytes_of(int bits)
{
    return sizeof(MPIR_Request *) << bits;
}

static void unmap(MPIR_Request ** bucket, int bits, const MPIDI_match_table_t * table)
{
    if (bucket != table->first)
        munmap(bucket, bytes_of(bits));
}

void MPIDI_match_free(MPIDI_match_table_t * table)
{
    unmap(table->bucket, table->bits, table);
}

/* How many bits the table should have for the requests that it holds. */
static int wanted_bits(const MPIDI_match_table_t * table)
{
    long n = 0;
    int bits = table->bits;

    for (long i = 0; i < 1L << table->bits; i++) {
        for (MPIR_Request * req = table->bucket[i]; req; req = MPIDI_MATCH(req).next)
            n++;
    }
    while (bits < MOST_BITS && n > 1L << bits)
        bits++;
    return bits;
}

/* Move the requests of one bucket to those of the table. */
static void move_all(MPIDI_match_table_t * table, MPIR_Request * req)
{
    while (req) {
        MPIR_Request *next = MPIDI_MATCH(req).next;
        MPIR_Request **head = MPIDI_match_bucket_of(table, req);

        MPIDI_MATCH(req).head = head;
        DL_APPEND_NP(*head, req, match.next, match.prev);
        req = next;
    }
}

void MPIDI_match_grow(MPIDI_match_table_t * table)
{
    MPIR_Request **old = table->bucket;
    const int old_bits = table->bits, bits = wanted_bits(table);
    void *fresh = MAP_FAILED;

    if (bits > old_bits)
        fresh = mmap(NULL, bytes_of(bits), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) {
        if (table->most_passed < INT_MAX / 2)
            table->most_passed *= 2;    /* so that not each search counts them all */
        return;
    }
    table->bucket = fresh;
    table->bits = bits;
    for (long i = 0; i < 1L << old_bits; i++)
        move_all(table, old[i]);
    unmap(old, old_bits, table);
}

#endif
