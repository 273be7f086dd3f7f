"""The pilot of a Buddhabrot on the CPU: samples iterated and followed in packs."""

from dataclasses import replace
from typing import Any

import numpy as np

from fractals.backends.base import Run
from fractals.backends.cpu.programs import program_of
from fractals.backends.machine_code import Uncompilable
from fractals.kernels import escape
from fractals.kernels.layout import EscapeTile, SampleGrid
from fractals.scatter.buddhabrot import LOOKED
from fractals.scatter.cpu_game import OrbitSamples

LANES = 64  # of a pack, at most
# By their names: they need Numba
ASKED = "fractals.scatter.cpu_orbit_code:make_asked_body"
LOOK = "fractals.scatter.cpu_orbit_code:make_look_body"


def iterated(backend: Any, options: escape.EscapeOptions) -> Run:
    """Return the program that iterates samples at any places."""
    run: Run = backend.compile(escape.make_body, replace(options, explicit_positions=True))
    return run


def counts_of(run: Run, places: Any, point: Any, limit: int) -> Any:
    """Return how many steps samples take to escape, or the limit; array of int32.

    `places`: x and y of each; array of real, shape (2, samples). `point`: as of `Orbits`.
    """
    real, shape = places.dtype.type, (1, places.shape[1])
    counts, none = np.empty(shape, np.int32), np.empty((1, 1), real)
    points = np.empty((2, *shape), real)
    tile = EscapeTile(counts, points[0], points[1], none, none, none[None])
    point = np.append(point, real(0))  # the last number would end it early
    run(tile, SampleGrid(places, np.zeros((2, 1), real)), point, np.int32(limit))
    return counts[0]


def looking(backend: Any, options: escape.EscapeOptions, anti: bool) -> Run:
    """Return what `fractals.scatter.buddhabrot.make_look_body` makes, for packs of samples."""
    iterate = iterated(backend, options)
    if iterate.loop != "packs":
        raise Uncompilable(iterate.reason)
    place = program_of(ASKED, backend.number)
    follow = program_of(LOOK, backend.number, (options, anti), packed=True)

    def run(out: Any, orbits: Any, asked: Any, game: Any, window: Any, _sums: Any) -> None:
        own = asked[game.first : game.first + out.shape[0] * out.shape[1]]
        facts, places = out.reshape(-1, LOOKED)[: len(own)], np.empty((2, len(own)), backend.real)
        place(facts, places, orbits, own, game)
        counts = counts_of(iterate, places, orbits.point, orbits.steps[1])
        cells = np.ascontiguousarray(own[:, 0])
        samples = OrbitSamples(orbits, cells, places, counts, np.argsort(counts))
        follow(facts, samples, np.empty((3, LANES), backend.real), window)

    return Run(run, "packs")
