/*
 * Copyright (C) by the MPICH-TSM developers
 * See COPYRIGHT in top-level directory
 */

#ifndef PMIP_CREATE_H_INCLUDED
#define PMIP_CREATE_H_INCLUDED

/*
 * Included by Hydra's proxy, through pmip_last_output.h. If the proxy cannot start a process it ends,
 * and mpirun with it. First it kills those that it has started. It does not leave that to its own end,
 * which signals the process group that a child is in: just after the fork, that of the proxy.
 */

#include <signal.h>

static HYD_status create_or_end(char **args, struct HYD_env *env, int *in, int *out, int *err, int *pid,
                                int idx)
{
    HYD_status status = HYDU_create_process(args, env, in, out, err, pid, idx);
    int *all = HYD_pmcd_pmip.downstream.pid;

    if (status != HYD_SUCCESS) {
        for (int i = 0; i < HYD_pmcd_pmip.local.proxy_process_count; i++) {
            if (&all[i] < pid && kill(-all[i], SIGKILL) < 0)
                kill(all[i], SIGKILL);
            all[i] = -1;
        }
    }
    return status;
}

#define HYDU_create_process create_or_end

#endif /* PMIP_CREATE_H_INCLUDED */
