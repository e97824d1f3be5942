# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Runs a program together with all that it starts, so that nothing of it is left behind."""
import os
import signal
import subprocess

GRACE = 10.0        # seconds in which mpirun ends its processes after SIGTERM


def stat_of(folder):
    """(name, the other fields from the state on) of a process or thread; None if it has ended."""
    try:
        with open(f"{folder}/stat", encoding="ascii", errors="replace") as f:
            head, fields = f.read().rsplit(")", 1)
        return head.split("(", 1)[1], fields.split()
    except (OSError, ValueError, IndexError):
        return None


def descendants(pid):
    """The process and all that it has started, and so on."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        found = stat_of(f"/proc/{name}")
        if found:
            children.setdefault(int(found[1][1]), []).append(int(name))
    tree = [pid]
    for p in tree:      # it grows meanwhile
        tree += children.get(p, [])
    return tree


def thread_line(folder):
    """A thread's name, its state, and the seconds that it ran and that it waited for a processor:
    these tell a thread that waits for another from one that the kernel does not let run."""
    found = stat_of(folder)
    try:
        with open(f"{folder}/schedstat", encoding="ascii") as f:
            ran, waited = (1e-9 * int(word) for word in f.read().split()[:2])
        with open(f"{folder}/wchan", encoding="ascii") as f:
            where = f.read().strip("0") or "-"
    except (OSError, ValueError):
        return None
    return found and (f"{os.path.basename(folder)} {found[0]} {found[1][0]} in {where}, "
                      f"ran {ran:.3f} s, waited {waited:.3f} s for a processor")


def picture(pid):
    """What the threads of a program and of all that it has started do, a line each."""
    lines = []
    for p in descendants(pid):
        try:
            tasks = sorted(os.listdir(f"/proc/{p}/task"), key=int)
        except OSError:
            continue
        lines += [f"{p}/{line}" for line in (thread_line(f"/proc/{p}/task/{t}") for t in tasks) if line]
    return "\n".join(lines)


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


def output_of(child, limit):
    """(standard output, standard error); None if the program does not end in `limit` seconds."""
    for seconds in (limit, GRACE):
        try:
            return child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            if child.poll() is None:
                return None
            # it has ended: this process may have waited for a processor itself
    return None


def run(command, env, limit):
    """(status, standard output, standard error). The status is None if the program had to be ended
    after `limit` seconds, and in place of its error output stands what its threads did by then.
    Raises OSError if it cannot be started."""
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True) as child:
        try:
            output = output_of(child, limit)
            found = picture(child.pid) if output is None else None
        except BaseException as stop:
            if isinstance(stop, KeyboardInterrupt):     # which may come twice, from timeout as well
                signal.signal(signal.SIGINT, signal.SIG_IGN)
            end(child)
            raise
        if output is None:
            end(child)
            return None, "", found
    return child.returncode, *output
