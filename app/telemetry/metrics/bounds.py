"""The upper bounds of histograms of seconds: few in a deployment, many with APP_METRICS_FINE.

In a deployment, each bound costs Prometheus a time series per status and process, and alerts compare with a few
thresholds. A live page shows medians, and a median of 100 ms must not appear as the middle of 100 and 250.
"""

# 20 numbers per decade (the series R20 of ISO 3), each 12 % above the one before, so that the middle of a bucket is
# at most 6 % from every value in the bucket.
_R20 = (1, 1.12, 1.25, 1.4, 1.6, 1.8, 2, 2.24, 2.5, 2.8, 3.15, 3.55, 4, 4.5, 5, 5.6, 6.3, 7.1, 8, 9)
_DECADES = range(-3, 2)


def bounds(few: tuple[float, ...], *, fine: bool) -> tuple[float, ...]:
    """Returns `few`, or with `fine` those and many in between."""
    if not fine:
        return few
    all_of_them = {float(f"{number}e{decade}") for decade in _DECADES for number in _R20}
    between = {bound for bound in all_of_them if few[0] < bound < few[-1]}
    return tuple(sorted({*few, *between}))
