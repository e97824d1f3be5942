/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Exchange of k-mers in the manner of the SWAP-Assembler (TOPC, section 7.4; SWAP: Meng et al.,
 * as cited there): a process has a sending and a receiving thread, which use blocking MPI_Send
 * and MPI_Recv. The sender cuts its reads into k-mers (words of k nucleotides; a word and its
 * reverse complement are one) and sends each to the process that owns it; the receiver counts
 * them. With -t N there are N such pairs in each process, and the owner of a k-mer is one
 * receiver. A sender ends with an empty message to each receiver. Receivers never send, so
 * nothing can deadlock.
 *
 * The check: each process cuts all reads again, without messages, and compares the counts of all
 * k-mers that it owns. */
#include "apps.h"

/* Counts of k-mers: open addressing. */
typedef struct {
    uint64_t *key;              /* the k-mer plus 1; 0: free */
    int64_t *count;
    size_t size, used;          /* size: a power of 2 */
} counts_t;

typedef struct {
    int fill;
    uint64_t *word;
} batch_t;

static long reads = 20000, length = 36, k = 21, batch = 128, iterations = 20;
static char *genome;            /* nucleotides 0 .. 3; 3 - n is the complement of n */

static uint64_t hash_of(uint64_t kmer)
{
    return app_random(7, kmer);
}

static counts_t make_counts(size_t size)
{
    return (counts_t) {.key = bench_alloc(size * sizeof(uint64_t)),
        .count = bench_alloc(size * sizeof(int64_t)),.size = size };
}

static void free_counts(counts_t * c)
{
    free(c->key);
    free(c->count);
}

/* Where the k-mer is or could be. The low bits of the hash choose the owner. */
static size_t place_of(const counts_t * c, uint64_t kmer)
{
    size_t i = (size_t) (hash_of(kmer) >> 20) & (c->size - 1);

    while (c->key[i] && c->key[i] != kmer + 1)
        i = (i + 1) & (c->size - 1);
    return i;
}

static void add(counts_t * c, uint64_t kmer, int64_t n)
{
    size_t i;

    if (2 * c->used >= c->size) {
        counts_t larger = make_counts(2 * c->size);

        for (size_t j = 0; j < c->size; j++) {
            if (c->key[j])
                add(&larger, c->key[j] - 1, c->count[j]);
        }
        free_counts(c);
        *c = larger;
    }
    i = place_of(c, kmer);
    c->used += c->key[i] == 0;
    c->key[i] = kmer + 1;
    c->count[i] += n;
}

/* The number of the receiver that owns a k-mer: pair r % pairs of process r / pairs. */
static int owner_of(uint64_t kmer, int pairs)
{
    return (int) (hash_of(kmer) % (uint64_t) (pairs * app_size));
}

/* Writes the k-mers of a read to word; their number is length - k + 1. */
static void cut(long read, uint64_t * word)
{
    const uint64_t mask = ((uint64_t) 1 << 2 * k) - 1;
    const uint64_t place = app_random((uint64_t) app_seed + 1, (uint64_t) read) % (uint64_t) reads;
    const char *base = genome + place;
    uint64_t forward = 0, reverse = 0;

    for (long i = 0; i < length; i++) {
        forward = (forward << 2 | (uint64_t) base[i]) & mask;
        reverse = reverse >> 2 | (uint64_t) (3 - base[i]) << 2 * (k - 1);
        if (i >= k - 1)
            *word++ = forward < reverse ? forward : reverse;
    }
}

static void flush(batch_t * b, int owner, int pairs)
{
    MPI_Send(b->word, b->fill, MPI_UINT64_T, owner / pairs, owner % pairs, MPI_COMM_WORLD);
    b->fill = 0;
}

/* The sending thread of a pair: its share of the reads. */
static void send_reads(int pair, int pairs)
{
    const int owners = pairs * app_size, sender = app_rank * pairs + pair;
    batch_t *b = bench_alloc((size_t) owners * sizeof(batch_t));
    uint64_t *word = bench_alloc((size_t) length * sizeof(uint64_t));

    for (int i = 0; i < owners; i++)
        b[i].word = bench_alloc((size_t) batch * sizeof(uint64_t));
    for (long read = sender; read < reads; read += owners) {
        cut(read, word);
        for (long i = 0; i <= length - k; i++) {
            int owner = owner_of(word[i], pairs);

            b[owner].word[b[owner].fill++] = word[i];
            if (b[owner].fill == batch)
                flush(&b[owner], owner, pairs);
        }
    }
    for (int i = 0; i < owners; i++) {
        if (b[i].fill)
            flush(&b[i], i, pairs);
        flush(&b[i], i, pairs); /* empty: the end */
        free(b[i].word);
    }
    free(word);
    free(b);
}

