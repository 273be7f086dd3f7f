"""Caches reference orbits on disk, for the next picture of the same center."""

import contextlib
import functools
import hashlib
import os
import tempfile
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from fractals.backends.cache_folder import orbits_folder, reason, report, trusted_folder
from fractals.deep.reference import Reference, compute_orbit
from fractals.kernels.formula import Formula
from fractals.kernels.layout import TINY_INDEX

# Version of the files' contents. Another number makes all orbits on disk unknown.
VERSION = 3
# Points times bits of precision. A smaller orbit is computed in about as long as a file takes to
# read, so it is not cached.
MIN_WORK = 2**22
# Bytes of all files together. Beyond it the files that were not used for longest are removed.
MAX_BYTES = 2**30


def find(
    formula: Formula,
    start: tuple[Fraction, Fraction],
    c: tuple[Fraction, Fraction],
    bits: int,
    max_iterations: int,
    escape_radius: float,
    view_radius: Fraction | None = None,
    on_steps: Callable[[int], None] | None = None,
    same: bool = False,
) -> Reference:
    """Return an orbit from the disk, or from `compute_orbit`.

    An orbit serves every view about its center that is no deeper, of any size and colors.

    Parameters
    ----------
    formula, start, c, bits, max_iterations, escape_radius, view_radius, on_steps
        As of `compute_orbit`.
    same : bool
        Whether the orbit must be that of `compute_orbit` bit for bit. The orbit of a deeper view is
        rounded from more bits, and is then computed anew.

    Returns
    -------
    Reference
    """
    own = (bits, max_iterations, "" if view_radius is None else _text(view_radius)) if same else ()
    path = _path(formula, start, c, escape_radius, *own)
    cached = _load(path, bits, max_iterations, view_radius) if path else None
    if cached:
        return cached
    found = compute_orbit(
        formula, start, c, bits, max_iterations, escape_radius, view_radius, on_steps
    )
    if path and len(found.orbit) * bits >= MIN_WORK:
        _save(path, found, max_iterations, view_radius)
    return found


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


def _path(
    formula: Formula,
    start: tuple[Fraction, Fraction],
    c: tuple[Fraction, Fraction],
    escape_radius: float,
    *more: object,
) -> Path | None:
    """Return the path of an orbit's file; None if it can't be cached."""
    # The name of a formula from elsewhere does not identify its text, which may change.
    if not formula.step.__module__.startswith("fractals."):
        return None
    facts = VERSION, formula.label, *map(_text, (*start, *c)), escape_radius, *more
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    kept = folder()
    return kept / f"{digest}.npz" if kept else None


def _text(value: Fraction) -> str:
    """Return a fraction in hexadecimal digits, whose length Python does not limit."""
    return f"{value.numerator:x}/{value.denominator:x}"


def _fraction(text: str) -> Fraction:
    return Fraction(*(int(part, 16) for part in text.split("/")))


def _load(
    path: Path, bits: int, max_iterations: int, view_radius: Fraction | None
) -> Reference | None:
    """Return the orbit of a file; None if the file does not serve."""
    try:
        with np.load(path, allow_pickle=False) as file:
            period, escaped, cached_bits, cached_iterations, repeats = map(int, file["facts"])
            if cached_bits < bits or not (
                period or escaped or repeats or cached_iterations >= max_iterations
            ):
                return None
            if period and (
                view_radius is None or _fraction(str(file["view_radius"])) > view_radius
            ):
                return None
            orbit, *lists = (file[name] for name in ("orbit", "tiny", "near_kinks", "margins"))
        os.utime(path)
        if not escaped and not period and len(orbit) > max_iterations + 1:
            orbit, repeats = orbit[: max_iterations + 1], 0
            lists = [part[part[:, TINY_INDEX] <= max_iterations] for part in lists]
        return Reference(orbit, lists[0], period, bool(escaped), cached_bits, repeats, *lists[1:])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zipfile.LargeZipFile):
        with contextlib.suppress(OSError):
            path.unlink()  # a damaged file is removed, and its orbit computed anew
        return None


def _save(path: Path, found: Reference, max_iterations: int, view_radius: Fraction | None) -> None:
    """Write the file of an orbit; without room on the disk, nothing.

    The file is moved into place when it is complete, so another process never reads a part of it.
    """
    facts = np.array(
        [found.period, found.escaped, found.bits, max_iterations, found.repeats], np.int64
    )
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                text = np.array(_text(view_radius or Fraction(0)))
                np.savez(
                    file,
                    orbit=found.orbit,
                    tiny=found.tiny,
                    near_kinks=found.near_kinks,
                    margins=found.margins,
                    facts=facts,
                    view_radius=text,
                )
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        _tidy(path.parent)


def _tidy(where: Path) -> None:
    """Remove the files that were not used for longest, beyond MAX_BYTES."""
    files = sorted(where.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > MAX_BYTES:
            file.unlink(missing_ok=True)


__all__ = ["compute_orbit", "find", "find_same", "folder"]
