"""ResumeData: what a probe and a reference orbit give, passed on to other processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fractals.deep.reference import Reference


@dataclass(frozen=True)
class ResumeData:
    """What a source need not find again."""

    max_iterations: int
    count_offset: float  # as of `fractals.rendering.iteration.SampleSource`
    # The orbits that samples are compared with; none for direct iteration
    references: Sequence[Reference] = ()


def known_of(source: Any) -> ResumeData:
    """Return what a source of tiles (a `SampleSource`) has found."""
    references = tuple(getattr(source, "references", ()))
    return ResumeData(int(source.max_iterations), float(source.count_offset), references)
