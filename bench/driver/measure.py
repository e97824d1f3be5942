# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Runs programs in alternation and writes a JSON line for each run."""
import getopt
import json
import math
import os
import random
import re
import sys
import tempfile
import time
from collections import namedtuple

from driver import child, counted, network, records, traced
from driver.catalog import BENCHMARKS, WITHOUT_DURATION, WITHOUT_THREADS
from driver.library import FLOOR, inherited
from driver.machine import DROPPED, Machine, description, moment, tags, tags_beside
from driver.options import check_folder_of
from driver.records import Bad

SECONDS, APP_SECONDS = 60.0, 300.0      # of a run, before it has failed
# One program run for all libraries: benchmark's name, number of threads (None without), value of
# the benchmark's axis, further options.
Point = namedtuple("Point", "benchmark threads size options")


def points_of(runs):
    """The points of a list of runs (catalog.chosen), each once: runs of a set that differ in their
    options are the same if the user replaces these."""
    points = []
    for name, threads, sizes, options in runs:
        counts = [None] if BENCHMARKS[name].kind in WITHOUT_THREADS else threads
        values = sizes if BENCHMARKS[name].axis else [None]
        points += [Point(name, t, s, tuple(options)) for t in counts for s in values]
    return list(dict.fromkeys(points))


def ignored(benchmark, a):
    """The options that the user gave and that mean nothing to a benchmark."""
    b = BENCHMARKS[benchmark]
    means = {"--threads": b.kind not in WITHOUT_THREADS, "--sizes": b.axis is not None,
             "--users": b.kind == "users" and b.users is None,
             "--duration": b.kind not in WITHOUT_DURATION}
    return [option for option, used in means.items() if not used and getattr(a, option[2:]) is not None]


def possible(points, tell, has_counter=counted.is_there):
    """The points that this machine can measure. Raises Bad if there are none."""
    lost = [p for p in points if BENCHMARKS[p.benchmark].kind == "counted"] if not has_counter() else []
    why = f"left out: {counted.TOOL} is not installed"
    for name in dict.fromkeys(p.benchmark for p in lost if len(lost) < len(points)):
        tell(f"{name} is {why}")
    if points and len(lost) == len(points):
        raise Bad(f"all is {why}")
    return [p for p in points if p not in lost]


def check_options(benchmarks, a, tell):
    """Prints which options a benchmark ignores; raises Bad if all ignore one."""
    lost = {name: ignored(name, a) for name in benchmarks}
    for option in dict.fromkeys(option for options in lost.values() for option in options):
        if all(option in options for options in lost.values()):
            raise Bad(f"{option} means nothing to {', '.join(lost)}")
    for name, options in lost.items():
        if options:
            tell(f"{name} ignores {', '.join(options)}")


def check_sizes(runs, text):
    """Raises Bad if a benchmark of the runs (catalog.chosen) cannot have its sizes, the user's text."""
    for name, _, sizes, _ in runs:
        b = BENCHMARKS[name]
        if b.axis and not b.least <= min(sizes) <= max(sizes) <= b.most:
            raise Bad(f"--sizes '{text}': {b.least} to {b.most} are possible for {name}")


def fields_of(point, a):
    """What a result says of its point; `axes` names the fields that tell the points apart. users and
    duration are None where they mean nothing."""
    b = BENCHMARKS[point.benchmark]
    fields = {"pairs_of_processes" if b.kind == "processes" else "threads": point.threads,
              b.axis: point.size}
    fields = {k: v for k, v in fields.items() if k is not None and v is not None}
    return {"benchmark": point.benchmark, "better": b.better, "axes": list(fields), **fields,
            "options": " ".join(point.options),
            "users": (b.users or a.users) if b.kind == "users" else None,
            "duration": a.duration if b.kind not in WITHOUT_DURATION else None}


def processes_of(b, point, library, users):
    if b.kind == "processes":
        return 2 * point.threads
    return {"users": library.processes(b.users or users), "ranks": 4}.get(b.kind, 2)


def given(point):
    """The options of a point's program by letter, also of words that hold several (-uw 512). Those of
    the benchmarks that have a floor; {} if the program will refuse the words anyway."""
    try:
        return dict(getopt.getopt(point.options, "s:w:t:m:d:n:prueaj")[0])
    except getopt.GetoptError:
        return {}


def window_of(point):
    """The option -w among the options of a point, which the floor has too."""
    window = given(point).get("-w")
    return ["-w", window] if window else []


