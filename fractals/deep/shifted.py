"""Reference orbits from a reference orbit nearby: see `fractals.kernels.shifted_orbit`."""

from fractions import Fraction

import numpy as np

from fractals.backends.devices import open_one_core
from fractals.deep.reference import ROUNDING, Reference, end_radii, view_gate
from fractals.kernels import shifted_orbit
from fractals.kernels.formula import Formula

Point = tuple[Fraction, Fraction]

# Bits of a known orbit beyond those of the wanted one, so that double-double numbers tell its
# points after millions of steps.
MORE_BITS = 56
# Radii of the view that centers may be apart. The error of an orbit grows with it.
MAX_APART = 2**8
# In plane units: float64 has no low part of a difference that is much smaller.
MIN_APART = 1e-270
# Points times bits of an orbit that is worth it: it takes some milliseconds to compute.
MIN_SHIFTED_WORK = 2**20


def is_power(formula: Formula) -> bool:
    """Tell whether a formula is z**d + c."""
    return formula.name in ("mandelbrot", "multibrot")


def is_near(known: Reference, apart: Point, view_radius: Fraction) -> bool:
    """Tell whether a known orbit may give that of a center this far apart."""
    far = max(map(abs, apart))
    return (
        MIN_APART < far < MAX_APART * view_radius
        and len(known.orbit) * known.bits >= MIN_SHIFTED_WORK
        and not known.repeats
        and not len(known.tiny)
    )


def shifted(
    known: Reference,
    apart: Point,
    formula: Formula,
    bits: int,
    max_iterations: int,
    escape_radius: float,
    view_radius: Fraction,
) -> Reference | None:
    """Return the orbit of a center beside a known one's; None where only more digits tell.

    Parameters
    ----------
    known : Reference
        Of the same formula, z**d + c. Without low parts it gives no other orbit.
    apart : tuple of Fraction
        How far the center is from the known one's.
    formula, bits, max_iterations, escape_radius, view_radius
        As of `fractals.deep.reference.compute_orbit`.
    """
    spare = known.bits - MORE_BITS
    if spare < bits or not len(known.low):
        return None
    room = min(max_iterations, 2 * len(known.orbit)) + 1
    points, found, size = np.empty((room, 2)), np.zeros(3, np.int64), np.zeros(1)
    run = open_one_core().compile(shifted_orbit.make_shifted_body, formula.degree)
    shift = tuple((float(part), float(part - Fraction(float(part)))) for part in apart)
    gate = view_gate(view_radius, bits)
    radii = end_radii(escape_radius)
    run(points, found, size, known.orbit, known.low, shift, gate, radii)
    last, reason, exponent = map(int, found)
    if reason == shifted_orbit.UNKNOWN:
        return None
    orbit = points[: last + 1].copy()
    if reason == shifted_orbit.ESCAPED:
        return Reference(orbit, known.tiny[:0], 0, True, spare)
    least = Fraction(abs(orbit[last]).max()) / Fraction(2 * size[0]) / Fraction(2) ** exponent
    return Reference(orbit, known.tiny[:0], last, False, spare, least_radius=least * ROUNDING)
