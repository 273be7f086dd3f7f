"""What is known of a picture: what "auto" became, its limit, its counts, and the share inside."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.base import tally_of
from fractals.errors import counted
from fractals.kernels.escape import NONE_YET
from fractals.scene.geometry import ResolvedLayer
from fractals.scene.model import MAX_ITERATIONS, NAME, Scene
from fractals.scene.paint import MAX_LAYERS, Paint

PART = re.compile(r"[\d.e+-]{1,20} of [\d.e+-]{1,20} [a-z ]{1,40}", re.ASCII)  # a `Partial`
RESOLVED = "resolved"  # the table beside a picture's scene; readers of scenes pass over it


def resolved_values(scene: Scene, max_iterations: int, count_offset: float) -> dict[str, Any]:
    """Return what the values "auto" of a scene are in its picture, as a table.

    The scene itself keeps "auto", because the picture's scene is also the start of others: with
    ``--zoom x10`` other values fit.

    >>> resolved_values(Scene(), 1000, 0.0)
    {'max_iterations': 1000, 'count_offset': 0.0, 'transfer': 'log', 'palette': 'lagoon'}
    """
    found: dict[str, Any] = {"max_iterations": max_iterations, "count_offset": count_offset}
    layers = [_resolved_paint(layer) for layer in scene.color.paints[1:]]
    return {**found, **_resolved_paint(scene.color), **({"layers": layers} if layers else {})}


def checked(resolved: Any) -> dict[str, Any]:
    """Return the part of a table from a file that `resolved_values` can have written.

    >>> checked({"max_iterations": 1000, "transfer": 7, "a": "b"})
    {'max_iterations': 1000}
    """
    if not isinstance(resolved, Mapping):
        return {}
    found: dict[str, Any] = {}
    most, offset = resolved.get("max_iterations"), resolved.get("count_offset")
    if isinstance(most, int) and 1 <= most <= MAX_ITERATIONS:
        found["max_iterations"] = most
    if isinstance(offset, float) and 0 <= offset <= MAX_ITERATIONS:
        found["count_offset"] = float(offset)
    part = resolved.get("partial")
    if isinstance(part, str) and PART.fullmatch(part):
        found["partial"] = part
    found |= _words(resolved)
    layers = resolved.get("layers")
    if isinstance(layers, list) and len(layers) <= MAX_LAYERS:
        found["layers"] = [_words(layer) for layer in layers if isinstance(layer, Mapping)]
    return found


def _words(paint: Mapping[str, Any]) -> dict[str, str]:
    given = {key: paint.get(key) for key in ("transfer", "palette", "blend")}
    return {k: v for k, v in given.items() if isinstance(v, str) and NAME.fullmatch(v)}


def _resolved_paint(paint: Paint) -> dict[str, str]:
    coloring = paint.coloring.make()
    layer = ResolvedLayer(paint, coloring, coloring.side)
    found = {}
    if paint.transfer == "auto":
        found["transfer"] = layer.transfer
    if paint.palette == "auto" and not coloring.make_palette:
        found["palette"] = coloring.palette
    if getattr(paint, "blend", "") == "auto":
        found["blend"] = layer.blend
    return found


@dataclass(frozen=True)
class Summary:
    """What the samples of a picture have in common."""

    # Orbits that did not escape in fewer steps are inside: what the scene says, or the limit found
    max_iterations: int
    count_offset: float  # what the transfer "auto" subtracts from counts
    # least_count, greatest_count: of the samples that escaped; None where none did
    least_count: int | None
    greatest_count: int | None
    inside: float  # share of the samples that did not escape, from 0 to 1

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


@dataclass(frozen=True)
class Partial:
    """How many of its samples a picture has that was ended early."""

    done: float
    whole: float
    unit: str  # of one: such as "sample a pixel"

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON, which are kept beside a picture's scene, too."""
        return {"partial": str(self)}

    def __str__(self) -> str:
        return f"{float(f'{self.done:.3g}'):g} of {counted(f'{self.whole:g}', self.unit)}"


@dataclass
class PictureFacts:
    """What is known of a picture when it is drawn; the fields are explained in `Image`."""

    scene: Scene
    timings: dict[str, float] = field(default_factory=dict)
    device: str = ""
    precision: str = ""
    method: str = ""
    loop: str = ""
    summary: Summary | None = None


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

    def add_columns(self, found: NDArray[np.int32], samples: int) -> None:
        """Add samples of which a backend has told the counts: see `Backend.tally`."""
        if found.shape[1] == 1:  # for each tile on a CPU
            least, greatest, inside = found[:, 0].tolist()
        else:
            least, greatest = int(found[0].min()), int(found[1].max())
            inside = int(found[2].sum())
        self.add(least if greatest >= 0 else NONE_YET, greatest, inside, samples)

    def add_counts(self, count: NDArray[np.int32], max_iterations: int) -> None:
        """Add samples with these counts."""
        self.add_columns(tally_of(count, max_iterations), count.size)

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
