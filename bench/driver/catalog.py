# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""What can be measured: benchmarks, and sets of them."""
from collections import namedtuple

from driver import traced
from driver.figures import FIGURES, LAYOUTS, Set

# program: its path in bench, without .c. options: what makes it this benchmark. axis: the field that
# --sizes sets, by the option `letter`; sizes: its default. floor: the mode of floor.c to compare
# with. kind: "threads": 2 processes of so many threads; "processes": so many pairs of processes;
# "ranks": 4 processes of so many threads; "users": processes without threads, ghosts on top;
# "single": 2 processes of one thread; "counted": likewise, instructions are counted; "app": like
# threads, and it runs until its work is done; "locks": the threads of one process, without MPI. env:
# for all libraries. without: families of libraries that cannot do it. traced: the figure of the
# thread trace that is the result (traced.py).
# may_fail: the size from which on a library may be unable to run it (None: none). users: their number
# (None: that of --users). least, most: the sizes that it can have.
Benchmark = namedtuple("Benchmark", "program options about better kind axis letter sizes floor env "
                       "without traced may_fail users least most")
THREADS = (1, 8, 16, 64)
WITHOUT_THREADS, WITHOUT_DURATION = ("users", "single", "counted"), ("app", "counted")
COUNTED = ("isend", "irecv", "put", "direct", "test", "wait")
LEVELS = {"": "", "-single": "-1 "}      # of threads: MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE
GHOST_SIZES = (0, 64, 4096, 65536, 1048576, 4194304)
MANY, SOME, FEW = (1, 2, 4, 8, 16, 64), (1, 8, 64), (1, 8)      # threads, in the set micro
SIZES = (1, 1024, 16384, 1048576)
ASYNC = {"MPIR_CVAR_ASYNC_PROGRESS": "1", "I_MPI_ASYNC_PROGRESS": "1"}


def benchmark(program, options, about, better="more", kind="threads", axis="bytes", letter="-s",
              sizes=(64,), floor=None, env=None, without=(), of_trace=None, may_fail=None, users=None,
              most=1 << 26):
    return Benchmark(program, options.split(), about, better, kind, axis, letter, sizes, floor,
                     env or {}, without, of_trace, may_fail, users, 0 if kind == "users" else 1, most)


SYNCHRONIZED = {"flush": "time of a put and its flush, a window for each thread",
                "lock": "likewise, lock, put and unlock",
                "pscw": "likewise, start, put and complete; post and wait",
                "fence": "likewise, put and fence of both processes"}

BENCHMARKS = {
    "pairs": benchmark("msgrate", "-m pairs", "message rate, thread i to thread i", floor="rate"),
    "pairs-any": benchmark("msgrate", "-m pairs -a", "the same, receives from any source",
                           floor="rate"),
    "fanout": benchmark("msgrate", "-m fanout", "one sender to many threads, a tag each",
                        floor="rate"),
    "fanin": benchmark("msgrate", "-m fanin", "many threads to one receiver, a tag each",
                       floor="rate"),
    "stream": benchmark("msgrate", "-m pairs -u", "as pairs, windows not acknowledged"),
    "fanout-stream": benchmark("msgrate", "-m fanout -u", "as fanout, windows not acknowledged"),
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
                        sizes=(1, 10, 100, 1000, 10000, 100000, 1000000), may_fail=1000000,
                        most=1000000),
    "latency": benchmark("latency", "", "blocking ping-pong, thread i with thread i", "less",
                         sizes=(8,), floor="latency"),
    "latency-probe": benchmark("latency", "-p", "the same, MPI_Probe before each receive", "less",
                               sizes=(8,), floor="latency"),
    "round-trips": benchmark("latency", "-r", "as latency, round trips of all threads together",
                             sizes=(8,)),
    "put": benchmark("rmarate", "-m put", "puts of many threads, a flush after each window"),
    "get": benchmark("rmarate", "-m get", "likewise, gets"),
    "acc": benchmark("rmarate", "-m acc", "likewise, accumulates"),
    **{f"rma-{mode}": benchmark("rmasync", f"-m {mode}", about, "less", sizes=(8,))
       for mode, about in SYNCHRONIZED.items()},
    "post-wait": benchmark("posttime", "-m wait", "time of MPI_Isend, other threads wait", "less"),
    "post-poll": benchmark("posttime", "-m poll", "likewise, they call MPI_Test", "less"),
    "post-pairs": benchmark("posttime", "-m pairs", "likewise, they exchange messages", "less"),
    "neighbour": benchmark("neighbour", "", "work of processes that only compute, while threads wait",
                           axis="neighbours", letter="-c", sizes=(2,)),
    "neighbour-async": benchmark("neighbour", "", "likewise, beside the asynchronous thread, too",
                                 axis="neighbours", letter="-c", sizes=(2,), env=ASYNC,
                                 without=("openmpi",)),
    "post": benchmark("casper/post", "", "time of one post (ghost processes)", "less", "users",
                      sizes=GHOST_SIZES),
    "overlap": benchmark("casper/overlap", "", "computation that hides communication", "more",
                         "users", sizes=GHOST_SIZES),
    "halo2d": benchmark("casper/halo2d", "", "2D torus of processes", "less", "users",
                        sizes=(524288,)),
    "many2one": benchmark("casper/many2one", "", "all processes to process 0", "more", "users",
                          sizes=GHOST_SIZES),
    **{f"many2one-{n}": benchmark("casper/many2one", "", f"likewise, {n} processes", "more", "users",
                                  sizes=GHOST_SIZES, users=n) for n in (3, 5)},
    "rma": benchmark("casper/rma", "", "a get and its flush while the target computes", "less", "users",
                     sizes=GHOST_SIZES),
}
for layout in LAYOUTS:
    for mode in ("put", "get", "acc"):
        BENCHMARKS[f"async-{mode}-{layout}"] = benchmark(
            "rmarate", f"-m {mode} -l {layout} -t 1", f"{mode} of one thread beside the asynchronous "
            f"thread, {layout}", kind="single", sizes=LAYOUTS[layout], env=ASYNC,
            without=("openmpi",))
