# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Reads the files of MPIR_CVAR_CH4_THREAD_TRACE (doc/stats.md) and computes the figures of TOPC
sections 5 and 6 from them."""
import math
import os
from collections import namedtuple

from driver.records import Bad

FIRST = "MPICH-TSM thread trace "
VERSION = "1"
LEVELS = ("thread", "core", "node")
COUNTS = ("contended competitors same_thread same_core same_node fair_thread fair_core fair_node "
          "polls unsuccessful wasted combined").split()
QUEUES = ("dangling", "posted_receives", "unexpected", "queue", "waiting")
# what a reader needs of each kind of line; a file may have more
NEEDED = {
    "total": ["vci", "main", "progress"] + COUNTS,
    "thread": ["thread", "holds", "samples", "skipped", "dropped_holds", "dropped_samples"],
    "hold": ["thread", "vci", "number", "progress", "begin", "end", "cpu", "core", "node"] + COUNTS +
            ["left_main", "left_progress"],
    "sample": ["thread", "time"] + list(QUEUES) + ["sends", "receives", "rma"],
}
HEAD = {"process": ["rank", "size"], "library": ["model", "progress", "lock", "vcis"],
        "trace": ["sample", "records", "begin", "end", "untraced_threads", "misses", "fair_one"]}
A_FEW = 0.01        # of the acquisitions of the thread with most
WORDS = {"model", "progress", "lock", "host"}


def row_type(kind, names, where):
    missing = [n for n in NEEDED[kind] if n not in names]
    if missing:
        raise Bad(f"{where}: lines '{kind}' have no column {missing[0]}")
    try:
        return namedtuple(kind, names)
    except ValueError as e:
        raise Bad(f"{where}: {e}") from e


class Trace:
    """One file. head: the values of the lines process, library and trace; total, thread, hold, sample:
    the lines of that kind, with the names of the columns. Holds are in the order of each VCI's
    acquisitions, samples in that of time."""

    def __init__(self, path, label=None):
        self.path, self.head = path, {}
        self.total, self.thread, self.hold, self.sample = [], [], [], []
        self.types, self.lines = {}, None
        try:
            with open(path, encoding="ascii") as f:
                self.read(f)
        except (OSError, UnicodeDecodeError) as e:
            raise Bad(f"{path}: {getattr(e, 'strerror', None) or 'is not a thread trace'}") from e
        self.check()
        self.hold.sort(key=lambda h: (h.vci, h.number))
        self.sample.sort(key=lambda s: s.time)
        self.label = label or "{model}, {progress}, {lock}".format(**self.head)

    def read(self, f):
        first = f.readline()
        if not first:
            raise Bad(f"{self.path}: is empty: its process did not get to the end of MPI_Finalize")
        if not first.startswith(FIRST):
            raise Bad(f"{self.path}: is not a thread trace")
        if first[len(FIRST):].strip() != VERSION:
            raise Bad(f"{self.path}: is of version {first[len(FIRST):].strip()}, not {VERSION}")
        for n, line in enumerate(f, 2):
            self.take(line.split(), f"{self.path}:{n}")

    def take(self, words, where):
        kind = words[0] if words else ""
        if self.lines is not None:
            raise Bad(f"{where}: a line after the last")
        if kind in self.types:
            try:
                getattr(self, kind).append(self.types[kind](*map(int, words[1:])))
            except (TypeError, ValueError):
                raise Bad(f"{where}: a line '{kind}' needs {len(self.types[kind]._fields)} "
                          "numbers") from None
        elif kind == "columns" and len(words) > 1 and words[1] in NEEDED:
            self.types[words[1]] = row_type(words[1], words[2:], where)
        elif kind in HEAD:
            self.take_head(kind, words[1:], where)
        elif kind == "end" and len(words) == 2 and words[1].isdigit():
            self.lines = int(words[1])
        else:
            raise Bad(f"{where}: '{' '.join(words)[:40]}' is no line of a thread trace")

    def take_head(self, kind, words, where):
        values = dict(w.split("=", 1) for w in words if "=" in w)
        missing = [n for n in HEAD[kind] if n not in values]
        if missing:
            raise Bad(f"{where}: line '{kind}' has no {missing[0]}=")
        try:
            self.head.update({k: v if k in WORDS else int(v) for k, v in values.items()})
        except ValueError as e:
            raise Bad(f"{where}: {e}") from e

    def check(self):
        if self.lines is None or self.lines != len(self.hold) + len(self.sample):
            raise Bad(f"{self.path}: is cut off: its last line is missing, or others are")
        for kind, names in HEAD.items():
            if names[0] not in self.head:
                raise Bad(f"{self.path}: has no line '{kind}'")
        if self.head["fair_one"] < 1:
            raise Bad(f"{self.path}: fair_one={self.head['fair_one']} is not a unit")

    # ---- figures ----

    def sum(self, kind, name):
        return sum(getattr(row, name) for row in getattr(self, kind))

    def dropped(self):
        return self.sum("thread", "dropped_holds") + self.sum("thread", "dropped_samples")

    def acquired(self, kind):
        """(main path, progress loop): 'total' counted, 'hold' traced."""
        if kind == "total":
            return self.sum(kind, "main"), self.sum(kind, "progress")
        progress = self.sum(kind, "progress")
        return len(self.hold) - progress, progress

    def bias(self, kind, level):
        """Definition 5.4: M(S) / F(S). None without contention."""
        fair = self.sum(kind, "fair_" + level) / self.head["fair_one"]
        return self.sum(kind, "same_" + level) / fair if fair else None

    def share(self, kind, part, whole):
        whole = self.sum(kind, whole)
        return self.sum(kind, part) / whole if whole else None

    def values(self, queue):
        return [getattr(s, queue) for s in self.sample]

    def average(self, queue):
        values = self.values(queue)
        return sum(values) / len(values) if values else None

    def rate(self, what):
        """Operations issued in a second, between the first and the last sample."""
        if len(self.sample) < 2 or self.sample[-1].time == self.sample[0].time:
            return None
        a, b = self.sample[0], self.sample[-1]
        return (getattr(b, what) - getattr(a, what)) / (b.time - a.time) * 1e9

    def active_threads(self):
        """Threads that took a lock more than a few times: not a main thread that only starts and ends
        the others."""
        held = [t.holds + t.skipped + t.dropped_holds for t in self.thread]
        return sum(n > A_FEW * max(held) for n in held)

    def pairs(self):
        """Holds of one VCI that followed each other."""
        return [(a, b) for a, b in zip(self.hold, self.hold[1:])
                if a.vci == b.vci and a.number + 1 == b.number]

    def gaps(self):
        """Time from a release to the next acquisition, in ns: while threads waited, and not."""
        found = {"same": [], "other": [], "idle": []}
        for a, b in self.pairs():
            waited = a.left_main + a.left_progress
            kind = "idle" if not waited else "same" if a.thread == b.thread else "other"
            found[kind].append(b.begin - a.end)
        return found

    def longest_run(self):
        """The most acquisitions in a row by one thread while others waited each time."""
        longest = run = 0
        last = None     # a hold that was not traced breaks the row
        for a, b in self.pairs():
            run = run if a is last else 0
            run = run + 1 if b.contended and b.same_thread else 0
            longest = max(longest, run)
            last = b
        return longest + 1 if longest else 0


def percentile(values, percent):
    """The smallest value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def open_traces(specs):
    """specs: FILE or LABEL=FILE."""
    traces = []
    for spec in specs:
        label, found, path = spec.partition("=")
        named = found and not os.path.exists(spec)
        traces.append(Trace(path if named else spec, label if named else None))
    return traces
