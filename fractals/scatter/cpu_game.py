"""Trajectories on the CPU: machines compiled once for all flames and attractors, and for orbits.

A flame is data. Its variations are programs of their own, which the machine calls by address, so
that opening a flame compiles nothing. An attractor is one such program. Points in view become
records of 4 bytes, a place in a tile of the picture and a color, which are kept in lists by tile
and added tile by tile, in the cache. One array of sums serves all threads: a list is added under
the tile's flag.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.backends.cpu.programs import array, program_of
from fractals.backends.machine_code import char_of
from fractals.scatter.attractor import Attractor
from fractals.scatter.buddhabrot import Buddhabrot
from fractals.scatter.game import Flame

POOL = 1024  # trajectories that a thread plays together
LANES = 16  # a loop over a list goes on to a multiple, beyond its end: it has no rest
SIDE_BITS = 6  # a tile has 64 x 64 buckets, of 16 bytes each
BUCKET_BITS = 2 * SIDE_BITS
ROOM = 8192  # records of a tile's list, a power of two; a list that is half full is emptied
AHEAD = 64  # records: how far ahead of the additions buckets are fetched into the cache
SMALL = 2**24  # records that sums of 32 bits hold: a hit adds at most 255 to each
# Rows of `Trajectories.numbers`: x, y and color of the points; the same, sorted by transform; a
# point after the affine map; what is plotted where there is a final transform; the transform that
# each point drew.
POINT, COLOR, SORTED, PLACE, FINAL, DRAWN, NUMBERS = 0, 2, 3, 6, 8, 11, 12
# Rows of `Trajectories.places`: whose point each is, counted from the first trajectory, before and
# after the points are sorted (in turns); the transform that each drew before; which start again;
# four random numbers of each trajectory; records, and their tiles.
ORDER, LAST, STALE, WORDS, RECORD, PLACES = 0, 2, 3, 4, 8, 10
# A point's place in the order has the number of its trajectory in the lower bits, and above it four
# transforms: those of steps 4n to 4n + 3.
ID_BITS, CHOICE_BITS = 16, 4
ID = (1 << ID_BITS) - 1
PLOTTED = 3  # the first row of what is plotted of an attractor's points
MACHINE = "fractals.scatter.cpu_game_code:make_body"
LOOP = "fractals.scatter.cpu_game_code:make_variation_body"
ATTRACTOR_MACHINE = "fractals.scatter.cpu_game_code:make_attractor_body"
ATTRACTOR_LOOP = "fractals.scatter.cpu_game_code:make_loop_body"
ORBIT_MACHINE = "fractals.scatter.cpu_orbit_code:make_body"


class Trajectories(NamedTuple):
    """The trajectories of a thread."""

    numbers: Any  # array of real, shape (NUMBERS, points)
    places: Any  # array of int32, shape (PLACES, points)
    ends: Any  # where the list of each transform ends; array of int64


class Bins(NamedTuple):
    """The records of a thread, by tile; the last list takes those out of view."""

    records: Any  # `room` of each list, one list after the other; array of int32
    ends: Any  # where each list ends in them; array of int64
    room: Any  # a power of two, at least twice as many as are added together
    tally: Any  # how many points were in view; array of int64, shape (1,)


class OrbitSamples(NamedTuple):
    """Samples of orbits, which were iterated before."""

    orbits: Any  # fractals.scatter.buddhabrot.Orbits
    cells: Any  # of each sample; array of int32
    places: Any  # c of each; array of real, shape (2, samples)
    counts: Any  # steps until it escaped, or the limit; array of int32
    order: Any  # the samples' indices, by their counts; array of int64


class Sums(NamedTuple):
    """What the hits add up to, by tile."""

    # Red, green, blue, count; arrays of shape (tiles, 4096, 4). Records are added to sums of 32
    # bits (uint32, half the cache), and these to int64 before they can overflow. Where hits are
    # wide, they are added to int64 at once, and `large` is empty.
    small: Any
    large: Any
    records: Any  # how many are in the small sums of a tile; array of int64
    flags: Any  # 1 while a thread adds to a tile; array of int64


def weighted(colors: NDArray[np.integer], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what points of orbits add: the colors times 1, times 2, ..., up to the most weight."""
    powers = np.int64(1) << np.arange(int(weights.max()).bit_length())
    found: NDArray[np.int64] = (powers[:, None, None] * colors.astype(np.int64)).reshape(-1, 4)
    return found


