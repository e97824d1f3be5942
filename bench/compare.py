#!/usr/bin/env python3
# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Compares libraries or models with one benchmark, side by side.

The libraries run in alternation, so that drift of the machine meets all of them alike. linelat runs
before and after each run, and only runs in the same state of the machine are compared: the table
has the median of the runs and the ratio to the first library with a bootstrap interval.
"""
import argparse
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
sys.dont_write_bytecode = True
from machine import STATES, Machine, tags  # noqa: E402
from medians import Bad  # noqa: E402

THREADED = ("msgrate", "latency", "rmarate", "posttime")     # a run for each number of threads
APPS = ("bfs", "stencil", "sweep", "kmer")      # likewise, in apps; they run until their work is done
GHOSTS = ("post", "overlap", "halo2d", "many2one")           # in casper; a run has all sizes
PATHS = {**{a: f"apps/{a}" for a in APPS}, **{g: f"casper/{g}" for g in GHOSTS}}
PROGRAMS = THREADED + ("isend_instr",) + tuple(PATHS.values())
MODES = {"msgrate": ("pairs", "fanout", "fanin"), "rmarate": ("put", "get", "acc"),
         "posttime": ("wait", "poll", "pairs")}


class Library:
    """NAME:PREFIX[:VAR=VAL,...], and where its programs are."""

    def __init__(self, text):
        text = text[len("library="):] if text.startswith("library=") else text
        parts = text.split(":", 2)
        if len(parts) < 2 or not parts[0] or not parts[1]:
            raise Bad(f"library '{text}' is not NAME:PREFIX[:VAR=VAL,...]")
        self.name, self.given = parts[:2]
        prefix = os.path.abspath(self.given)
        self.mpicc = os.path.join(prefix, "bin", "mpicc")
        self.mpirun = os.path.join(prefix, "bin", "mpirun")
        self.prefix = prefix
        self.env = {}
        for item in filter(None, parts[2].split(",") if len(parts) > 2 else []):
            var, eq, value = item.partition("=")
            if not var or not eq:
                raise Bad(f"library '{self.name}': '{item}' is not VAR=VAL")
            self.env[var] = value
        for path in (self.mpicc, self.mpirun):
            if not os.access(path, os.X_OK):
                raise Bad(f"library '{self.name}': no {path}")

    def processes(self, users):
        """Of a run: the users and the ghosts, which CSP_NG adds to each node."""
        env = {**os.environ, **self.env}
        nodes = 2 if env.get("MPIR_CVAR_ODD_EVEN_CLIQUES", "0") in ("1", "yes", "true") else 1
        try:
            return users + nodes * int(env.get("CSP_NG", "0"))
        except ValueError:
            raise Bad(f"library '{self.name}': CSP_NG is not a number") from None

    def bin_dir(self, out):
        """One folder for each prefix: models of one library share their programs."""
        return os.path.join(out, self.prefix.strip("/").replace("/", "-"))

    def build(self, out):
        folder = self.bin_dir(out)
        for program in PROGRAMS:
            os.makedirs(os.path.dirname(os.path.join(folder, program)), exist_ok=True)
            # MPICH's own header makes gcc warn about MPI_STATUSES_IGNORE (stringop-overflow)
            command = [self.mpicc, "-std=gnu11", "-O2", "-Wall", "-Wno-stringop-overflow",
                       "-fopenmp" if program.startswith("apps/") else "-pthread", "-o",
                       os.path.join(folder, program), os.path.join(HERE, program + ".c")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Bad(f"library '{self.name}': {program}.c does not compile:\n{done.stderr}")


def numbers(option, text, low, high):
    """The numbers of a list like 1,2,4."""
    try:
        values = [int(t) for t in text.split(",")]
    except ValueError:
        raise Bad(f"{option} '{text}' is not a list of numbers") from None
    if min(values) < low or max(values) > high:
        raise Bad(f"{option} '{text}': {low} to {high} are possible")
    return values


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("libraries", nargs="+", metavar="NAME:PREFIX[:VAR=VAL,...]",
                   help="a library and the environment of its runs; ratios refer to the first")
    p.add_argument("--bin", default="bench-bin", help="folder of the compiled programs")
    p.add_argument("--build", action="store_true", help="compile them first with PREFIX/bin/mpicc")
    p.add_argument("--bench", choices=THREADED + APPS + GHOSTS, default="msgrate")
    p.add_argument("--mode", choices=sorted(set(sum(MODES.values(), ()))),
                   help="of msgrate: pairs (default), fanout, fanin; of rmarate: put (default), "
                   "get, acc; of posttime: wait (default), poll, pairs")
    p.add_argument("--post", action="store_true", help="of msgrate: time of one MPI_Isend")
    p.add_argument("--stream", action="store_true", help="of msgrate: windows not acknowledged")
    p.add_argument("--threads", default="1,2,4", help="list of thread counts")
    p.add_argument("--bytes", help="message size (default: the program's); of "
                   f"{', '.join(GHOSTS)}: a list")
    p.add_argument("--users", type=int, default=2,
                   help=f"of {', '.join(GHOSTS)}: processes without the ghosts, which come on top")
    p.add_argument("--field", default="value",
                   help="what the table shows of the records (post_us, slowdown, ...)")
    p.add_argument("--duration", type=float, default=0.5,
                   help="seconds for each point, except for the applications")
    p.add_argument("--options", type=shlex.split, default=[], metavar="'-s 64 -n 10'",
                   help="further options of the program (write --options=...)")
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--timeout", type=float, default=60.0, help="seconds for each run")
    p.add_argument("--results", default="compare.jsonl",
                   help="the raw runs, appended as JSON lines")
    p.add_argument("--plot", metavar="FILE.png", help="draw threads against the result")
    p.add_argument("--seed", type=int, default=1, help="of the bootstrap")
    a = p.parse_args()
    if a.repeats < 1:
        raise Bad(f"--repeats {a.repeats}: at least 1 is needed")
    a.axis = "bytes" if a.bench in GHOSTS else "threads"
    a.counts = numbers("--threads", a.threads, 1, 256)
    sizes = numbers("--bytes", a.bytes, 0, 1 << 26) if a.bytes else None
    if a.bench in GHOSTS:
        a.counts = sizes    # None: the program's
    elif sizes and len(sizes) > 1:
        raise Bad(f"--bytes {a.bytes}: {a.bench} takes one size")
    if a.users < 2:
        raise Bad(f"--users {a.users}: at least 2 are needed")
    if a.bench in MODES:
        a.mode = a.mode or MODES[a.bench][0]
        if a.mode not in MODES[a.bench]:
            raise Bad(f"--mode {a.mode} is not one of {a.bench}'s: {', '.join(MODES[a.bench])}")
    if a.bytes and a.bench in APPS:
        raise Bad(f"--bytes: {a.bench} has no message size; use --options")
    if a.duration <= 0:
        raise Bad(f"--duration {a.duration} is not positive")
    return a


def command_line(lib, a, threads):
    """The command of a run; threads: None for a program of GHOSTS."""
    program = os.path.join(lib.bin_dir(a.bin), PATHS.get(a.bench, a.bench))
    if not os.access(program, os.X_OK):
        raise Bad(f"no program {program}; use --build")
    processes = lib.processes(a.users) if a.bench in GHOSTS else 2
    command = [lib.mpirun, "-n", str(processes), program, "-j"]
    command += ["-d", str(a.duration)] if a.bench not in APPS else []
    command += ["-t", str(threads)] if a.bench not in GHOSTS else []
    command += ["-m", a.mode] if a.bench in MODES else []
    if a.bench == "msgrate":
        command += ["-u"] * a.stream + ["-p"] * a.post
    return command + (["-s", a.bytes] if a.bytes else []) + a.options


def records_of(out, field):
    """The program's records, each with a number in `field`; none if a line is not one."""
    try:
        records = [json.loads(line) for line in out.strip().splitlines()]
        for record in records:
            record["value"] = float(record["value"])
            float(record[field])
        return records
    except (KeyError, TypeError, ValueError):
        return []


