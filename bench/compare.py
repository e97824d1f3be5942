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

PROGRAMS = ("msgrate", "latency", "rmarate", "posttime", "isend_instr")
APPS = ("bfs", "stencil", "sweep", "kmer")      # in apps; they run until their work is done
BENCHES = PROGRAMS[:4] + APPS   # those that print JSON lines
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

    def bin_dir(self, out):
        """One folder for each prefix: models of one library share their programs."""
        return os.path.join(out, self.prefix.strip("/").replace("/", "-"))

    def build(self, out):
        folder = self.bin_dir(out)
        os.makedirs(folder, exist_ok=True)
        for program in PROGRAMS + APPS:
            app = program in APPS
            # MPICH's own header makes gcc warn about MPI_STATUSES_IGNORE (stringop-overflow)
            command = [self.mpicc, "-std=gnu11", "-O2", "-Wall", "-Wno-stringop-overflow",
                       "-fopenmp" if app else "-pthread", "-o", os.path.join(folder, program),
                       os.path.join(HERE, "apps" if app else "", program + ".c")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Bad(f"library '{self.name}': {program}.c does not compile:\n{done.stderr}")


def parse():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("libraries", nargs="+", metavar="NAME:PREFIX[:VAR=VAL,...]",
                   help="a library and the environment of its runs; ratios refer to the first")
    p.add_argument("--bin", default="bench-bin", help="folder of the compiled programs")
    p.add_argument("--build", action="store_true", help="compile them first with PREFIX/bin/mpicc")
    p.add_argument("--bench", choices=BENCHES, default="msgrate")
    p.add_argument("--mode", choices=sorted(set(sum(MODES.values(), ()))),
                   help="of msgrate: pairs (default), fanout, fanin; of rmarate: put (default), "
                   "get, acc; of posttime: wait (default), poll, pairs")
    p.add_argument("--post", action="store_true", help="of msgrate: time of one MPI_Isend")
    p.add_argument("--stream", action="store_true", help="of msgrate: windows not acknowledged")
    p.add_argument("--threads", default="1,2,4", help="list of thread counts")
    p.add_argument("--bytes", type=int, help="message size (default: the program's)")
    p.add_argument("--duration", type=float, default=0.5,
                   help="seconds for each point, except for the applications")
    p.add_argument("--options", type=shlex.split, default=[], metavar="'-s 64 -n 10'",
                   help="further options of the program, such as the size of an application")
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--timeout", type=float, default=60.0, help="seconds for each run")
    p.add_argument("--results", default="compare.jsonl",
                   help="the raw runs, appended as JSON lines")
    p.add_argument("--plot", metavar="FILE.png", help="draw threads against the result")
    p.add_argument("--seed", type=int, default=1, help="of the bootstrap")
    a = p.parse_args()
    if a.repeats < 1:
        raise Bad(f"--repeats {a.repeats}: at least 1 is needed")
    try:
        a.counts = [int(t) for t in a.threads.split(",")]
    except ValueError:
        raise Bad(f"--threads '{a.threads}' is not a list of numbers") from None
    if min(a.counts) < 1 or max(a.counts) > 256:
        raise Bad(f"--threads '{a.threads}': 1 to 256 are possible")
    if a.bench in MODES:
        a.mode = a.mode or MODES[a.bench][0]
        if a.mode not in MODES[a.bench]:
            raise Bad(f"--mode {a.mode} is not one of {a.bench}'s: {', '.join(MODES[a.bench])}")
    if a.bytes and a.bench in APPS:
        raise Bad(f"--bytes: {a.bench} has no message size; use --options")
    if a.duration <= 0:
        raise Bad(f"--duration {a.duration} is not positive")
    return a


def run_once(lib, a, threads):
    """One run of one point; returns the program's record, or None when it failed."""
    program = os.path.join(lib.bin_dir(a.bin), a.bench)
    if not os.access(program, os.X_OK):
        raise Bad(f"no program {program}; use --build")
    command = [lib.mpirun, "-n", "2", program, "-j", "-t", str(threads)]
    command += ["-d", str(a.duration)] if a.bench not in APPS else []
    command += ["-m", a.mode] if a.bench in MODES else []
    if a.bench == "msgrate":
        command += ["-u"] * a.stream + ["-p"] * a.post
    command += ["-s", str(a.bytes)] if a.bytes else []
    command += a.options
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
            print(f"{lib.name}, {threads} threads: no end within {a.timeout:g} s", file=sys.stderr)
            return None
    if child.returncode == 2:
        raise Bad(err.strip() or f"{program}: bad options")
    try:
        record = json.loads(out.strip().splitlines()[-1])
        record["value"] = float(record["value"])
    except (IndexError, KeyError, TypeError, ValueError):
        record = None
    if child.returncode or not record:
        reason = (err or out or "no output").strip().splitlines()[:1]
        print(f"{lib.name}, {threads} threads: failed, {' '.join(reason)}", file=sys.stderr)
        return None
    return record


def command_of(libs):
    """The command line, without the machine's paths."""
    words = []
    for word in sys.argv[1:]:
        for lib in libs:
            word = word.replace(f"{lib.name}:{lib.given}", f"{lib.name}:PREFIX")
        words.append(word)
    return shlex.join(["bench/compare.py"] + words)


def tagged_run(lib, a, threads, machine):
    """The record of one run, with value None if it failed, and with the machine's state."""
    before = machine.line_ns()
    record = run_once(lib, a, threads) or {"bench": a.bench, "threads": threads, "value": None}
    record.update(tags(before, machine.line_ns()), library=lib.name, env=lib.env,
                  time=int(time.time()))
    return record


def measure(libs, a):
    """All runs; returns {(name, threads, state): [values]} and the unit."""
    values, unit = {}, ""
    machine = Machine(a.bin)
    with open(a.results, "a", encoding="ascii") as results:
        results.write(json.dumps({"commands": [a.command]}) + "\n")
        for repeat in range(a.repeats):
            for t in a.counts:
                order = libs if repeat % 2 == 0 else libs[::-1]
                for lib in order:
                    if sys.stderr.isatty():
                        print(f"\r{repeat + 1}/{a.repeats} {lib.name} {t} threads   ", end="",
                              file=sys.stderr)
                    record = tagged_run(lib, a, t, machine)
                    if record["value"] is not None:
                        values.setdefault((lib.name, t, record["state"]), []).append(
                            record["value"])
                        unit = record["unit"]
                    record.update(repeat=repeat)
                    results.write(json.dumps(record) + "\n")
                    results.flush()
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
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
    if base:
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
                    print(f"{t:4d} threads  {state:7}  "
                          + line_of(lib, v, other if lib.name != base else None, a, rng))
        for lib in libs:
            failed = a.repeats - sum(len(v) for key, v in values.items()
                                     if key[:2] == (lib.name, t))
            if failed:
                print(f"{t:4d} threads  {lib.name}: {failed} of {a.repeats} runs failed")


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
    axes.set_xscale("log", base=2)
    axes.set_xticks(a.counts, [str(t) for t in a.counts])
    axes.set_yscale("log")
    axes.set_xlabel("threads a process")
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
    return 0 if all((lib.name, t) in measured for lib in libs for t in a.counts) else 1


if __name__ == "__main__":
    sys.exit(main())
