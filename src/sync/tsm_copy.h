/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

/*
 * A copy that leaves its target out of this processor's caches: for memory that another processor
 * reads next. An ordinary copy first gets each line of the target from the processor that had it last,
 * and the reader then gets it back; both are waits of the length of a hand-over. Streaming stores send
 * whole lines to memory, and the reader fetches these ahead from there.
 *
 * Interface:  tsm_copy_away(to, from, size)
 *             size in bytes; the two do not overlap; no alignment is needed.
 * Source:     AMD64 Architecture Programmer's Manual, volume 2, 7.4, write-combining memory; no paper.
 * Threads:    any. When it returns, its stores come before all later ones of the thread, so a release
 *             hands the copy over as usual. x86 keeps streaming stores in no order until a fence, which
 *             C's release is not: hence the fence here, for the stores of this thread alone.
 * Progress:   wait-free.
 * Elsewhere than on x86-64 it is memcpy.
 */

#ifndef TSM_COPY_H_INCLUDED
#define TSM_COPY_H_INCLUDED

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tsm_atomic.h"

#if defined(__x86_64__)
#include <emmintrin.h>

static inline void tsm_copy_line_away_(char *to, const char *from)
{
    const __m128i *in = (const __m128i *) from;
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
        d = _mm_loadu_si128(in + 3);

    _mm_stream_si128((__m128i *) to, a);
    _mm_stream_si128((__m128i *) to + 1, b);
    _mm_stream_si128((__m128i *) to + 2, c);
    _mm_stream_si128((__m128i *) to + 3, d);
}
#endif

/* Parts of lines at both ends are copied as usual. */
static inline void tsm_copy_away(void *to, const void *from, size_t size)
{
#if defined(__x86_64__)
    char *out = to;
    const char *in = from;
    size_t part = (size_t) -(uintptr_t) out % TSM_CACHELINE;

    if (part > size)
        part = size;
    memcpy(out, in, part);
    for (out += part, in += part, size -= part; size >= TSM_CACHELINE; size -= TSM_CACHELINE) {
        tsm_copy_line_away_(out, in);
        out += TSM_CACHELINE;
        in += TSM_CACHELINE;
    }
    _mm_sfence();
    memcpy(out, in, size);
#else
    memcpy(to, from, size);
#endif
}

#endif /* TSM_COPY_H_INCLUDED */
