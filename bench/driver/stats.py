# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""The statistics of the drivers: median, its interval, and ratios."""
import math
import statistics


def median_interval(values, confidence=0.95):
    """The confidence interval of the median from order statistics: it assumes nothing about the
    distribution. Fewer than 6 values cannot give 95 %: the interval is then their range."""
    ordered = sorted(values)
    n = len(ordered)
    below, tail = 0, 0.5 ** n       # tail: the chance that so few values lie below the median
    while below + 1 < (n + 1) // 2:
        further = tail + math.comb(n, below + 1) * 0.5 ** n
        if 2 * further > 1 - confidence:
            break
        below, tail = below + 1, further
    return ordered[below], ordered[n - 1 - below]


def paired_ratio(ours, theirs):
    """Of two {repeat: value}: (median of the ratios of the repeats that both have, the interval of
    that median, number of pairs). None if there is no pair, or the base of one is not above 0: without
    that pair the others would say too much."""
    both = [r for r in ours if r in theirs]
    if not both or any(theirs[r] <= 0 for r in both):
        return None
    ratios = [ours[r] / theirs[r] for r in both]
    return statistics.median(ratios), median_interval(ratios), len(ratios)


def ratio_interval(ours, base, rng, draws=2000):
    """95 % bootstrap interval of the ratio of the medians of two lists that are not paired."""
    ratios = sorted(statistics.median(rng.choices(ours, k=len(ours))) /
                    statistics.median(rng.choices(base, k=len(base))) for _ in range(draws))
    return ratios[int(0.025 * draws)], ratios[int(0.975 * draws) - 1]
