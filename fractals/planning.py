"""Plan and Tile: how a scene is drawn. Pure, cheap and printable; nothing is iterated here."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals import catalog
from fractals.coloring import Coloring
from fractals.errors import OptionError
from fractals.formula import Formula
from fractals.png import strip_rows
from fractals.scene import MOST_ITERATIONS, Scene

BITS = {"float64": 53, "float32": 24}
SPARE_BITS = 2  # neighbouring samples are at least 2**SPARE_BITS float steps apart
BYTES_A_SAMPLE = {"float64": 4 + 2 * 16, "float32": 4 + 2 * 8}  # count, z and dz

# A longer block has fewer branches, and more steps to run again when an orbit escaped. A CPU's core
# foretells branches; on a GPU they take instructions, and a warp runs again once for all its lanes.
BLOCK = {"cpu": 8, "cuda": 16, "simulator": 16, "python": 8}

# What one tile may cost: the first bounds its memory, and lets a GPU copy one while it computes
# another; the second bounds the time until Ctrl-C is heard.
SAMPLES_A_TILE = {"cpu": 2**17, "cuda": 2**21, "simulator": 2**20, "python": 2**10}
STEPS_A_TILE = {"cpu": 2**29, "cuda": 2**38, "simulator": 2**29, "python": 2**18}
FEWEST_SAMPLES = {"cpu": 64, "cuda": 2**18, "simulator": 64, "python": 64}  # a GPU's threads
LEAST_TILE = 2**14  # samples, on the CPU: a tile's overhead is that of about 100
MOST_TILES = 2**20
BYTES_A_TILE = 200  # of a Tile object
MOST_BANDS = 3  # in memory: drawn, compressed, and one to spare
STEPS_A_SECOND = {"cpu": 6e8, "cuda": 5e11, "simulator": 5e8, "python": 3e5}  # rough, for forecasts
SAMPLES_A_SECOND = {"cpu": 2e7, "cuda": 5e9, "simulator": 1e7, "python": 2e4}


class Tile(NamedTuple):
    """A rectangle of pixels; (x, y) is its top left one."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Plan:
    """How a scene is drawn.

    Attributes
    ----------
    method : str
        ``"direct"``: each sample is iterated by itself.
    number : str
        ``"float64"`` or ``"float32"``.
    reason : str
        Why this method and number type.
    digits : int
        Decimal digits that the coordinates need.
    iterations : int
        The limit: steps after which a sample counts as inside.
    block : int
        Iterations between two branches.
    sticky : bool
        Whether each step is tested for escape, as an escaped orbit may come back.
    center : tuple of Fraction
    width, pixel : Fraction
        Exact, in the plane.
    band : int
        Rows of the picture that are kept, and let go, together; its height where all are kept.
    seconds : float
        A rough forecast.
    memory : int
        Most that the picture, or its bands, and the tiles under way take, in bytes.
    """

    device: str
    method: str
    number: str
    reason: str
    digits: int
    iterations: int
    size: tuple[int, int]
    supersampling: int
    center: tuple[Fraction, Fraction]
    width: Fraction
    interior: bool
    block: int
    sticky: bool
    tiles: tuple[Tile, ...]
    band: int
    seconds: float
    memory: int

    @property
    def pixel(self) -> Fraction:
        """Return the side of a pixel in the plane."""
        return self.width / self.size[0]

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "device": self.device,
            "method": self.method,
            "number": self.number,
            "reason": self.reason,
            "digits": self.digits,
            "iterations": self.iterations,
            "size": list(self.size),
            "supersampling": self.supersampling,
            "width": f"{float(self.width):.6g}",
            "tiles": len(self.tiles),
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
        }


