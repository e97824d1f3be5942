/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#include "mpiimpl.h"

/* In place of MPICH's, where two threads that initialized MPI_T at once, or one beside MPI_Init,
 * crashed: one of them used the tables that the other was still making. */

#undef MPIR_T_init_balance

static MPL_initlock_t lock = MPL_INITLOCK_INITIALIZER;

/* Empty tables, and the control variables with their values from the environment. */
static int make_tables(void)
{
    static const UT_icd enums = { sizeof(MPIR_T_enum_t), NULL, NULL, NULL };
    static const UT_icd categories = { sizeof(cat_table_entry_t), NULL, NULL, NULL };
    static const UT_icd cvars = { sizeof(cvar_table_entry_t), NULL, NULL, NULL };
    int mpi_errno;

    utarray_new(enum_table, &enums, MPL_MEM_MPIT);
    utarray_new(cat_table, &categories, MPL_MEM_MPIT);
    utarray_new(cvar_table, &cvars, MPL_MEM_MPIT);
    cat_hash = NULL;
    cat_stamp = 0;
    cvar_hash = NULL;
    mpi_errno = MPIR_T_cvar_init();
    MPIR_T_pvar_env_init();
    return mpi_errno;
}

/* By MPI_Init and MPI_T_init_thread, any number of times; each time returns the error of a variable. */
int MPIR_T_env_init(void)
{
    static bool are_made;
    static int mpi_errno = MPI_SUCCESS;

    MPL_initlock_lock(&lock);
    if (!are_made)
        mpi_errno = make_tables();
    are_made = true;
    MPL_initlock_unlock(&lock);
    return mpi_errno;
}

static void make_mutex(void)
{
#ifdef MPICH_IS_THREADED
    static bool is_made;
    int err = 0;

    MPL_initlock_lock(&lock);
    if (!is_made) {
        MPID_Thread_init(&err);
        MPIR_Assert(err == 0);
        MPID_Thread_mutex_create(&mpi_t_mutex, &err);
        MPIR_Assert(err == 0);
    }
    is_made = true;
    MPL_initlock_unlock(&lock);
#endif
}

_Atomic int *MPIR_T_users(void)
{
    make_mutex();
    MPIR_T_env_init();
    return (_Atomic int *) &MPIR_T_init_balance;
}