for name, about in (("bfs", "breadth-first search"), ("stencil", "3D heat equation"),
                    ("sweep", "wavefront in the manner of SNAP"),
                    ("kmer", "k-mer exchange in the manner of the SWAP-Assembler")):
    BENCHMARKS[name] = benchmark(f"apps/{name}", "", about, kind="app", axis=None, sizes=(None,),
                                 env={"OMP_WAIT_POLICY": "passive"})
for name, measured in (("pairs", ("bias", "bias-core", "bias-node", "wasted", "dangling")),
                       ("flood", ("posted", "dangling")), ("fanout", ("posted", "dangling")),
                       ("alltoall", ("wasted", "dangling", "posted", "sends", "receives"))):
    for figure in measured:
        BENCHMARKS[f"{name}-{figure}"] = BENCHMARKS[name]._replace(
            about=f"{traced.FIGURES[figure].about} in {name} (thread trace)", floor=None,
            better=traced.FIGURES[figure].better, traced=figure)
for name in COUNTED:
    for level, option in LEVELS.items():
        BENCHMARKS[f"instructions-{name}{level}"] = benchmark(
            "instructions", f"{option}-m {name}", "instructions of one call: "
            f"{name}{level and ', MPI_THREAD_SINGLE'} (needs valgrind)", "less", kind="counted",
            sizes=(8,))
for name, pattern, about in (("handoff", "normal", "threads at one lock, empty sections"),
                             ("handoff-ring", "round_robin", "threads in a ring of locks")):
    BENCHMARKS[name] = benchmark("sync/handoff", f"-o {pattern}",
                                 f"time from one acquisition to the next: {about}", "less", "locks",
                                 axis=None, sizes=(None,))

# One control variable away from its default: the heuristics off (doc/design.md), another queue,
# progress or lock.
KNOBS = {name: {f"MPIR_CVAR_CH4_{variable}": value} for name, variable, value in (
    ("no inject", "SHM_INJECT", "0"), ("batch 1", "SHM_BATCH", "1"),
    ("no prefetch", "SHM_PREFETCH", "0"), ("no streaming stores", "SHM_NONTEMPORAL", "0"),
    ("streaming stores", "SHM_NONTEMPORAL", "1"),
    ("netmod each poll", "NETMOD_TURN", "1"), ("no early yield", "EARLY_YIELD", "0"),
    ("no spin", "WAIT_SPIN_USEC", "0"), ("no long pauses", "TAKEN_PAUSES", "16"),
    ("1 poll before sleep", "WAIT_POLLS", "1"), ("64 polls before sleep", "WAIT_POLLS", "64"),
    ("1 pause", "POLL_PAUSES", "1"), ("poller yields at 1", "POLLER_YIELD", "1"),
    ("no early nap", "NAP_TURNS", "1000000"), ("tests always try", "TEST_BACKOFF_NSEC", "0"),
    ("no look at the lock", "LOCK_SPIN_NSEC", "0"), ("match by list", "MATCH_TABLE", "0"),
    ("match table fixed", "MATCH_PASSED", "2147483647"),
    ("never oversubscribed", "OVERSUBSCRIBED", "0"), ("combine 1", "MAX_COMBINE", "1"),
    ("combine 16", "MAX_COMBINE", "16"), ("wait-free", "POST_QUEUE", "wait-free"),
    ("backoff", "THREAD_PROGRESS", "backoff"), ("blocking", "THREAD_PROGRESS", "blocking"),
    ("mutex", "THREAD_LOCK", "mutex"), ("ticket", "THREAD_LOCK", "ticket"),
    ("mcs", "THREAD_LOCK", "mcs"))}
# What some of them are about and the other benchmarks of the set have nothing of: calls of MPI_Test,
# many receives posted, messages that wait for their receives, and waits that nobody wakes.
KNOBS_ONLY = {"post-poll": ("tests always try",), "posted": ("match by list", "match table fixed"),
              "fanout-stream": ("no early yield",), "neighbour-async": ("no early nap",)}

