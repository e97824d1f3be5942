/*
 * Copyright (C) by the MPICH-TSM developers
 *     See COPYRIGHT in top-level directory
 */

#ifndef ROMIO_STATE_H_INCLUDED
#define ROMIO_STATE_H_INCLUDED

/* What romio_let_in.h, romio_queue.h and romio_holes.h keep in a file and in a nonblocking collective
 * operation, for adio.h and adioi.h. ROMIO's mutex guards all of it. */

struct ADIOI_FileD;
struct ADIOI_NBC_Request;

typedef struct {
    int opening_shared_fp;      /* a thread is opening the file of the shared pointer */
    struct ADIOI_NBC_Request *queue;    /* nonblocking collective operations */
    struct ADIOI_FileD *next_queued;    /* file with a queue */
    int queue_polled;
    void *e32_buf, *e32_user;   /* of the operation that begins */
    struct ROMIO_Holes *holes;  /* romio_holes.h */
} romio_file_t;

typedef struct {
    struct ADIOI_NBC_Request *next;     /* in the queue of fd */
    struct ADIOI_FileD *fd;
    int (*poll_fn) (void *, MPI_Status *);
    ADIO_Offset *mine[2], *all[2];      /* offsets of this process and of all, to be gathered */
    MPI_Request *gathers, agreement;
    MPI_Datatype datatype;      /* of the operation's own */
    int count;
    ADIO_Offset past_fp;        /* the file's pointer as the operation has moved it */
    int place, agrees, failed[2];
    int error;                  /* the first */
    void *e32_buf, *e32_user;
} romio_nbc_t;

#endif /* ROMIO_STATE_H_INCLUDED */
