# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""The figures of the papers: what is measured for each, what the paper found, and what differs here."""
import math
from collections import namedtuple

FLOOR = "floor"     # the name of the shared-memory ring among the libraries

# What a paper says: on benchmark, at points that have these fields, the result of `ours` over that of
# `base` is in [low, high] (None: it gives no number). Both are names of libraries, models, or locks
# of model global; the base may be the floor, or None: then the result itself is meant. A result that
# is a time has the ratio of times. over: the benchmark of the base, if it is another one (None: the
# same).
Claim = namedtuple("Claim", "benchmark where ours base low high text over", defaults=(None,))
# runs: (benchmark, threads, sizes, options), None: the benchmark's own. differs: how the paper's
# setting is another one. variants: {name: environment}: each model is measured as it is and with each
# environment. only: {benchmark: the variants that it is for}; other benchmarks are for all.
Set = namedtuple("Set", "about runs models claims differs variants only", defaults=({}, {}))

# of one-sided operations, and the sizes that tell them apart: 64 bytes are one block in each
LAYOUTS = {"contiguous": (64, 1024, 16384), "strided": (1024, 16384), "batch": (1024, 16384)}
BYTES = (1, 64, 1024, 16384)
SMALL = (1, 64, 1024)
RATES = ("fanin", "fanout", "put")
COUNTS = ("pairs-bias", "pairs-bias-core", "pairs-bias-node", "pairs-wasted", "pairs-dangling")
QUEUES = ("flood-posted", "flood-dangling", "fanout-posted", "fanout-dangling")
ISSUING = tuple(f"alltoall-{name}" for name in ("wasted", "dangling", "posted", "sends", "receives"))

ICS_MODELS = ("global", "per-vci", "offload", "hmcs-usc", "csync", "lockq")
ICS_DIFFERS = ("two processes share a machine and its processors here; the paper has MCS locks and "
               "waits that try the lock and back off, here only with MPIR_CVAR_CH4_THREAD_LOCK=mcs and "
               "MPIR_CVAR_CH4_THREAD_PROGRESS=backoff")
TWO_NODES = ICS_DIFFERS + "; the paper has two nodes of 56 cores with Omni-Path"
CLUSTER = ICS_DIFFERS + "; the paper has nodes of 36 cores with Omni-Path"
LOCKS_DIFFER = ("the paper compares locks of one global critical section (mutex, ticket, CLH, CLH-LPW) "
                "between nodes: give a library configured with --enable-thread-cs=global once for each "
                "lock, as --library LOCK:DIR:MPIR_CVAR_CH4_THREAD_LOCK=LOCK; here processes share a "
                "machine, and where threads outnumber the processors, FIFO locks are gated")
COUNTED = ("give a library configured with --enable-thread-cs=global --enable-thread-stats, the "
           "paper's model, once for each lock, as --library LOCK:DIR:MPIR_CVAR_CH4_THREAD_LOCK=LOCK; "
           "results until November 2026 are of a runtime library with "
           "MPIR_CVAR_CH4_THREAD_CS=per-vci,MPIR_CVAR_CH4_THREAD_PROGRESS=blocking")

