"""Keeps reference orbits, in memory and on disk, for the next picture of the same center."""

import contextlib
import functools
import hashlib
import math
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from fractals.backends.cache_folder import open_own, orbits_folder, reason, report, trusted_folder
from fractals.backends.devices import open_one_core
from fractals.deep.reference import (
    ROUNDING,
    OrbitRequest,
    Point,
    Reference,
    compute_orbit,
    end_radii,
    view_gate,
)
from fractals.kernels import near_orbits
from fractals.kernels.formula import Formula
from fractals.kernels.layout import TINY_INDEX

# Reference orbits from a reference orbit nearby: see `fractals.kernels.near_orbits`.

# Bits of a known orbit beyond those of the wanted one, so that double-double numbers tell its
# points after millions of steps.
MORE_BITS = 56
# Radii of the view that centers may be apart. The error of an orbit grows with it.
MAX_APART = 2**8
# In plane units: float64 has no low part of a difference that is much smaller.
MIN_APART = 1e-270
# Points times bits of an orbit that is worth it: it takes some milliseconds to compute.
MIN_SHIFTED_WORK = 2**20


def is_known_by_name(formula: Formula) -> bool:
    """Tell whether the label of a formula says what its step is.

    A formula of a user's file may have any name, and its text may change.
    """
    return formula.step.__module__.startswith("fractals.")


def has_near_orbits(formula: Formula) -> bool:
    """Tell whether `fractals.kernels.near_orbits` has a formula's step: z**d + c."""
    return formula.name in ("mandelbrot", "multibrot") and is_known_by_name(formula)


def is_near(known: Reference, apart: Point, view_radius: Fraction) -> bool:
    """Tell whether a known orbit may give that of a center this far apart."""
    far = max(map(abs, apart))
    return (
        MIN_APART < far < MAX_APART * view_radius
        and len(known.orbit) * known.bits >= MIN_SHIFTED_WORK
        and not known.repeats
        and not len(known.tiny)
    )


def shifted(known: Reference, apart: Point, wanted: OrbitRequest) -> Reference | None:
    """Return the orbit of a center beside a known one's; None where only more digits tell.

    The known orbit is of the same formula, z**d + c; without low parts it gives no other orbit.
    `apart` is how far the center is from its center.
    """
    spare = known.bits - MORE_BITS
    if spare < wanted.bits or not len(known.low) or wanted.view_radius is None:
        return None
    room = min(wanted.max_iterations, 2 * len(known.orbit)) + 1
    points, found, size = np.empty((room, 2)), np.zeros(3, np.int64), np.zeros(1)
    run = open_one_core().compile(near_orbits.make_shifted_body, wanted.formula.degree)
    shift = tuple((float(part), float(part - Fraction(float(part)))) for part in apart)
    gate = view_gate(wanted.view_radius, wanted.bits)
    radii = end_radii(wanted.escape_radius)
    run(points, found, size, known.orbit, known.low, shift, gate, radii)
    last, reason, exponent = map(int, found)
    if reason == near_orbits.UNKNOWN:
        return None
    orbit = points[: last + 1].copy()
    if reason == near_orbits.ESCAPED:
        return Reference(orbit, known.tiny[:0], 0, True, spare)
    least = Fraction(abs(orbit[last]).max()) / Fraction(2 * size[0]) / Fraction(2) ** exponent
    return Reference(orbit, known.tiny[:0], last, False, spare, least_radius=least * ROUNDING)


# Version of the files' contents. Another number makes all orbits on disk unknown.
VERSION = 5
# Points times bits of precision. A smaller orbit is computed in about as long as a file takes to
# read, so it is not cached.
MIN_WORK = 2**22
# Bytes of all files together. Beyond it the files that were not used for longest are removed.
MAX_BYTES = 2**30
# Share of MAX_BYTES that a process writes before it looks at all files again, which takes 10 us
# each: a pan of a deep view writes a file at each move.
UNSEEN = 1 / 16
# Bits beyond those that a view needs, so that the orbit serves views 2**64 times as deep.
RESERVE_BITS = 64
# Orbits in memory; four times as many where all together are small, for a pan that comes back.
MAX_RECENT = 4
MAX_SMALL = 2**24  # bytes
LISTS = ("tiny", "near_kinks", "margins", "moves")


