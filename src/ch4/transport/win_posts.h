/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef WIN_POSTS_H_INCLUDED
#define WIN_POSTS_H_INCLUDED

/* Which processes have posted a window to this one: a mark for each rank. MPI_Win_start waits for
 * the marks of its group and takes them away. MPICH counts the posts that arrive instead; when a
 * process posts for a later MPI_Win_start before all of the first one's group have posted, the first
 * returns too early, or never, once the count has passed the size of the group.
 *
 *   MPIDI_win_posts_mark     a rank has posted
 *   MPIDI_win_posts_missing  has one of these ranks not posted?
 *   MPIDI_win_posts_take     remove the marks of these ranks
 *   MPIDI_win_posts_free     the window ends
 *
 * One mark for each rank is enough: a process posts again only after MPI_Win_wait, and thus after
 * this process has started and completed the epoch before. With the window's VCI locked (freed when
 * no thread uses the window). The marks are allocated at the first post; they belong to the window. */

typedef struct {
    unsigned char *by;          /* by rank of the window; NULL: no process has posted yet */
} MPIDI_win_posts_t;

/* size: ranks of the window. */
MPL_STATIC_INLINE_PREFIX void MPIDI_win_posts_mark(MPIDI_win_posts_t * posts, int rank, int size)
{
    if (!posts->by)
        posts->by = MPL_calloc(size, 1, MPL_MEM_RMA);
    MPIR_Assert(posts->by && !posts->by[rank]);
    posts->by[rank] = 1;
}

/* *found: how many of `ranks` are known to have posted; 0 before the first call. */
MPL_STATIC_INLINE_PREFIX bool MPIDI_win_posts_missing(const MPIDI_win_posts_t * posts,
                                                      const int *ranks, int n, int *found)
{
    while (*found < n && posts->by && posts->by[ranks[*found]])
        ++*found;
    return *found < n;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_win_posts_take(MPIDI_win_posts_t * posts, const int *ranks,
                                                   int n)
{
    for (int i = 0; i < n; i++)
        posts->by[ranks[i]] = 0;
}

MPL_STATIC_INLINE_PREFIX void MPIDI_win_posts_free(MPIDI_win_posts_t * posts)
{
    MPL_free(posts->by);
    posts->by = NULL;
}

#endif /* WIN_POSTS_H_INCLUDED */
