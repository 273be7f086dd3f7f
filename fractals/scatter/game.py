"""Scatter images: points are thrown, and hits are counted. The chaos game, for every target.

The random numbers are those of a counter (Philox4x32-10), and what is counted are whole numbers. So
no order of threads, blocks or devices changes a bit. Trajectory t draws at its step s

    philox(s // 4, t, 0, CHOICE)[s % 4]         which transform comes next
    philox(0, t, 0, START)                      where it starts: x, y and color
    philox(s, t, 1, START)                      where it starts again after a bad value
    philox(s, t, g, DRAW or DRAW_FINAL)         group g of what the variations draw

with the seed as the key. Nothing of this depends on the picture's size, its view or the device.

A flame is data (`FlameData`), so that one program draws all flames of the same variations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.kernels.formula import AnyFormula
from fractals.kernels.primitives import fma
from fractals.kernels.random import make_random, make_take

CHOICE, START, DRAW, DRAW_FINAL = 0, 1, 2, 3  # kinds of random numbers
FAR = 1e10  # a point beyond starts again
SHADES = 256  # colors of a palette's row
HIT = 255  # what a hit of a transform with opacity 1 adds to a bucket's count

# Numbers in the row of a transform: its affine map, that after the variations, color and speed;
# from VARIATIONS on the weight and the parameters of each variation. The weight is 1 where the
# variation's result holds it already.
AFFINE, POST, COLOR, SPEED, VARIATIONS = 0, 6, 12, 13, 14
# Whole numbers in its row of code: how many variations it has, whether it has a map after them,
# its row of the palette (-1: it is not plotted), then CALL numbers a variation: which one it is,
# where its numbers are, what it reads and writes, and its first group of random numbers.
LENGTH, HAS_POST, SHADE, CALLS, CALL = 0, 1, 2, 3, 4
# What a variation does: to the point before the sum (pre_), to the sum, or to the sum's result
# (post_); and whether it adds to what is there or takes its place.
PRE_SET, PRE_ADD, SUM, POST_SET, POST_ADD = 0, 1, 2, 3, 4


@dataclass(frozen=True)
class Variation:
    """A map of the plane that a flame's transform applies, with a weight."""

    name: str  # as scenes and files name it; the name of its function
    title: str  # one line for lists
    # ``apply(x, y, u, p) -> (x, y)``. `u` holds uniform random numbers from 0 to below 1, and `p`
    # the parameters in their order; then, if asked for, the six numbers of the transform's affine
    # map and the weight. It is written as a formula's step: see `fractals.kernels.formula`.
    apply: Callable[..., Any]
    # Names and usual values. In a scene and in files they follow the variation's name, such as
    # ``julian_power``.
    parameters: Mapping[str, float] = field(default_factory=dict, hash=False)
    draws: int = 0  # random numbers of one point, 8 at most
    # Whether `p` holds the affine map (a, b, c, d, e, f): x' = ax + by + c, y' = dx + ey + f.
    affine: bool = False
    weighted: bool = False  # whether `p` ends with the weight, and the result holds it already
    # Whether as ``pre_`` or ``post_`` the result is added to the point, as of all blurs.
    adds: bool = False
    # Whether other programs draw it in space, and what is here is its part in the plane
    space: bool = False

    @property
    def width(self) -> int:
        """Return how many numbers follow the weight in a transform's row."""
        return len(self.parameters) + 6 * self.affine + self.weighted

    @property
    def groups(self) -> int:
        """Return how many groups of four random numbers a point draws."""
        return -(-self.draws // 4)

    @property
    def label(self) -> str:
        """Return the name, for the folder of compiled programs."""
        return self.name


class FlameData(NamedTuple):
    """The numbers of a flame."""

    rows: Any  # a row for each transform, the final one last; array of real, shape (n, width)
    code: Any  # array of int32, shape (n, width)
    # Of 31 bits: a transform follows where a random number is below its bound. One row, or a row
    # for each transform that came before; int32
    bounds: Any
    final: bool  # whether the last row is a final transform


class Game(NamedTuple):
    """Which trajectories are played."""

    first: Any  # the number of the first trajectory
    steps: Any  # points of a trajectory that are plotted
    fuse: Any  # steps before them
    k0: Any
    k1: Any  # the seed, as two numbers of 32 bits


class Window(NamedTuple):
    """Where points fall, and what they add."""

    # Center x and y; the matrix from the plane to buckets, in rows; half the width and height; the
    # columns, and the row after the last one that is counted; 1; the first row that is counted.
    # Array of real, shape (12,)
    view: Any
    width: Any  # of the picture, in buckets
    top: Any  # the first row that is counted: of the picture, or of a band of it
    colors: Any  # what a hit adds: red, green, blue and count; uint32, shape (rows * SHADES, 4)


def hit_colors(palette: NDArray[np.float64], opacities: tuple[float, ...]) -> NDArray[np.uint32]:
    """Return what hits add, as of `Window`: a row of colors for each opacity.

    `palette`: sRGB values from 0 to 1, shape (SHADES, 3).
    """
    full = np.hstack([palette.clip(0, 1), np.ones((len(palette), 1))]) * HIT
    rows = [np.rint(full * min(max(each, 0.0), 1.0)) for each in opacities]
    return np.concatenate(rows).astype(np.uint32)


def make_draw(target, draws):
    """Return ``draw(s, t, group, kind, k0, k1)``: a tuple of uniform numbers."""
    words, unit, _ = make_random(target)

    def none(s, t, group, kind, k0, k1):
        return ()

    def one(s, t, group, kind, k0, k1):
        a, _, _, _ = words(s, t, group, kind, k0, k1)
        return (unit(a),)

    def two(s, t, group, kind, k0, k1):
        a, b, _, _ = words(s, t, group, kind, k0, k1)
        return unit(a), unit(b)

    def four(s, t, group, kind, k0, k1):
        a, b, c, d = words(s, t, group, kind, k0, k1)
        return unit(a), unit(b), unit(c), unit(d)

    def eight(s, t, group, kind, k0, k1):
        a, b, c, d = words(s, t, group, kind, k0, k1)
        e, f, g, h = words(s, t, group + 1, kind, k0, k1)
        return unit(a), unit(b), unit(c), unit(d), unit(e), unit(f), unit(g), unit(h)

    sizes = (none, one, two, four, four, eight, eight, eight, eight)
    return target.jit(sizes[draws])


def make_variation(target, variation):
    """Return ``run(x, y, row, at, s, t, group, kind, k0, k1)``: a variation, before its weight."""
    apply = target.jit(variation.apply)
    take, draw = make_take(target, variation.width), make_draw(target, variation.draws)

    def run(x, y, row, at, s, t, group, kind, k0, k1):
        return apply(x, y, draw(s, t, group, kind, k0, k1), take(row, at + 1))

    return target.jit(run)


def make_transform(target, variations):
    """Return ``transform(x, y, c, k, flame, s, t, kind, k0, k1)``: the point after transform k."""
    real, whole, index = target.real, target.int64, target.index

    def none(which, x, y, row, at, s, t, group, kind, k0, k1):
        return x, y

    def alternative(number, run, rest):
        def choose(which, x, y, row, at, s, t, group, kind, k0, k1):
            if which == number:
                return run(x, y, row, at, s, t, group, kind, k0, k1)
            return rest(which, x, y, row, at, s, t, group, kind, k0, k1)

        return target.jit(choose)

    apply = target.jit(none)
    for number, variation in enumerate(variations):
        apply = alternative(number, make_variation(target, variation), apply)

    def transform(x, y, c, k, flame, s, t, kind, k0, k1):
        row, code = flame.rows[k], flame.code[k]
        tx = fma(row[0], x, fma(row[1], y, row[2]))
        ty = fma(row[3], x, fma(row[4], y, row[5]))
        ox, oy = real(0), real(0)
        call, end = index(CALLS), index(CALLS + CALL * code[LENGTH])
        while call < end:
            at, does, group = index(code[call + 1]), code[call + 2], whole(code[call + 3])
            early, late = does <= PRE_ADD, does >= POST_SET
            px, py = (ox, oy) if late else (tx, ty)
            a, b = apply(code[call], px, py, row, at, s, t, group, kind, k0, k1)
            bx, by = (tx, ty) if early else (ox, oy)
            if (does == PRE_SET) | (does == POST_SET):
                bx, by = real(0), real(0)
            weight = row[at]
            a, b = fma(weight, a, bx), fma(weight, b, by)
            if early:
                tx, ty = a, b
            else:
                ox, oy = a, b
            call = index(call + CALL)
        if code[HAS_POST]:
            ox, oy = (
                fma(row[6], ox, fma(row[7], oy, row[8])),
                fma(row[9], ox, fma(row[10], oy, row[11])),
            )
        return ox, oy, fma(row[SPEED], row[COLOR] - c, c)

    return target.jit(transform)


def make_bucket(target):
    """Return ``bucket(x, y, window)``: the index of the bucket of a point, or -1 outside."""
    real, small, whole = target.real, target.int32, target.int64

    def bucket(x, y, window):
        v = window.view
        # Where x is a product, a compiler of GPUs would fuse a difference.
        dx, dy = fma(v[10], x, -v[0]), fma(v[10], y, -v[1])
        px = fma(v[2], dx, fma(v[3], dy, v[6]))
        py = fma(v[4], dx, fma(v[5], dy, v[7]))
        if (px >= real(0)) & (py >= v[11]) & (px < v[8]) & (py < v[9]):
            row = small(small(py) - small(window.top))
            return whole(row) * window.width + small(px)
        return whole(-1)

    return target.jit(bucket)


def make_shade(target):
    """Return ``shade(c)``: the place of a color in a row of the palette, from 0 to 255."""
    real, small = target.real, target.int32

    def shade(c):
        v = c * real(SHADES)
        v = v if v > real(0) else real(0)
        return small(v if v < real(SHADES - 1) else real(SHADES - 1))

    return target.jit(shade)


def make_all(target, play):
    """Return ``body(i0, j0, di, dj, out, data, game, window, sums)``, a trajectory an element.

    Trajectories are numbered in order of rows from ``game.first`` on. An element of `out` receives
    what ``play(t, data, game, window, sums)`` returns: how many of their points are in view.
    """
    play, whole = target.jit(play), target.int64

    def body(i0, j0, di, dj, out, data, game, window, sums):
        columns = out.shape[1]
        for j in range(j0, out.shape[0], dj):
            for i in range(i0, columns, di):
                t = whole(game.first) + whole(j) * columns + i
                out[j, i] = play(t, data, game, window, sums)

    return body


def make_body(target, variations):
    """Return the chaos game: ``body(i0, j0, di, dj, out, flame, game, window, sums)``.

    Each element of `out` is a trajectory, in order of rows from ``game.first`` on, and receives how
    many of its points are in view.

    Parameters
    ----------
    out : array of int32, shape (rows, columns)
    flame : FlameData
    game : Game
    window : Window
    sums : array of int64, shape (4 * buckets,)
        Red, green, blue and count of each bucket, to which points are added.
    """
    words, unit, start = make_random(target)
    transform, bucket = make_transform(target, variations), make_bucket(target)
    shade, add, far = make_shade(target), target.add, target.real(FAR)
    small, index = target.int32, target.index

    def play(t, flame, game, window, sums):
        k0, k1 = game.k0, game.k1
        a, b, d, e = words(0, t, 0, START, k0, k1)
        x, y, c = start(a), start(b), unit(d)
        a, b, d, e = small(0), small(0), small(0), small(0)
        hits, last, fuse = small(0), index(0), small(game.fuse)
        choices = len(flame.rows) - 1 if flame.final else len(flame.rows)
        others, xaos = index(choices - 1), len(flame.bounds) > 1
        for s in range(small(game.steps + game.fuse)):
            if s & 3 == 0:
                f, g, h, i = words(s >> 2, t, 0, CHOICE, k0, k1)
                a, b, d, e = small(f >> 1), small(g >> 1), small(h >> 1), small(i >> 1)
            v, bounds, k = a, flame.bounds[last], index(0)
            a, b, d = b, d, e
            while k < others:
                if v < bounds[k]:
                    break
                k = index(k + 1)
            if xaos:
                last = k
            color = flame.code[k, SHADE]
            seen = (s >= fuse) & (color >= 0)
            # In a loop, so that the variations stand in the program once: the final one is last.
            fx, fy, fc, which, kind = x, y, c, k, small(DRAW)
            going, near = True, False
            while going:
                fx, fy, fc = transform(fx, fy, fc, which, flame, s, t, kind, k0, k1)
                if kind == DRAW:
                    x, y, c = fx, fy, fc
                    near = (abs(x) <= far) & (abs(y) <= far)
                going = (kind == DRAW) & near & seen & flame.final
                which, kind = index(choices), small(DRAW_FINAL)
            if not near:
                f, g, _, _ = words(s, t, 1, START, k0, k1)
                x, y = start(f), start(g)
                continue
            if seen:
                at = bucket(fx, fy, window)
                if at >= 0:
                    row = window.colors[index(color * SHADES + shade(fc))]
                    for m in range(4):
                        add(sums, 4 * at + m, row[m])
                    hits = small(hits + 1)
        return hits

    return make_all(target, play)


# --- The contract of a flame: weighted transforms of the plane, and their numbers

IDENTITY = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0
CHOICES = 2**31  # random numbers that a transform is drawn by
STAGES = ("", "pre_", "post_")  # before the name of a variation: when it is applied


class Applied(NamedTuple):
    """A variation in a transform."""

    variation: Variation
    stage: str  # one of STAGES
    weight: float
    values: tuple[float, ...]  # of its parameters, in their order

    @property
    def does(self) -> int:
        """Return what it does, as the code of `fractals.scatter.game` says it."""
        if not self.stage:
            return SUM
        first = PRE_SET if self.stage == "pre_" else POST_SET
        return first + self.variation.adds


@dataclass(frozen=True)
class Transform:
    """One map of a flame: an affine map, the sum of its variations, and another affine map.

    An affine map (a, b, c, d, e, f) is x' = ax + by + c, y' = dx + ey + f.
    """

    variations: tuple[Applied, ...]
    weight: float = 1.0  # the share of points that it moves, in proportion to others
    affine: tuple[float, ...] = IDENTITY
    post: tuple[float, ...] = IDENTITY
    color: float = 0.0  # the place in the palette that colors move to, from 0 to 1
    color_speed: float = 0.5  # how much of the way
    opacity: float = 1.0  # what its points add
    xaos: tuple[float, ...] = ()  # factors of the weights of the transforms that follow it


@dataclass(frozen=True)
class Flame(AnyFormula):
    """Transforms, one of which is drawn at random for each step of a point."""

    family: ClassVar[str] = "scatter"
    group: ClassVar[str] = "Flames and orbits"
    method: ClassVar[str] = "chaos game"
    settle: ClassVar[int] = 0  # a scene says how many steps are not drawn

    name: str  # as scenes name it
    title: str  # one line for lists
    transforms: tuple[Transform, ...]
    final: Transform | None = None  # moves points where they are plotted, and only there
    # center, width: The home view, drawn when a scene names no other: decimal text, in plane units.
    center: tuple[str, str] = ("0", "0")
    width: str = "4"
    # Options that a scene may set, with their values.
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def all_transforms(self) -> tuple[Transform, ...]:
        """Return the transforms, and the final one last."""
        return (*self.transforms, *((self.final,) if self.final else ()))

    @property
    def variations(self) -> tuple[Variation, ...]:
        """Return each variation that is used, once."""
        used = [own.variation for each in self.all_transforms for own in each.variations]
        return tuple(dict.fromkeys(used))

    @property
    def kernel(self) -> tuple[Any, ...]:
        """Return what makes the kernel of GPUs, and its options."""
        return make_body, self.variations

    @property
    def opacities(self) -> tuple[float, ...]:
        """Return the opacities of points, other than 0: a row of the palette each."""
        return tuple(dict.fromkeys(t.opacity for t in self.transforms if t.opacity)) or (1.0,)

    def data(self, real: Any) -> FlameData:
        """Return the numbers of the flame, for points of a number type."""
        every, known = self.all_transforms, self.variations
        shades = {opacity: row for row, opacity in enumerate(self.opacities)}
        sizes = [sum(1 + own.variation.width for own in t.variations) for t in every]
        most = max(len(t.variations) for t in every)
        rows = np.zeros((len(every), VARIATIONS + max(sizes)), np.dtype(real))
        code = np.zeros((len(every), CALLS + CALL * most), np.int32)
        for row, numbers, each in zip(rows, code, every, strict=True):
            head = *each.affine, *each.post, each.color, each.color_speed
            row[: len(head)] = head
            shade = shades.get(each.opacity, -1)  # of points; the final transform's is not read
            numbers[:CALLS] = len(each.variations), each.post != IDENTITY, shade
            at, group = VARIATIONS, 0
            for k, own in enumerate(each.variations):
                values = [1.0 if own.variation.weighted else own.weight, *own.values]
                values += each.affine if own.variation.affine else ()
                values += [own.weight] if own.variation.weighted else []
                row[at : at + len(values)] = values
                place = CALLS + CALL * k
                numbers[place : place + CALL] = (
                    known.index(own.variation),
                    at,
                    own.does,
                    group,
                )
                at, group = at + len(values), group + own.variation.groups
        return FlameData(rows, code, self._bounds(), self.final is not None)

    def _bounds(self) -> NDArray[np.int32]:
        """Return below which random number each transform is drawn, but the last."""
        weights = np.array([t.weight for t in self.transforms])
        count = len(weights)
        xaos = np.ones((count, count))
        for row, each in zip(xaos, self.transforms, strict=True):
            row[: len(each.xaos)] = each.xaos[:count]
        shares = weights * xaos if (xaos != 1).any() else weights[None]
        # Where a transform leads nowhere, the weights alone decide.
        shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, weights)
        ends = np.cumsum(shares, axis=1) / shares.sum(axis=1, keepdims=True)
        bounds = np.floor(ends[:, :-1] * CHOICES).clip(0, CHOICES - 1)
        return np.ascontiguousarray(bounds.astype(np.int32))

    def colors(self, palette: NDArray[np.float64]) -> NDArray[np.uint32]:
        """Return what hits add, as of `fractals.scatter.game.Window`."""
        return hit_colors(palette, self.opacities)