ICS19 = {
    "ics19-fig5": Set(
        "rates and latency by message size, many threads on one side",
        [(b, (16,), BYTES, "") for b in (*RATES, "latency-server")], ICS_MODELS,
        (*(Claim(b, {"bytes": size}, "lockq", other, None, None, text) for b in RATES
           for other, text in (("offload", "offload first, lockq next"), ("csync", "lockq is ahead"))
           for size in BYTES if (b, other, size) != ("fanin", "offload", 1)),
         Claim("fanin", {"bytes": 1}, "lockq", "offload", None, None,
               "close: sends below 64 bytes are complete at once"),
         *(Claim("latency-server", {}, ours, "global", None, None, "well, unlike global")
           for ours in ("lockq", "per-vci", "hmcs-usc", "offload")),
         Claim("latency-server", {}, "csync", "lockq", None, None, "csync is behind, here most")),
        TWO_NODES + "; 16 threads, not 55; our senders wait for an acknowledgement of each window, and "
        "each thread flushes its own window of puts, where the paper's master thread flushes once for "
        "all; the paper names no tags, windows or acknowledgements"),
    "ics19-fig6": Set(
        "the same at 64 bytes, by number of threads",
        [(b, (1, 2, 4, 8, 16), (64,), "") for b in (*RATES, "latency-server")], ICS_MODELS,
        (*(Claim(b, {"threads": 1}, ours, "global", 0.9, 1.0, "around 10 % overhead or less")
           for b in RATES for ours in ("lockq", "per-vci")),
         *(Claim("latency-server", {"threads": 1}, ours, "global", 1.0, 1.1,
                 "around 10 % overhead or less") for ours in ("lockq", "per-vci")),
         *(Claim(b, {"threads": 1}, ours, base, None, None, text) for b in (*RATES, "latency-server")
           for ours, base, text in (("csync", "lockq", "csync is behind without contention"),
                                    ("offload", "csync", "offload is last"))),
         *(Claim(b, {"threads": t}, "csync", "lockq", None, None,
                 "csync suffers at few threads: its queue is short") for b in RATES for t in (2, 4))),
        TWO_NODES + "; up to 16 threads, not 110, so only its part within a socket; fanin and put as "
        "in fig5"),
    "ics19-fig7": Set(
        "breadth-first search", [("bfs", (1, 4, 8), None, "-s 15 -n 16")], ICS_MODELS,
        (Claim("bfs", {"threads": 8}, "lockq", "csync", 1.0, 1.08, "up to 8 % better"),
         Claim("bfs", {"threads": 8}, "lockq", "offload", 0.7, 1.0, "up to 30 % behind"),
         Claim("bfs", {"threads": 8}, "csync", "per-vci", None, None, "csync is ahead")),
        CLUSTER + "; scale 15 on 2 processes of up to 8 threads, not scale 32 on many of 35 threads"),
    "ics19-fig8": Set(
        "particle transport", [("sweep", (1, 4), None, "-n 100")], ICS_MODELS,
        (Claim("sweep", {}, "offload", "lockq", 0.59, 1.0,
               "up to 70 % worse (as time) where it takes 18 of 36 cores; no loss up to 4"),
         *(Claim("sweep", {}, ours, "global", None, None, "no significant loss")
           for ours in ("lockq", "csync"))),
        CLUSTER + "; a kernel in the manner of SNAP on 2 processes with messages of 1 KB, not SNAP on "
        "16 to 128 nodes with large ones"),
}

