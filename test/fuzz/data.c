/* Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory */

/* Message buffers: a random datatype (bytes, contiguous, vector, indexed) that holds a given number
 * of bytes, its own memory with guards and gaps that must not change, and contents derived from a
 * key, so that a misplaced message shows. */
#include "fuzz.h"

#define GUARD 64
#define UNTOUCHED 0x5a
#define FREED 0xdd

enum { BYTES, CONTIGUOUS, VECTOR, INDEXED };

/* Where libraries change the way a message takes. */
static size_t draw_edge(fz_lane_t * l)
{
    static const size_t edge[] = { 64, 1 << 10, 1 << 12, 1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22 };

    return edge[fz_draw(l, 8)] + (size_t) fz_draw(l, 4) - 2;
}

size_t fz_draw_bytes(fz_lane_t * l)
{
    static const size_t limit[] = { 1, 17, 128, 1500, 1500, 20000, 140000, 1 << 20 };
    size_t top = limit[fz_draw(l, 8)], r = (size_t) (fz_next(&l->rng) >> 8);
    size_t edge = fz_draw(l, 3) ? 0 : draw_edge(l);

    if (edge > 0 && edge <= fz.plan.max_bytes)
        return edge;
    if (top > fz.plan.max_bytes)
        top = fz.plan.max_bytes;
    return r % (top + 1);
}

void *fz_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    FZ_CHECK(NULL, p, "no memory");
    return p;
}

/* Blocks of random length with random gaps, together `bytes`. */
static void cut_blocks(fz_lane_t * l, fz_buf_t * b, int kind)
{
    int many = 1 + fz_own_draw(l, fz.plan.blocks);
    size_t len = b->bytes / (size_t) many, gap = (size_t) fz_own_draw(l, 24), at = 0, left;

    if (len == 0) {
        many = (int) b->bytes;
        len = 1;
    }
    b->block = fz_alloc((size_t) (many + 1) * sizeof(*b->block));
    left = b->bytes;
    for (b->blocks = 0; left > 0; b->blocks++) {
        size_t n = kind == INDEXED && len > 2 ? len - (size_t) fz_own_draw(l, 2) : len;
        if (b->blocks == many || n > left)
            n = left;
        b->block[b->blocks].at = at;
        b->block[b->blocks].bytes = n;
        at += n + gap + (kind == INDEXED ? (size_t) fz_own_draw(l, 9) : 0);
        left -= n;
    }
    b->span = b->blocks ? b->block[b->blocks - 1].at + b->block[b->blocks - 1].bytes : 0;
}

static void commit_indexed(fz_buf_t * b)
{
    int *len = fz_alloc(sizeof(int) * (size_t) (b->blocks + 1));
    int *at = fz_alloc(sizeof(int) * (size_t) (b->blocks + 1));

    for (int i = 0; i < b->blocks; i++) {
        len[i] = (int) b->block[i].bytes;
        at[i] = (int) b->block[i].at;
    }
    MPI_Type_indexed(b->blocks, len, at, MPI_BYTE, &b->type);
    MPI_Type_commit(&b->type);
    free(len);
    free(at);
}

/* A vector where the blocks are alike, which a remainder at the end spoils. */
static void commit_vector(fz_buf_t * b)
{
    size_t stride;

    if (b->blocks < 2 || b->block[b->blocks - 1].bytes != b->block[0].bytes) {
        commit_indexed(b);
        return;
    }
    stride = b->block[1].at - b->block[0].at;
    MPI_Type_vector(b->blocks, (int) b->block[0].bytes, (int) stride, MPI_BYTE, &b->type);
    MPI_Type_commit(&b->type);
}

static void one_block(fz_lane_t * l, fz_buf_t * b, int kind)
{
    static const int unit[] = { 2, 3, 5, 8, 64 };
    int u = kind == CONTIGUOUS ? unit[fz_own_draw(l, 5)] : 1;

    if (b->bytes % (size_t) u)
        u = 1;
    b->type = MPI_BYTE;
    if (u > 1) {
        MPI_Type_contiguous(u, MPI_BYTE, &b->type);
        MPI_Type_commit(&b->type);
    }
    b->count = (int) b->bytes / u;
    b->span = b->bytes;
    b->blocks = b->bytes > 0;
    b->block = fz_alloc(sizeof(*b->block));
    b->block[0].at = 0;
    b->block[0].bytes = b->bytes;
}

