# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Tests for test/bench/driver: what sets have, and the figures that are drawn."""
import json
import os
import re
import subprocess

import trace_file
from driver import catalog, draw, library, measure, records, report, traced

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(catalog.__file__)))
RESULTS = os.path.join(BENCH, "results")
OTHERS = (("scale/scale --ops x", "bench/scale: argument --ops"), ("scale/scale --fly", "--fly"),
          ("scale/scale --variants lockq:no-such", "of the models lockq, "),
          ("scale/scale --variants no-such:futex", "MODEL:LOCK"),
          ("scale/scale --variants lockq", "MODEL:LOCK"),
          ("scale/scale --results /nowhere/x", "no folder /nowhere"),
          ("scale/scale --results /", "must name a file"), ("scale/scale --plot x.svg", "FILE.png"),
          ("scale/scale --report /nowhere", "bench/scale: /nowhere: No"),
          ("scale/scale --measured /nowhere", "bench/scale: /nowhere: No"),
          ("scale/scale --measured {scale}", "no results of lockq with one thread in pairs"),
          ("scale/scale --measured-cores 1", "must be from 2 to 256"),
          ("scale/scale --measured-state odd", "invalid choice"),
          ("scale/scale --report=", "bench/scale: '': No"),
          ("scale/scale --report {overview}", "not a result"),
          ("sync/run --duration x", "run: argument --duration"), ("sync/run fly", "no part"),
          ("sync/run --threads 2,x", "run: --threads '2,x'"),
          ("sync/run --threads 2,257", "from 1 to 256"),
          ("sync/run --results /nowhere/x", "no folder /nowhere"),
          ("sync/run --report --results /nowhere", "run: /nowhere: No"),
          ("sync/run --report --results {overview}", "not results of bench/sync/run"),
          ("sync/run --report --results {scale}", "not results of bench/sync/run"),
          ("sync/plot", "plot: the following"), ("peers --fly", "peers: unrecognized"),
          ("tsm-trace fly", "tsm-trace: argument"))


def bad_values_of_others(tests):
    """The drivers beside tsm-bench refuse bad values in one line, too, before they compile anything."""
    for line, text in OTHERS:
        name, *words = re.sub("{(.*?)}", lambda m: os.path.join(RESULTS, m[1] + ".medians"),
                              line).split()
        done = subprocess.run([os.path.join(BENCH, name), *words], capture_output=True, text=True,
                              timeout=60, check=False, cwd=tests.folder)
        tests.tell(f"refuses '{line}'", done.returncode == 2 and not done.stdout
                   and text in done.stderr and len(done.stderr.splitlines()) == 1,
                   f"{done.returncode}: {done.stdout}{done.stderr}")


def measured_twice(tests, record):
    """The simulator is compared with one measurement: results of two builds are not mixed."""
    path = tests.path("twice.jsonl")
    with open(path, "w", encoding="ascii") as f:
        f.write("".join(json.dumps(record("lockq", 1, 0, threads=1, build=build)) + "\n"
                        for build in ("a", "b")))
    done = subprocess.run([os.path.join(BENCH, "scale", "scale"), "--measured", path, "--report",
                           os.path.join(RESULTS, "scale.medians")], capture_output=True, text=True,
                          timeout=60, check=False)
    tests.tell("scale refuses two results of one library", done.returncode == 2
               and "two results of lockq with 1 threads" in done.stderr, done.stdout + done.stderr)


def floor(tests, record):
    """Tables have the floor's own result, last, and not where no library has one."""
    points = records.points_of([record(lib, value, i, state, base="a", threads=threads)
                                for i in range(2) for lib, value, state, threads in (
                                    ("floor", 8, "fast", 1), ("a", 2, "fast", 1),
                                    ("floor", 9, "slow", 1), ("floor", 7, "fast", 8))])
    rows = [line.split() for line in report.report(points)]
    tests.same("the floor in a report", [row[:3] for row in rows if "floor" in row[1:2]],
               [["1", "floor", "8"]])
    rows = [line.split() for line in report.side_by_side(points)]
    tests.same("the floor in one table", [row for row in rows if row[:1] in (["a"], ["floor"])],
               [["a", "2"], ["floor", "8"]])


