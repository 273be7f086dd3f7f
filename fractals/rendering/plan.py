"""Plan and Tile: how a scene is drawn. Pure, cheap and printable; nothing is iterated here."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fractals.errors import OptionError
from fractals.kernels.formula import Formula
from fractals.rendering import forecast
from fractals.rendering.precision import bits_along, depth_of
from fractals.rendering.tiles import (
    SAMPLES_A_TILE,
    Tile,
    band_rows,
    make_tiles,
)
from fractals.scene import geometry
from fractals.scene.geometry import limit_of, place_of
from fractals.scene.layers import make_layers
from fractals.scene.model import Scene, View
from fractals.scene.numbers import log2, scientific

BITS = {"float64": 53, "float32": 24}
EXTENDED = -900  # exponent of two: samples that near are iterated with an exponent of their own
GUARD_BITS = 64  # of a reference orbit, beyond those that tell samples apart
LEAST_SPARE_BITS = 2  # neighbouring samples are at least so many powers of two of float steps apart
# Rounding grows along an orbit as the distance of neighbours does: perturbation begins well before
# they would meet. In float32 there is no room for that, and it is asked for by name.
SPARE_BITS = {"float64": 14, "float32": LEAST_SPARE_BITS}

# A longer block has fewer branches, and more steps to run again when an orbit escaped. A CPU's core
# foretells branches; on a GPU they take instructions, and a warp runs again once for all its lanes.
BLOCK = {"cpu": 8, "cuda": 16, "simulator": 16, "python": 8}
MOST_SINGLE = 2**16  # single steps of a sample in a deep view; most others are skipped


@dataclass(frozen=True)
class Plan:
    """How a scene is drawn.

    Attributes
    ----------
    method : str
        ``"direct"``: each sample is iterated by itself. ``"perturbation"``: the difference from one
        reference orbit in arbitrary precision is iterated.
    number : str
        ``"float64"`` or ``"float32"``.
    exponent : int
        Of two, by which the samples' distances from the center are divided, where float64 has no
        number for them or their squares; otherwise 0.
    bits : int
        Precision of the reference orbit; 0 where there is none.
    reason : str
        Why this method and number type.
    digits : int
        Decimal digits that the coordinates need.
    max_iterations : int
        Steps after which a sample counts as inside.
    block : int
        Iterations between two branches.
    sticky : bool
        Whether each step is tested for escape, as an escaped orbit may come back.
    center : tuple of Fraction
    width, pixel : Fraction
        Exact, in the plane.
    view : View
        How the picture is turned, stretched and projected.
    finest : Fraction
        Width of a plain view whose samples are as near as the nearest of this one.
    antialias : str
        How samples are chosen and averaged: "grid", "jittered" or "adaptive".
    band : int
        Rows of the picture that are kept, and let go, together; its height where all are kept.
    seconds : float
        A rough forecast.
    memory : int
        Most that the picture, or its bands, and the tiles under way take, in bytes.
    """

    device: str
    method: str
    precision: str
    exponent: int
    bits: int
    reason: str
    digits: int
    max_iterations: int
    size: tuple[int, int]
    supersampling: int
    center: tuple[Fraction, Fraction]
    width: Fraction
    view: View
    finest: Fraction
    antialias: str
    interior_shortcuts: bool
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

    @property
    def outer(self) -> int:
        """Return the exponent of two of the width."""
        return math.floor(log2(self.width))

    @property
    def jittered(self) -> bool:
        """Tell whether samples lie anywhere in their cells, and are weighted by where they lie."""
        return self.antialias != "grid"

    @property
    def listed(self) -> bool:
        """Tell whether samples' places are no sums of a column and a row."""
        return self.jittered or self.view.projection != "plane"

    @property
    def deep(self) -> bool:
        """Tell whether the method is perturbation."""
        return self.bits > 0

    @property
    def extended(self) -> bool:
        """Tell whether differences are iterated with an exponent of their own."""
        return self.exponent != 0

    @property
    def largest_tile(self) -> int:
        """Return the samples of the largest tile."""
        return self.supersampling**2 * max(tile.width * tile.height for tile in self.tiles)

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "device": self.device,
            "method": self.method,
            "precision": self.precision,
            "reason": self.reason,
            "digits": self.digits,
            "bits": self.bits,
            "max_iterations": self.max_iterations,
            "size": list(self.size),
            "supersampling": self.supersampling,
            "antialias": self.antialias,
            "projection": self.view.projection,
            "width": scientific(self.width),
            "finest": scientific(self.finest),
            "tiles": len(self.tiles),
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
        }


