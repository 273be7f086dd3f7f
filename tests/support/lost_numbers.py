"""No number of a picture may be NaN: asked of every tile that a test iterates.

A NaN is neither within the escape radius nor beyond it, so it ends an orbit as an escape does, and
the picture looks plausible.
"""

import functools

import numpy as np

from fractals.rendering import drawing
from fractals.rendering.iteration import Direct, never
from fractals.rendering.perturb import Perturbation
from fractals.rendering.probing import Begun

MOST = 2**16  # samples of a picture that are iterated again, where compiled code goes over tiles


def lost(backend, tile):
    """Return the names of the arrays of an `EscapeTile` that hold a NaN."""
    found = []
    for name, array in zip(tile._fields[1:], tile[1:], strict=True):
        if np.prod(getattr(array, "shape", ())) > 1:  # one element stands for none
            numbers = np.empty(array.shape, array.dtype)
            backend.to_host(array, numbers)
            if np.isnan(numbers).any():
                found.append(name)
    return found


def watch(monkeypatch, found):
    """Add to a list what is NaN in each tile that is iterated."""

    def marked(begin):
        @functools.wraps(begin)
        def call(self, shape, grid, last, stop=never, probing=False):
            begun = begin(self, shape, grid, last, stop, probing)
            begun.source, begun.stop, begun.probing = self, stop, probing
            return begun

        return call

    finish = Begun.finish

    def watched(self):
        more, source = finish(self), getattr(self, "source", None)
        if source and not self.stop():
            names = lost(source.prober if self.probing else source.backend, self.tile)
            if self.probing:  # without statistics
                names = [name for name in names if name != "statistics"]
            found.extend(f"{name} of {source.formula.label}, {source.scene}" for name in names)
        return more

    def again(make):
        @functools.wraps(make)
        def call(opened, *rest):
            loops, tiles = make(opened, *rest), rest[-1]
            if loops and len(tiles) * opened.plan.largest_tile <= MOST:
                for tile in tiles:  # where the loops show no numbers
                    opened.source.iterate(tile)
            return loops

        return call

    for method in (Direct, Perturbation):
        monkeypatch.setattr(method, "_begin", marked(method._begin))
    monkeypatch.setattr(Begun, "finish", watched)
    for name in ("compiled_draws", "compiled_keeps"):
        monkeypatch.setattr(drawing, name, again(getattr(drawing, name)))