fz_buf_t *fz_buf_new(fz_lane_t * l, size_t bytes, int contiguous)
{
    fz_buf_t *b = fz_alloc(sizeof(*b));
    int kind = contiguous ? BYTES : fz_own_draw(l, 4);

    memset(b, 0, sizeof(*b));
    b->bytes = bytes;
    b->count = 1;
    if (kind == BYTES || kind == CONTIGUOUS) {
        one_block(l, b, kind);
    } else {
        cut_blocks(l, b, kind);
        if (kind == VECTOR)
            commit_vector(b);
        else
            commit_indexed(b);
    }
    b->from = fz_mem_new(l, b->span + 2 * GUARD);
    b->mem = b->from.p;
    memset(b->mem, UNTOUCHED, b->span + 2 * GUARD);
    b->addr = b->mem + GUARD;
    return b;
}

/* The 8 bytes at offset 8 * i of a message. */
static uint64_t word(uint64_t key, size_t i)
{
    return fz_hash(key + (i + 1) * 0x9e3779b97f4a7c15u);
}

void fz_fill(void *p, size_t bytes, uint64_t key)
{
    unsigned char *q = p;

    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t w = word(key, i / 8);
        memcpy(q + i, &w, bytes - i < 8 ? bytes - i : 8);
    }
}

int fz_holds(const void *p, size_t bytes, uint64_t key)
{
    const unsigned char *q = p;

    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t w = word(key, i / 8);
        if (memcmp(q + i, &w, bytes - i < 8 ? bytes - i : 8))
            return 0;
    }
    return 1;
}

void fz_buf_fill(fz_buf_t * b, uint64_t key)
{
    unsigned char *packed = fz_alloc(b->bytes), *from = packed;

    fz_fill(packed, b->bytes, key);
    for (int i = 0; i < b->blocks; from += b->block[i].bytes, i++)
        memcpy((unsigned char *) b->addr + b->block[i].at, from, b->block[i].bytes);
    free(packed);
}

static void check_untouched(const fz_lane_t * l, const fz_buf_t * b, size_t from, size_t to,
                            const char *what)
{
    for (size_t i = from; i < to; i++)
        FZ_CHECK(l, b->mem[i] == UNTOUCHED, "%s of %zu bytes in %d blocks: byte %ld, which belongs "
                 "to no block, is %#x", what, b->bytes, b->blocks, (long) i - GUARD, b->mem[i]);
}

/* The first `bytes` bytes are those of key, the rest and all gaps are untouched. */
void fz_buf_check(const fz_lane_t * l, const fz_buf_t * b, size_t bytes, uint64_t key,
                  const char *what)
{
    unsigned char *want = fz_alloc(b->bytes);
    size_t done = 0, end = 0;

    memset(want, UNTOUCHED, b->bytes);
    fz_fill(want, bytes, key);
    for (int i = 0; i < b->blocks; i++) {
        const unsigned char *got = b->mem + GUARD + b->block[i].at;
        check_untouched(l, b, end, GUARD + b->block[i].at, what);
        if (memcmp(got, want + done, b->block[i].bytes)) {
            size_t k = 0;
            while (got[k] == want[done + k])
                k++;
            fz_fail(l, "%s of %zu bytes into a buffer of %zu in %d blocks: byte %zu is %#x, not "
                    "%#x", what, bytes, b->bytes, b->blocks, done + k, got[k], want[done + k]);
        }
        done += b->block[i].bytes;
        end = GUARD + b->block[i].at + b->block[i].bytes;
    }
    check_untouched(l, b, end, b->span + 2 * GUARD, what);
    free(want);
}

/* Detects whether the library still wrote after the completion: from the end, because the last bytes
 * arrive last. */
uint64_t fz_buf_sum(const fz_buf_t * b)
{
    size_t n = b->span + 2 * GUARD;
    uint64_t sum = n, w;

    for (; n >= 8; n -= 8) {
        memcpy(&w, b->mem + n - 8, 8);
        sum = (sum ^ w) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; n > 0; n--)
        sum = (sum ^ b->mem[n - 1]) * 0x9e3779b97f4a7c15u;
    return sum;
}

void fz_buf_free_type(fz_buf_t * b)
{
    if (b->type != MPI_BYTE && b->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&b->type);
}

void fz_buf_free(fz_buf_t * b)
{
    fz_buf_free_type(b);
    memset(b->mem, FREED, b->span + 2 * GUARD);
    fz_mem_free(&b->from);
    free(b->block);
    free(b);
}
