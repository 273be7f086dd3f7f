"""The external angle of a point: that of the ray (Douady and Hubbard, 1984) through it, in turns.

Far outside, the n-th point of the orbit of c has the angle t d**n, for the angle t of c. So the
orbit's end tells t d**n modulo a turn, and n digits of t in base d are missing. They are found by
following the ray outwards from c (as Kawahira, 2009, follows one inwards): where the (n - 1)-th
point has come far outside, its direction tells which of the d preimages of an angle is its own.
"""

import math
from typing import Any

FAR = 100.0  # |z| beyond which its direction is that of the ray, to a tenth of a turn and better
AT_LAST = 1e30  # |z| of the point whose direction is taken: then it is that of the ray to 1e-60
PARTS = 6  # steps outwards while |z| grows from FAR to FAR**d
NEWTON = 8  # steps for a point of the ray
EXACT = 1e-3  # step of the logarithm of z at which a point of the ray is found: digits need no more
MAX_COUNT = 3000  # steps of an orbit: the time grows with their square, to some 20 s


def external_angle(point: Any, degree: int, julia: Any = None) -> float:
    """Return the external angle of a point outside a set of z**d + c, in turns from 0 to 1.

    `point` is complex, or gmpy2's mpc in a context of enough digits. `julia`: c of a Julia set,
    whose angle at z_0 is returned. NaN: the orbit takes more than MAX_COUNT steps, or the ray is
    lost, as where a Julia set is in pieces.

    >>> external_angle(-2.5 + 0j, 2), external_angle(1j * 1.2, 2, julia=0)
    (0.5, 0.25)
    """
    z, count = point, 0
    while abs(z) <= AT_LAST:
        if count == MAX_COUNT:
            return math.nan
        z, count = z**degree + (point if julia is None else julia), count + 1
    angle = _turns(z)
    for left in range(count, 0, -1):  # `angle` is that of the point after `left` steps
        outer = _outer(point, left, degree, julia)
        if outer is None:
            return math.nan
        point, before = outer
        digit = round(degree * _turns(before) - angle)
        angle = (angle + digit) / degree
    return angle % 1.0


def _outer(point: Any, steps: int, degree: int, julia: Any) -> tuple[Any, Any] | None:
    """Return a point farther out on the same ray, whose orbit is far one step earlier, and z there.

    None: the ray is lost.
    """
    for _ in range(4 * PARTS):
        before, z, _ = _orbit(point, steps, degree, julia)
        if abs(before) >= FAR:
            return point, before
        aim = _log(z)
        aim = complex(aim.real * degree ** (1 / PARTS), aim.imag)
        for _ in range(NEWTON):
            _, z, dz = _orbit(point, steps, degree, julia)
            if not dz:
                return None
            move = aim - _log(z)
            move = complex(move.real, math.remainder(move.imag, 2 * math.pi))
            point = point + move * z / dz
            if abs(move) < EXACT:
                break
        else:
            return None
    return None


def _orbit(point: Any, steps: int, degree: int, julia: Any) -> tuple[Any, Any, Any]:
    """Return z one step before the last, z, and the derivative of z by the point."""
    c, grows = (point, 1) if julia is None else (julia, 0)
    before, z, dz = point, point, 1
    for _ in range(steps):
        before = z
        power = z ** (degree - 1)
        z, dz = power * z + c, degree * power * dz + grows
    return before, z, dz


def _log(z: Any) -> complex:
    return complex(math.log(abs(z)), 2 * math.pi * _turns(z))


def _turns(z: Any) -> float:
    return math.atan2(float(z.imag), float(z.real)) / (2 * math.pi)