def _programs(
    number: str, formula: Flame | Attractor | Buddhabrot, julia: bool, packed: bool
) -> tuple[Any, list[Any]]:
    """Return the machine of a formula, and the loops that it calls."""
    char = char_of(number)
    if isinstance(formula, Buddhabrot):
        options = *formula.kernel_of(julia)[1:], packed
        return program_of(ORBIT_MACHINE, number, options, packed=packed), []
    if isinstance(formula, Attractor):
        loop = program_of(ATTRACTOR_LOOP, number, (formula.mover,))
        entry = loop.entry((tuple, array(char, 2), array(char), "q"))
        return program_of(ATTRACTOR_MACHINE, number), [entry]
    whole = tuple, *["q"] * 6
    layout = tuple, array(char, 2), array("i"), array(char), whole, whole
    loops = [program_of(LOOP, number, (each,)).entry(layout) for each in formula.variations]
    return program_of(MACHINE, number), loops


class Machine:
    """Plays the trajectories of one flame or attractor, or the orbits of a Buddhabrot.

    `number`: "float32" or "float64". `shape`: rows and columns of buckets. `wide`: whether a hit
    adds numbers of 64 bits, as those of orbits must. `pool`: trajectories that are played together,
    for tests. `julia`: whether orbits are those of a Julia set; `packed`: whether packs of them are
    followed.
    """

    def __init__(
        self,
        number: str,
        formula: Flame | Attractor | Buddhabrot,
        shape: tuple[int, int],
        wide: bool = False,
        pool: int = POOL,
        julia: bool = False,
        packed: bool = False,
    ) -> None:
        self._real = np.dtype(number).type
        self._tiles = tuple(-(-side >> SIDE_BITS) for side in shape)
        self.pool, self._shape = pool, shape
        self._play, self._loops = _programs(number, formula, julia, packed)
        self._calls = np.array([0, *(loop.code.address for loop in self._loops)], np.int64)[1:]
        self._transforms = len(formula.transforms) if isinstance(formula, Flame) else 1
        tiles = self._tiles[0] * self._tiles[1]
        shape = (tiles, 1 << BUCKET_BITS, 4)
        # With sums of 64 bits the machine is another program.
        small = np.zeros(shape, np.int64 if wide else np.uint32)
        large = np.zeros((0 if wide else tiles, *shape[1:]), np.int64)
        self._sums = Sums(small, large, np.zeros(tiles, np.int64), np.zeros(tiles, np.int64))

    def player(self) -> tuple[Trajectories, Bins]:
        """Return the memory of a thread."""
        points, lists = self.pool + LANES, len(self._sums.flags) + 1
        room = max(ROOM, 1 << (4 * self.pool).bit_length())
        return (
            Trajectories(
                np.zeros((NUMBERS, points), self._real),
                np.zeros((PLACES, points), np.int32),
                np.zeros(self._transforms, np.int64),
            ),
            Bins(
                np.zeros(lists * room, np.int32),  # the system gives memory to what is written to
                np.arange(lists) * room,
                room,
                np.zeros(1, np.int64),
            ),
        )

    def play(
        self, player: tuple[Trajectories, Bins], flame: Any, game: Any, window: Any, count: int
    ) -> None:
        """Play some trajectories; with 0 add what a thread has kept to the sums.

        Of orbits `flame` are all their samples, which are played at once.
        """
        if isinstance(flame, OrbitSamples):
            self._play(flame, game, count, self._calls, window, *player, self._sums)
            return
        for begin in range(0, max(1, count), self.pool):
            now = min(self.pool, count - begin)
            part = game._replace(first=game.first + begin)
            self._play(flame, part, now, self._calls, window, *player, self._sums)

    def clear(self) -> None:
        """Set the sums to zero."""
        for each in (self._sums.small, self._sums.large, self._sums.records):
            each[...] = 0

    def sums(self) -> Any:
        """Return the sums in order of rows, shape (rows, columns, 4)."""
        down, across = self._tiles
        side = 1 << SIDE_BITS
        small, large = (
            each.reshape(-1, across, side, side, 4).swapaxes(1, 2)
            for each in (self._sums.small, self._sums.large)
        )
        found = small.astype(np.int64, "C")  # a sum with zeros would touch their memory twice
        if len(large):
            found += large
        rows, columns = self._shape
        return found.reshape(down * side, across * side, 4)[:rows, :columns]
