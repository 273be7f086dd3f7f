"""Paths of light on the CPU: lists of rays, which packs of lanes walk together.

A solid is one program, which walks the rays of a list and drops those that have ended; what paths
do where rays end is another, compiled once for all solids. The bits are those of
`fractals.space.paths.make_body`.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.cpu.programs import array, program_of
from fractals.backends.machine_code import REGISTER, char_of
from fractals.space.light import GUIDES, PASSES, SHARES, Shot
from fractals.space.march import (
    CONE,
    LENS,
    Cone,
    Space,
    Starts,
    from_camera,
)
from fractals.space.solid import Walk
from fractals.threads import halted

LIST = 4096  # paths that a thread traces together
AT_ONCE = 8  # lists whose places are found together: NumPy takes longer to begin than for a list
BLOCK = 32  # vectors whose distances are found before rays that have ended leave the list
PAD = 64  # elements behind a row, which a pack may read or write
# Rows of rays: where they start, their direction, the length from which on they are walked, what
# the distance is compared with there, their number; rays under way, and where they leave; the
# length and trap where they ended, and 1 where they met the surface; the distance at their length,
# where that is asked; a few lanes in between; what a step of some packs has found: the trap, and 1
# where a ray meets the surface, 0 where it leaves, -1 where it goes on.
ORIGIN, DIRECTION, LENGTH, BASE, NUMBER, GOING, LAST = 0, 3, 6, 7, 8, 9, 18
ENDED, TRAP, HITS, AWAY, LANES, MET, RAY_ROWS = 19, 20, 21, 22, 23, 27, 29
# Rows of paths: the light so far (by path); what is left of it, place, direction and footprint
# where they met the surface; trap; four distances; normal; to the sun; two random numbers; how
# open the surroundings are; how clear of haze the way to the first surface is. Of rays that walk to
# the surface and no further: the length there, or -1.
LIGHT, THROUGH, PLACE, CAME, FOOT, COLOR, TAP = 0, 3, 6, 9, 12, 13, 14
NORMAL, TO_SUN, DRAWN, SEEN, CLEAR, PATH_ROWS = 18, 21, 24, 26, 27, 28
SURFACE = LIGHT
# Rows of whole numbers: which path a ray belongs to, and which ray to the sun belongs to which of
# these; column, row and sample of a path, and the place of its pixel in the sums.
COLUMN, ROW, SAMPLE, PIXEL, ID_ROWS = 2, 3, 4, 5, 6
# Vectors of a pack: more of them hide the latency of short steps, where there are registers enough.
VECTORS, VECTORS_OF_FOLDS = 2, 4 if REGISTER == 64 else 2
WALK = "fractals.space.cpu_ray_code:make_walk_body"
PATHS = "fractals.space.cpu_ray_code:make_body"


class PathRange(NamedTuple):
    """Which paths are traced: some samples of some pixels."""

    places: Any  # column and row of the pixels: array of int32, shape (pixels, 2)
    first: Any  # the first sample
    samples: Any


def places_of(width: int, begin: int, count: int) -> NDArray[np.int32]:
    """Return column and row of pixels that follow each other row by row; shape (count, 2)."""
    top, left = divmod(begin, width)
    rows = np.arange(top, (begin + count - 1) // width + 1, dtype=np.int32)
    found = np.empty((len(rows), width, 2), np.int32)
    found[..., 0], found[..., 1] = np.arange(width, dtype=np.int32), rows[:, None]
    return found.reshape(-1, 2)[left : left + count]


class Tracer:
    """Traces paths of one solid, on one thread.

    `number`: "float32" or "float64". `room`: paths of a list; `vectors`: of a pack, for
    tests.
    """

    def __init__(self, number: str, walk: Walk, room: int = LIST, vectors: int = 0) -> None:
        self._real = np.dtype(number).type
        self.room = room
        vectors = vectors or (VECTORS_OF_FOLDS if walk.distance == "linear" else VECTORS)
        char = char_of(number)
        space = Space, array(char), "q", "q"
        layout = tuple, array(char), "q", "q", char, "q", space
        self._walk = program_of(WALK, number, (walk, vectors), packed=True).entry(layout)
        self._calls = np.array([self._walk.code.address], np.int64)
        # By how many numbers a pixel has: of light alone, with shares, with passes, with guides
        self._paths = {
            3 + SHARES * (shared > 0) + PASSES * (shared > 1) + GUIDES * guided: program_of(
                PATHS, number, (shared, guided), long=True
            )
            for shared, guided in ((False, False), (True, False), (2, False), (False, True))
        }
        wide = room + PAD
        self._rays: NDArray[Any] = np.zeros((RAY_ROWS, wide), number)
        self._rays[NUMBER] = np.arange(wide)
        self._own: NDArray[Any] = np.zeros((PATH_ROWS, wide), number)
        self._ids = np.zeros((ID_ROWS, wide), np.int64)

    def trace(self, sums: NDArray[np.int64], job: PathRange, shot: Shot, space: Space) -> None:
        """Add the light of samples to the sums of all pixels, shape (1, pixels, numbers)."""
        paths = self._bound(sums.shape[2], shot, space)
        at_once = max(1, self.room // job.samples)
        for begin in range(0, len(job.places), at_once):
            places, own = job.places[begin : begin + at_once], sums[:, begin : begin + at_once]
            for first in range(job.first, job.first + job.samples, self.room):
                if halted():
                    return
                left = job.first + job.samples - first
                now = PathRange(places, first, min(self.room, left))
                paths(own, now)

    def starts(
        self,
        out: NDArray[Any],
        top: int,
        before: Starts,
        cone: Cone,
        camera: NDArray[Any],
        space: Space,
    ) -> None:
        """Fill `out` as `fractals.space.march.make_starts_body` does."""
        camera, columns = camera.copy(), out.shape[1]
        camera[CONE], camera[LENS] = cone.spread, 0
        flat, walk = out.reshape(-1), self._walker(camera, before, cone.base, space)
        for begin, places in self._lists(columns, top * columns, out.size):
            walk(places)
            lengths = self._rays[ENDED, : len(places)]
            part = flat[begin : begin + len(places)]
            np.maximum(lengths - cone.back, self._real(0), out=part)

    def first(
        self,
        out: NDArray[Any],
        camera: NDArray[Any],
        space: Space,
        starts: Starts | None = None,
    ) -> None:
        """Fill `out` as `fractals.space.march.make_first_body` does.

        `starts`: of its rays; without them they are followed from the camera on.
        """
        flat, columns = out.reshape(-1, 2), out.shape[1]
        walk = self._walker(camera, starts or from_camera(self._real), self._real(0), space)
        for begin, places in self._lists(columns, 0, len(flat)):
            walk(places)
            part, n = flat[begin : begin + len(places)], len(places)
            part[:, 0], part[:, 1] = self._own[SURFACE, :n], self._rays[TRAP, :n]

    def _lists(self, width: int, begin: int, count: int) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """Yield the places of pixels in lists, and how many pixels were before each list."""
        many = AT_ONCE * self.room
        for first in range(0, count, many):
            places = places_of(width, begin + first, min(many, count - first))
            for k in range(0, len(places), self.room):
                yield first + k, places[k : k + self.room]

    def _walker(
        self, camera: NDArray[Any], starts: Starts, base: Any, space: Space
    ) -> Callable[[NDArray[np.int32]], None]:
        """Return ``walk(places)``: rays of pixels walk to the surface, and no further."""
        none, turns = np.zeros(4, self._real), np.zeros(4, np.int64)
        shot = Shot(camera, none + base, none.reshape(1, 4), turns, -1, 0, 0, starts)
        run, sums = self._bound(3, shot, space), np.zeros((1, 0, 3), np.int64)
        return lambda places: run(sums, PathRange(places, 0, 1))

    def _bound(self, numbers: int, shot: Shot, space: Space) -> Callable[..., None]:
        """Return ``paths(sums, job)``, where `sums` have `numbers` numbers for each pixel."""
        rows = self._rays, self._own, self._ids
        return self._paths[numbers].bound(shot, space, self._calls, *rows)