def plan(
    scene: Scene,
    device: str = "cpu",
    interior_shortcuts: bool = True,
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
    formula, layers = scene.make_formula(), make_layers(scene)
    number = scene.iteration.number_type
    width, center = place_of(scene, formula)
    columns = scene.image.size[0] * scene.image.supersampling
    finest = geometry.finest(scene.view, width, scene.image.size)
    spacing = log2(finest / columns)
    digits, first = depth_of(scene, formula, width, center, spacing)
    apart = max(first, bits_along(scene, formula, width, center, spacing))
    deep = apart + SPARE_BITS[number] > BITS[number]
    if deep and (number == "float32" or formula.perturbed is None):
        lacking = apart + LEAST_SPARE_BITS - BITS[number]
        deep = lacking > 0
        if deep:
            _refuse_deep(formula, number, finest * 2 ** math.ceil(lacking))
    if deep:
        layers.check_deep()
    _check_range(scene, formula, number)
    interior_shortcuts = interior_shortcuts and not (layers.watching.inside or formula.remembers)
    # Near 0 a Julia set's orbits are raised to the power of the degree: so are the differences,
    # and their digits.
    power = formula.degree if scene.julia else 1
    exponent = math.floor(log2(finest)) if deep and power * spacing < EXTENDED else 0
    along = max(apart, power * (max(0.0, log2(max(map(abs, center)) + width)) - spacing))
    bits = GUARD_BITS + math.ceil(along if scene.julia else apart) if deep else 0

    samples = math.prod(scene.image.size) * scene.image.supersampling**2
    if (
        deep and scene.iteration.max_iterations == "auto"
    ):  # found when the picture is drawn: a guess
        limit = max(10_000, 4 * forecast.reference_length(scene, digits))
    else:
        limit = limit_of(scene, formula, finest)
    single = min(limit, MOST_SINGLE) if deep else limit
    tiles = tuple(make_tiles(scene, device, single, threads, deep))
    band = band_rows(scene, tiles[0], threads) if streamed else scene.image.size[1]
    result = Plan(
        device=device,
        method="perturbation" if deep else "direct",
        precision=number,
        exponent=exponent,
        bits=bits,
        reason=f"samples are {scientific(finest / columns)} apart, which {number} "
        + ("does not resolve" if deep else "resolves")
        + (" after some steps" if deep and first + SPARE_BITS[number] <= BITS[number] else "")
        + (": with an exponent of their own" if exponent else ""),
        digits=digits,
        max_iterations=limit,
        size=scene.image.size,
        supersampling=scene.image.supersampling,
        center=center,
        width=width,
        view=scene.view,
        finest=finest,
        antialias=scene.image.antialias,
        interior_shortcuts=interior_shortcuts,
        block=BLOCK[device],
        sticky=_can_return(scene, formula),
        tiles=tiles,
        band=band,
        seconds=0.0,
        memory=forecast.memory(scene, number, raw, tiles, band, threads, layers.watching.planes),
    )
    if deep:
        length = forecast.reference_length(scene, digits)
        planes = layers.watching.planes
        single = min(forecast.COUNTS_A_LENGTH * length, limit) * samples if planes else 0
        heavy = single * forecast.watching(planes)
        return replace(
            result,
            seconds=forecast.reference_seconds(bits, length)
            + forecast.deep_seconds(device, samples) / threads
            + forecast.watched_seconds(device, heavy, exponent != 0) / threads,
            memory=result.memory + length * forecast.BYTES_A_POINT,
        )
    count = forecast.mean_count(scene, center, width, finest, limit, interior_shortcuts)
    steps = count * samples * (1 + layers.derivative + layers.watching.planes)
    return replace(result, seconds=forecast.direct_seconds(device, steps, samples) / threads)


def _refuse_deep(formula: Formula, precision: str, least: Fraction) -> None:
    """Raise what to say of a deep view in float32, or of a formula without a perturbed step."""
    if precision == "float32":
        raise OptionError(
            f"the view is too deep for float32, which can go down to a width of "
            f"{scientific(least)} here: --precision float64 goes to any depth"
        )
    made = formula.step.__module__.replace(".", "/")
    raise OptionError(
        f"the formula '{formula.name}' has no perturbed step, and without it can go down to a "
        f"width of {scientific(least)} here"
        + (f": add one where it is made ({made}.py)" if formula.additive else "")
    )


def _check_range(scene: Scene, formula: Formula, precision: str) -> None:
    """Refuse an escape radius whose last step overflows the number type."""
    largest = 2 * formula.degree * math.log2(scene.iteration.escape_radius + 1)
    if largest > (127 if precision == "float32" else 1023):
        most = 2 ** (127 / 2 / formula.degree) - 1
        raise OptionError(
            f"escape_radius {scene.iteration.escape_radius:g} overflows {precision} here: "
            f"give at most {most:.0f}, or --precision float64"
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


def missing_digits(scene: Scene, result: Plan) -> int:
    """Return how many more decimals the center needs before all samples lie where they should."""
    if scene.view.center is None:
        return 0
    columns = result.size[0] * result.supersampling
    needed = math.ceil(-log2(result.finest / columns) * math.log10(2))
    exponents = [Decimal(part).as_tuple().exponent for part in scene.view.center]
    given = max(-e for e in exponents if isinstance(e, int))
    return max(0, needed - given)
