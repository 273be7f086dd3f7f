"""Summary: the limit of iterations, the counts and the share inside, of a picture's samples."""

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.tally import NONE_YET


@dataclass(frozen=True)
class Summary:
    """What the samples of a picture have in common.

    Attributes
    ----------
    max_iterations : int
        Most steps that were tried: what the scene says, or what was found for "auto".
    count_offset : float
        As of `fractals.io.escape_data.EscapeData`.
    least_count, greatest_count : int or None
        Of the samples that escaped; None where none did.
    inside : float
        Share of the samples that did not escape, from 0 to 1.
    """

    max_iterations: int
    count_offset: float
    least_count: int | None
    greatest_count: int | None
    inside: float

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "max_iterations": self.max_iterations,
            "least_count": self.least_count,
            "greatest_count": self.greatest_count,
            "inside": float(f"{self.inside:.4g}"),
        }

    def __str__(self) -> str:
        counts = "no sample escaped"
        if self.least_count is not None:
            counts = f"counts {self.least_count} to {self.greatest_count} of {self.max_iterations}"
        share = 100 * self.inside
        return f"{counts}, {'under 1' if 0 < share < 1 else f'{share:.0f}'} % inside"


@dataclass
class Tally:
    """Adds up the counts of parts of a picture, which several threads draw."""

    least: int = NONE_YET
    greatest: int = -1
    inside: int = 0
    samples: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, least: int, greatest: int, inside: int, samples: int) -> None:
        """Add a part; its least count is NONE_YET where no sample escaped."""
        with self._lock:
            self.least, self.greatest = min(self.least, least), max(self.greatest, greatest)
            self.inside += inside
            self.samples += samples

    def add_counts(self, count: NDArray[np.int32], max_iterations: int) -> None:
        """Add samples with these counts."""
        escaped = count < max_iterations
        number = int(np.count_nonzero(escaped))
        least = int(count.min(where=escaped, initial=max_iterations)) if number else NONE_YET
        greatest = int(count.max(where=escaped, initial=-1))
        self.add(least, greatest, count.size - number, count.size)

    def summary(self, max_iterations: int, count_offset: float) -> Summary:
        """Return the summary of all parts."""
        found = self.greatest >= 0
        return Summary(
            max_iterations,
            count_offset,
            self.least if found else None,
            self.greatest if found else None,
            self.inside / max(1, self.samples),
        )