SETS = {
    "models": Set("every model of the given libraries: rates, latency, puts",
                  [(b, None, None, "") for b in ("pairs", "fanout", "fanin", "latency", "put")],
                  None, (), ""),
    "peers": Set("for other MPI libraries (--peers): rates and latency",
                 [(b, None, None, "") for b in ("pairs", "fanout", "latency")], None, (), ""),
    "overview": Set("every model, lock and peer given, for `tsm-bench table`",
                    [(b, (1, 8, 64), None, "") for b in ("pairs", "fanin", "fanout", "latency")],
                    None, (), ""),
    "micro": Set("all micro benchmarks, by threads, sizes and windows, but for instructions",
                 [("pairs", MANY, (64,), ""), ("pairs", FEW, SIZES, "-w 64"),
                  ("pairs", FEW, (1, 64, 1024, 16384), "-w 512"),
                  ("stream", SOME, None, ""), ("stream", FEW, SIZES, "-w 64"),
                  ("stream", SOME, None, "-w 512"),
                  ("fanout-stream", SOME, None, ""), ("fanout-stream", (8,), SIZES, "-w 64"),
                  ("processes", FEW, None, ""), ("alltoall", FEW, None, ""),
                  *((b, SOME, None, "") for b in ("fanin", "fanin-equal", "fanout", "flood", "latency",
                                                  "round-trips", "put")),
                  ("put", FEW, SIZES, "-w 64"), ("put", FEW, None, "-w 512"),
                  ("get", FEW, None, ""), ("acc", FEW, None, ""),
                  *((b, FEW, None, "") for b in ("latency-server", "latency-probe", "isend",
                                                 "pairs-any", *(f"rma-{m}" for m in SYNCHRONIZED))),
                  *((f"post-{mode}", (8,), None, "") for mode in ("wait", "poll", "pairs")),
                  *((b, (1, 16), None, "") for b in ("neighbour", "neighbour-async")),
                  ("posted", None, None, ""),
                  *((f"async-{mode}-{layout}", None, (LAYOUTS[layout][0], 16384), "")
                    for mode in ("put", "get", "acc") for layout in ("contiguous", "strided"))],
                 None, (), ""),
    "instructions": Set("instructions of one call without contention, MPI_THREAD_MULTIPLE and SINGLE",
                        [(f"instructions-{name}{level}", None, None, "")
                         for name in COUNTED for level in LEVELS], None, (), ""),
    # for seconds: runs of 0.3 s scatter by a factor of two with more threads than processors
    "apps": Set("the applications, 1 and 4 threads (kmer: 2 and 4, a pair of threads each time)",
                [("bfs", (1, 4), None, "-s 15 -n 100"), ("stencil", (1, 4), None, "-n 20000"),
                 ("sweep", (1, 4), None, "-n 120"), ("kmer", (1, 2), None, "-n 150")], None, (), ""),
    "casper": Set("ghost processes, CasperII's figures 3 to 7, and gets: give --library "
                  "NAME:DIR:CSP_NG=1,... and what competes",
                  [("overlap", None, GHOST_SIZES, "-p own"), ("overlap", None, GHOST_SIZES, "-p idle"),
                   ("post", None, (64, 8192, 65536), "-p own -w 64"),
                   ("post", None, (64, 8192, 65536), "-p own -w 64 -o 8192"),
                   ("halo2d", None, None, "-p own"), ("halo2d", None, None, "-p idle"),
                   *((b, None, (64, 65536), "-w 8") for b in ("many2one", "many2one-3", "many2one-5")),
                   ("rma", None, (8, 4096, 65536), "-p own")],
                  None, (), ""),
    "knobs": Set("lockq, one knob away from its default at a time",
                 [("pairs", (1, 8, 64), None, ""), ("fanout", (1, 8, 64), None, ""),
                  ("fanin", (8,), None, ""), ("latency", (1, 8), None, ""), ("put", (8,), None, ""),
                  ("post-poll", (8,), None, ""), ("posted", None, (1000, 100000), ""),
                  ("fanout-stream", (2, 8), None, ""), ("neighbour-async", (16,), None, "")],
                 ("lockq",), (), "", KNOBS, KNOBS_ONLY),
    **FIGURES,
}


def chosen(name, threads=None, sizes=None, options=None):
    """The runs of a benchmark or a set; what the user gives takes the place of its own."""
    runs = SETS[name].runs if name in SETS else [(name, None, None, "")]
    return [(b, threads or t or THREADS, sizes or s or BENCHMARKS[b].sizes,
             (o if options is None else options).split()) for b, t, s, o in runs]


def replaced_options(name, options):
    """The options of a set that those of the user replace."""
    own = SETS[name].runs if name in SETS and options is not None else []
    return list(dict.fromkeys(o for *_, o in own if o and o != options))