def knobs(tests):
    """Every variant sets a variable that the library has, and keeps what its model needs."""
    declared = ""
    for folder, _, files in os.walk(os.path.join(os.path.dirname(BENCH), "src", "ch4")):
        for name in files:
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                declared += f.read()
    for name, env in catalog.KNOBS.items():
        for variable in env:
            tests.tell(f"knob '{name}': {variable} exists",
                       re.search(rf"name +: {variable}\n", declared) is not None)
    for tool in ("mpicc", "mpirun"):
        tests.script(f"knobs/bin/{tool}", "")
    lib = library.Library("m", tests.path("knobs"), {"A": "1", "B": "1"})
    libs = library.with_variants([lib], {"x": {"B": "2"}, "y": {"C": "3"}}, {"posted": ("x",)})
    tests.same("variants", [(v.name, v.own) for v in libs[:2]],
               [("m", {"A": "1", "B": "1"}), ("m x", {"A": "1", "B": "2"})])
    points = measure.points_of([("posted", (), (1,), ()), ("pairs", (1,), (1,), ())])
    tests.same("a benchmark that is for one of them",
               [[v.name for v in libs if measure.takes_part(v, p)] for p in points],
               [["m", "m x"], ["m", "m x", "m y"]])
    tests.same("benchmarks of some knobs", [name for name, knobs in catalog.KNOBS_ONLY.items()
                                            if name not in catalog.BENCHMARKS
                                            or not set(knobs) <= set(catalog.KNOBS)], [])


def micro(tests):
    """The set has what its programs can measure, with both windows and all sizes."""
    points = measure.points_of(catalog.chosen("micro"))
    kinds = ("threads", "processes", "ranks")
    tests.same("benchmarks that the set micro lacks",
               [name for name, b in catalog.BENCHMARKS.items() if b.kind in kinds and not b.traced
                and name not in {p.benchmark for p in points}], [])
    for what, wanted, found in (
            ("windows of 512", ["pairs", "put", "stream"], [p for p in points if "512" in p.options]),
            ("messages of 1 MB", ["fanout-stream", "pairs", "put", "stream"],
             [p for p in points if p.size == 1 << 20])):
        tests.same(f"its {what}", sorted({p.benchmark for p in found}), wanted)


def sizes_and_threads(tests):
    """Strided data and batches have several blocks of 64 bytes; the applications have 4 threads."""
    runs = [run for name in (*catalog.SETS, *catalog.BENCHMARKS) for run in catalog.chosen(name)]
    tests.same("strided data of one block", [
        p for p in measure.points_of(runs)
        if p.benchmark.endswith(("-strided", "-batch")) and p.size < 1024], [])
    points = measure.points_of(catalog.chosen("apps"))
    tests.same("four threads in applications", {p.benchmark for p in points if p.threads == (
        2 if p.benchmark == "kmer" else 4)}, {"bfs", "stencil", "sweep", "kmer"})


def one_line(tests, title, text, *words):
    status, out, err = tests.tool(*words)
    tests.tell(title, status == 2 and not out and text in err and len(err.splitlines()) == 1,
               f"{status}: {out}{err}")


def refused_options(tests, fake):
    """Options that a program refuses are one line, and no result; what a library cannot do is one. With
    two threads no tool of the network takes part, and none is said to be left out."""
    for benchmark, text in (("pairs", "option -w: '0' is not a number from 1 to 65536"),
                            ("pairs", "usage: msgrate"), ("kmer", "option -s: 'x' is not a number"),
                            ("kmer", "kmer: unknown option -z (-h: help)"),
                            ("kmer", "kmer: 'x' is not an option (-h: help)")):
        words = fake(tests, "refusing", f'echo "{text}" >&2; exit 2')
        one_line(tests, f"a program refuses: {text}", f"{benchmark}: {text.removeprefix('kmer: ')}",
                 "run", benchmark, *words[2:6], "--threads", "2", "--out", "refused.jsonl")
        tests.same("and nothing is stored", os.path.getsize(tests.path("refused.jsonl")), 0)
    words = fake(tests, "unable", 'echo "this library has tags to 7 only" >&2; exit 2')
    status, out, err = tests.tool("run", "posted", *words[2:6], "--sizes", "8", "--out", "unable.jsonl")
    tests.tell("a library that is unable has failed", status == 1 and "tags to 7 only" in out,
               f"{status}: {out}{err}")