def plan(
    scene: Scene,
    device: str = "cpu",
    interior: bool = True,
    raw: bool = False,
    threads: int = 1,
    streamed: bool = False,
) -> Plan:
    """Decide how to draw a scene on a kind of device.

    Parameters
    ----------
    device : str
        "cpu", "cuda", "simulator" or "python".
    interior : bool
        Whether orbits that can be seen to stay inside are cut short; never changes a count.
    raw : bool
        Whether the raw numbers are kept, which takes more memory.
    streamed : bool
        Whether the picture is written to a PNG band by band, which takes less.

    Raises
    ------
    OptionError
        The view is too deep for the number type.
    """
    if device not in SAMPLES_A_TILE:
        kinds = ", ".join(SAMPLES_A_TILE)
        raise OptionError(f"unknown kind of device '{device}': choose one of {kinds}")
    formula, coloring = scene.make_formula(), make_coloring(scene)
    number = scene.iteration.number_type
    width, center = _place(scene, formula)
    columns = scene.image.size[0] * scene.image.supersampling
    digits = _check_depth(width, center, columns, number)
    _check_range(scene, formula, number)

    samples = math.prod(scene.image.size) * scene.image.supersampling**2
    limit = _limit(scene, formula, width)
    tiles = tuple(_tiles(scene, device, limit, threads))
    band = _band(scene, tiles[0], threads) if streamed else scene.image.size[1]
    result = Plan(
        device=device,
        method="direct",
        number=number,
        reason=f"samples are {float(width / columns):.2g} apart, which {number} resolves",
        digits=digits,
        iterations=limit,
        size=scene.image.size,
        supersampling=scene.image.supersampling,
        center=center,
        width=width,
        interior=interior,
        block=BLOCK[device],
        sticky=_can_return(scene, formula),
        tiles=tiles,
        band=band,
        seconds=0.0,
        memory=_memory(scene, number, raw, tiles, band, threads),
    )
    steps = _mean_count(scene, formula, result) * samples / STEPS_A_SECOND[device]
    if coloring.derivative:
        steps *= 2
    return replace(result, seconds=(steps + samples / SAMPLES_A_SECOND[device]) / threads)


def make_coloring(scene: Scene) -> Coloring:
    """Return the scene's coloring."""
    coloring: Coloring = catalog.load("coloring", scene.color.coloring)()
    return coloring


