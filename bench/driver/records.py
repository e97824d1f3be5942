# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Reads results, raw ones (JSON lines of tsm-bench or sync/run) and medians, and condenses raw ones to
medians, for bench/results.

A medians file begins with a line that has the commands that made it. Blocks follow: a line with
what is the same in all rows and the names of the columns, then one JSON array for each point. Each
point has the number of runs that ended (n), and for the value its median, minimum and maximum.
Records are points of their own if they differ in anything but what was measured. Points of
tsm-bench also have the interval of the median (low, high), the ratio to the library `base` in the
same repeats with its interval, that to the floor, those to what a paper compares it with (paired: for
"BENCHMARK LIBRARY" the ratio, its interval, and the number of pairs), and how many runs failed or were
dropped: because the machine's state changed within them, or (busy) because other programs used the
processors.
"""
import contextlib
import functools
import json
import math
import os
import shutil
import statistics
import time

from driver.figures import FLOOR, bases_of, is_called
from driver.machine import DROPPED as DROPPED_STATES
from driver.stats import median_interval, paired_ratio

# fields that were measured: each point keeps their median
MEASURED = ("value", "latency_ns", "combining_rate", "call_ns", "wake_ns", "wake_over_signal",
            "contested", "seconds", "p99", "p99_9", "p99_99", "longest", "over_100us", "preempted",
            "post_us", "wait_us", "pure_us", "alone_us", "together_us", "computing_us", "overlap",
            "slowdown", "taken", "rate", "post_ns", "waiting_us", "beside_us", "first_us")
# fields of one run
DROPPED = ("round", "repeat", "time", "messages", "operations", "round_trips", "load",
           "line_ns", "busy", "run", "order_seed", "nth", "reason")
# fields that tsm-bench sets: they tell its points apart, together with those that `axes` names
ASKED = ("set", "benchmark", "better", "axes", "options", "users", "duration", "inherited", "library",
         "version", "device", "build", "commit", "model", "lock", "env", "base", "machine")
# of these, what a library is
IDENTITY = ("library", "version", "device", "build", "commit", "model", "lock", "env")
# what fields of its results and points are, for files that are not its own
NUMBER = (int, float)
COMPARED = {"benchmark": str, "better": str, "axes": list, "options": str, "library": str, "env": dict,
            "base": str, "machine": str}
RAW = {"state": str, "run": int, "repeat": int}
POINT = {"state": str, **dict.fromkeys(("n", "value", "min", "max", "low", "high"), NUMBER)}
BAD_POINT = {"failed": int, "dropped": int, "why": str}
OPTIONAL = {"set": str, "nth": int, "inherited": dict, "users": int, "duration": NUMBER, "paired": dict,
            "busy": NUMBER,
            **dict.fromkeys(("version", "device", "build", "commit", "model", "lock", "unit",
                            "bench"), str)}


class Bad(Exception):
    """Bad input: one line, exit status 2."""


def said(error):
    """An exception in words; Python's own text of an OSError begins with a number."""
    named = isinstance(error, OSError) and error.filename is not None and error.strerror
    return f"{error.filename or repr('')}: {error.strerror}" if named else str(error)


@contextlib.contextmanager
def whole_file(path):
    """A file to write that takes its place at the end only: one that cannot be written to the end
    leaves what was there. What is no plain file, or is in a folder in which nothing may be made, is
    written where it is."""
    place = os.path.realpath(path)
    beside = f"{place}.{os.getpid()}.part"
    if (os.path.exists(path) and not (os.path.isfile(path) and os.access(path, os.W_OK))
            or not os.access(os.path.dirname(place), os.W_OK) or path.startswith(("/dev/", "/proc/"))):
        with open(path, "w", encoding="ascii") as f:
            yield f
        return
    try:
        with open(beside, "w", encoding="ascii") as f:
            yield f
        if os.path.exists(path):
            shutil.copymode(place, beside)
        os.replace(beside, place)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def unpack(path):
    """Yields (line number, record) for each line of results, raw or medians. The record is None if
    the line is not JSON; lines with commands come unchanged."""
    block = None
    with open(path, encoding="ascii", errors="replace") as f:
        for number, line in enumerate(f, 1):
            try:
                item = json.loads(line)
            except (ValueError, RecursionError):
                item = None
            if isinstance(item, list) and block and len(item) == len(block["columns"]):
                yield number, {**block["same"], **{k: v for k, v in zip(block["columns"], item)
                                                   if v is not None or k == "value"}}
            elif isinstance(item, dict) and "columns" in item:
                block = item if are(item, {"same": dict, "columns": list}) else None
                if block is None or not all(isinstance(c, str) for c in item["columns"]):
                    yield number, None
            else:
                yield number, item if isinstance(item, dict) else None


def are(record, kinds):
    """Whether all these fields are there and of these kinds."""
    return all(isinstance(record.get(k), kind) for k, kind in kinds.items())