def refused_by_programs(tests, words, build):
    """The same with programs as they are. words: of a run; the third to sixth name a model."""
    for benchmark, options, text in (
            ("pairs", "-w 0", "option -w"), ("pairs", "-w x", "option -w"), ("pairs", "-z", "usage"),
            ("kmer", "-s x", "option -s"), ("stencil", "-n 0", "option -n"),
            ("kmer", "-k 9 -l 8", "option -k"), ("stencil", "-s 1", "option -s"),
            ("sweep", "-y 1", "option -y")):
        one_line(tests, f"{benchmark} refuses {options}", f"{benchmark}: {text}", "run", benchmark,
                 *words[2:6], "--threads", "2", "--bin", build, "--out", "refused.jsonl",
                 f"--options={options}")


def names_first(tests, fake):
    """A wrong name is one line, before any about what is left out, and before anything is compiled."""
    fake(tests, "named", "exit 3")
    tests.script("named/bin/mpicc", "echo x >>compiled\n")
    tests.script("named/bin/mpichversion",
                 "echo 'MPICH thread-cs: runtime (progress: x, lock: futex)'\n")
    for option in ("--locks", "--base", "--models", "--peers"):
        one_line(tests, f"a wrong name: {option}", option, "run", "pairs", "--prefix",
                 tests.path("named"), option, "no-such")
    tests.tell("nothing is compiled", not os.path.exists(tests.path("compiled")))


def locks_of_global(tests, fake):
    """--locks all gives the model global each lock."""
    result = json.dumps({"value": 1, "bench": "x", "unit": "M/s"})
    words = fake(tests, "whole", f"echo '{result}'")
    tests.script("whole/bin/mpichversion",
                 "echo 'MPICH thread-cs: global (progress: x, lock: mutex)'\n")
    status, _, err = tests.tool(*words[:2], "--prefix", tests.path("whole"), "--locks", "all",
                                *words[4:])
    found = records.load(tests.path("whole.jsonl")) if status == 0 else []
    tests.same("locks of global", {r["library"] for r in found} - {"floor"},
               {"global", *(f"global-{lock}" for lock in library.known_locks())})
    tests.tell("a run with them", status == 0, err)


def options_of_a_set(tests):
    """The user's options replace those of a set: points that were apart by them are one."""
    for options, wanted in ((None, 12), ("-w 8", 8)):
        points = measure.points_of(catalog.chosen("topc-fig12", options=options))
        tests.same(f"points of topc-fig12 with {options}", (len(points), len(set(points))),
                   (wanted, wanted))
    status, out, err = tests.tool("run", "topc-fig12", "--options=-w 8", "--library", "x:/nowhere")
    tests.tell("a word that options are replaced", status == 2 and err.splitlines()[0]
               == "tsm-bench: --options replaces the options of the set: -w 64, -w 512", err)


def scales(tests):
    """Figures keep values that are zero, or below."""
    for values, wanted in (((2, 1), ("log", {})), ((0, 3, 8), ("symlog", {"linthresh": 3})),
                           ((-1, 0.5), ("symlog", {"linthresh": 0.5})), ((0, 0), ("linear", {}))):
        tests.same(f"the scale of {values}", draw.scale_of([{"value": v, "low": v} for v in values]),
                   wanted)
    tests.same("hollow marks have a word", ["hollow" in draw.meaning_of([{"n": n}, {"n": 9}])
                                            for n in (2, 3)], [True, False])
    tests.same("the floor is dashed", [bool(draw.looks_of(name)) for name in ("floor", "lockq")],
               [True, False])
    tests.same("libraries are side by side where x has one value",
               [draw.is_one_place([{"threads": t} for t in values], "threads")
                for values in ((8, 8), (1, 8))], [True, False])
    try:
        found = draw.plot([], tests.path("figures"))
    except records.Bad as e:
        found = str(e)
    tests.tell("without results no figure", re.match("nothing to draw|plot needs", str(found))
               and not os.path.exists(tests.path("figures")), found)


