# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""What can be measured: benchmarks, and the sets of them that belong to figures of the papers."""
from collections import namedtuple

# program: its path in bench, without .c. options: what makes it this benchmark. axis: the field that
# --sizes sets, by the option `letter`; sizes: its default. floor: the mode of floor.c to compare
# with. kind: "threads": 2 processes of so many threads; "processes": so many pairs of processes;
# "ranks": 4 processes of so many threads; "users": processes without threads, ghosts on top;
# "single": 2 processes of one thread; "app": like threads, and it runs until its work is done.
# env: for all libraries. without: families of libraries that cannot do it.
Benchmark = namedtuple("Benchmark", "program options about better kind axis letter sizes floor env "
                       "without")
THREADS = (1, 8, 16, 64)
LAYOUTS = ("contiguous", "strided", "batch")
GHOST_SIZES = (0, 64, 1024, 8192, 65536, 1048576)
ASYNC = {"MPIR_CVAR_ASYNC_PROGRESS": "1", "I_MPI_ASYNC_PROGRESS": "1"}


def benchmark(program, options, about, better="more", kind="threads", axis="bytes", letter="-s",
              sizes=(64,), floor=None, env=None, without=()):
    return Benchmark(program, options.split(), about, better, kind, axis, letter, sizes, floor,
                     env or {}, without)


BENCHMARKS = {
    "pairs": benchmark("msgrate", "-m pairs", "message rate, thread i to thread i", floor="rate"),
    "fanout": benchmark("msgrate", "-m fanout", "one sender to many threads, a tag each",
                        floor="rate"),
    "fanin": benchmark("msgrate", "-m fanin", "many threads to one receiver, a tag each",
                       floor="rate"),
    "stream": benchmark("msgrate", "-m pairs -u", "as pairs, windows not acknowledged"),
    "isend": benchmark("msgrate", "-m pairs -p", "time of one MPI_Isend in pairs", "less"),
    "fanin-equal": benchmark("msgrate", "-m fanin -e", "many threads to one receiver, one tag",
                             floor="rate"),
    "flood": benchmark("flood", "", "one sender to many threads, one tag, not acknowledged",
                       floor="rate"),
    "processes": benchmark("msgrate", "-m pairs", "pairs of processes in place of threads (as mbw_mr)",
                           kind="processes", floor="rate"),
    "alltoall": benchmark("alltoall", "", "all-to-all windows of 4 processes", kind="ranks",
                          floor="rate"),
    "latency-server": benchmark("latency", "-m server", "ping-pong of many threads with one thread",
                                "less", sizes=(8,), floor="latency"),
    "posted": benchmark("posted", "", "ping-pong behind receives that are posted ahead", "less",
                        kind="single", axis="posted", letter="-n",
                        sizes=(1, 10, 100, 1000, 10000, 100000)),
    "latency": benchmark("latency", "", "blocking ping-pong, thread i with thread i", "less",
                         sizes=(8,), floor="latency"),
    "put": benchmark("rmarate", "-m put", "puts of many threads, a flush after each window"),
    "get": benchmark("rmarate", "-m get", "likewise, gets"),
    "acc": benchmark("rmarate", "-m acc", "likewise, accumulates"),
    "post-wait": benchmark("posttime", "-m wait", "time of MPI_Isend, other threads wait", "less"),
    "post-poll": benchmark("posttime", "-m poll", "likewise, they call MPI_Test", "less"),
    "post-pairs": benchmark("posttime", "-m pairs", "likewise, they exchange messages", "less"),
    "neighbour": benchmark("neighbour", "", "work of processes that only compute, while threads wait",
                           axis="neighbours", letter="-c", sizes=(2,)),
    "post": benchmark("casper/post", "", "time of one post (ghost processes)", "less", "users",
                      sizes=GHOST_SIZES),
    "overlap": benchmark("casper/overlap", "", "computation that hides communication", "more",
                         "users", sizes=GHOST_SIZES),
    "halo2d": benchmark("casper/halo2d", "", "2D torus of processes", "less", "users",
                        sizes=(524288,)),
    "many2one": benchmark("casper/many2one", "", "all processes to process 0", "less", "users",
                          sizes=GHOST_SIZES),
}
for layout in LAYOUTS:
    for mode in ("put", "get", "acc"):
        BENCHMARKS[f"async-{mode}-{layout}"] = benchmark(
            "rmarate", f"-m {mode} -l {layout} -t 1", f"{mode} of one thread beside the asynchronous "
            f"thread, {layout}", kind="single", sizes=(64, 1024, 16384), env=ASYNC,
            without=("openmpi",))
