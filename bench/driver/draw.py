# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Figures of results; needs matplotlib."""
import os
import re
from collections import Counter

from driver.figures import FLOOR
from driver.records import Bad
from driver.report import TABLE, WORD, experiment, groups_of, names_of, with_floor

MARKERS = "osv^D<>PX*ph"
ENOUGH = 3          # runs of a point; of fewer its mark is hollow


def abscissa(points):
    """The axis with most values: it becomes x, and each combination of the others a figure."""
    axes = points[0]["axes"]
    return max(axes, key=lambda axis: len({p[axis] for p in points})) if axes else None


def scale_of(points):
    """The scale of the values, by matplotlib's name, and its settings. A logarithm has no place for
    zero: the scale is linear then below the smallest positive value."""
    values = [v for p in points for v in (p["value"], p["low"])]
    if min(values) > 0:
        return "log", {}
    positive = [v for v in values if v > 0]
    return ("symlog", {"linthresh": min(positive)}) if positive else ("linear", {})


def looks_of(library):
    """The floor is no rival: a dashed line."""
    return {"linestyle": "--", "color": "black"} if library == FLOOR else {}


def place_numbers(axes, points):
    """The scale of the values, with enough numbers."""
    from matplotlib import ticker
    scale, settings = scale_of(points)
    axes.set_yscale(scale, **settings)
    if scale == "log":      # with powers of 10 alone, a narrow range would have no number
        axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.minorticks_off()
    axes.set_ylabel(f"{points[0]['unit']} ({WORD[points[0]['better']]})")


def spread(point):
    """How far the bars of a point go down and up."""
    return point["value"] - point["low"], point["high"] - point["value"]


def is_one_place(points, x):
    """Lines would be points above each other."""
    return len({p[x] for p in points}) == 1


def draw_libraries(axes, points):
    """The libraries side by side."""
    names = names_of(points)
    for i, p in enumerate(points):
        bars = axes.errorbar([i], [p["value"]], yerr=[[d] for d in spread(p)], capsize=3,
                             marker=MARKERS[i % len(MARKERS)],
                             color=looks_of(p["library"]).get("color"))
        if p["n"] < ENOUGH:
            bars.lines[0].set_markerfacecolor("white")
    axes.set_xticks(range(len(points)), [names[p["library"], p["build"]] for p in points], rotation=45,
                    ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(points) - 0.5)
    axes.grid(axis="y", alpha=0.3)
    place_numbers(axes, points)


def draw_lines(axes, points, x):
    lines, names = groups_of(points, ("library", "build")), names_of(points)
    many = len(lines) > 10      # the usual colors would repeat, and the legend hide lines
    if many:
        from matplotlib import colormaps
        axes.set_prop_cycle(color=colormaps["tab20"].colors)
    for i, (build, line) in enumerate(lines.items()):
        line = sorted(line, key=lambda p: p[x])
        values, marker = [p["value"] for p in line], MARKERS[i % len(MARKERS)]
        bars = axes.errorbar([p[x] for p in line], values, label=names[build], capsize=3, marker=marker,
                             yerr=list(zip(*map(spread, line))), **looks_of(build[0]))
        weak = [(p[x], p["value"]) for p in line if p["n"] < ENOUGH]
        if weak:
            axes.plot(*zip(*weak), linestyle="none", marker=marker, markerfacecolor="white",
                      color=bars[0].get_color(), zorder=bars[0].get_zorder() + 0.1)
    ticks = sorted({p[x] for p in points})
    axes.set_xscale("symlog", base=2)
    axes.set_xticks(ticks, [str(t) for t in ticks])
    place_numbers(axes, points)
    axes.set_xlabel(x.replace("_", " "))
    # it grows downwards, as the title is longer than the axes
    beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if many else {}
    axes.legend(fontsize="small", **beside)


def figures_of(points):
    """Yields (x, points, words of the title, name) of each figure: one for each benchmark, its options,
    the values of its other axes, machine and state of it. The name has of these only what differs."""
    states, taken = {p["state"] for p in points}, Counter()
    kinds = {tuple(p[key] for key in TABLE[:3]) for p in points}
    for key, here in groups_of(points, TABLE).items():
        x = abscissa(here)
        if x is None:
            continue
        of_set, benchmark, options, state = key[:4]
        alone = sum(kind[:2] == key[:2] for kind in kinds) == 1
        others = tuple(axis for axis in here[0]["axes"] if axis != x)
        figures = groups_of(here, others)
        for values, lines in figures.items():
            at = [f"{v} {k}" for k, v in zip(others, values)]
            name = [of_set, benchmark, "" if alone else options, state if len(states) > 1 else "",
                    *(at if len(figures) > 1 else [])]
            name = re.sub("[^a-zA-Z0-9.]+", "-", " ".join(filter(None, name)))[:90]
            taken[name] += 1
            yield (x, lines, [*filter(None, key[:4]), *experiment(here[0]), *at],
                   name if taken[name] == 1 else f"{name}-{taken[name]}")


def meaning_of(points):
    """What marks and bars are."""
    words = ("medians, ranges where fewer than 6 runs, else 95 % intervals"
             if any(p["n"] < 6 for p in points) else "medians, 95 % intervals")
    return words + (f"; hollow: fewer than {ENOUGH} runs" if any(p["n"] < ENOUGH for p in points)
                    else "")


def plot(points, folder, state=None):
    """Writes figures to folder; state: those of one state of the machine. Returns the exit status."""
    try:
        import matplotlib
        from PIL import Image
    except ImportError:
        raise Bad("plot needs Python's matplotlib, which is not installed") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot
    drawn = 0
    for x, lines, words, name in figures_of([p for p in with_floor(points)
                                             if state in (None, p["state"])]):
        figure, axes = pyplot.subplots(figsize=(8, 5))
        if is_one_place(lines, x):
            words = [*words, f"{lines[0][x]} {x.replace('_', ' ')}"]
            draw_libraries(axes, lines)
        else:
            draw_lines(axes, lines, x)
        axes.set_title(f"{' '.join(words)}\n{lines[0]['machine']}\n{meaning_of(lines)}", fontsize=9)
        os.makedirs(folder, exist_ok=True)
        drawn += 1
        path = os.path.join(folder, name + ".png")
        figure.savefig(path, dpi=120, bbox_inches="tight")
        pyplot.close(figure)
        with Image.open(path) as image:     # few colors: a third of the bytes
            image.convert("RGB").quantize(64).save(path, optimize=True)
    if not drawn:
        raise Bad("nothing to draw: no run has a result, or results have no axis such as threads")
    print(f"{drawn} figure{'s' * (drawn > 1)} in {folder}")
    return 0