def coordinates(
    result: Plan, rotation: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the samples lie: ``columns`` (2, width) and ``rows`` (2, height).

    The sample in column i and row j is at ``columns[0, i] + rows[0, j]`` on the real axis and
    ``columns[1, i] + rows[1, j]`` on the imaginary one, which points up. Row 0 is the top. Each
    number is rounded once from its exact value, the same for every backend.
    """
    n = result.supersampling
    across, down = result.size[0] * n, result.size[1] * n
    (x, y), half = result.center, result.pixel / n / 2
    if rotation == 0:
        columns = [_rounded(x, half, across), np.zeros(across)]
        rows = [np.zeros(down), _rounded(y, -half, down)]
    else:
        turn = math.radians(rotation)
        cos, sin = half * Fraction(math.cos(turn)), half * Fraction(math.sin(turn))
        zero = Fraction(0)
        columns = [_rounded(x, cos, across), _rounded(y, sin, across)]
        rows = [_rounded(zero, sin, down), _rounded(zero, -cos, down)]
    return np.stack(columns), np.stack(rows)


def _rounded(middle: Fraction, half: Fraction, count: int) -> NDArray[np.float64]:
    """Return `count` places about `middle`, twice `half` apart, each rounded once.

    A quotient of whole numbers is rounded as a fraction is, in a thirtieth of the time.
    """
    below = math.lcm(middle.denominator, half.denominator)
    first, step = int((middle - (count - 1) * half) * below), int(2 * half * below)
    return np.array([(first + k * step) / below for k in range(count)])


def _place(scene: Scene, formula: Formula) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """Return width and center, from the formula's home where the scene names none."""
    home_width = Fraction("4.2") if scene.julia else Fraction(formula.width)
    home_center = ("0", "0") if scene.julia else formula.center
    x, y = scene.view.center or home_center
    if scene.view.width is not None:
        width = Fraction(Decimal(scene.view.width))
    else:
        width = home_width / Fraction(Decimal(scene.view.zoom or "1"))
    return width, (Fraction(Decimal(x)), Fraction(Decimal(y)))


def _check_depth(
    width: Fraction, center: tuple[Fraction, Fraction], columns: int, number: str
) -> int:
    """Return the decimal digits that the view needs; refuse one too deep for the number type."""
    reach = max(abs(center[0]), abs(center[1])) + width / 2
    spacing = width / columns
    digits = max(1, math.ceil(_log2(reach / spacing) * math.log10(2)) + 1)
    needed = _log2(reach / spacing) + SPARE_BITS
    if needed > BITS[number]:
        least = reach * columns / 2 ** (BITS[number] - SPARE_BITS)
        raise OptionError(
            f"the view is too deep for direct iteration in {number}: its width is "
            f"{_scientific(width)} and at this size it can go down to {_scientific(least)}"
            + ("; --number float64 goes deeper" if number == "float32" else "")
        )
    if abs(_log2(reach)) > 100:
        raise OptionError(f"the view lies {_scientific(reach)} from 0: nothing is drawn out there")
    return digits


def _log2(value: Fraction) -> float:
    """Return the logarithm of a number too large or small for a float."""
    n, d = value.numerator, value.denominator
    shift = n.bit_length() - d.bit_length()
    n, d = (n, d << shift) if shift >= 0 else (n << -shift, d)
    return shift + math.log2(n / d)


def _scientific(value: Fraction) -> str:
    power = math.floor(_log2(value) * math.log10(2))
    return f"about 1e{power}" if abs(power) > 300 else f"{float(value):.2g}"


def _check_range(scene: Scene, formula: Formula, number: str) -> None:
    """Refuse an escape radius whose last step overflows the number type."""
    largest = 2 * formula.degree * math.log2(scene.iteration.escape_radius + 1)
    if largest > (127 if number == "float32" else 1023):
        most = 2 ** (127 / 2 / formula.degree) - 1
        raise OptionError(
            f"escape_radius {scene.iteration.escape_radius:g} overflows {number} here: "
            f"give at most {most:.0f}, or --number float64"
        )


def _can_return(scene: Scene, formula: Formula) -> bool:
    """Tell whether an escaped orbit may come back, so that each step is to be tested.

    Beyond R >= 2 and R >= |c| no orbit of z**d + c does (a parameter picture starts at 0, where the
    first point beyond R is c itself).
    """
    if formula.can_return or scene.julia is None:
        return formula.can_return
    x, y = (float(Fraction(Decimal(text))) for text in scene.julia)
    return math.hypot(x, y) > scene.iteration.escape_radius


def _limit(scene: Scene, formula: Formula, width: Fraction) -> int:
    """Return the limit of iterations; "auto" grows tenfold while the zoom grows by 1e6."""
    if isinstance(scene.iteration.limit, int):
        return scene.iteration.limit
    zoom = max(0.0, _log2(Fraction(formula.width) / width))
    return int(min(1000 * 2 ** (zoom / 6), MOST_ITERATIONS))


def _tiles(scene: Scene, device: str, limit: int, threads: int = 1) -> Iterable[Tile]:
    """Yield tiles that cover each pixel once: strips on a GPU, rectangles on the CPU.

    A thread is given many, as some take longer than others, but none too small to be worth it.
    """
    width, height = scene.image.size
    n = scene.image.supersampling
    samples = min(
        SAMPLES_A_TILE[device], max(FEWEST_SAMPLES[device], STEPS_A_TILE[device] // limit)
    )
    if device == "cpu":
        samples = min(samples, max(LEAST_TILE, width * height * n**2 // (16 * threads)))
    samples = max(samples, width * height * n**2 // MOST_TILES)
    pixels = max(1, samples // n**2)
    across = min(width, max(1, 512 // n), pixels, 4 * math.isqrt(pixels))
    if device in ("cuda", "simulator"):
        across = width
    down = max(1, min(height, pixels // across))
    for y in range(0, height, down):
        for x in range(0, width, across):
            yield Tile(x, y, min(across, width - x), min(down, height - y))


def _band(scene: Scene, tile: Tile, threads: int) -> int:
    """Return the rows of a band: whole strips, and as many tiles as there are threads."""
    width, height = scene.image.size
    strip = strip_rows(scene.image.size, scene.image.bits)
    rows = max(tile.height, -(-threads * tile.width * tile.height // width))
    return min(height, -(-rows // strip) * strip)


def _memory(
    scene: Scene, number: str, raw: bool, tiles: tuple[Tile, ...], band: int, threads: int
) -> int:
    n2 = scene.image.supersampling**2
    width, height = scene.image.size
    tile = max(tile.width * tile.height for tile in tiles)
    if raw:
        kept = width * height * n2 * BYTES_A_SAMPLE[number]
    else:  # twice: as pixels, and compressed
        kept = 2 * width * min(height, MOST_BANDS * band) * 3 * scene.image.bits // 8
    return kept + threads * tile * n2 * BYTES_A_SAMPLE[number] + BYTES_A_TILE * len(tiles)


def _mean_count(scene: Scene, formula: Formula, result: Plan) -> float:
    """Return about how many steps a sample takes, from 32 x 32 orbits iterated in NumPy."""
    rows = columns = 32
    x, y = (float(part) for part in result.center)
    half = float(result.width) / 2
    a = np.tile(x + half * np.linspace(-1, 1, columns), (rows, 1))
    b = (y + half * result.size[1] / result.size[0] * np.linspace(-1, 1, rows))[:, None] + 0 * a
    u, v = (a, b) if scene.julia else (0 * a, 0 * b)
    if scene.julia:
        a, b = (float(Fraction(Decimal(text))) + 0 * a for text in scene.julia)
    most = min(result.iterations, 2000)
    total = np.zeros(a.shape)
    inside = np.ones(a.shape, bool)
    with np.errstate(all="ignore"):
        for _ in range(most):
            u, v = formula.step(u, v, a, b)
            inside &= u * u + v * v <= 1e6
            if not inside.any():
                break
            total += inside
    beyond = 0 if result.interior else result.iterations
    return float(np.where(inside, beyond, total).mean()) + 1