def names_of_figures(tests, record):
    """They have what differs: options, the state of the machine, values of the other axes."""
    def names(*points):
        return [name for *_, name in draw.figures_of([
            record("lib", 1, 0, state, axes=["threads", "bytes"], threads=t, bytes=size,
                   options=options, set="s") for t, size, state, options in points])]

    grid = [(t, size, "fast", "") for t in (1, 8, 64) for size in (1, 64)]
    tests.same("figures of a grid", names(*grid), ["s-pairs-1-bytes", "s-pairs-64-bytes"])
    tests.same("figures of one line", names(*grid[::2]), ["s-pairs"])
    tests.same("figures of two options", names((1, 64, "fast", "-w 64"), (1, 64, "fast", "-w 512")),
               ["s-pairs-w-64", "s-pairs-w-512"])
    tests.same("figures of two states", names((1, 64, "fast", ""), (1, 64, "slow", "")),
               ["s-pairs-fast", "s-pairs-slow"])


def columns_and_values(tests, record):
    """The tail of a distribution has columns; a claim without a base is of the result itself."""
    points = records.points_of([record("a", 0.2, i, base="a", p99=1, p99_9=2, p99_99=12.5, longest=4010)
                                for i in range(3)])
    rows = [line.split() for line in report.report(points)]
    tests.same("percentiles", [row[-4:] for row in rows if row[:2] == ["4", "a"]],
               [["1", "2", "12.5", "4010"]])
    points = records.points_of([record("mutex", value, i, set="topc-fig6", benchmark="pairs-bias")
                                for i, value in enumerate((2, 3, 3, 3, 4))])
    text = "\n".join(report.report(points))
    found = re.search(r"pairs-bias, mutex: paper above 1 \(.*\); ours (.*)", text)
    tests.same("a claim of a result itself", found and found[1], "3 (2..4, n=5) at 4 (fast): within")


def one_library(tests, record):
    """A claim is of one library; where that has no result in a state, no other one stands for it."""
    points = records.points_of([
        record(lib, value, i, state, set="topc-fig17", benchmark="kmer", base="mutex", model="global",
               lock=lib.partition(" ")[0])
        for i in range(2) for lib, value, state in (
            ("clh-lpw other", 7, "slow"), ("clh-lpw other", 6, "fast"), ("clh-lpw", 3, "slow"),
            ("mutex", 2, "fast"), ("mutex", 2, "slow"))])
    lines = [line for line in report.report(points) if "clh-lpw over mutex" in line]
    tests.tell("a claim is of one library", len(lines) == 1 and "ours 1.5 (1.5..1.5, 2 pairs) at 4 "
               "(slow): open" in lines[0] and "(fast)" not in lines[0], lines)
    points = records.points_of([
        record(lib, value, i, set="topc-fig17", benchmark="kmer", base="mutex", model="global",
               lock=lib.partition(" ")[0], threads=threads)
        for i in range(2) for lib, value, threads in (
            ("mutex other", 10, 4), ("mutex", 2, 4), ("clh-lpw", 3, 4),
            ("mutex other", 10, 8), ("clh-lpw", 3, 8))])
    lines = [line for line in report.report(points) if "clh-lpw over mutex" in line]
    tests.tell("so is its base", len(lines) == 1 and "ours 1.5 (1.5..1.5, 2 pairs) at 4" in lines[0]
               and " at 8" not in lines[0], lines)


