"""Checks raw numbers of any origin before compiled code, which has no bounds checks, reads them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.errors import InputError, shown
from fractals.scene.model import MAX_ITERATIONS

COUNT = np.dtype(np.int32)
# The type of the parts of each type of complex numbers.
REALS = {np.dtype("c16"): np.dtype("f8"), np.dtype("c8"): np.dtype("f4")}
METHODS = ("direct", "perturbation")
MAX_COUNT_OFFSET = 2**31 - 1


def check_planes(types: Mapping[str, np.dtype[Any]], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise a `InputError` where planes have types or shapes that a picture can't be drawn from.

    Parameters
    ----------
    types, shapes : mapping of str to dtype, of str to tuple of int
        Of each plane, by its name in `EscapeData`: ``count``, ``z``, ``dz`` and statistics.
    """
    for name in ("count", "z"):
        if name not in types:
            raise InputError(f"the plane {name} is missing")
    shape = shapes["count"]
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"count has the shape {shown(shape)}, and not (height, width)")
    if types["count"] != COUNT:
        raise InputError(f"count is of {shown(types['count'])}, and not of int32")
    if types["z"] not in REALS:
        raise InputError(f"z is of {shown(types['z'])}, and not of complex128 or complex64")
    for name, dtype in types.items():
        label, wanted = shown(name, 80), REALS[types["z"]]
        if name in ("count", "z", "dz"):
            wanted = types["count" if name == "count" else "z"]
        if dtype != wanted:
            raise InputError(f"{label} is of {shown(dtype)}, and not of {wanted}")
        if shapes[name] != shape:
            raise InputError(
                f"{label} has the shape {shown(shapes[name])}, and count has {shown(shape)}"
            )


def check_numbers(max_iterations: Any, count_offset: Any, method: Any) -> None:
    """Raise an `InputError` where the limit, the offset or the method is invalid."""
    if not _whole(max_iterations) or not 1 <= max_iterations <= MAX_ITERATIONS:
        raise InputError(
            f"max_iterations is {shown(max_iterations, 40)}, and not a whole number from 1 to "
            f"{MAX_ITERATIONS}"
        )
    if not _real(count_offset) or not 0 <= count_offset <= MAX_COUNT_OFFSET:
        raise InputError(
            f"count_offset is {shown(count_offset, 40)}, and not a number from 0 to "
            f"{MAX_COUNT_OFFSET}"
        )
    if method not in METHODS:
        raise InputError(f"the method '{shown(method, 40)}' is neither {' nor '.join(METHODS)}")


def check_counts(count: NDArray[Any], max_iterations: int) -> None:
    """Raise a `InputError` where counts are not from 0 to `max_iterations`.

    z, dz and statistics may be infinite or NaN, because the shading kernels limit every value
    before they use it as an index.
    """
    if not count.size:
        return
    least, most = int(count.min()), int(count.max())
    if least < 0 or most > max_iterations:
        wrong = least if least < 0 else most
        raise InputError(f"a count of {wrong} is not from 0 to max_iterations ({max_iterations})")


def _real(value: Any) -> bool:
    return _whole(value) or isinstance(value, float | np.floating)


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