def may_be(record, kinds):
    """Likewise, but they may be missing or None."""
    return are(record, {k: v for k, v in kinds.items() if record.get(k) is not None})


def is_compared(record):
    """Whether a record with axes has what tsm-bench has written: raw or a point."""
    needed = POINT if record.get("n") else BAD_POINT if "n" in record else RAW
    return (are(record, COMPARED) and are(record, needed) and may_be(record, OPTIONAL)
            and record["better"] in ("more", "less")
            and all(isinstance(axis, str) for axis in record["axes"])
            and are(record, dict.fromkeys(record["axes"], int))
            and all(are(record, {f"{name}_{end}": NUMBER for end in ("low", "high", "pairs")})
                    for name in ("ratio", "of_floor") if record.get(name) is not None)
            and all(isinstance(ratio, list) and len(ratio) == 4
                    and all(isinstance(x, NUMBER) for x in ratio)
                    for ratio in (record.get("paired") or {}).values()))


def complete(record):
    """Whether a record is a result. Makes numbers of what was measured."""
    if record is None or "value" not in record or not may_be(record, {"part": str, "time": int}):
        return False
    try:
        for field in MEASURED if record["value"] is not None else ():
            if field in record:
                record[field] = float(record[field])
                if not math.isfinite(record[field]):
                    return False
    except (ValueError, TypeError, OverflowError):
        return False
    return ((record["value"] is None or are(record, {"bench": str, "unit": str}))
            and ("axes" not in record or is_compared(record)))


def cut(path, number):
    """A word if that line is the last of a file and has no end."""
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    is_cut = number == len(lines) and lines[-1]
    return " (a run was killed while it wrote this line: remove it)" if is_cut else ""


def load(path):
    """The records of a file. Their value is a number, or None for a failed run. Raises Bad if a
    line is not a result, or none is."""
    records = []
    for number, record in unpack(path):
        if record is None or "commands" not in record:
            if not complete(record):
                raise Bad(f"{path}, line {number}: not a result{cut(path, number)}")
            records.append(record)
    if not records:
        raise Bad(f"{path}: no results")
    return records


def commands(path):
    """The commands that made a file, each once."""
    found = {}
    for number, record in unpack(path):
        if record and "commands" in record:
            if not all(isinstance(c, str) for c in record["commands"] or [None]):
                raise Bad(f"{path}, line {number}: not a list of commands")
            found.update(dict.fromkeys(record["commands"]))
    return list(found)


def is_condensed(path):
    """Whether a file has medians, not runs."""
    return any(record and ("n" in record or "columns" in record) for _, record in unpack(path))


def day(records):
    times = [r["time"] for r in records if "time" in r]
    return time.strftime("%Y-%m-%d", time.gmtime(max(times))) if times else None


def short(value):
    return float(f"{value:.4g}")


def condense(records):
    """One record for each point, in the order of coming."""
    groups = {}
    for r in records:
        if r["value"] is not None:
            key = {k: v for k, v in r.items() if k not in MEASURED + DROPPED}
            groups.setdefault(json.dumps(key, sort_keys=True), (key, []))[1].append(r)
    points = []
    for key, runs in groups.values():
        values = [r["value"] for r in runs]
        point = {**key, "n": len(runs), "min": short(min(values)), "max": short(max(values))}
        for field in MEASURED:
            found = [float(r[field]) for r in runs if field in r]
            if found:
                point[field] = short(statistics.median(found))
        points.append(point)
    return points


def asked(record):
    """What tells the points of tsm-bench apart, but for the state of the machine."""
    return {k: record.get(k) for k in ASKED + tuple(record["axes"])}


def key_of(fields):
    return json.dumps(fields, sort_keys=True)


def by_repeat(runs):
    """{(run of the driver, repeat): value}"""
    return {(r["run"], r["repeat"]): r["value"] for r in runs}


def ratio_of(runs, others):
    """[ratio of pairs, the ends of its interval, number of pairs], or None."""
    found = paired_ratio(by_repeat(runs), by_repeat(others))
    return found and [short(found[0]), *map(short, found[1]), found[2]]


def point_of(fields, runs, state, others, paired):
    """A point of tsm-bench. runs: those in this state. others: (name, runs) of what to compare it
    with; paired: likewise, for claims of papers. All points have the same fields, so that medians are
    one block; None is what there is not."""
    values = [r["value"] for r in runs]
    low, high = median_interval(values)
    same = {k: v for k, v in runs[0].items() if k not in MEASURED + DROPPED + ("state",)}
    point = {**same, **fields, "state": state, "n": len(runs), "min": short(min(values)),
             "max": short(max(values)), "low": short(low), "high": short(high)}
    for field in MEASURED:
        found = [float(r[field]) for r in runs if field in r]
        if found:
            point[field] = short(statistics.median(found))
    for name, other in others:
        names = (name, *(f"{name}_{end}" for end in ("low", "high", "pairs")))
        point.update(zip(names, ratio_of(runs, other) or [None] * 4))
    ratios = {name: ratio_of(runs, other) for name, other in paired}
    point["paired"] = {name: ratio for name, ratio in ratios.items() if ratio} or None
    return point


