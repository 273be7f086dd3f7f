"""Reference orbits on disk: a second picture of the same place does not wait for its orbit."""

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

from fractals.backends.cache_folder import reason, report, trusted_folder
from fractals.deep.reference import Reference, compute_orbit
from fractals.kernels.formula import Formula

VERSION = 3  # of the files
LEAST = 2**22  # points times bits: what is computed in a moment is not kept
LARGEST = 2**30  # bytes of all files together; the ones used last are kept


def find(
    formula: Formula,
    start: tuple[Fraction, Fraction],
    c: tuple[Fraction, Fraction],
    bits: int,
    limit: int,
    escape_radius: float,
    reach: Fraction | None = None,
    watch: Callable[[int], None] | None = None,
    same: bool = False,
) -> Reference:
    """Return what `compute_orbit` does, from the disk where it was kept.

    An orbit serves every view about its center that is no deeper, of any size and colors. That of a
    deeper view rounds otherwise; with `same` only one is taken that is the same bit for bit.
    """
    own = (bits, limit, "" if reach is None else _text(reach)) if same else ()
    path = _path(formula, start, c, escape_radius, *own)
    kept = _load(path, bits, limit, reach) if path else None
    if kept:
        return kept
    found = compute_orbit(formula, start, c, bits, limit, escape_radius, reach, watch)
    if path and len(found.orbit) * bits >= LEAST:
        _save(path, found, limit, reach)
    return found


find_same = functools.partial(find, same=True)


def folder() -> Path | None:
    """Return the folder of the orbits; None, which is reported, where none can be trusted.

    It is in FRACTALS_CACHE_DIR, or in the user's folder for caches.
    """
    import platformdirs

    base = os.environ.get("FRACTALS_CACHE_DIR")
    base = base or platformdirs.user_cache_dir("fractals", appauthor=False)
    try:
        return trusted_folder(os.path.join(base, "orbits"))
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
    if not formula.step.__module__.startswith("fractals."):
        return None  # the name of someone's own formula says nothing of its text
    facts = VERSION, formula.label, *map(_text, (*start, *c)), escape_radius, *more
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    kept = folder()
    return kept / f"{digest}.npz" if kept else None


def _text(value: Fraction) -> str:
    """Return a fraction in hexadecimal digits: Python bounds the length of decimal ones."""
    return f"{value.numerator:x}/{value.denominator:x}"


def _fraction(text: str) -> Fraction:
    return Fraction(*(int(part, 16) for part in text.split("/")))


def _load(path: Path, bits: int, limit: int, reach: Fraction | None) -> Reference | None:
    """Return the orbit of a file, if it is whole and long and precise enough."""
    try:
        with np.load(path, allow_pickle=False) as file:
            period, escaped, kept_bits, kept_limit, repeats = map(int, file["facts"])
            if kept_bits < bits or not (period or escaped or repeats or kept_limit >= limit):
                return None
            if period and (reach is None or _fraction(str(file["reach"])) > reach):
                return None
            orbit, *lists = (file[name] for name in ("orbit", "tiny", "near", "margins"))
        os.utime(path)
        if not escaped and not period and len(orbit) > limit + 1:
            orbit, repeats = orbit[: limit + 1], 0
            lists = [part[part[:, 0] <= limit] for part in lists]
        tiny, near, margins = lists
        return Reference(orbit, tiny, period, bool(escaped), kept_bits, repeats, near, margins)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zipfile.LargeZipFile):
        with contextlib.suppress(OSError):
            path.unlink()  # damaged: computed anew
        return None


def _save(path: Path, found: Reference, limit: int, reach: Fraction | None) -> None:
    """Write a file that is whole or not there, whoever is killed; a full disk is no error."""
    facts = np.array([found.period, found.escaped, found.bits, limit, found.repeats], np.int64)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                text = np.array(_text(reach or Fraction(0)))
                np.savez(
                    file,
                    orbit=found.orbit,
                    tiny=found.tiny,
                    near=found.near,
                    margins=found.margins,
                    facts=facts,
                    reach=text,
                )
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
        _tidy(path.parent)


def _tidy(where: Path) -> None:
    """Remove the orbits that were not used for longest, until the rest is small enough."""
    files = sorted(where.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > LARGEST:
            file.unlink(missing_ok=True)


__all__ = ["compute_orbit", "find", "find_same", "folder"]
