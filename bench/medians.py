#!/usr/bin/env python3
# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Condenses raw results (JSON lines of compare.py or sync/run) to medians, for bench/results.

A medians file begins with a line that has the commands that made it. Blocks follow: a line with
what is the same in all rows and the names of the columns, then one JSON array for each point. Each
point has the number of runs that ended (n), and for the value its median, minimum and maximum.
Records are points of their own if they differ in anything but what was measured.
"""
import argparse
import json
import os
import statistics
import sys
import time

# fields that were measured: each point keeps their median
MEASURED = ("value", "latency_ns", "combining_rate", "call_ns", "wake_ns", "wake_over_signal",
            "contested", "seconds", "p99", "p99_9", "p99_99", "longest", "over_100us", "preempted",
            "post_us", "wait_us", "pure_us", "alone_us", "together_us", "computing_us", "overlap",
            "slowdown", "taken", "rate")
# fields of one run
DROPPED = ("round", "repeat", "time", "messages", "operations", "round_trips", "load",
           "line_ns")


class Bad(Exception):
    """Bad input: one line, exit status 2."""


def unpack(path):
    """Yields (line number, record) for each line of results, raw or medians. The record is None if
    the line is not JSON; lines with commands come unchanged."""
    block = None
    with open(path, encoding="ascii") as f:
        for number, line in enumerate(f, 1):
            try:
                item = json.loads(line)
            except ValueError:
                item = None
            if isinstance(item, list) and block and len(item) == len(block["columns"]):
                yield number, {**block["same"], **{k: v for k, v in zip(block["columns"], item)
                                                   if v is not None}}
            elif isinstance(item, dict) and "columns" in item:
                block = item
            else:
                yield number, item if isinstance(item, dict) else None


def load(path):
    """The records of a file. Their value is a number, or None for a failed run. Raises Bad if a
    line is not a result."""
    records = []
    for number, record in unpack(path):
        if record is not None and "commands" in record:
            continue
        try:
            if record["value"] is not None:
                record["value"] = float(record["value"])
            complete = {"bench", "unit"} <= record.keys() or record["value"] is None
        except (ValueError, KeyError, TypeError):
            complete = False
        if not complete:
            raise Bad(f"{path}, line {number}: not a result")
        records.append(record)
    return records


def commands(path):
    """The commands that made a file, each once."""
    return list(dict.fromkeys(c for _, record in unpack(path) if record and "commands" in record
                              for c in record["commands"]))


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


def blocks(points):
    """(what is the same, columns, rows) for each benchmark and part."""
    groups = {}
    for p in points:
        groups.setdefault((p["bench"], p.get("part"), tuple(sorted(p))), []).append(p)
    for group in groups.values():
        same = {k: v for k, v in group[0].items() if all(p[k] == v for p in group)}
        columns = [k for k in group[0] if k not in same]
        yield same, columns, [[p[c] for c in columns] for p in group]


def write(path, records, made_by):
    with open(path, "w", encoding="ascii") as f:
        f.write(json.dumps({"commands": made_by, "runs": len(records), "day": day(records)}) + "\n")
        for same, columns, rows in blocks(condense(records)):
            f.write(json.dumps({"same": same, "columns": columns}) + "\n")
            for row in rows:
                f.write(json.dumps(row, separators=(",", ":")) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("raw", nargs="+", help="JSON lines; NAME.jsonl becomes NAME.medians")
    p.add_argument("--out", help="folder of the medians (default: that of the raw file)")
    p.add_argument("--command", help="the command that made them, if the file does not have it")
    a = p.parse_args()
    try:
        for path in a.raw:
            made_by = [a.command] if a.command else commands(path)
            if not made_by:
                raise Bad(f"{path}: which command made it? (--command)")
            name = os.path.splitext(os.path.basename(path))[0] + ".medians"
            write(os.path.join(a.out or os.path.dirname(path), name), load(path), made_by)
    except (Bad, OSError) as e:
        print(f"medians.py: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
