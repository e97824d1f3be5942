/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

#include "create_f90_util.h"
#include "table_lock.h"

/* In place of MPICH's table of what MPI_Type_create_f90_integer, _real and _complex have made, as equal
 * arguments always give the same datatype. Threads may call them at the same time, and only global has
 * a lock around them. A row counts once its type is complete. *type keeps its value until then: it may
 * be a static variable of _real or _complex, which another thread reads. */

#define F90_TYPES_MOST 64       /* as in MPICH */

static struct {
    int combiner, r, p;
    MPI_Datatype type;
} f90_types[F90_TYPES_MOST];
static int f90_types_count;
static MPL_initlock_t f90_types_lock = MPL_INITLOCK_INITIALIZER;

static int free_types(void *unused ATTRIBUTE((unused)))
{
    MPIR_Datatype *type;

    for (int i = 0; i < f90_types_count; i++) {
        MPIR_Datatype_get_ptr(f90_types[i].type, type);
        MPIR_Datatype_free(type);
    }
    f90_types_count = 0;        /* another session may follow */
    return 0;
}

/* One that is committed, and that MPI_Type_get_envelope tells from its base. */
static int make_type(MPI_Datatype base, int combiner, int r, int p, MPI_Datatype * type)
{
    int mpi_errno;
    int values[2] = { p, r };
    const int is_integer = combiner == MPI_COMBINER_F90_INTEGER;
    MPIR_Datatype *made;

    mpi_errno = MPIR_Type_contiguous(1, base, type);
    MPIR_ERR_CHECK(mpi_errno);
    MPIR_Datatype_get_ptr(*type, made);
    mpi_errno = MPIR_Datatype_set_contents(made, combiner, is_integer ? 1 : 2, 0, 0, 0,
                                           values + is_integer, NULL, NULL, NULL);
    MPIR_ERR_CHECK(mpi_errno);
    mpi_errno = MPIR_Type_commit_impl(type);

  fn_fail:
    return mpi_errno;
}

static int find_or_make(MPI_Datatype base, int combiner, int r, int p, MPI_Datatype * type)
{
    int mpi_errno = MPI_SUCCESS;
    MPI_Datatype made;

    for (int i = 0; i < f90_types_count; i++) {
        if (f90_types[i].combiner == combiner && f90_types[i].r == r && f90_types[i].p == p) {
            *type = f90_types[i].type;
            goto fn_exit;
        }
    }
    MPIR_ERR_CHKANDJUMP(f90_types_count == F90_TYPES_MOST, mpi_errno, MPI_ERR_INTERN,
                        "**f90typetoomany");
    mpi_errno = make_type(base, combiner, r, p, &made);
    MPIR_ERR_CHECK(mpi_errno);
    if (f90_types_count == 0)   /* before the check for handles that are left */
        MPIR_Add_finalize(free_types, NULL, 2);
    f90_types[f90_types_count].combiner = combiner;
    f90_types[f90_types_count].r = r;
    f90_types[f90_types_count].p = p;
    f90_types[f90_types_count++].type = *type = made;

  fn_exit:
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

int MPIR_Create_unnamed_predefined(MPI_Datatype base, int combiner, int r, int p, MPI_Datatype * type)
TABLE_LOCKED(f90_types_lock, find_or_make(base, combiner, r, p, type))