Place = tuple[str, Point, float]


@dataclass(frozen=True)
class CachedOrbit:
    """An orbit, and what of the request that it was computed for is compared with another.

    `place` is the label of its formula, its start, and the escape radius.
    """

    reference: Reference
    max_iterations: int
    view_radius: Fraction | None
    place: Place | None = None
    c: Point = (Fraction(0), Fraction(0))

    def apart(self, place: Place, c: Point) -> Point | None:
        """Return how far c is from that of the orbit; None if another formula's is wanted."""
        if self.place != place:
            return None
        return c[0] - self.c[0], c[1] - self.c[1]

    def serving(self, wanted: OrbitRequest) -> Reference | None:
        """Return the orbit for another request; None if it does not serve."""
        found, view_radius = self.reference, wanted.view_radius
        max_iterations = wanted.max_iterations
        if found.bits < wanted.bits or not (
            found.complete or found.repeats or self.max_iterations >= max_iterations
        ):
            return None
        if found.period:
            if view_radius is None or self.view_radius is None:
                return None
            if view_radius < self.view_radius and view_radius <= found.least_radius:
                return None
        if not found.complete and len(found.orbit) > max_iterations + 1:
            lists = {name: getattr(found, name) for name in LISTS}
            for name, part in lists.items():
                lists[name] = part[part[:, TINY_INDEX] <= max_iterations]
            return replace(found, orbit=found.orbit[: max_iterations + 1], repeats=0, **lists)
        return found


recent: OrderedDict[str | None, CachedOrbit] = OrderedDict()
unseen: dict[Path, float] = {}  # folder -> bytes that this process wrote since it saw all files
_lock = threading.Lock()


def find(
    wanted: OrbitRequest,
    on_steps: Callable[[int], None] | None = None,
    same: bool = False,
    with_moves: bool = False,
) -> Reference:
    """Return an orbit from the disk, or from `compute_orbit`.

    An orbit serves every view about its center that is no deeper, of any size and colors. From the
    second orbit at a place on, those of further centers nearby are made from it: see `shifted`.
    `same` tells whether the orbit must be that of `compute_orbit` bit for bit: the orbit of a
    deeper view is rounded from more bits, and is then computed anew.
    """
    name = _name(wanted, same, with_moves)
    place = wanted.formula.label, wanted.start, wanted.escape_radius
    about = wanted.max_iterations, wanted.view_radius, place, wanted.c
    kept = recent.get(name)
    if kept and (served := kept.serving(wanted)):
        _remember(name, kept)
        return served
    path = _path(name) if name else None
    kept = _load(path) if path else None
    if kept and (served := kept.serving(wanted)):
        _remember(name, replace(kept, place=place, c=wanted.c))
        return served
    near = _near(place, wanted) if not same and not with_moves else []
    for other, source, apart in near:
        if found := shifted(source.reference, apart, wanted):
            _remember(other, source)
            _remember(name, CachedOrbit(found, *about))
            return found
    # A second orbit at a place is one of many, as in a pan: it is made to give the others.
    spare = 0 if same else 2 * RESERVE_BITS if near else RESERVE_BITS
    longer = replace(wanted, bits=wanted.bits + spare)
    found = compute_orbit(longer, on_steps, with_low=bool(near), with_moves=with_moves)
    kept = CachedOrbit(found, *about)
    _remember(name, kept)
    if path and len(found.orbit) * wanted.bits >= MIN_WORK:
        _save(path, kept)
    return found


def _near(place: Place, wanted: OrbitRequest) -> list[tuple[str | None, CachedOrbit, Point]]:
    """Return the orbits in memory near that of c, with their names, and how far c is from them."""
    radius = wanted.view_radius
    if not (has_near_orbits(wanted.formula) and radius) or any(wanted.start):
        return []
    with _lock:
        known = list(recent.items())[-MAX_RECENT:]
    return [
        (name, kept, apart)
        for name, kept in known
        if (apart := kept.apart(place, wanted.c)) and is_near(kept.reference, apart, radius)
    ]


