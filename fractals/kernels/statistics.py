"""Orbit statistics: what colorings accumulate along an orbit, all together."""

from dataclasses import dataclass, replace

from fractals.kernels.coloring import Coloring
from fractals.kernels.primitives import number

INSIDE_TOO = " (inside too)"  # ends the name of what was also watched where orbits don't escape


@dataclass(frozen=True)
class Watching:
    """What a picture's colorings watch, together; each thing once.

    Attributes
    ----------
    inside : bool
        Whether it is also looked at where orbits do not escape: then none is cut short.
    """

    colorings: tuple[Coloring, ...] = ()
    inside: bool = False

    @staticmethod
    def of(colorings: tuple[Coloring, ...], inside: bool) -> "Watching":
        """Return what these colorings watch."""
        found = {c.watch_label: c for c in colorings if c.watcher}
        return Watching(tuple(found.values()), inside and bool(found))

    @property
    def label(self) -> str:
        """Return what it watches, for the folder of a compiled program."""
        return "+".join(part.watch_label for part in self.colorings)

    @property
    def planes(self) -> int:
        """Return how many numbers are watched."""
        return sum(len(part.watcher.names) for part in self.colorings if part.watcher)

    @property
    def names(self) -> list[str]:
        """Return a name for each, such as "stripes,density=5.sum"."""
        end = INSIDE_TOO if self.inside else ""
        return [
            f"{part.watch_label}.{name}{end}"
            for part in self.colorings
            if part.watcher
            for name in part.watcher.names
        ]

    def constants(self) -> list[float]:
        """Return the constants of all, one after the other."""
        return [value for part in self.colorings for value in part.watch_constants()]

    def compiled(self) -> "Watching":
        """Return it without what changes nothing in the compiled program."""
        return replace(self, colorings=tuple(part.for_watching() for part in self.colorings))

    def first(self, coloring: Coloring) -> int:
        """Return where the numbers of a coloring begin; 0 for one that watches nothing."""
        if not coloring.watcher:
            return 0
        end = INSIDE_TOO if self.inside else ""
        return self.names.index(f"{coloring.watch_label}.{coloring.watcher.names[0]}{end}")


UNWATCHED = Watching()


OWN = 3  # place in `point` where the watchers' constants begin


def make_watchers(target, formula, watching):
    """Return ``(start, watch)`` of all that is watched together, as `coloring.Watcher` says."""
    found, size, base = (), 0, OWN
    for coloring in watching.colorings:
        make, settings = coloring.watcher.make, coloring.compiled_settings()
        own = tuple(target.jit(part) for part in make(target, formula, base, **settings))
        found = _together(target, found, size, own) if found else own
        size += len(coloring.watcher.names)
        base += len(coloring.watch_constants())
    return found


def _together(target, before, size, own):
    """Append the functions of one more watcher to those of others, which have `size` numbers."""
    start_before, watch_before = before
    start_own, watch_own = own

    def start(x, y):
        return (*start_before(x, y), *start_own(x, y))

    def watch(w, x, y, u, v, a, b, point):
        first = watch_before(w[:size], x, y, u, v, a, b, point)
        return (*first, *watch_own(w[size:], x, y, u, v, a, b, point))

    return target.jit(start), target.jit(watch)


def make_planes(target, size, count):
    """Return ``(load, store)`` of `count` numbers, which follow `size` others in a state.

    ``load(watched, first, j, i)`` returns them from the planes of an array, from `first` on, as a
    tuple; ``store(watched, j, i, state, keep)`` writes them, or 0.
    """

    def load_first(watched, first, j, i):
        return (watched[first, j, i],)

    def store_first(watched, j, i, state, keep):
        watched[0, j, i] = state[size] if keep else number(0, state[0])

    load, store = target.jit(load_first), target.jit(store_first)
    for k in range(1, count):
        load, store = _one_more(target, load, store, size, k)
    return load, store


def _one_more(target, load_others, store_others, size, k):
    place = size + k

    def load(watched, first, j, i):
        return (*load_others(watched, first, j, i), watched[first + k, j, i])

    def store(watched, j, i, state, keep):
        store_others(watched, j, i, state, keep)
        watched[k, j, i] = state[place] if keep else number(0, state[0])

    return target.jit(load), target.jit(store)
