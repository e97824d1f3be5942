# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Tables of results: medians, intervals and ratios, apart for each state of the machine."""
import math
from collections import Counter

from driver.catalog import SETS
from driver.figures import FLOOR, is_called
from driver.machine import DROPPED
from driver.records import library_called, Bad

# what points have in common of which results may be compared; of one table or figure
EXPERIMENT = ("set", "benchmark", "options", "state", "users", "duration", "inherited", "machine")
TABLE = EXPERIMENT + ("base",)
WORD = {"more": "more is better", "less": "less is better"}


# of the benchmarks post-*: medians of the runs' percentiles, beside the median that is the result
TAIL = (("p99", "p99"), ("p99.9", "p99_9"), ("p99.99", "p99_99"), ("longest", "longest"),
        ("over 100 us", "over_100us"), ("preempted", "preempted"))

LEAST = 5           # pairs, or runs, from which on a word is said about a claim
ABOUT = 0.1         # a paper's single number stands for a range, from so much below it to above it
FEW = "Intervals of fewer than 6 runs or pairs are the range of these, and cover less than 95 %."
RATIOS = ("Ratios, at the values of the axes: of pairs of runs, with the interval; or of the medians "
          "(n: runs of both). A word says where all of the interval, of at least "
          f"{LEAST} pairs, is within, below or above the paper's range; that of a single number "
          f"is {100 * ABOUT:g} % to both sides:")


def few(point):
    """Whether an interval that a table has of the point covers less than 95 %."""
    return point["n"] < 6 or point.get("ratio") is not None and point["ratio_pairs"] < 6


def measured(points):
    return [p for p in points if p["n"] and p["library"] != FLOOR]


def place(point):
    """The values of the axes, in order."""
    return tuple(point[axis] for axis in point["axes"])


def with_floor(points):
    """What was measured, and then the floor in the same states at the same places."""
    here = measured(points)
    known = {(key, place(p)) for key, group in groups_of(here, TABLE).items() for p in group}
    floor = groups_of([p for p in points if p["n"] and p["library"] == FLOOR], TABLE)
    return here + [p for key, group in floor.items() for p in group if (key, place(p)) in known]


def words_of(env):
    return " ".join(f"{k}={v}" for k, v in env.items())


def names_of(points):
    """{(library, build): what tables and figures call it}: the build where a library has several. Files
    of before builds were recorded have None."""
    builds = dict.fromkeys((p["library"], p.get("build")) for p in points)
    count = Counter(name for name, _ in builds)
    return {(name, build): f"{name} {build[:6]}" if build and count[name] > 1 else name
            for name, build in builds}


def groups_of(points, keys):
    """{values of keys: points}, in the order of coming; an environment as text."""
    groups = {}
    for p in points:
        key = tuple(words_of(p[k]) if isinstance(p.get(k), dict)
                    else tuple(p[k]) if isinstance(p.get(k), list) else p.get(k) for k in keys)
        groups.setdefault(key, []).append(p)
    return groups


def interval(point, name):
    if point.get(name) is None:
        return ""
    return f"{point[name]:.3g} ({point[name + '_low']:.3g}..{point[name + '_high']:.3g})"


def number(point, name):
    return "" if point.get(name) is None else f"{point[name]:.3g}"


def pairs_of(point):
    return point["ratio_pairs"] if point.get("ratio") is not None else None


def columns_of(points):
    """(title, text of a point) for each column that has something."""
    base, unit = points[0].get("base"), points[0]["unit"]
    axes, names = points[0]["axes"], names_of(points)
    unlike = any(pairs_of(p) not in (None, p["n"]) for p in points)
    columns = [(axis.replace("_", " "), lambda p, axis=axis: str(p[axis])) for axis in axes]
    columns += [("library", lambda p: names[p["library"], p.get("build")]),
                (unit, lambda p: f"{p['value']:.4g}"),
                ("95 % interval", lambda p: f"{p['low']:.4g}..{p['high']:.4g}"),
                ("runs", lambda p: str(p["n"])),
                ("pairs", lambda p: str(pairs_of(p) or "") if unlike else ""),
                ("wait us", lambda p: number(p, "wait_us")),
                ("slowdown %", lambda p: number(p, "slowdown")),
                *((title, lambda p, field=field: f"{p[field]:g}" if field in p else "")
                  for title, field in TAIL),
                (f"over {base}", lambda p: interval(p, "ratio")),
                ("over floor", lambda p: "" if p.get("of_floor") is None
                 else f"{p['of_floor']:.3g}")]
    return [(title, text) for title, text in columns if any(text(p) for p in points)]