def run_once(lib, a, threads):
    """One run; returns the program's records, none when it failed."""
    command = command_line(lib, a, threads)
    what = f"{lib.name}, {threads} threads" if threads else f"{lib.name}, {a.bench}"
    with subprocess.Popen(command, env={**os.environ, **lib.env}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            out, err = child.communicate(timeout=a.timeout)
        except subprocess.TimeoutExpired:
            child.terminate()   # mpirun takes its processes along
            try:
                child.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()
            print(f"{what}: no end within {a.timeout:g} s", file=sys.stderr)
            return []
    if child.returncode == 2:
        raise Bad(err.strip() or f"{command[3]}: bad options")
    records = records_of(out, a.field)
    if child.returncode or not records:
        reason = (err or out or "no output").strip().splitlines()[:1]
        print(f"{what}: failed, {' '.join(reason)}", file=sys.stderr)
        return []
    return records


def command_of(libs):
    """The command line, without the machine's paths."""
    words = []
    for word in sys.argv[1:]:
        for lib in libs:
            word = word.replace(f"{lib.name}:{lib.given}", f"{lib.name}:PREFIX")
        words.append(word)
    return shlex.join(["bench/compare.py"] + words)


def tagged_run(lib, a, threads, machine):
    """The records of one run, one with value None if it failed, with the machine's state."""
    before = machine.line_ns()
    failed = {"bench": a.bench, "value": None, **({"threads": threads} if threads else {})}
    records = run_once(lib, a, threads) or [failed]
    state = tags(before, machine.line_ns())
    for record in records:
        record.update(state, library=lib.name, env=lib.env, time=int(time.time()))
    return records


def note(values, a, record):
    """Adds a record to {(name, threads or bytes, state): [values]}; returns its unit."""
    key = record["library"], record[a.axis], record["state"]
    values.setdefault(key, []).append(float(record[a.field]))
    return record["unit"] if a.field == "value" else a.field


def measure(libs, a):
    """All runs; returns {(name, threads or bytes, state): [values]} and the unit."""
    values, unit = {}, ""
    machine = Machine(a.bin)
    with open(a.results, "a", encoding="ascii") as results:
        results.write(json.dumps({"commands": [a.command]}) + "\n")
        for repeat in range(a.repeats):
            for t in a.counts if a.axis == "threads" else [None]:
                order = libs if repeat % 2 == 0 else libs[::-1]
                for lib in order:
                    if sys.stderr.isatty():
                        print(f"\r{repeat + 1}/{a.repeats} {lib.name} {t or ''}   ", end="",
                              file=sys.stderr)
                    for record in tagged_run(lib, a, t, machine):
                        if record["value"] is not None:
                            unit = note(values, a, record)
                        results.write(json.dumps({**record, "repeat": repeat}) + "\n")
                    results.flush()
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    a.counts = a.counts or sorted({key[1] for key in values})
    return values, unit


def ratio_interval(ours, base, rng, draws=2000):
    """95 % bootstrap interval of the ratio of medians."""
    ratios = sorted(statistics.median(rng.choices(ours, k=len(ours))) /
                    statistics.median(rng.choices(base, k=len(base))) for _ in range(draws))
    return ratios[int(0.025 * draws)], ratios[int(0.975 * draws) - 1]


def line_of(lib, v, base, a, rng):
    """One line of the table. base: the first library's values in the same state, or None."""
    line = (f"{lib.name:{a.width}}  {statistics.median(v):10.4g}  [{min(v):.4g}..{max(v):.4g}]  "
            f"of {len(v)}")
    if base and statistics.median(base) > 0 and min(v + base) > 0:
        low, high = ratio_interval(v, base, rng)
        ratio = statistics.median(v) / statistics.median(base)
        line += f"  ratio {ratio:.3g} ({low:.3g}..{high:.3g})"
    return line


def states_in(values, t):
    return [s for s in STATES if any(key[1:] == (t, s) for key in values)]


def table(libs, a, values, unit):
    rng = random.Random(a.seed)
    base = libs[0].name
    print(f"{a.bench}{' ' + a.mode if a.bench in MODES else ''}, {unit}, by the state of the "
          f"machine: median [min..max] of so many runs; ratio to {base} (95 % interval)")
    a.width = max(len(lib.name) for lib in libs)
    for t in a.counts:
        for state in states_in(values, t):
            for lib in libs:
                v = values.get((lib.name, t, state))
                if v:
                    # the state changed within these runs, so they are not compared
                    other = values.get((base, t, state)) if state != "mixed" else None
                    print(f"{t:4d} {a.axis}  {state:7}  "
                          + line_of(lib, v, other if lib.name != base else None, a, rng))
        for lib in libs:
            failed = a.repeats - sum(len(v) for key, v in values.items()
                                     if key[:2] == (lib.name, t))
            if failed:
                print(f"{t:4d} {a.axis}  {lib.name}: {failed} of {a.repeats} runs failed")


def plot(libs, a, values, unit):
    try:
        import matplotlib
    except ImportError:
        print("no plot: Python's matplotlib is not installed", file=sys.stderr)
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    _, axes = pyplot.subplots()
    for lib in libs:
        for state in STATES:
            points = [(t, values[lib.name, t, state]) for t in a.counts
                      if (lib.name, t, state) in values]
            if not points or state == "mixed":
                continue
            x = [t for t, _ in points]
            median = [statistics.median(v) for _, v in points]
            axes.errorbar(x, median, capsize=3, marker="o", label=f"{lib.name}, {state}",
                          yerr=[[m - min(v) for m, (_, v) in zip(median, points)],
                                [max(v) - m for m, (_, v) in zip(median, points)]])
    axes.set_xscale("log" if a.axis == "threads" else "symlog", base=2)
    axes.set_xticks(a.counts, [str(t) for t in a.counts])
    axes.set_yscale("log")
    axes.set_xlabel("threads a process" if a.axis == "threads" else "bytes")
    axes.set_ylabel(unit)
    axes.legend()
    pyplot.savefig(a.plot, dpi=150, bbox_inches="tight")


def main():
    try:
        a = parse()
        libs = [Library(text) for text in a.libraries]
        if len({lib.name for lib in libs}) < len(libs):
            raise Bad("two libraries have the same name")
        if a.build:
            for lib in {lib.prefix: lib for lib in libs}.values():
                lib.build(a.bin)
        a.command = command_of(libs)
        values, unit = measure(libs, a)
    except (Bad, OSError) as e:
        print(f"compare.py: {e}", file=sys.stderr)
        return 2
    table(libs, a, values, unit)
    if a.plot:
        plot(libs, a, values, unit)
    measured = {key[:2] for key in values}
    complete = all((lib.name, t) in measured for lib in libs for t in a.counts)
    return 0 if a.counts and complete else 1


if __name__ == "__main__":
    sys.exit(main())