/* The receiving thread of a pair. */
static void receive_kmers(int pair, int pairs, counts_t * c)
{
    uint64_t *word = bench_alloc((size_t) batch * sizeof(uint64_t));

    for (int open = pairs * app_size; open > 0;) {
        MPI_Status status;
        int n;

        MPI_Recv(word, (int) batch, MPI_UINT64_T, MPI_ANY_SOURCE, pair, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_UINT64_T, &n);
        for (int i = 0; i < n; i++)
            add(c, word[i], 1);
        open -= n == 0;
    }
    free(word);
}

/* The check: how many k-mers of own receivers have a wrong count, after all iterations. */
static long wrong_counts(counts_t * c, int pairs)
{
    uint64_t *word = bench_alloc((size_t) length * sizeof(uint64_t));
    long wrong = 0;

    for (long read = 0; read < reads; read++) {
        cut(read, word);
        for (long i = 0; i <= length - k; i++) {
            int owner = owner_of(word[i], pairs);

            if (owner / pairs == app_rank)
                add(&c[owner % pairs], word[i], -iterations);
        }
    }
    for (int p = 0; p < pairs; p++) {
        for (size_t i = 0; i < c[p].size; i++)
            wrong += c[p].count[i] != 0;
    }
    free(word);
    return wrong;
}

/* One exchange. Returns the seconds that it took. */
static double exchange(counts_t * c, int pairs)
{
    double start;

    MPI_Barrier(MPI_COMM_WORLD);
    start = bench_now();
#pragma omp parallel num_threads(2 * pairs)
    {
        const int thread = omp_get_thread_num();

        app_check_team(2 * pairs);
        if (thread % 2)
            receive_kmers(thread / 2, pairs, &c[thread / 2]);
        else
            send_reads(thread / 2, pairs);
    }
    /* the next exchange must not meet receivers of this one */
    MPI_Barrier(MPI_COMM_WORLD);
    return bench_now() - start;
}

static long run(int pairs, double *rate)
{
    counts_t *c = bench_alloc((size_t) pairs * sizeof(counts_t));
    double seconds = 0.0;
    long wrong;

    for (int i = 0; i < pairs; i++)
        c[i] = make_counts(1024);
    for (long n = 0; n < iterations; n++)
        seconds += exchange(c, pairs);
    *rate = (double) (reads * (length - k + 1) * iterations) / seconds;
    wrong = wrong_counts(c, pairs);
    for (int i = 0; i < pairs; i++)
        free_counts(&c[i]);
    free(c);
    return wrong;
}

/* The genome is as long as there are reads, so a nucleotide is in about length reads. */
static void setup(void)
{
    if (k > length)
        bench_usage_error("option -k: a read of %ld nucleotides has no word of %ld", length, k);
    genome = bench_alloc((size_t) (reads + length));
    for (long i = 0; i < reads + length; i++)
        genome[i] = (char) (app_random((uint64_t) app_seed, (uint64_t) i) & 3);
}

int main(int argc, char **argv)
{
    static const app_option_t options[] = {
        {'s', "reads", "reads of all processes together", &reads, 1, 100000000},
        {'l', "length", "nucleotides of a read", &length, 1, 10000},
        {'k', "k", "nucleotides of a k-mer", &k, 1, 31},
        {'b', "batch", "k-mers in a message", &batch, 1, 65536},
        {'n', "iterations", "exchanges", &iterations, 1, 10000},
        {0}
    };
    static const app_t app = {
        .name = "kmer",.unit = "M k-mers/s",.options = options,.setup = setup,.run = run,
        .about = "Exchange of k-mers in the manner of the SWAP-Assembler; prints million k-mers/s.",
        .threads = "pairs of a sending and a receiving thread of a process"
    };

    return app_main(&app, argc, argv);
}