def table(points):
    columns = columns_of(points)
    yield from aligned([[title for title, _ in columns]]
                       + [[text(p) for _, text in columns] for p in points])


def aligned(lines):
    """Lines of cells, the first with titles, as text: the column "library" left, the others right."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        yield "  ".join(cell.ljust(w) if title == "library" else cell.rjust(w)
                        for title, cell, w in zip(lines[0], line, widths)).rstrip()


def side_by_side(points):
    """The lines of one table for each machine, state of it, and length of runs: a row for each library,
    a column for each benchmark and place. Raises Bad if two results belong in one cell."""
    keys, called = ("machine", "state", "users", "duration", "inherited"), names_of(points)
    for (machine, state, *_), here in groups_of(with_floor(points), keys).items():
        columns = groups_of(sorted(here, key=lambda p: str(p["benchmark"])),
                            ("benchmark", "options", "axes", "unit"))
        heads, cells = ["library"], {}
        for (bench, options, axes, unit), column in columns.items():
            for at, cell in sorted(groups_by_place(column).items()):
                heads.append(" ".join([bench, options, *map(str, at)]).replace("  ", " "))
                for p in cell:
                    name = called[p["library"], p.get("build")]
                    if (name, heads[-1]) in cells:
                        raise Bad(f"{name} has two results for {heads[-1]}; give those of one "
                                  "measurement")
                    cells[name, heads[-1]] = f"{p['value']:.3g}"
        yield f"Machine: {machine}; state {state}; medians"
        yield from sorted({f"  {bench} {options}".rstrip() + f": {unit}, {WORD[column[0]['better']]}"
                           f"; then {', '.join(axes)}"
                           for (bench, options, axes, unit), column in columns.items()})
        names = dict.fromkeys(called[p["library"], p.get("build")] for p in here)
        yield from aligned([heads] + [[name] + [cells.get((name, head), "-") for head in heads[1:]]
                                      for name in names])
        yield ""
    yield from left_out(points)


def groups_by_place(points):
    groups = {}
    for p in points:
        groups.setdefault(place(p), []).append(p)
    return groups


def left_out(points):
    """A line for each point at which runs failed or were dropped."""
    names = names_of(points)
    for p in points:
        if p["n"]:
            continue
        where = " ".join(f"{axis} {value}" for axis, value in zip(p["axes"], place(p)))
        what = [f"{p['failed']} runs failed ({p['why']})"] if p["failed"] else []
        what += [f"{p[field]} dropped, {why}" for field, why in DROPPED.values() if p.get(field)]
        yield (f"{p['benchmark']}, {where}, {names[p['library'], p.get('build')]}: "
               + "; ".join(what))


def libraries(points):
    seen = dict.fromkeys((p["library"], p.get("version"), p.get("device"), p.get("build"),
                          p.get("commit"), p.get("model"), p.get("lock"), words_of(p["env"]))
                         for p in points if p["library"] != FLOOR)
    for name, version, device, build, commit, model, lock, env in seen:
        words = [version, device, f"build {build}" if build else "",
                 f"commit {commit}" if commit else "", f"model {model}" if model else "",
                 f"lock {lock}" if lock else "", env]
        yield f"  {name}: {', '.join(filter(None, words))}"


def experiment(point):
    """Beside the benchmark and its options: what else was asked for."""
    users, seconds = point.get("users"), point.get("duration")
    return [*([f"{users} users"] if users else []), *([f"runs of {seconds:g} s"] if seconds else []),
            *([words_of(point["inherited"])] if point.get("inherited") else [])]


# ---- what the papers say ----

def range_of(claim):
    """The ends of what the paper says. A single number is about that."""
    if claim.low != claim.high:
        return claim.low, claim.high
    return (1 - ABOUT) * claim.low, (1 + ABOUT) * claim.high


def paper_of(claim):
    if claim.low is None:
        return "no number"
    if claim.low == claim.high:
        return "about {:g}, so {:.4g} to {:.4g}".format(claim.low, *range_of(claim))
    if claim.low == 0:
        return f"below {claim.high:g}"
    return f"above {claim.low:g}" if claim.high == math.inf else f"{claim.low:g} to {claim.high:g}"


def verdict(claim, ends=None, pairs=0):
    """What the ends of our interval say of the paper's range. Of few pairs it says too little."""
    if claim.low is None:
        return ""
    if pairs < LEAST:
        return ": open"
    (low, high), (least, most) = ends, range_of(claim)
    return (": within" if least <= low and high <= most else ": below" if high < least
            else ": above" if low > most else ": open")


