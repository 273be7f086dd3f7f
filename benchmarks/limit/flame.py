#!/usr/bin/env python3
"""Compare the chaos game with one written in C by hand, and print the ratio.

    python benchmarks/limit/flame.py            # the flame "five" of benchmarks/scatter.py
    python benchmarks/limit/flame.py --json

One thread each, in turns: medians of CPU time, of points after the first ones. Exits 5 where the
sums differ, and 4 where the processor lacks AVX-512.
"""

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE)]  # this checkout

import scatter
from yardstick import AVX512, FLAGS, find_compiler

from fractals.backends.machine_code import REGISTER
from fractals.errors import DeviceError, DifferenceError, FractalsError
from fractals.scatter.game import (
    AFFINE,
    CALLS,
    COLOR,
    SPEED,
)
from fractals.scatter.play import Player
from fractals.tools import bench_report

SIZE = 640, 480
TILE, LIST = 64, 8192  # as in flame.c
VARIATIONS = ("linear", "sinusoidal", "spherical", "swirl", "julia")  # in the order of flame.c
MORE = ["-mprefer-vector-width=512", "-fno-trapping-math"]
COMPARED = 2048  # trajectories

TRANSFORM = np.dtype([("numbers", "f4", 9), ("variation", "i4")])


class Game(ctypes.Structure):
    """The `game` of flame.c."""

    _fields_ = (
        ("transforms", ctypes.c_void_p),
        ("bounds", ctypes.c_void_p),
        ("choices", ctypes.c_int32),
        ("view", ctypes.c_float * 12),
        ("width", ctypes.c_int32),
        ("top", ctypes.c_int32),
        ("tiles", ctypes.c_int32),
        ("colors", ctypes.c_void_p),
        *((name, ctypes.c_uint64) for name in ("k0", "k1")),
        *((name, ctypes.c_int64) for name in ("first", "count", "steps", "fuse")),
        *((name, ctypes.c_void_p) for name in ("sums", "records", "fill")),
        ("hits", ctypes.c_int64),
    )


def build(folder: str) -> Any:
    """Return the C, compiled."""
    if REGISTER < 64:
        raise DeviceError("the C needs AVX-512, which this processor lacks")
    compiler, path = find_compiler(), Path(folder, "flame.so")
    command = [compiler, *FLAGS, *AVX512, *MORE, "-o", str(path), str(HERE / "flame.c")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        first = next(iter(done.stderr.strip().splitlines()), f"exit {done.returncode}")
        raise FractalsError(f"{compiler} can't compile flame.c: {first}")
    return ctypes.CDLL(str(path))


class InC:
    """What a player of `fractals` plays, played by the C."""

    def __init__(self, library: Any, player: Player) -> None:
        plan = player.plan
        self._library, self._plan = library, plan
        flame, window, game = player.data(), plan.window(), plan.game(0)
        names = [plan.formula.variations[k].name for k in flame.code[:, CALLS]]
        transforms = np.zeros(len(flame.rows), TRANSFORM)
        weights = np.take_along_axis(flame.rows, flame.code[:, CALLS + 1 : CALLS + 2], axis=1)
        columns = [*range(AFFINE, AFFINE + 6)]
        transforms["numbers"] = np.concatenate(
            [flame.rows[:, columns], weights, flame.rows[:, [COLOR, SPEED]]], axis=1
        )
        transforms["variation"] = [VARIATIONS.index(name) for name in names]
        self._down, self._across = (-(-side // TILE) for side in plan.shape)
        tiles = self._down * self._across
        self._sums = np.zeros((tiles, TILE * TILE, 4), np.uint32)
        held = (
            transforms,
            flame.bounds[0].copy(),
            window.colors,
            np.zeros((tiles + 1, LIST), np.uint32),
            np.zeros(tiles + 1, np.int32),
        )
        self._held = held
        at = [each.ctypes.data for each in held]
        self._game = Game(
            at[0], at[1], len(transforms), tuple(map(float, window.view)), window.width,
            window.top, tiles, at[2], game.k0, game.k1, 0, 0, game.steps, game.fuse,
            self._sums.ctypes.data, at[3], at[4], 0,
        )  # fmt: skip

    def play(self, trajectories: range, last: bool = False) -> None:
        """Play some trajectories; with `last` all of their points are in the sums."""
        self._game.first, self._game.count = trajectories.start, len(trajectories)
        self._library.play(ctypes.byref(self._game), int(last))

    def sums(self) -> NDArray[np.int64]:
        """Return the sums in order of rows."""
        shape = self._down, self._across, TILE, TILE, 4
        found = self._sums.reshape(shape).swapaxes(1, 2)
        found = found.reshape(self._down * TILE, self._across * TILE, 4)
        return found[: self._plan.shape[0], : self._plan.shape[1]].astype(np.int64)


def measure(points: float, runs: int) -> dict[str, Any]:
    """Return the speeds of both, and their ratio."""
    player = scatter.player_of(scatter.flame_scene("five", SIZE).replace(precision="float32"))
    with tempfile.TemporaryDirectory() as folder:
        c = InC(build(folder), player)
    c.play(range(COMPARED), last=True)
    if not np.array_equal(c.sums(), player.sums(range(COMPARED), None)[0]):
        raise DifferenceError("the sums of the C differ")
    counter, count = player.counter(), max(1, round(points / player.plan.steps))
    ways = {"fractals": lambda part: counter.add(part, None), "C": c.play}
    found: dict[str, list[float]] = {name: [] for name in ways}
    for run in range(-1, runs):
        for name, play in ways.items():
            begun = process_time()
            play(range(run * count + count, run * count + 2 * count))
            if run >= 0:
                found[name].append(process_time() - begun)
    total = 1e-6 * count * player.plan.steps
    return {
        **bench_report.make_report([]),
        "million_points_a_second": {
            name: total / statistics.median(times) for name, times in found.items()
        },
        "ours_over_c": statistics.median(
            theirs / own for own, theirs in zip(found["fractals"], found["C"], strict=True)
        ),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--points", type=float, default=8e6, help="of a run")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    try:
        made = measure(given.points, given.runs)
    except FractalsError as error:
        print(f"flame.py: {error}", file=sys.stderr)
        return error.exit_code
    if given.json:
        print(json.dumps(made, indent=1))
    else:
        print(bench_report.hardware_line(made))
        for name, speed in made["million_points_a_second"].items():
            print(f"{name}: {speed:.4g} M points/s")
        print(f"ours/C: {made['ours_over_c']:.3f}; the sums are equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
