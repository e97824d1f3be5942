# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""The pictures of tsm-trace plot, after figures 6 to 9 and 11 of TOPC. Needs matplotlib."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

from trace_file import LEVELS, QUEUES  # noqa: E402

FEW = 20            # samples so few are points, too: one alone is no line
MAIN, PROGRESS = "tab:blue", "tab:orange"


def wasted(t):
    share = t.share("total", "wasted", "unsuccessful")
    return None if share is None else 100 * share


# title, unit, and for each line of a label its name and the figure of a trace
PANELS = (
    ("bias factor (6a, 8a)", "M(S) / F(S)",
     [(f" ({level})", lambda t, level=level: t.bias("total", level)) for level in LEVELS]),
    ("wasted polls (6b, 8b, 11a)", "% of unsuccessful polls", [("", wasted)]),
    ("dangling requests (6c, 7b, 8c, 9b, 11b)", "average", [("", lambda t: t.average("dangling"))]),
    ("posted receives (7a, 9a, 11c)", "average length",
     [("", lambda t: t.average("posted_receives"))]),
    ("receives issued (11d, 11e)", "per second", [("", lambda t: t.rate("receives"))]),
    ("sends issued (11d, 11e)", "per second", [("", lambda t: t.rate("sends"))]),
)


def points(traces, figure):
    """Of the traces of one label: the mean of the figure for each number of threads."""
    found = {}
    for t in traces:
        value = figure(t)
        if value is not None:
            found.setdefault(t.active_threads(), []).append(value)
    return sorted((n, sum(v) / len(v)) for n, v in found.items())


def by_threads(traces, path):
    labels = sorted({t.label for t in traces})
    fig, axes = plt.subplots(2, 3, figsize=(15, 8), layout="constrained")
    for ax, (title, unit, figures) in zip(axes.flat, PANELS):
        for label in labels:
            mine = [t for t in traces if t.label == label]
            for name, figure in figures:
                xy = points(mine, figure)
                if xy:
                    ax.plot(*zip(*xy), marker="o", label=label + name)
        ax.set(title=title, ylabel=unit, xlabel="threads", ylim=(0, 1.05 * ax.get_ylim()[1]))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        if ax.has_data():
            ax.set_xlim(0, 1.05 * max(t.active_threads() for t in traces))
            ax.legend(fontsize="small")
    fig.savefig(path)
    plt.close(fig)


def holders(ax, t, window):
    """A bar for each hold, on the line of its thread."""
    for progress, color in ((False, MAIN), (True, PROGRESS)):
        bars = {}
        for h in t.hold:
            if bool(h.progress) == progress and h.end >= window[0] and h.begin <= window[1]:
                bars.setdefault(h.thread, []).append((h.begin / 1e6, (h.end - h.begin) / 1e6))
        for thread, spans in bars.items():
            ax.broken_barh(spans, (thread - 0.4, 0.8), color=color)
    ax.set(title=f"{t.label}, rank {t.head['rank']}: main path blue, progress loop orange",
           ylabel="thread that holds a VCI", xlabel="ms")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))


def queues(ax, t, window):
    inside = [s for s in t.sample if window[0] <= s.time <= window[1]]
    for queue in QUEUES:
        ax.plot([s.time / 1e6 for s in inside], [getattr(s, queue) for s in inside],
                label=queue.replace("_", " "), marker="." if len(inside) < FEW else None)
    ax.set(title="samples", xlabel="ms", ylim=(0, None))
    ax.legend(fontsize="small")


def over_time(traces, path, window):
    fig, axes = plt.subplots(len(traces), 2, figsize=(15, 4 * len(traces)), layout="constrained",
                             squeeze=False)
    for (left, right), t in zip(axes, traces):
        shown = [1e6 * x for x in window] if window else (0, t.head["end"] - t.head["begin"])
        for ax, draw in ((left, holders), (right, queues)):
            draw(ax, t, shown)
            ax.set_xlim(shown[0] / 1e6, shown[1] / 1e6)
    fig.savefig(path)
    plt.close(fig)


def plot(traces, name, window):
    """Returns the paths of the pictures. window: (begin, end) in ms, or None."""
    paths = f"{name}-threads.png", f"{name}-time.png"
    by_threads(traces, paths[0])
    over_time(traces, paths[1], window)
    return paths