def place_of(fields, library):
    """What the points to compare have in common, and the name of a library there."""
    return key_of({k: v for k, v in fields.items() if k not in IDENTITY}), library


def place_of_bases(record, benchmark):
    """What a record has in common with that benchmark's results to which a claim may compare it."""
    fields = {k: v for k, v in asked(record).items() if k not in IDENTITY + ("better",)}
    return key_of({**fields, "benchmark": benchmark})


def library_called(points, benchmark, name):
    """The library of that name, else the first one of that model or lock in a benchmark; None without.
    The same at all places and in all states of a machine: where it has no result, another one must not
    stand for it. points: also records, in the order of the runs."""
    found = [p["library"] for p in points if p["benchmark"] == benchmark and is_called(p, name)]
    return name if name in found else next(iter(found), None)


def bases_called(records):
    """A function that returns library_called of (record, benchmark, name) on the record's machine."""
    in_order = sorted(records, key=lambda r: (r["run"], r.get("nth", 0)))

    @functools.lru_cache(maxsize=None)
    def called(machine, benchmark, name):
        return library_called([r for r in in_order if r["machine"] == machine], benchmark, name)
    return lambda record, benchmark, name: called(record["machine"], benchmark, name)


def runs_of_base(record, there, benchmark, library):
    """The runs of a library in a benchmark, at the place of the record. there: {place_of_bases:
    records}."""
    return [r for r in there.get(place_of_bases(record, benchmark), []) if r["library"] == library]


def in_state(runs, state):
    return [r for r in runs if r["value"] is not None and r["state"] == state]


def compared_points(records):
    """The points of raw results of tsm-bench, the libraries in the order in which they were given."""
    groups, named, there = {}, {}, {}   # named: of all libraries of a name, as it may be built anew
    base_of = bases_called(records)
    for r in records:
        fields = asked(r)
        groups.setdefault(key_of(fields), (fields, []))[1].append(r)
        named.setdefault(place_of(fields, r["library"]), []).append(r)
        there.setdefault(place_of_bases(r, r["benchmark"]), []).append(r)
    places, points = {}, []
    for fields, _ in groups.values():
        places.setdefault(place_of(fields, None), len(places))
    for fields, runs in sorted(groups.values(), key=lambda group: (
            places[place_of(group[0], None)], group[1][0]["run"], group[1][0].get("nth", 0))):
        bad = {"failed": sum(r["value"] is None for r in runs),
               **{field: sum(r["value"] is not None and r["state"] == state for r in runs)
                  for state, (field, _) in DROPPED_STATES.items()}}
        for state in dict.fromkeys(r["state"] for r in runs):
            mine = in_state(runs, state)
            if state in DROPPED_STATES or not mine:
                continue
            others = [(name, in_state(named.get(place_of(fields, lib), []), state)
                       if lib != fields["library"] else [])
                      for name, lib in (("ratio", fields["base"]), ("of_floor", FLOOR))]
            paired = [(f"{bench} {name}", in_state(
                runs_of_base(runs[0], there, bench, base_of(runs[0], bench, name)), state))
                      for bench, name in bases_of(runs[0])]
            points.append(point_of(fields, mine, state, others, paired))
        if any(bad.values()):
            points.append({**fields, "n": 0, "value": None, "unit": runs[0].get("unit", ""),
                           "bench": runs[0].get("bench", ""), **bad,
                           "why": next((r["reason"] for r in runs if r.get("reason")), "")})
    return points


def points_of(records):
    """The points of raw results or medians, of tsm-bench and of others."""
    raw = [r for r in records if "n" not in r]
    return ([r for r in records if "n" in r] + compared_points([r for r in raw if "axes" in r])
            + condense([r for r in raw if "axes" not in r]))


def blocks(points):
    """(what is the same, columns, rows) for each benchmark and part."""
    groups = {}
    for p in points:
        groups.setdefault((p["bench"], p.get("part"), p.get("benchmark"), tuple(sorted(p))),
                          []).append(p)
    for group in groups.values():
        same = {k: v for k, v in group[0].items() if all(p[k] == v for p in group)}
        columns = [k for k in group[0] if k not in same]
        yield same, columns, [[p[c] for c in columns] for p in group]


def write(path, records, made_by):
    """Writes a medians file. made_by: the commands."""
    found = list(blocks(points_of(records)))
    with whole_file(path) as f:
        f.write(json.dumps({"commands": made_by, "runs": len(records), "day": day(records)}) + "\n")
        for same, columns, rows in found:
            f.write(json.dumps({"same": same, "columns": columns}) + "\n")
            for row in rows:
                f.write(json.dumps(row, separators=(",", ":")) + "\n")
