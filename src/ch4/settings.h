/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef MPIDI_SETTINGS_H_INCLUDED
#define MPIDI_SETTINGS_H_INCLUDED

/* The control variables of src/ch4, and two of MPICH's, that are numbers with limits; the others are
 * checked where they are read. MPI_T_cvar_write takes any value for one that is read in MPI_Init alone,
 * as for the others of MPICH: tools write and restore all variables (mpi_t/cvarwrite of MPICH's suite).
 * After MPI_Init that has no effect. */

/* Check the values, in MPI_Init. Prints a line for the first wrong one and returns 0. */
int MPIDI_settings_start(void);

/* Print what is wrong with a setting, or the next part of that. The processes of a job tend to have the
 * same settings, so all but process 0 wait for a second before: process 0 ends the job meanwhile,
 * unless its own settings are right. In MPI_Init. */
void MPIDI_settings_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* In MPI_T_cvar_write: the error code for a value of the variable at addr, which may be any;
 * MPI_SUCCESS for variables that are not checked here. One thread at a time. */
int MPIDI_settings_check_write(const void *addr, const void *value);

#endif /* MPIDI_SETTINGS_H_INCLUDED */