for name, about in (("bfs", "breadth-first search"), ("stencil", "3D heat equation"),
                    ("sweep", "wavefront in the manner of SNAP"),
                    ("kmer", "k-mer exchange in the manner of the SWAP-Assembler")):
    BENCHMARKS[name] = benchmark(f"apps/{name}", "", about, kind="app", axis=None, sizes=(None,),
                                 env={"OMP_WAIT_POLICY": "passive"})

# What a paper says: on benchmark, at points that have these fields, the result of `ours` over that of
# `base` is in [low, high] (None: it gives no number). Both are names of libraries, models, or locks
# of model global. A result that is a time has the ratio of times.
Claim = namedtuple("Claim", "benchmark where ours base low high text")
# runs: (benchmark, threads, sizes, options), None: the benchmark's own. differs: how the paper's
# setting is another one.
Set = namedtuple("Set", "about runs models claims differs")


def plain_set(about, runs):
    return Set(about, runs, None, (), "")


ICS_MODELS = ("global", "per-vci", "offload", "hmcs-usc", "csync", "lockq")
ICS_DIFFERS = ("the paper has two nodes of 56 cores with Omni-Path; here two processes share a machine "
               "and its processors, with other locks by default and MCS only if so configured")
LOCKS_DIFFER = ("the paper compares locks of one global critical section (mutex, ticket, CLH, CLH-LPW) "
                "between nodes: give libraries configured with --enable-thread-cs=global and "
                "--with-thread-lock=, each by a --library named after its lock; here processes share "
                "a machine")
ELSEWHERE = {
    "topc-fig5": ("lock hand-off", "bench/sync/run handoff measures it"),
    "topc-fig6": ("bias, wasted polls, dangling requests of the mutex",
                  "--enable-thread-stats counts them (doc/stats.md)"),
    "topc-fig8": ("the same with the ticket lock", "--enable-thread-stats counts them (doc/stats.md)"),
}
BYTES = (1, 64, 1024, 16384)

