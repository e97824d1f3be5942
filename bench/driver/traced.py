# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""What a thread trace of a run says (doc/stats.md), in place of the program's own result: the figures
of TOPC sections 5 and 6."""
import os
from collections import namedtuple

from driver.records import Bad
from trace_file import Trace

# One in so many acquisitions is recorded. The run is made again with the next number if its trace
# does not cover it.
SAMPLES = (10, 100, 1000)
# The most records of a thread: two threads have more than the default of 65536 in 0.3 s. Memory is
# taken as it is used.
SIZE = 1 << 19
# unit; better: "more" or "less"; of: the figure of a trace, None if it has none; counted: whether it is
# of the totals, which have every acquisition of the run, not of the records
Figure = namedtuple("Figure", "unit better of about counted", defaults=(False,))


def wasted(trace):
    share = trace.share("total", "wasted", "unsuccessful")
    return None if share is None else 100 * share


def bias(level):
    """Without contention there is none; as in the variables of MPI_T it is 0 then."""
    return lambda trace: trace.bias("total", level) or 0.0


FIGURES = {
    "bias": Figure("M(S) / F(S)", "less", bias("thread"), "bias factor, threads", True),
    "bias-core": Figure("M(S) / F(S)", "less", bias("core"), "bias factor, cores", True),
    "bias-node": Figure("M(S) / F(S)", "less", bias("node"), "bias factor, NUMA nodes", True),
    "wasted": Figure("% of unsuccessful polls", "less", wasted, "wasted polls", True),
    "dangling": Figure("requests", "less", lambda t: t.average("dangling"), "dangling requests"),
    "posted": Figure("receives", "more", lambda t: t.average("posted_receives"),
                     "length of the queue of posted receives"),
    "sends": Figure("sends/s", "more", lambda t: t.rate("sends"), "rate of issuing sends"),
    "receives": Figure("receives/s", "more", lambda t: t.rate("receives"),
                       "rate of issuing receives"),
}


class Full(Bad):
    """The trace has only the beginning of the run; with a coarser sample it may have all."""


def environment(folder, sample):
    """Of a run that writes its traces to folder."""
    return {"MPIR_CVAR_CH4_THREAD_TRACE": os.path.join(folder, "t.%r"),
            "MPIR_CVAR_CH4_THREAD_TRACE_SAMPLE": str(sample),
            "MPIR_CVAR_CH4_THREAD_TRACE_SIZE": str(SIZE)}


def result(name, folder):
    """(value, unit) of a figure in the trace of process 1, which receives in all our programs. Raises
    Bad if there is no trace or its records do not cover the run, Full if a coarser sample may help; the
    value is None if the trace does not have the figure."""
    trace, figure = Trace(os.path.join(folder, "t.1")), FIGURES[name]
    if not figure.counted:
        check_records(trace)
    return figure.of(trace), figure.unit


def check_records(trace):
    untraced, room = trace.head["untraced_threads"], trace.head["records"]
    if untraced:
        raise Bad(f"there was no memory for the records of {untraced} threads")
    # a coarser sample has fewer acquisitions, but as many samples of queues
    if any(row.samples + row.dropped_samples > room for row in trace.thread):
        raise Bad("its samples of queues alone do not fit: take a shorter --duration")
    if trace.dropped():
        raise Full("it covers only the beginning of the run: take a shorter --duration")
