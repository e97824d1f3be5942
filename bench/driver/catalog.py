# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""What can be measured: benchmarks, and the sets of them that belong to figures of the papers."""
from collections import namedtuple

# program: its path in bench, without .c. options: what makes it this benchmark. axis: the field that
# --sizes sets, by the option `letter`; sizes: its default. floor: the mode of floor.c to compare
# with. kind: "threads": 2 processes of so many threads; "processes": so many pairs of processes;
# "ranks": 4 processes of so many threads; "users": processes without threads, ghosts on top;
# "app": like threads, and it runs until its work is done.
# env: for all libraries. without: families of libraries that cannot do it.
Benchmark = namedtuple("Benchmark", "program options about better kind axis letter sizes floor env "
                       "without")
THREADS = (1, 8, 16, 64)
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
    "stream": benchmark("msgrate", "-m pairs -u", "as pairs, windows not acknowledged",
                        floor="rate"),
    "isend": benchmark("msgrate", "-m pairs -p", "time of one MPI_Isend in pairs", "less"),
    "latency": benchmark("latency", "", "blocking ping-pong, thread i with thread i", "less",
                         sizes=(8,), floor="latency"),
    "put": benchmark("rmarate", "-m put", "puts of many threads, a flush after each window"),
    "get": benchmark("rmarate", "-m get", "likewise, gets"),
    "acc": benchmark("rmarate", "-m acc", "likewise, accumulates"),
    "post-wait": benchmark("posttime", "-m wait", "time of MPI_Isend, other threads wait", "less"),
    "post-poll": benchmark("posttime", "-m poll", "likewise, they call MPI_Test", "less"),
    "post-pairs": benchmark("posttime", "-m pairs", "likewise, they exchange messages", "less"),
    "post": benchmark("casper/post", "", "time of one post (ghost processes)", "less", "users",
                      sizes=GHOST_SIZES),
    "overlap": benchmark("casper/overlap", "", "computation that hides communication", "more",
                         "users", sizes=GHOST_SIZES),
    "halo2d": benchmark("casper/halo2d", "", "2D torus of processes", "less", "users",
                        sizes=(524288,)),
    "many2one": benchmark("casper/many2one", "", "all processes to process 0", "less", "users",
                          sizes=GHOST_SIZES),
}
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


SETS = {
    "models": plain_set("every model of the given libraries: rates, latency, puts",
                        [(b, None, None, "") for b in ("pairs", "fanout", "fanin", "latency", "put")]),
    "peers": plain_set("for other MPI libraries (--peers): rates and latency",
                       [(b, None, None, "") for b in ("pairs", "fanout", "latency")]),
}


def chosen(name, threads=None, sizes=None, options=None):
    """The runs of a benchmark or a set; what the user gives takes the place of its own."""
    runs = SETS[name].runs if name in SETS else [(name, None, None, "")]
    return [(b, threads or t or THREADS, sizes or s or BENCHMARKS[b].sizes,
             (o.split() if options is None else options)) for b, t, s, o in runs]
