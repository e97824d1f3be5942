# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""The machine's state: the time of a cache-line hand-over, by linelat.c, and what to call it; and
how much of the processors others have used.

Runs are comparable only within one state, so the drivers tag each run with it.
"""
import math
import os
import platform
import resource
import subprocess
import time
from collections import namedtuple

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CPUS = "/sys/devices/system/cpu"
FAST_BELOW_NS = 100.0
CHANGED = 1.6       # by such a factor a hand-over differs only if the machine has changed
STATES = ("fast", "slow", "mixed", "busy", "unknown")
# of these, those whose runs do not count: the field of a point that has their number, and why
DROPPED = {"mixed": ("dropped", "as the machine's state changed within them"),
           "busy": ("busy", "as other programs used the processors")}
STAT = "/proc/stat"
IDLE = slice(4, 6)  # of the words of a line: idle, iowait
# A moment, in seconds: the time; how long all processors that we may use were idle; what the kernel
# has counted of them; what we and our children that have ended have used.
Moment = namedtuple("Moment", "time idle counted own")


def core_of(cpu, folder=CPUS):
    """A name of the core of which a processor is a hardware thread; that of the processor itself where
    the kernel does not say."""
    try:
        with open(os.path.join(folder, f"cpu{cpu}", "topology", "thread_siblings_list"),
                  encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return str(cpu)


def two_cores(cpus, folder=CPUS):
    """Two of the processors, of different cores where there are any: between hardware threads of one
    core a line always changes hands fast."""
    first, *others = sorted(cpus)
    core = core_of(first, folder)
    return [first, *([c for c in others if core_of(c, folder) != core] or others)[:1]]


class Machine:
    """Compiles linelat into a folder; without a compiler or a second processor it returns None."""

    def __init__(self, folder):
        source = os.path.join(BENCH, "linelat.c")
        self.program = os.path.join(folder, "linelat")
        if (os.access(self.program, os.X_OK)
                and os.path.getmtime(self.program) >= os.path.getmtime(source)):
            return
        os.makedirs(folder, exist_ok=True)
        try:
            done = subprocess.run(["cc", "-std=gnu11", "-O2", "-pthread", "-o", self.program,
                                   source], capture_output=True, check=False)
            good = done.returncode == 0
        except OSError:
            good = False
        if not good:
            self.program = None

    def line_ns(self):
        """Nanoseconds of a hand-over now, or None."""
        if self.program is None:
            return None
        try:
            pair = map(str, two_cores(os.sched_getaffinity(0)))
            done = subprocess.run([self.program, *pair], capture_output=True, text=True, timeout=30,
                                  check=False)
            return float(done.stdout)
        except (OSError, subprocess.TimeoutExpired, ValueError):
            return None


def state_of(before, after):
    """fast or slow if both hand-over times agree, by their geometric mean, so that a machine near the
    limit loses no runs; mixed if they differ, unknown without them."""
    if before is None or after is None:
        return "unknown"
    if max(before, after) > CHANGED * min(before, after):
        return "mixed"
    return "fast" if math.sqrt(before * after) < FAST_BELOW_NS else "slow"


def moment():
    """Now; None where the kernel does not say how its processors are used."""
    names = {f"cpu{cpu}" for cpu in os.sched_getaffinity(0)}
    idle = counted = 0
    try:
        with open(STAT, encoding="ascii") as f:
            for words in (line.split() for line in f):
                if words and words[0] in names:
                    idle += sum(map(int, words[IDLE]))
                    counted += sum(map(int, words[1:9]))
    except (OSError, ValueError):
        return None
    second = os.sysconf("SC_CLK_TCK")
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Moment(time.monotonic(), idle / second, counted / second,
                  sum(u.ru_utime + u.ru_stime for u in used))


def share_of_others(before, after, processors):
    """What others have used between two moments, of so many processors: 0 to 1. None if it cannot be
    told. Of the kernel's counters only the idle time is exact; the others go by who runs at a tick."""
    if before is None or after is None or after.counted == before.counted:
        return None
    whole = processors * (after.time - before.time)
    others = whole - (after.idle - before.idle) - (after.own - before.own)
    return min(1.0, max(0.0, others / whole))


def tags(before, after):
    """What a driver adds to the record of a run."""
    return {"line_ns": [before, after], "state": state_of(before, after)}


def tags_beside(lines, moments, most):
    """Likewise; in state busy if others had more than `most` of the processors between the moments."""
    busy = share_of_others(*moments, len(os.sched_getaffinity(0)))
    found = {**tags(*lines), "busy": busy if busy is None else round(busy, 3)}
    return {**found, "state": "busy"} if busy is not None and busy > most else found


def description():
    """The machine in a few words: processor, how many of them this process may use, kernel."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        pass
    count = len(os.sched_getaffinity(0))
    return f"{model}, {count} processor{'s' * (count > 1)}, {platform.system()} {platform.release()}"
