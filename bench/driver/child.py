# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Runs a program together with all that it starts, so that nothing of it is left behind."""
import os
import signal
import subprocess

GRACE = 10.0        # seconds in which mpirun ends its processes after SIGTERM


def signal_group(child, number):
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


def end(child):
    """Ends the program and its process group; processes that mpirun has put into groups of their own
    it takes along on SIGTERM, and they end by themselves if it is killed."""
    try:
        signal_group(child, signal.SIGTERM)
        child.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        signal_group(child, signal.SIGKILL)


def run(command, env, limit):
    """(status, standard output, standard error). The status is None if the program had to be ended
    after `limit` seconds. Raises OSError if it cannot be started."""
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True) as child:
        try:
            out, err = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            end(child)
            return None, "", ""
        except BaseException:
            end(child)
            raise
    return child.returncode, out, err
