"""The contract of an attractor: a map or a flow, whose points are counted. Its kernel.

Many short trajectories start at random points near the attractor, because the points of a single
one repeat after some 10^7 steps in float32. Trajectory t starts at ``philox(0, t, 0, START)``, and
where its point is lost at step s, again at ``philox(s, t, 1, START)``
(`fractals.scatter.game`). So the bits do not depend on threads, pools or devices.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.formula import AnyFormula
from fractals.kernels.primitives import fma, sqrt
from fractals.kernels.random import make_random, make_take
from fractals.scatter import game as games

LARGEST = 1e6  # of a parameter
# Numbers in the row of an attractor: the time of a step (of a map: 1), one over the stride, where
# trajectories start and how far around, the matrix from space to the picture; the parameters.
TIME, SHADE, START, SPREAD, ACROSS, DOWN, PARAMETERS = 0, 1, 2, 5, 6, 9, 12


class Mover(NamedTuple):
    """What is compiled of an attractor: its parameters are data."""

    step: Callable[..., Any] | None
    velocity: Callable[..., Any] | None
    numbers: int  # how many parameters there are


@dataclass(frozen=True)
class Attractor(AnyFormula):
    """A map of the plane or a flow in space, whose trajectories are drawn."""

    family: ClassVar[str] = "scatter"
    group: ClassVar[str] = "Attractors"
    method: ClassVar[str] = "trajectories"

    name: str  # as scenes name it
    title: str  # one line for lists
    # ``step(x, y, p) -> (x, y)``: the next point of a map; `p` holds the parameters in their order.
    # It is written as a formula's step: see `fractals.kernels.formula`.
    step: Callable[..., Any] | None = None
    # ``velocity(x, y, z, p) -> (dx, dy, dz)``: the velocity of a flow, in place of `step`. The
    # parameters `turn` and `tilt` are then degrees: how the flow is turned about the z axis, and
    # how far the eye is above the plane of x and y.
    velocity: Callable[..., Any] | None = None
    # Numbers that a scene may set, with their values.
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    # The length of a step of a map, or the speed of a flow, that has the palette's last color.
    stride: float = 1.0
    # center, width: The home view, drawn when a scene names no other: decimal text, in plane units.
    center: tuple[str, str] = ("0", "0")
    width: str = "4"
    # start, spread: Trajectories start in the cube of this half side around a point.
    start: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spread: float = 0.1
    settle: int = 0  # steps of a trajectory that are not drawn, at least
    # The time of one step of a flow, by the method of Runge and Kutta of order 4.
    time: float = 0.01

    def __post_init__(self) -> None:
        for name, value in self.parameters.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{name} is a number")
            if not abs(value) <= LARGEST:
                raise ValueError(f"{name}: {value:g} is not from -{LARGEST:g} to {LARGEST:g}")

    @property
    def kernel(self) -> tuple[Any, ...]:
        """Return what makes the kernel of GPUs, and its options."""
        return make_body, self.mover

    @property
    def mover(self) -> Mover:
        """Return what is compiled."""
        return Mover(self.step, self.velocity, len(self.parameters))

    def data(self, real: Any) -> NDArray[Any]:
        """Return the numbers of the attractor, for points of a number type."""
        matrix = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
        if self.velocity:
            turn, tilt = (math.radians(self.parameters[key]) for key in ("turn", "tilt"))
            c, s, up, along = math.cos(turn), math.sin(turn), math.cos(tilt), math.sin(tilt)
            matrix = [c, -s, 0.0, along * s, along * c, up]
        numbers = [
            self.time if self.velocity else 1.0,
            1 / self.stride,
            *self.start,
            self.spread,
            *matrix,
        ]
        return np.array([*numbers, *self.parameters.values()], np.dtype(real))

    def colors(self, palette: NDArray[np.float64]) -> NDArray[np.uint32]:
        """Return what hits add, as of `fractals.scatter.game.Window`."""
        return games.hit_colors(palette, (1.0,))


def make_move(target, mover):
    """Return ``move(x, y, z, row)``: the next point, and its place and color in the picture."""
    real, take = target.real, make_take(target, mover.numbers)
    flows = mover.velocity is not None
    step = target.jit(mover.velocity if flows else mover.step)

    def fastest(u, v, w, row):
        return sqrt(fma(u, u, fma(v, v, w * w))) * row[SHADE]

    fastest = target.jit(fastest)

    def jump(x, y, z, row):
        u, v = step(x, y, take(row, PARAMETERS))
        h = row[TIME]  # 1; where u is a product, a compiler of GPUs would fuse a difference
        return u, v, z, u, v, fastest(fma(h, u, -x), fma(h, v, -y), real(0), row)

    def flow(x, y, z, row):
        p, h = take(row, PARAMETERS), row[TIME]
        half, third, sixth = real(0.5) * h, real(1 / 3) * h, real(1 / 6) * h
        a, b, c = step(x, y, z, p)
        d, e, f = step(fma(half, a, x), fma(half, b, y), fma(half, c, z), p)
        g, i, j = step(fma(half, d, x), fma(half, e, y), fma(half, f, z), p)
        k, m, n = step(fma(h, g, x), fma(h, i, y), fma(h, j, z), p)
        # (first + 2 second + 2 third + fourth) / 6
        x = fma(sixth, a, fma(third, d, fma(third, g, fma(sixth, k, x))))
        y = fma(sixth, b, fma(third, e, fma(third, i, fma(sixth, m, y))))
        z = fma(sixth, c, fma(third, f, fma(third, j, fma(sixth, n, z))))
        across = fma(row[ACROSS], x, fma(row[ACROSS + 1], y, row[ACROSS + 2] * z))
        down = fma(row[DOWN], x, fma(row[DOWN + 1], y, row[DOWN + 2] * z))
        return x, y, z, across, down, fastest(a, b, c, row)

    return target.jit(flow if flows else jump)


def make_begin(target):
    """Return ``begin(a, b, c, row)``: where a trajectory starts, by three random numbers."""
    _, _, start = make_random(target)

    def begin(a, b, c, row):
        wide = row[SPREAD]
        return (
            fma(wide, start(a), row[START]),
            fma(wide, start(b), row[START + 1]),
            fma(wide, start(c), row[START + 2]),
        )

    return target.jit(begin)


def make_body(target, mover):
    """Return ``body(i0, j0, di, dj, out, row, game, window, sums)``.

    It is that of `fractals.scatter.game.make_body`, with the numbers of an attractor in place of
    those of a flame.
    """
    words, _, _ = make_random(target)
    move, begin = make_move(target, mover), make_begin(target)
    bucket, shade = games.make_bucket(target), games.make_shade(target)
    add, far = target.add, target.real(games.FAR)

    def play(t, row, game, window, sums):
        k0, k1, hits = game.k0, game.k1, 0
        a, b, c, _ = words(0, t, 0, games.START, k0, k1)
        x, y, z = begin(a, b, c, row)
        for s in range(game.steps + game.fuse):
            x, y, z, across, down, color = move(x, y, z, row)
            if not ((abs(x) <= far) & (abs(y) <= far) & (abs(z) <= far)):
                a, b, c, _ = words(s, t, 1, games.START, k0, k1)
                x, y, z = begin(a, b, c, row)
                continue
            if s < game.fuse:
                continue
            at = bucket(across, down, window)
            if at >= 0:
                place = shade(color)
                for m in range(4):
                    add(sums, 4 * at + m, window.colors[place, m])
                hits += 1
        return hits

    return games.make_all(target, play)
