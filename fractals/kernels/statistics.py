"""Orbit statistics: the numbers that colorings update at every step of an orbit."""

from dataclasses import dataclass, replace

from fractals.kernels.coloring import Coloring
from fractals.kernels.primitives import number

INSIDE_TOO = " (inside too)"  # ends the names of statistics that are kept inside the set, too
FIRST_CONSTANT = 3  # index in `point` where the statistics' constants begin: after c and radius²


@dataclass(frozen=True)
class Statistics:
    """The orbit statistics of a picture: those of all its colorings, each once.

    Attributes
    ----------
    colorings : tuple of Coloring
        One coloring for each distinct statistic.
    inside : bool
        Whether statistics are also kept where orbits do not escape. Interior shortcuts are then
        off, because a statistic needs every step.
    """

    colorings: tuple[Coloring, ...] = ()
    inside: bool = False

    @staticmethod
    def of(colorings: tuple[Coloring, ...], inside: bool) -> "Statistics":
        """Return the statistics that these colorings need."""
        found = {c.statistic_label: c for c in colorings if c.statistic}
        return Statistics(tuple(found.values()), inside and bool(found))

    @property
    def label(self) -> str:
        """Return the statistics' names, joined: part of a compiled program's folder name."""
        return "+".join(part.statistic_label for part in self.colorings)

    @property
    def planes(self) -> int:
        """Return how many numbers a sample has."""
        return sum(len(part.statistic.names) for part in self.colorings if part.statistic)

    @property
    def names(self) -> list[str]:
        """Return a name for each number, such as "stripes,density=5.sum"."""
        end = INSIDE_TOO if self.inside else ""
        return [
            f"{part.statistic_label}.{name}{end}"
            for part in self.colorings
            if part.statistic
            for name in part.statistic.names
        ]

    @property
    def moves(self) -> bool:
        """Tell whether deep views need the differences of consecutive points, in all digits."""
        return any(part.statistic.moves for part in self.colorings if part.statistic)

    def constants(self) -> list[float]:
        """Return the constants of all statistics, one after the other."""
        return [value for part in self.colorings for value in part.statistic_constants()]

    def compiled(self) -> "Statistics":
        """Return a copy without settings that do not affect compiled code."""
        return replace(self, colorings=tuple(part.for_statistic() for part in self.colorings))

    def first(self, coloring: Coloring) -> int:
        """Return the plane where a coloring's statistic begins; 0 without a statistic."""
        if not coloring.statistic:
            return 0
        end = INSIDE_TOO if self.inside else ""
        return self.names.index(f"{coloring.statistic_label}.{coloring.statistic.names[0]}{end}")


NO_STATISTICS = Statistics()


def make_statistics(target, formula, statistics, deep=False):
    """Return ``(start, update)`` for all statistics together; ``()`` where there are none.

    Both have the signatures that `fractals.kernels.coloring.OrbitStatistic` describes for `make`,
    or for `make_deep`; their tuple of numbers is that of all statistics, one after the other.
    """
    found, size, base = (), 0, FIRST_CONSTANT
    for coloring in statistics.colorings:
        make, settings = coloring.statistic.make, coloring.compiled_settings()
        if deep:
            make = coloring.statistic.make_deep or _make_of_plain(make)
        own = tuple(target.jit(part) for part in make(target, formula, base, **settings))
        found = _together(target, found, size, own) if found else own
        size += len(coloring.statistic.names)
        base += len(coloring.statistic_constants())
    return found


def _make_of_plain(make):
    """Return the `make_deep` of a statistic that needs no more than float64 in deep views."""

    def make_deep(target, formula, base, **settings):
        start, own = make(target, formula, base, **settings)
        plain = target.jit(own)

        def update(w, x, y, u, v, a, b, point, exact):
            return plain(w, x, y, u, v, a, b, point)

        return start, update

    return make_deep


def _together(target, before, size, own):
    """Return ``(start, update)`` of the first `size` numbers and of one more statistic."""
    start_before, update_before = before
    start_own, update_own = own

    def start(x, y):
        return (*start_before(x, y), *start_own(x, y))

    def update(w, x, y, u, v, a, b, point, *exact):
        first = update_before(w[:size], x, y, u, v, a, b, point, *exact)
        return (*first, *update_own(w[size:], x, y, u, v, a, b, point, *exact))

    return target.jit(start), target.jit(update)


def make_planes(target, size, count):
    """Return ``(load, store)`` of `count` numbers that follow `size` others in a state.

    ``load(planes, first, j, i)`` returns a sample's numbers as a tuple, from plane `first` on;
    ``store(planes, j, i, state, keep)`` writes the state's numbers, or zeros where not `keep`.
    """

    def load_first(planes, first, j, i):
        return (planes[first, j, i],)

    def store_first(planes, j, i, state, keep):
        planes[0, j, i] = state[size] if keep else number(0, state[0])

    load, store = target.jit(load_first), target.jit(store_first)
    for k in range(1, count):
        load, store = _one_more(target, load, store, size, k)
    return load, store


def _one_more(target, load_others, store_others, size, k):
    index = size + k

    def load(planes, first, j, i):
        return (*load_others(planes, first, j, i), planes[first + k, j, i])

    def store(planes, j, i, state, keep):
        store_others(planes, j, i, state, keep)
        planes[k, j, i] = state[index] if keep else number(0, state[0])

    return target.jit(load), target.jit(store)
