/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef GROUP_LOCKED_H_INCLUDED
#define GROUP_LOCKED_H_INCLUDED

/* For grouputil.c: one thread at a time sorts a group. The sort changes links that another thread may
 * follow as soon as it finds the group sorted: the field that says so is atomic. */
void MPII_Group_setup_lpid_list(MPIR_Group * group)
{
    static MPL_initlock_t lock = MPL_INITLOCK_INITIALIZER;

    MPL_initlock_lock(&lock);
    if (group->idx_of_first_lpid == -1)
        group->idx_of_first_lpid = mergesort_lpidarray(group->lrank_to_lpid, group->size);
    MPL_initlock_unlock(&lock);
}

#endif /* GROUP_LOCKED_H_INCLUDED */