def command_of(library, point, a):
    b = BENCHMARKS[point.benchmark]
    if library.kind == "lock":
        return library.command(b, point.threads, a.duration) + list(point.options)
    if library.kind == network.Tool.kind:
        return library.command(b.floor, point.size, window_of(point), a.duration)
    if library.name == FLOOR:
        return [library.command_name, "-m", b.floor, "-s", str(point.size), "-d", str(a.duration),
                *window_of(point)]
    command = library.command(a.bin, b.program, processes_of(b, point, library, a.users))
    command += ["-j"] + b.options
    command += ["-d", str(a.duration)] if b.kind not in WITHOUT_DURATION else []
    if point.threads is not None:
        command += ["-t", str(1 if b.kind == "processes" else point.threads)]
    command += [b.letter, str(point.size)] if point.size is not None else []
    return command + list(point.options)


def first_line(text):
    return (text.strip().splitlines() or ["no output"])[0]


def record_in(out):
    """The program's record: the one line of its output that is a JSON object. The library may print
    lines of its own, as a summary. Raises ValueError without one, or with more."""
    found = []
    for line in out.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            pass
    record, = (r for r in found if isinstance(r, dict))
    return record


def refusal(text):
    """The line in which a program refuses its options; None if it has ended for another reason, such
    as a library that cannot do what is asked."""
    begins = r"usage: |(?:unknown )?option -|unknown name |'.*' is not an option"
    found = re.search(rf"^(?:\w+: )?((?:{begins}).*)", text, re.MULTILINE)
    return found and found[1]


def limit_of(point, a):
    """Seconds that a run may take; the work of an application is not bounded by time."""
    return a.timeout or (APP_SECONDS if BENCHMARKS[point.benchmark].kind == "app" else SECONDS)


def may_fail(point):
    """Whether no result here is no error: a library may be unable to do so much."""
    least = BENCHMARKS[point.benchmark].may_fail
    return least is not None and point.size >= least


def depends_on_state(point):
    """A number of instructions does not depend on the state of the machine."""
    return BENCHMARKS[point.benchmark].kind != "counted"


def run_once(library, point, a):
    """(the program's record, None), or (None, why there is none)."""
    if BENCHMARKS[point.benchmark].kind == "counted":
        return run_counted(library, point, a)
    if not BENCHMARKS[point.benchmark].traced:
        return run_program(library, point, a, {})
    for sample in traced.SAMPLES:
        try:
            return run_traced(library, point, a, sample)
        except traced.Full as e:
            reason = f"no trace: {e}"
    return None, reason


def run_traced(library, point, a, sample):
    """Likewise, with a figure of a trace that has one in `sample` acquisitions. Raises traced.Full."""
    figure = BENCHMARKS[point.benchmark].traced
    with tempfile.TemporaryDirectory() as folder:
        record, reason = run_program(library, point, a, traced.environment(folder, sample))
        if record is None:
            return None, reason
        try:
            record["value"], record["unit"] = traced.result(figure, folder)
        except traced.Full:
            raise
        except Bad as e:
            return None, f"no trace: {e}"
    return (None, "nothing of it in the trace") if record["value"] is None else (record, None)


def run_counted(library, point, a):
    """Likewise, with instructions counted."""
    with tempfile.TemporaryDirectory() as folder:
        record, reason = run_program(library, point, a, {},
                                     lambda words: counted.command(words, folder))
        try:
            if record is not None:
                record["value"] = counted.result(record, folder)
        except Bad as e:
            record, reason = None, str(e)
    return record, reason


def is_beside(library):
    """Whether it stands beside what is compared: the floor, a tool of the network."""
    return library.name == FLOOR or library.kind == network.Tool.kind


def run_program(library, point, a, more, within=list):
    """The same, without a trace. more: of the environment; within: changes the command."""
    alone = is_beside(library) or library.kind == "lock"
    env = None if alone else library.environment({**BENCHMARKS[point.benchmark].env, **more})
    try:
        status, out, err = child.run(within(command_of(library, point, a)), env, limit_of(point, a))
    except OSError as e:
        return None, f"{e.filename} does not run: {e.strerror}"
    if status is None:
        return None, f"no end within {limit_of(point, a):g} s"
    refused = refusal(err + out) if status == 2 and library.name != FLOOR else None
    if refused:
        raise Bad(f"{point.benchmark}: {refused}")
    if status:
        return None, f"exit status {status}: {first_line(err or out)}"
    try:
        record = record_in(out)
        record["value"] = float(record["value"])
        if not math.isfinite(record["value"]):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        return None, f"not a result: {first_line(out)}"
    wrong = changed_axis(record, point, a)
    return (None, f"options change {wrong}") if wrong else (record, None)


def changed_axis(record, point, a):
    """The axis of which the program's record has another value than the driver: its options have
    changed it. For processes, threads are no axis."""
    fields = fields_of(point, a)
    return next((axis for axis in fields["axes"] if record.get(axis, fields[axis]) != fields[axis]),
                None)


