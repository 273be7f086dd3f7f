"""Bitwise comparison of EscapeData."""

import numpy as np


def same(raw, other):
    """Return whether all arrays have equal bits, where all NaN count as equal."""
    arrays = [(getattr(raw, name), getattr(other, name)) for name in ("count", "z", "dz")]
    arrays += [(raw.statistics[name], other.statistics[name]) for name in raw.statistics]
    return all(
        np.nan_to_num(a).tobytes() == np.nan_to_num(b).tobytes() for a, b in arrays if a is not None
    )