SETS = {
    "models": plain_set("every model of the given libraries: rates, latency, puts",
                        [(b, None, None, "") for b in ("pairs", "fanout", "fanin", "latency", "put")]),
    "peers": plain_set("for other MPI libraries (--peers): rates and latency",
                       [(b, None, None, "") for b in ("pairs", "fanout", "latency")]),
    "ics19-fig5": Set(
        "rates and latency by message size, many threads on one side",
        [(b, (16,), BYTES, "") for b in ("fanin", "fanout", "put", "latency-server")], ICS_MODELS,
        tuple(Claim(b, {}, "lockq", other, None, None, text)
              for b in ("fanin", "fanout", "put")
              for other, text in (("offload", "offload first, lockq next"),
                                  ("csync", "lockq is ahead"))), ICS_DIFFERS + "; 16 threads, not 55"),
    "ics19-fig6": Set(
        "the same at 64 bytes, by number of threads",
        [(b, (1, 2, 4, 8, 16), (64,), "") for b in ("fanin", "fanout", "put", "latency-server")],
        ICS_MODELS,
        tuple(Claim(b, {"threads": 1}, ours, "global", 0.9, 1.0, "around 10 % overhead or less")
              for b in ("fanin", "fanout", "put") for ours in ("lockq", "per-vci")), ICS_DIFFERS),
    "ics19-fig7": Set(
        "breadth-first search", [("bfs", (1, 4, 8), None, "-s 15 -n 8")], ICS_MODELS,
        (Claim("bfs", {}, "lockq", "csync", 1.0, 1.08, "up to 8 % better"),
         Claim("bfs", {}, "lockq", "offload", 0.7, 1.0, "up to 30 % behind")),
        ICS_DIFFERS + "; scale 15 on 2 processes, not 32 on up to 128 nodes"),
    "ics19-fig8": Set(
        "particle transport", [("sweep", (1, 4), None, "-n 10")], ICS_MODELS,
        (Claim("sweep", {}, "offload", "lockq", 0.59, 1.0,
               "time up to 70 % longer where it costs many cores"),),
        ICS_DIFFERS + "; a kernel in the manner of SNAP, not SNAP"),
    "topc-fig2": Set(
        "message rate by number of threads", [("pairs", (1, 2, 4, 8, 16), (1, 64, 1024), "")], None,
        (), "the paper shows ibverbs and MPICH between two nodes: 4 M/s with one thread and 1 M/s with "
        "36; here the floor column takes the place of ibverbs"),
    "topc-fig7": Set(
        "one sender to many threads, equal and distinct tags",
        [(b, (1, 4, 16), None, "") for b in ("flood", "fanout")], None, (), LOCKS_DIFFER),
    "topc-fig9": Set(
        "the same: what a fair lock changes",
        [(b, (1, 4, 16), None, "") for b in ("flood", "fanout")], None,
        (Claim("fanout", {}, "ticket", "mutex", None, None, "clearly ahead, near equal tags"),),
        LOCKS_DIFFER),
    "topc-fig11": Set(
        "all-to-all windows of 4 processes", [("alltoall", (1, 4, 16), BYTES, "")], None,
        (Claim("alltoall", {}, "clh-lpw", "clh", 1.5, 2.0, "small and medium messages"),),
        LOCKS_DIFFER),
    "topc-fig12": Set(
        "rate with windows of 64 and 512, latency",
        [("pairs", (8,), BYTES, "-w 64"), ("pairs", (8,), BYTES, "-w 512"),
         ("latency", (8,), BYTES, "")], None,
        (Claim("pairs", {"options": "-w 512"}, "clh-lpw", "mutex", 1.57, 1.57, "window 512"),
         Claim("latency", {}, "clh", "mutex", 0.42, 1.0, "better by up to 137 %"),
         Claim("latency", {}, "clh-lpw", "clh", 1.3, 1.3, "small messages")),
        LOCKS_DIFFER + "; 8 threads, not 36"),
    "topc-fig13": Set(
        "accumulates beside the asynchronous thread",
        [(f"async-acc-{layout}", None, None, "") for layout in LAYOUTS], None,
        tuple(Claim(f"async-acc-{layout}", {}, "clh", "mutex", 1.0, 1.8, "up to 80 % better")
              for layout in LAYOUTS),
        LOCKS_DIFFER + "; plain MPI in place of ARMCI-MPI, 2 processes, not 8"),
    "topc-fig14": Set(
        "breadth-first search", [("bfs", (8,), None, "-s 15 -n 8")], None,
        (Claim("bfs", {}, "clh", "mutex", 1.78, 2.17, "78 to 117 % better"),
         Claim("bfs", {}, "clh", "ticket", 1.06, 1.12, "6 to 12 % better")), LOCKS_DIFFER),
    "topc-fig15": Set(
        "3D stencil", [("stencil", (8,), None, "-n 500")], None,
        (Claim("stencil", {}, "clh-lpw", "mutex", 1.0, 1.75, "up to 75 % better"),
         Claim("stencil", {}, "clh-lpw", "clh", 1.0, 1.17, "up to 17 % better")), LOCKS_DIFFER),
    "topc-fig16": Set(
        "particle transport", [("sweep", (4,), None, "-n 10")], None,
        (Claim("sweep", {}, "clh", "mutex", 1.0, 4.5,
               "strong scaling: mutex more than 350 % slower at scale"),), LOCKS_DIFFER),
    "topc-fig17": Set(
        "k-mer exchange", [("kmer", (1,), None, "-n 20")], None,
        (Claim("kmer", {}, "clh", "mutex", 1.1, 1.38, "10 to 38 % better"),), LOCKS_DIFFER),
    **{name: Set(about, (), None, (), where) for name, (about, where) in ELSEWHERE.items()},
}


def chosen(name, threads=None, sizes=None, options=None):
    """The runs of a benchmark or a set; what the user gives takes the place of its own."""
    runs = SETS[name].runs if name in SETS else [(name, None, None, "")]
    return [(b, threads or t or THREADS, sizes or s or BENCHMARKS[b].sizes,
             (o if options is None else options).split()) for b, t, s, o in runs]