def paired_claims(tests, record):
    """Two libraries that a paper compares have their ratio of pairs whatever --base is, also from
    medians, and between two benchmarks."""
    rows = [record(lib, value * 10 ** i, i, set="topc-fig17", benchmark="kmer", base="lockq")
            for i in range(6) for lib, value in (("lockq", 7), ("mutex", 10), ("clh", 12 + i / 10))]
    rows += [record(lib, value * 10 ** i, i, set="topc-fig7", benchmark=benchmark, threads=16,
                    model="global", lock="mutex", base="lockq")
             for i in range(6) for lib, benchmark, value in (
                 ("m1", "fanout", 1), ("m1", "flood", 4), ("m2", "fanout", 9), ("m2", "flood", 9))]
    with open(tests.path("paired.jsonl"), "w", encoding="ascii") as f:
        f.write("".join(json.dumps(r) + "\n" for r in rows))
    points = records.points_of(records.load(tests.path("paired.jsonl")))
    tests.same("ratios that claims need", {(p["library"], p["benchmark"]): p["paired"] for p in points
                                           if p["paired"]},
               {("clh", "kmer"): {"kmer mutex": [1.225, 1.2, 1.25, 6]},
                **{(lib, "fanout"): {"flood mutex": [0.25 if lib == "m1" else 2.25] * 3 + [6]}
                   for lib in ("m1", "m2")}})
    status, out, err = tests.tool("report", "paired.jsonl")
    tests.tell("a claim between two others than the base", status == 0 and "clh over mutex: paper "
               "1.1 to 1.38 (10 to 38 % better); ours 1.23 (1.2..1.25, 6 pairs) at 4 (fast): within"
               in out, out + err)
    tests.tool("condense", "paired.jsonl", "--command", "by hand")
    tests.same("the same report from their medians", tests.tool("report", "paired.medians"),
               (0, out, ""))
    with open(tests.path("paired.medians"), encoding="ascii") as f:
        text = f.read()
    for ratio, instead in (('[1.225,1.2,1.25,6]', '[1.225,1.2,6]'), ('[1.225,', '["x",')):
        with open(tests.path("pairs.bad"), "w", encoding="ascii") as f:
            f.write(text.replace(ratio, instead))
        status, out, err = tests.tool("report", "pairs.bad")
        tests.tell(f"refuses ratios that are none: {instead}", ratio in text and status == 2
                   and "not a result" in err, f"{status}: {err}")


def totals(tests, trace):
    """Bias and wasted polls are of all acquisitions: records that were dropped are no matter. A thread
    with a few acquisitions does not count."""
    text = trace.replace("thread 1 2 0 0 0", "thread 1 2 0 999 7")
    text = re.sub("(total 0 3 1 2 4) 1", r"\1 3", text)
    os.makedirs(tests.path("totals"))
    with open(tests.path("totals/t.1"), "w", encoding="ascii") as f:
        f.write(text)
    tests.same("figures of totals", [traced.result(name, tests.path("totals"))[0]
                                     for name in ("bias", "bias-core", "wasted")], [3.0, 2.0, 100.0])
    try:
        found = traced.result("dangling", tests.path("totals"))
    except traced.Full:
        found = None
    tests.same("one of records is not there", found, None)
    tests.same("threads at work", [trace_file.Trace(tests.path(name)).active_threads()
                                   for name in ("totals/t.1", "trace")], [1, 2])


def file_of_a_run(tests):
    """The file of a library is the one that its runs load."""
    tests.script("loaded/ldd", 'echo "libmpi.so.12 => $LD_LIBRARY_PATH/libmpi.so.12 (0x0)"\n')
    for tool in ("mpicc", "mpirun"):
        tests.script(f"loaded/bin/{tool}", "")
    path, inherited = os.environ["PATH"], os.environ.get("LD_LIBRARY_PATH")
    os.environ.update(PATH=f"{tests.path('loaded')}:{path}", LD_LIBRARY_PATH="/of/the/caller")
    try:
        found = [library.Library("x", tests.path("loaded"), own).file("program")
                 for own in ({"LD_LIBRARY_PATH": "/of/the/runs"}, {})]
    finally:
        os.environ["PATH"] = path
        os.environ.pop("LD_LIBRARY_PATH")
        if inherited is not None:
            os.environ["LD_LIBRARY_PATH"] = inherited
    tests.same("the library that runs load", found, ["/of/the/runs/libmpi.so.12", "/libmpi.so.12"])


def commits(tests, fake):
    """A library of ours says from which commit it was configured; others do not."""
    ours = "echo 'MPICH thread-cs: lockq (progress: x, lock: futex)'\n"
    for name, text, wanted in (("told", ours + "echo 'MPICH Custom Information: \tcommit:0a1b-dirty'\n",
                                "0a1b-dirty"), ("untold", ours, None)):
        fake(tests, name, "exit 3")
        tests.script(f"{name}/bin/mpichversion", text)
        lib = library.Library(name, tests.path(name))
        lib.identify(tests.path("fake-bin"))
        tests.same(f"the commit of a library: {name}", lib.record()["commit"], wanted)