def our_ratios(points, claim):
    """Of points of one machine. Yields (the place, the machine and its state, our ratio, a word) where
    the claim speaks of the point, for each build of the two libraries. The ratio is that of pairs;
    else, as for medians files that have only those with --base, that of the medians, with the number
    of runs of both. Without a base it is our result itself."""
    over = claim.over or claim.benchmark
    ours, base_name = (library_called(points, *who) for who in ((claim.benchmark, claim.ours),
                                                                (over, claim.base)))
    here = [p for p in points if p["benchmark"] in (claim.benchmark, over)
            and all(p.get(k) == v for k, v in claim.where.items())]
    keys = tuple(here[0]["axes"]) if here else ()
    keys += tuple(key for key in EXPERIMENT if key != "benchmark")
    if claim.base is None:
        for p in builds_of(here, claim.benchmark, ours):
            yield (place(p), (p["machine"], p["state"]),
                   f"{p['value']:.3g} ({p['low']:.3g}..{p['high']:.3g}, n={p['n']})",
                   verdict(claim, (p["low"], p["high"]), p["n"]))
        return
    for same in groups_of(here, keys).values():
        base = builds_of(same, over, base_name)
        for p in builds_of(same, claim.benchmark, ours):
            at = place(p), (p["machine"], p["state"])
            paired = paired_with(p, claim, base)
            if paired:
                ratio, low, high, pairs = paired
                yield (*at, f"{ratio:.3g} ({low:.3g}..{high:.3g}, {pairs} pair{'s' * (pairs > 1)})",
                       verdict(claim, (low, high), pairs))
                continue
            for b in base:
                if b["value"] > 0:
                    yield (*at, f"{p['value'] / b['value']:.3g} (n={p['n']},{b['n']})", verdict(claim))


def paired_with(p, claim, base):
    """[ratio, low, high, pairs] of a point to the base of a claim, or None. base: its points."""
    over = claim.over or claim.benchmark
    found = (p.get("paired") or {}).get(f"{over} {claim.base}")
    if found and base:
        return found
    name = "of_floor" if claim.base == FLOOR else "ratio"
    if name == "ratio" and (over != p["benchmark"] or p["base"] not in [b["library"] for b in base]):
        return None
    ends = (name, *(f"{name}_{end}" for end in ("low", "high", "pairs")))
    return None if p.get(name) is None else [p[end] for end in ends]


def builds_of(points, benchmark, library):
    """The point of each build of a library in a benchmark."""
    return [p for p in points if p["benchmark"] == benchmark and p["library"] == library]


def claims(points, name):
    """Lines: the paper's ratio beside ours."""
    for claim in SETS[name].claims:
        ratios = [ratio for there in groups_of(points, ("machine",)).values()
                  for ratio in our_ratios(there, claim)]
        several = len({machine for _, (machine, _), *_ in ratios}) > 1
        found = [f"{ratio} at {', '.join(str(x) for x in at)} "
                 f"({f'{machine}, ' if several else ''}{state}){word}"
                 for at, (machine, state), ratio, word in ratios]
        what = (f"{claim.benchmark}, {claim.ours}" if claim.base is None
                else f"{claim.benchmark} over {claim.over}, {claim.ours}" if claim.over
                else f"{claim.benchmark}, {claim.ours} over {claim.base}")
        where = "".join(f", {field} {value}" for field, value in claim.where.items())
        yield (f"  {what}{where}: paper {paper_of(claim)} ({claim.text}); "
               f"ours {'; '.join(found) or 'not measured'}")
    if SETS[name].differs:
        yield f"  What differs: {SETS[name].differs}"


def report(points):
    """The lines of the report."""
    good = with_floor(points)
    for (machine,), there in groups_of(points, ("machine",)).items():
        yield f"Machine: {machine}"
        yield from libraries(there)
    for (name, bench, options, state, *_), here in groups_of(good, TABLE).items():
        title = ", ".join([f"{bench}{' ' + options if options else ''}", *experiment(here[0]),
                           here[0]["unit"]])
        yield f"\n== {title}, {WORD[here[0]['better']]}; machine in state {state}" \
            + (f"; set {name}" if name else "")
        here = sorted(here, key=place)
        yield from table(here)
    bad = list(left_out(points))
    if bad:
        yield "\nLeft out:"
        yield from ("  " + line for line in bad)
    for (name,), here in groups_of(good, ("set",)).items():
        if name in SETS and (SETS[name].claims or SETS[name].differs):
            yield f"\n{name}: {SETS[name].about}. {RATIOS}"
            yield from claims(here, name)
    if any(few(p) for p in good):
        yield f"\n{FEW}"
