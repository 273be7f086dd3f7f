"""Comparison of raw numbers."""

import numpy as np


def same(raw, other):
    """Tell whether all numbers have the same bits, but for those of NaN."""
    arrays = [(getattr(raw, name), getattr(other, name)) for name in ("count", "z", "dz")]
    arrays += [(raw.statistics[name], other.statistics[name]) for name in raw.statistics]
    return all(
        np.nan_to_num(a).tobytes() == np.nan_to_num(b).tobytes() for a, b in arrays if a is not None
    )
