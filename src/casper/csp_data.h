/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef CSP_DATA_H_INCLUDED
#define CSP_DATA_H_INCLUDED

/* The data of an operation as the ghost sees it: contiguous bytes in the memory of the user. Data with
 * gaps is packed into memory of ours: before the post of a send, after the answer to a receive. */

typedef struct csp_data {
    void *addr;                 /* contiguous; in the user's buffer, or packed */
    MPI_Aint bytes;             /* its size */
    void *packed;               /* NULL: the user's buffer is contiguous */
    void *buf;                  /* a packed receive: where the data goes; owned by the user */
    MPI_Aint count;
    MPI_Datatype datatype;      /* referenced */
} csp_data_t;

void csp_data_none(csp_data_t * data);

/* Describe the user's buffer; for a send, pack it if need be. Returns an MPI error code. Any thread. */
int csp_data_of_send(const void *buf, MPI_Aint count, MPI_Datatype datatype, csp_data_t * data);
int csp_data_of_recv(void *buf, MPI_Aint count, MPI_Datatype datatype, csp_data_t * data);

/* `bytes` of the data have arrived: unpack them if need be. Returns an MPI error code. Any thread. */
int csp_data_arrived(csp_data_t * data, MPI_Aint bytes);

/* Free what `data` owns. */
void csp_data_free(csp_data_t * data);

#endif /* CSP_DATA_H_INCLUDED */
