/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

#ifndef PMIP_LAST_OUTPUT_H_INCLUDED
#define PMIP_LAST_OUTPUT_H_INCLUDED

/*
 * Included by Hydra's proxy. mpirun ends as soon as it learns that a process has called MPI_Abort, so
 * the proxy passes on what its processes have printed before it passes on the abort.
 */

#include <poll.h>
#include <sys/ioctl.h>

#include "pmip_create.h"

static HYD_status stdoe_cb(int fd, HYD_event_t events, void *userp);

/* Whether a read of fd would return at once. The loop that calls stdoe_cb may have found data that has
 * been read since, for an abort. */
static int has_output(int fd)
{
    struct pollfd one = {.fd = fd,.events = POLLIN };
    return poll(&one, 1, 0) > 0;
}

/* Passes on what fd has now, of a process that may print on, and leaves its end to the loop, which must
 * not lose an entry meanwhile. */
static HYD_status read_rest(int fd, int stdfd)
{
    HYD_status status = HYD_SUCCESS;
    int left = 0;

    if (fd == HYD_FD_CLOSED || ioctl(fd, FIONREAD, &left) < 0)
        goto fn_exit;
    for (; left > 0 && status == HYD_SUCCESS; left -= HYD_TMPBUF_SIZE)
        status = stdoe_cb(fd, HYD_POLLIN, (void *) (size_t) stdfd);

  fn_exit:
    return status;
}

/* Before a PMI command goes to mpirun: if it is an abort, passes on all output. Standard error comes
 * last, as what has been printed last is on it. */
static HYD_status last_output(const char *pmi_cmd)
{
    HYD_status status = HYD_SUCCESS;

    if (strcmp(pmi_cmd, "abort") != 0)
        goto fn_exit;
    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count && status == HYD_SUCCESS; i++)
        status = read_rest(HYD_pmcd_pmip.downstream.out[i], STDOUT_FILENO);
    for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count && status == HYD_SUCCESS; i++)
        status = read_rest(HYD_pmcd_pmip.downstream.err[i], STDERR_FILENO);

  fn_exit:
    return status;
}

#endif /* PMIP_LAST_OUTPUT_H_INCLUDED */