class Progress:
    """How far a measurement is: one line that is written over, on a terminal; else one a minute."""

    def __init__(self, total):
        self.total, self.done, self.failed = total, 0, 0
        self.begin = self.last = time.monotonic()
        self.line = sys.stderr.isatty()

    def step(self, what, failed):
        self.done, self.failed = self.done + 1, self.failed + failed
        now = time.monotonic()
        if not self.line and now - self.last < 60 and self.done < self.total:
            return
        self.last = now
        left = round((now - self.begin) / self.done * (self.total - self.done))
        text = (f"{self.done} of {self.total} runs, {left // 60}:{left % 60:02d} min left"
                + (f", {self.failed} failed" if self.failed else ""))
        if self.line:
            print(f"\r{text}, {what}"[:79].ljust(79), end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self):
        if self.line:
            print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)


def is_for(library, benchmark):
    """Whether a benchmark has something of what a variant changes."""
    return benchmark not in getattr(library, "untouched", ())


def takes_part(library, point):
    b = BENCHMARKS[point.benchmark]
    if not is_for(library, point.benchmark):
        return False
    if library.kind == "lock" or b.kind == "locks":
        return library.kind == b.kind[:-1]
    if b.traced and not getattr(library, "has_stats", False):
        return False
    if library.kind == network.Tool.kind:
        return b.floor is not None and b.kind != "ranks" and point.threads == 1
    if library.name == FLOOR:
        return b.floor is not None and "-u" not in given(point)    # it is always acknowledged
    return library.kind not in b.without


def turns_of(libraries, points, a):
    """Yields (repeat, point, library) in the order of the runs: at each point the libraries take turns
    in another random order, so that drift of the machine meets all alike."""
    order, turns = random.Random(a.seed), list(libraries)
    for repeat in range(a.repeat):
        for point in points:
            order.shuffle(turns)
            for lib in turns:
                if takes_part(lib, point):
                    yield repeat, point, lib


def exit_status(missing, dropped):
    """missing: points of libraries without a result; dropped: those with a dropped run."""
    if missing - dropped:
        return 1
    return 3 if missing else 0


def measure(libraries, points, a, header):
    """All runs; appends to a.out. header: fields of every result. Returns the exit status: 1 if a
    library has no result at a point, but where it may be unable to; 3 if it has only dropped ones."""
    missing = {(p, lib) for p in points for lib in libraries if takes_part(lib, p)}
    dropped, measured = set(), False
    progress = Progress(a.repeat * len(missing))
    with open(a.out, "a", encoding="ascii") as out:
        begin = out.tell()
        out.write(json.dumps({"commands": [a.command]}) + "\n")
        try:
            for point, lib, result in results(libraries, points, a, header):
                failed = result["value"] is None
                measured = measured or not failed and not is_beside(lib)
                if failed and may_fail(point) or not failed and result["state"] not in DROPPED:
                    missing.discard((point, lib))
                elif not failed:
                    dropped.add((point, lib))
                out.write(json.dumps(result) + "\n")
                out.flush()
                progress.step(f"{point.benchmark} {lib.name}", failed)
        except Bad:         # options that are refused at once leave nothing behind
            if not measured:
                out.truncate(begin)
            raise
        finally:
            progress.end()
    return exit_status(missing, dropped)


def results(libraries, points, a, header):
    """Makes all runs; yields (point, library, what a line of a.out has) for each."""
    machine = Machine(a.bin)
    common = {**header, "machine": description(), "order_seed": a.seed, "run": int(time.time()),
              "inherited": inherited()}
    before = machine.line_ns()
    for repeat, point, lib in turns_of(libraries, points, a):
        begin = moment()
        record, reason = run_once(lib, point, a)
        end, after = moment(), machine.line_ns()
        state = (tags_beside((before, after), (begin, end), a.busy) if depends_on_state(point)
                 else tags(None, None))
        result = {**(record or {}), **common, **fields_of(point, a), **lib.record(), **state,
                  "repeat": repeat, "nth": libraries.index(lib), "time": int(time.time())}
        if record is None:
            result.update(value=None, reason=reason)
        yield point, lib, result
        before = after


def check_out(path):
    """A run appends to results, and to nothing else."""
    check_folder_of("--out", path)
    if os.path.isfile(path):
        if records.is_condensed(path):
            raise Bad(f"--out {path}: has medians; a run appends to raw results")
        for number, record in records.unpack(path):
            if record is None or "commands" not in record and not records.complete(record):
                raise Bad(f"--out {path}, line {number}: not a result, so nothing is appended"
                          + records.cut(path, number))
