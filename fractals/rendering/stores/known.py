"""Keeps `ResumeData` in the parts of a store.

One process finds the limit of iterations, the count offset and the reference orbits. The others
read them from parts, so all of them compute tiles with the same bits. A file of an orbit is named
by its digest, and is mapped into memory.
"""

import hashlib
from fractions import Fraction
from typing import Any

from fractals.deep.reference import Reference
from fractals.errors import FractalsError
from fractals.io.stores.parts import StorePart, StoreParts
from fractals.rendering.resume_data import ResumeData

BEGUN = "begun"  # the part that names the others
ARRAYS = ("orbit", "tiny", "near_kinks", "margins", "moves")
NUMBERS = ("period", "escaped", "bits", "repeats")


def save_known(known: ResumeData, parts: StoreParts) -> None:
    """Write what is known as parts; the part that names the others is the last."""
    names = []
    for reference in known.references:
        arrays = {name: getattr(reference, name) for name in ARRAYS}
        facts: dict[str, Any] = {name: int(getattr(reference, name)) for name in NUMBERS}
        radius = reference.least_radius
        facts["least_radius"] = f"{radius.numerator:x}/{radius.denominator:x}"
        digest = hashlib.sha256(repr(facts).encode())
        for array in arrays.values():
            digest.update(repr(array.shape).encode())
            digest.update(array.tobytes())
        names.append(f"{digest.hexdigest()[:32]}.orbit")
        parts.put(names[-1], arrays, facts)
    facts = {"max_iterations": known.max_iterations, "count_offset": known.count_offset}
    parts.put(BEGUN, {}, facts | {"orbits": names})


def load_known(parts: StoreParts) -> ResumeData | None:
    """Return what another process has found; None where a part of it is missing."""
    begun = parts.read(BEGUN)
    orbits = [parts.read(name) for name in begun.facts["orbits"]] if begun else []
    if begun is None or None in orbits:
        return None
    facts = begun.facts
    try:
        references = tuple(_reference(orbit) for orbit in orbits if orbit)
        return ResumeData(int(facts["max_iterations"]), float(facts["count_offset"]), references)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise FractalsError(f"'{parts.folder}/{BEGUN}' is damaged: remove it") from None


def _reference(part: StorePart) -> Reference:
    facts = part.facts
    arrays = {name: part.arrays[name] for name in ARRAYS}
    radius = Fraction(*(int(piece, 16) for piece in facts["least_radius"].split("/")))
    return Reference(
        **arrays,
        period=int(facts["period"]),
        escaped=bool(facts["escaped"]),
        bits=int(facts["bits"]),
        repeats=int(facts["repeats"]),
        least_radius=radius,
    )