find_same = functools.partial(find, same=True)


def folder() -> Path | None:
    """Return the folder of the orbits; None if none can be trusted.

    The reason is reported to the user.
    """
    try:
        return trusted_folder(orbits_folder())
    except OSError as error:
        report(f"reference orbits are not kept: {reason(error)}")
        return None


def _name(wanted: OrbitRequest, same: bool, with_moves: bool) -> str | None:
    """Return the name of an orbit; None if it can't be kept."""
    formula, radius = wanted.formula, wanted.view_radius
    if not is_known_by_name(formula):
        return None
    place = formula.label, *map(_text, (*wanted.start, *wanted.c)), wanted.escape_radius
    own = wanted.bits, wanted.max_iterations, "" if radius is None else _text(radius)
    facts = VERSION, *place, *own * same, *("moves",) * with_moves
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def _path(name: str) -> Path | None:
    kept = folder()
    return kept / f"{name}.npz" if kept else None


def _remember(name: str | None, kept: CachedOrbit) -> None:
    if name:
        with _lock:
            recent[name] = kept
            recent.move_to_end(name)
            size = sum(each.reference.nbytes for each in recent.values())
            most = MAX_RECENT if size > MAX_SMALL else 4 * MAX_RECENT
            while len(recent) > most:
                recent.popitem(last=False)


def _text(value: Fraction) -> str:
    """Return a fraction in hexadecimal digits, whose length Python does not limit."""
    return f"{value.numerator:x}/{value.denominator:x}"


def _fraction(text: str) -> Fraction:
    return Fraction(*(int(part, 16) for part in text.split("/")))


def _load(path: Path) -> CachedOrbit | None:
    """Return the orbit of a file; None if there is none."""
    try:
        with open_own(path) as opened, np.load(opened, allow_pickle=False) as file:
            if str(file["name"]) != path.stem:
                raise ValueError("the orbit of another center")
            period, escaped, bits, max_iterations, repeats = map(int, file["facts"])
            view_radius, least_radius = (_fraction(text) for text in map(str, file["radii"]))
            arrays = {name: file[name] for name in ("orbit", *LISTS)}
        os.utime(path)
        found = Reference(
            **arrays,
            period=period,
            escaped=bool(escaped),
            bits=bits,
            repeats=repeats,
            least_radius=least_radius,
        )
        return CachedOrbit(found, max_iterations, view_radius or None)
    except FileNotFoundError:
        return None
    except Exception:  # NumPy and zipfile raise a dozen kinds about damaged files
        with contextlib.suppress(OSError):
            path.unlink()  # a damaged file is removed, and its orbit computed anew
        return None


def _save(path: Path, kept: CachedOrbit) -> None:
    """Write the file of an orbit; without room on the disk, nothing.

    The file is moved into place when it is complete, so another process never reads a part of it.
    """
    found = kept.reference
    facts = [found.period, found.escaped, found.bits, kept.max_iterations, found.repeats]
    radii = [_text(kept.view_radius or Fraction(0)), _text(found.least_radius)]
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                lists = {name: getattr(found, name) for name in LISTS}
                np.savez(
                    file,
                    orbit=found.orbit,
                    facts=np.array(facts, np.int64),
                    radii=np.array(radii),
                    name=np.array(path.stem),
                    **lists,
                )
            written = os.path.getsize(name)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        _tidy(path.parent, written)


def _tidy(where: Path, written: int) -> None:
    """Remove the files that were not used for longest, beyond MAX_BYTES; now and then only.

    `written` is the size of a new file.
    """
    with _lock:
        unseen[where] = unseen.get(where, math.inf) + written
        if unseen[where] <= UNSEEN * MAX_BYTES:
            return
        unseen[where] = 0
    files = [path for pattern in ("*.npz", "*.part") for path in where.glob(pattern)]
    files = sorted(files, key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > MAX_BYTES:
            file.unlink(missing_ok=True)


__all__ = ["compute_orbit", "find", "find_same", "folder"]