TOPC = {
    "topc-fig2": Set(
        "message rate by number of threads", [("pairs", (1, 2, 4, 8, 16), SMALL, "")], None,
        tuple(Claim("pairs", {"threads": threads, "bytes": 1}, ours, FLOOR, ratio, ratio, text)
              for ours in ("mutex", "unpatched")
              for threads, ratio, text in ((1, None, "one thread: close to the network's own rate"),
                                           (16, 0.25, "36 threads: almost 4 times below it"))),
        "the paper shows ibverbs and MPICH 3.2 between two nodes, 1 byte: both roughly 4 M/s with one "
        "thread, with 36 MPICH almost 4 times below ibverbs; here the floor column, with one thread at "
        "all points, takes the place of ibverbs"),
    "topc-fig5": Set(
        "lock hand-off, without MPI", [(b, (2, 4, 8), None, "") for b in ("handoff", "handoff-ring")],
        None,
        (*(Claim("handoff", {}, "pthread", other, None, None, "the mutex has the lowest latency")
           for other in ("ticket", "clh")),
         *(Claim("handoff-ring", {}, "pthread", other, None, None,
                 "much higher: each hand-over needs a wake-up") for other in ("ticket", "clh")),
         Claim("handoff-ring", {}, "ticket", "clh", None, None, "alike: two threads share a lock")),
        "the paper has up to 72 threads on 36 cores, here threads outnumber two processors beyond 2; "
        "locks are those of src/sync without the gate that MPICH's mutexes have then"),
    "topc-fig6": Set(
        "bias, wasted polls, dangling requests of the mutex",
        [(b, (2, 4, 8, 16), None, "") for b in COUNTS], None,
        (*(Claim(b, {}, "mutex", None, 1.0, math.inf,
                 "the lock stays with a core, the more so the more threads there are")
           for b in ("pairs-bias", "pairs-bias-core")),
         Claim("pairs-bias-node", {}, "mutex", None, None, None,
               "above 1, too, as soon as threads are on both sockets"),
         Claim("pairs-wasted", {}, "mutex", None, None, None, "a large part"),
         *(Claim("pairs-dangling", {"threads": t}, "mutex", None, 32.0 * t, 32.0 * t,
                 "they grow with the threads, to about half of those under way with 36")
           for t in (2, 4, 8, 16))),
        COUNTED + "; the paper has a thread on each core, up to 36, so its cores are our threads, and "
        "ours, where threads outnumber them, have several; it has two sockets"),
    "topc-fig7": Set(
        "one sender to many threads, equal and distinct tags",
        [(b, (1, 4, 16), None, "") for b in ("flood", "fanout", *QUEUES)], None,
        (*(Claim(f"fanout{of}", {"threads": 16}, "mutex", "mutex", None, None, text, f"flood{of}")
           for of, text in (("", "a large drop"), ("-posted", "more"), ("-dangling", "fewer"))),
         *(Claim("flood-posted", {"threads": t}, "mutex", None, 0.0, 128.0,
                 "less than two windows with one tag") for t in (4, 16)),
         Claim("flood-posted", {"threads": 16}, "mutex", None, 64.0 * 16 / 25, 64.0 * 16 / 25,
               "25 times below the largest possible number with 36 threads, which is 1024 here")),
        LOCKS_DIFFER + "; up to 16 receiving threads, not 36; for posted receives and dangling "
        "requests " + COUNTED),
    "topc-fig8": Set(
        "the same as figure 6 with the ticket lock",
        [(b, (2, 4, 8, 16), None, "") for b in COUNTS], None,
        (*(Claim(b, {}, "ticket", "mutex", None, None, "close to zero")
           for b in ("pairs-bias", "pairs-bias-core")),
         Claim("pairs-bias-node", {}, "ticket", "mutex", None, None,
               "slightly biased: threads of a socket reach the counter sooner"),
         Claim("pairs-wasted", {}, "ticket", "mutex", None, None, "much lower"),
         Claim("pairs-dangling", {}, "ticket", "mutex", None, None, "much lower"),
         *(Claim("pairs-dangling", {"threads": t}, ours, None, least * t, most * t, text)
           for ours, least, most, text in (
               ("ticket", 0.0, 6.4, "less than 10 % of those under way (64 a thread)"),
               ("mutex", 32.0, 32.0, "roughly 50 % of those under way"))
           for t in (2, 4, 8, 16))), COUNTED),
    "topc-fig9": Set(
        "the same: what a fair lock changes",
        [(b, (1, 4, 16), None, "") for b in ("flood", "fanout", *QUEUES)], None,
        (Claim("fanout", {}, "ticket", "mutex", None, None, "clearly ahead, near equal tags"),
         *(Claim(f"{b}-posted", {}, "ticket", "mutex", None, None, "high with both kinds of tags")
           for b in ("flood", "fanout")),
         *(Claim(f"{b}-dangling", {}, "ticket", "mutex", None, None, "low with both kinds of tags")
           for b in ("flood", "fanout"))),
        LOCKS_DIFFER + "; up to 16 receiving threads, not 36; for posted receives and dangling "
        "requests " + COUNTED),
    "topc-fig11": Set(
        "all-to-all windows of 4 processes",
        [("alltoall", (1, 4, 16), BYTES, ""), *((b, (4, 16), None, "") for b in ISSUING)], None,
        (*(Claim("alltoall", {"threads": 16, "bytes": size}, "clh-lpw", "clh", 1.5, 2.0,
                 "small and medium messages") for size in SMALL),
         Claim("alltoall-wasted", {}, "clh-lpw", "clh", None, None, "close to none are left"),
         Claim("alltoall-dangling", {}, "clh-lpw", "clh", 2.0, 2.0, "almost twofold"),
         Claim("alltoall-posted", {}, "clh-lpw", "clh", None, None, "not longer"),
         *(Claim(f"alltoall-{what}", {}, "clh-lpw", "clh", 2.0, 2.0, "roughly twice")
           for what in ("sends", "receives"))),
        LOCKS_DIFFER + "; 16 threads; for wasted polls, dangling requests, posted receives and issue "
        "rates (a to e) " + COUNTED + "; the paper names neither window nor tags, ours has 64 for each "
        "peer and tag i"),
    "topc-fig12": Set(
        "rate with windows of 64 and 512, latency",
        [("pairs", (8,), BYTES, "-w 64"), ("pairs", (8,), BYTES, "-w 512"),
         ("latency", (8,), BYTES, "")], None,
        (*(Claim("pairs", {"options": "-w 512", "bytes": size}, "clh-lpw", "mutex", 1.57, 1.57,
                 "window 512, small and medium messages") for size in SMALL),
         *(Claim("pairs", {"options": "-w 512"}, ours, base, None, None, "window 512: ahead")
           for ours, base in (("ticket", "mutex"), ("clh", "ticket"), ("clh-lpw", "clh"))),
         Claim("pairs", {"options": "-w 64"}, "clh-lpw", "clh", None, None,
               "window 64: gains less than with 512"),
         Claim("latency", {}, "clh", "mutex", 0.42, 1.0, "better by up to 137 %"),
         *(Claim("latency", {"bytes": size}, "clh-lpw", "clh", 1.3, 1.3, "small messages, average")
           for size in (1, 64)),
         *(Claim("latency", {"bytes": size}, "clh-lpw", "clh", 1.0, 1.0, "medium and large: alike")
           for size in (1024, 16384))),
        LOCKS_DIFFER + "; 8 threads, not 36; the paper names no tags, ours has tag i"),
    "topc-fig13": Set(
        "accumulates beside the asynchronous thread",
        [(f"async-acc-{layout}", None, None, "") for layout in LAYOUTS], None,
        (*(Claim(f"async-acc-{layout}", {}, fifo, "mutex", 1.0, 1.8, "up to 80 % better")
           for layout in LAYOUTS for fifo in ("ticket", "clh")),
         *(Claim(f"async-acc-{layout}", {}, "clh-lpw", "clh", 1.0, 1.0, "no perceptible difference")
           for layout in LAYOUTS)),
        LOCKS_DIFFER + "; plain MPI and MPI_REPLACE of bytes in place of ARMCI-MPI, 2 processes, not "
        "8, at most 16 KB"),
    "topc-fig14": Set(
        "breadth-first search", [("bfs", (8,), None, "-s 15 -n 8")], None,
        (Claim("bfs", {}, "clh", "mutex", 1.78, 2.17, "78 to 117 % better"),
         Claim("bfs", {}, "clh", "ticket", 1.06, 1.12, "6 to 12 % better"),
         *(Claim("bfs", {}, ours, "mutex", 2.0, 2.0, "roughly twice")
           for ours in ("ticket", "clh-lpw")),
         Claim("bfs", {}, "clh-lpw", "clh", 0.91, 0.98, "overhead of around 2 to 10 %")),
        LOCKS_DIFFER + "; one graph of scale 15 on 2 processes, not weak scaling of 25 to 32 with a "
        "process of 8 threads on each node; ours ends a level by NBX, of which it does not speak"),
    "topc-fig15": Set(
        "3D stencil", [("stencil", (8,), None, "-n 5000")], None,
        (Claim("stencil", {}, "clh-lpw", "mutex", 1.0, 1.75, "up to 75 % better"),
         Claim("stencil", {}, "clh-lpw", "clh", 1.0, 1.17, "up to 17 % better"),
         *(Claim("stencil", {}, ours, "mutex", None, None, "better, up to 4 MB for each core")
           for ours in ("ticket", "clh"))),
        LOCKS_DIFFER + "; 2 processes exchange one face, so a thread has one send and one receive "
        "under way, not 64 nodes with windows of 8; 55 KB for each thread"),
    "topc-fig16": Set(
        "particle transport", [("sweep", (4,), None, "-n 100")], None,
        (Claim("sweep", {}, "clh", "mutex", 1.0, 4.5,
               "strong scaling: alike on few cores, from 128 on mutex more than 350 % slower"),),
        LOCKS_DIFFER + "; a kernel in the manner of SNAP on 2 processes, where the wave has one step; "
        "the paper's weak scaling is not measured"),
    "topc-fig17": Set(
        "k-mer exchange", [("kmer", (1,), None, "-n 100")], None,
        (*(Claim("kmer", {}, ours, "mutex", 1.1, 1.38, "10 to 38 % better")
           for ours in ("ticket", "clh", "clh-lpw")),
         *(Claim("kmer", {}, ours, "clh", 1.0, 1.0, "alike") for ours in ("ticket", "clh-lpw"))),
        LOCKS_DIFFER + "; 20000 reads on 2 processes, not a million with four processes on each node"),
}

FIGURES = {**ICS19, **TOPC}


def is_called(result, name):
    """Whether this is the library, the model, or the lock of model global of that name."""
    return (result["library"] == name or result.get("model") == name
            or result.get("model") == "global" and result.get("lock") == name)


def bases_of(result):
    """(benchmark, name) of each base with which a claim of its set compares a result, but the floor."""
    of_set = FIGURES.get(result.get("set"))
    return list(dict.fromkeys(
        (c.over or c.benchmark, c.base) for c in (of_set.claims if of_set else ())
        if c.benchmark == result["benchmark"] and c.base not in (None, FLOOR)
        and is_called(result, c.ours) and all(result.get(k) == v for k, v in c.where.items())))
