"""Curves between counts and numbers of colors in entries of Fractint: `logmap=` and `ranges=`."""

import bisect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fractals.errors import SceneError
from fractals.io.foreign._view import real, whole

Entry = Mapping[str, tuple[str, str]]  # key: its value, and where, such as "line 3: maxiter"
MAX_COLORS = 256
MAX_RANGED = 32_766  # counts up to this have numbers of `ranges`, others that of this one
MAX_RUNS = 2000  # stripes of `ranges`; a palette has twice as many stops
CURVES = {
    "logmap": "the curve of colors",
    "ranges": "ranges of counts that share a color",
}


@dataclass(frozen=True)
class CountCurve:
    """Counts to numbers of colors, as `logmap` or `ranges` set them; 0 counts as 1."""

    number: Callable[[int], int]  # of a count up to the limit
    runs: tuple[tuple[int, int], ...]  # the first count of each run of one number, and the number
    last: int  # the last count
    words: str  # about what is lost where it isn't drawn


def curve_of(fields: Entry, steps: int, lost: list[str]) -> CountCurve | None:
    """Return the curve between counts and numbers of colors; None where they are the same.

    `ranges` decides where an entry has both keys.
    """
    key = "ranges" if "ranges" in fields else "logmap"
    text, where = fields.get(key, ("no", key))
    try:
        return _ranged(text, where, steps) if key == "ranges" else _logarithmic(text, where, steps)
    except SceneError as error:
        lost.append(f"{CURVES[key]} ({error}): counts go round the colors evenly")
        return None


def _ranged(text: str, where: str, steps: int) -> CountCurve:
    """Return the curve of `ranges`."""
    last = min(steps, MAX_RANGED)
    runs = _ranges(text, where, last)
    while len(runs) > 1 and runs[1][0] <= 1:  # of no count but 0
        del runs[0]
    firsts = [first for first, _ in runs]

    def number_of(count: int) -> int:
        return runs[max(bisect.bisect_right(firsts, count) - 1, 0)][1]

    runs[0] = 0, runs[0][1]
    return CountCurve(number_of, tuple(runs), last, f"{CURVES['ranges']} (ranges={text[:40]})")


def _logarithmic(text: str, where: str, steps: int) -> CountCurve | None:
    """Return the curve of `logmap`; None where it is off."""
    named = {"y": 1, "n": 0, "o": -1}.get(text[:1].lower())
    flag = int(real(text, where)) if named is None else named
    if not flag:
        return None
    number_of = _curve(flag, steps)
    counts, runs = range(steps + 1), [(0, number_of(0))]
    while runs[-1][1] < number_of(steps):
        first = bisect.bisect_right(counts, runs[-1][1], key=number_of)
        runs.append((first, number_of(first)))
    return CountCurve(number_of, tuple(runs), steps, f"{CURVES['logmap']} (logmap={text[:40]})")


def _curve(flag: int, steps: int) -> Callable[[int], int]:
    """Return the function of `logmap`: a logarithm, or a square root where `flag` is below -1.

    Counts up to |flag| have color 1. The lowest counts beyond have a color each, except where
    `flag` is -1, which Fractint's versions before 14 drew.
    """
    most = max(steps, 2)
    begin = 0 if abs(flag) == 1 else min(abs(flag), most - 1)
    free = MAX_COLORS - (2 if begin else 1)
    if flag < -1:
        scale = free / math.sqrt(most - begin)
        even = int(scale * scale)

        def root(count: int) -> int:
            n = count - begin
            if n <= 0:
                return 1
            return n + 1 if n <= even else int(scale * math.sqrt(n)) + 1

        return root

    scale = free / (math.log(most - begin) or math.inf)

    def logarithm(count: int) -> int:
        n = count - begin
        if n <= 1:
            return 1
        size = math.log(n)
        return n if flag > 0 and n / size <= scale else int(scale * size) + 1

    return logarithm


def _ranges(text: str, where: str, steps: int) -> list[tuple[int, int]]:
    """Return the runs of `ranges`: the last count of each range, from color 0 on.

    Before a range, -n divides it into stripes of n counts, which have two colors in turn.
    """
    parts = [whole(part, where) for part in text.split("/")]
    runs: list[tuple[int, int]] = []
    color = first = at = 0
    while at < len(parts):
        width = -parts[at] if parts[at] < 0 else 0
        at += bool(width)
        if at == len(parts) or parts[at] < max(first - 1, 0):
            raise SceneError(f"{where}: {text[:40]!r} are no counts that rise")
        end = steps if at == len(parts) - 1 else min(parts[at], steps)
        starts = range(first, end + 1, width or max(end + 1 - first, 1))
        if len(runs) + len(starts) > MAX_RUNS:
            raise SceneError(f"{where}: more than {MAX_RUNS} stripes")
        runs += [(start, (color + k % 2) % MAX_COLORS) for k, start in enumerate(starts)]
        first, color, at = max(first, end + 1), color + 1 + bool(width), at + 1
    return runs
