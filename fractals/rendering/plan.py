"""Plan: how a scene is drawn. Pure, cheap and printable; nothing is iterated here."""

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from fractals.backends.devices import LIMITS
from fractals.backends.probe import memory_size
from fractals.errors import OptionError
from fractals.io.load import Source
from fractals.kernels.formula import Formula
from fractals.rendering import forecast
from fractals.rendering.families import family_of, unused
from fractals.rendering.number_types import (
    BITS,
    BYTES,
    DOUBLED,
    LEAST_NOISY_BITS,
    MIN_NOISE,
    SPARE_BITS,
    check_range,
    check_resolved,
    chosen,
    doubled_cost,
)
from fractals.rendering.options import RenderOptions, read_request, with_keywords
from fractals.rendering.precision import SampledView, depth_of
from fractals.rendering.tiles import MAX_BANDS, Tile, band_rows, make_tiles
from fractals.scene import geometry
from fractals.scene.geometry import Layers, limit_by_zoom, limit_of, make_layers, place_of
from fractals.scene.keywords import RenderKeywords
from fractals.scene.model import Scene
from fractals.scene.numbers import log2, missing_decimals, scientific
from fractals.scene.picture import View

BYTES_A_TILE = 200  # of a Tile object
# Bytes a sample: of a group's colors and opacity, and of a mask while its weights are computed.
BYTES_A_GROUP, BYTES_A_MASK = 16, 100
BYTES_OF_GLOW = 48  # of a pixel, while the light of a whole picture glows
BYTES_A_THREAD = 2**22  # scratch memory of the compiled loops
BYTES_A_POINT = 100  # of a reference orbit and the tables that skip along it

# log2 of what a step may make of the samples' distance, below which each difference has an exponent
# of its own: float64 ends at 2**-1074, and differences need bits to spare above it. Near 0 a step
# of a Julia set raises differences to a power. In a parameter picture a step adds c to them.
EXTENDED = -900
GUARD_BITS = 64  # of a reference orbit, beyond the bits that tell samples apart

# log2 of the zoom, between which the count offset of the transfer "auto" grows from nothing to
# all. Lower values would change the colors of shallow views, where palettes begin at count 0.
SHALLOW, DEEP = 24, 44

MIN_LIMIT = 1024  # the least limit "auto" of a deep view
MAX_SINGLE = 2**16  # single steps of a sample in a deep view; tables skip most of the others

Keeps = Literal["pixels", "bands", "layers", "raw", "store", "nothing"]


@dataclass(frozen=True, repr=False)
class Plan:
    """How a scene is drawn.

    Attributes
    ----------
    scene : Scene
    formula : Formula
        Of the scene, made once.
    layers : Layers
        The scene's layers, resolved once.
    device : str
        The kind of device: "cpu", "cuda", "opencl", "simulator" or "python".
    threads : int
        CPU threads, or cores of the device, that share the tiles.
    method : str
        ``"direct"``: each sample is iterated by itself. ``"perturbation"``: the difference from one
        reference orbit in arbitrary precision is iterated.
    precision : str
        ``"float64"``, ``"float32"`` or ``"double-double"``.
    exponent : int
        Exponent of two by which the samples' distances from the center are divided, where float64
        cannot hold the distances or their squares; otherwise 0.
    bits : int
        Precision of the reference orbit; 0 without one.
    why : str
        Why the method is perturbation, or numbers are double-double; empty where neither is so.
    digits : int
        Decimal digits that the coordinates need.
    max_iterations : int
        Steps after which a sample counts as inside. An estimate where `probed`.
    steps_per_check : int
        Steps between two checks for escape.
    check_every_step : bool
        Whether each step is checked, because an escaped orbit may come back.
    size : tuple of int
        Width and height of the picture in pixels.
    supersampling : int
        Samples a pixel, along each side.
    interior_shortcuts : bool
        Whether orbits that surely stay inside end early.
    center : tuple of Fraction
    width, pixel : Fraction
        Exact, in plane units.
    view : View
        How the picture is turned, stretched and projected.
    finest : Fraction
        Width of a plain view whose samples are as close as the closest of this one.
    depth : float
        How deep the view is, from 0 to 1, whatever the method and the size: the share of the
        count offset that the transfer "auto" subtracts.
    antialias : str
        How samples are chosen and averaged: "grid", "jittered" or "adaptive".
    tiles : tuple of Tile
    band : int
        Rows of the picture that are in memory together; its height where all of them are.
    keeps : str
        What stays in memory; `make_plan` lists the values.
    memory : int
        Most bytes that the picture, or its bands, and the tiles being drawn take.
    seconds : float
        A rough estimate, computed when it is first read.
    reach : Fraction, or None
        Of an exponential map of few octaves: at least the distance of every sample from the center.
        Tables are then made for samples so near, and their positions share the plan's exponent.
    settled : bool
        Whether `max_iterations` was found by a probe.
    points : ndarray, or None
        Where samples lie, row by row, in place of the view's grid: shape (2, samples).
    """

    scene: Scene
    formula: Formula
    layers: Layers
    device: str
    threads: int
    method: str
    precision: str
    exponent: int
    bits: int
    why: str
    digits: int
    max_iterations: int
    size: tuple[int, int]
    supersampling: int
    center: tuple[Fraction, Fraction]
    width: Fraction
    view: View
    finest: Fraction
    depth: float
    antialias: str
    interior_shortcuts: bool
    steps_per_check: int
    check_every_step: bool
    tiles: tuple[Tile, ...]
    band: int
    keeps: Keeps
    reach: Fraction | None = None
    settled: bool = field(default=False, kw_only=True)
    points: NDArray[np.float64] | None = field(default=None, kw_only=True, compare=False)

    def __repr__(self) -> str:
        return (
            f"Plan(method={self.method!r}, precision={self.precision!r}, digits={self.digits}, "
            f"device={self.device!r}, tiles={len(self.tiles)}, "
            f"max_iterations={self.max_iterations})"
        )

    @property
    def reason(self) -> str:
        """Return why a picture has its method and its number type."""
        apart = scientific(self.finest / (self.size[0] * self.supersampling))
        return f"samples are {apart} apart, {self.why or f'which {self.precision} resolves'}"

    @cached_property
    def seconds(self) -> float:
        """Return a rough estimate of the seconds, without compiling.

        It is computed when it is first read, because it iterates some orbits in NumPy, which can
        take longer than a small picture.
        """
        count = 0.0  # the depth tells the steps of a deep view
        if not self.deep:
            count = forecast.mean_count(
                self.scene,
                self.formula,
                self.center,
                self.width,
                self.finest,
                self.max_iterations,
                self.interior_shortcuts,
            )
        return self.seconds_for(count)

    def seconds_for(self, count: float = forecast.TYPICAL_COUNT) -> float:
        """Return the seconds if the orbits of a view that is not deep take `count` steps each."""
        samples = self.samples
        planes, limit = self.layers.statistics.planes, self.max_iterations
        if self.deep:
            length = forecast.reference_length(self.scene, self.digits)
            single = min(forecast.COUNTS_A_LENGTH * length, limit) * samples if planes else 0
            seconds = forecast.deep_seconds(self.device, samples) + forecast.statistics_seconds(
                self.device, single * forecast.statistics_cost(planes), self.extended
            )
            seconds = forecast.reference_seconds(self.bits, length) + seconds / self.threads
            return seconds + self.encoding
        steps = count * samples * (1 + self.layers.derivative + planes)
        steps *= doubled_cost(self.formula) if self.doubled else 1
        seconds = forecast.direct_seconds(self.device, steps, samples)
        return seconds / self.threads + self.encoding

    @property
    def encoding(self) -> float:
        """Return the seconds of writing a picture into a file; 0 where none is written."""
        pixels = math.prod(self.size) if self.keeps == "bands" else 0
        return pixels / forecast.ENCODED / self.threads

    @property
    def samples(self) -> int:
        """Return how many samples the picture has."""
        return math.prod(self.size) * self.supersampling**2

    @cached_property
    def memory(self) -> int:
        """Return the most bytes that the picture, or its bands, and the tiles being drawn take."""
        (width, height), n2 = self.size, self.supersampling**2
        numbers = 4 + self.layers.statistics.planes  # z and dz, each complex, and the planes
        a_sample = 4 + numbers * BYTES[self.precision]  # and the count
        if self.keeps == "raw":  # the raw numbers of all samples
            kept = width * height * n2 * a_sample
        else:  # twice: as pixels, and compressed
            rows = min(height, MAX_BANDS * self.band)
            kept = 2 * width * rows * 3 * self.scene.image.bits // 8
        if self.scene.develop.bloom and self.keeps == "pixels":
            kept += width * height * BYTES_OF_GLOW
        tile = max(tile.width * tile.height for tile in self.tiles)
        kept += (self.threads + 1) * BYTES_A_THREAD + BYTES_A_TILE * len(self.tiles)
        blended = 0
        if self.layers.groups:  # a layer with a mask is in one
            blended = BYTES_A_GROUP * self.layers.nesting + BYTES_A_MASK * bool(self.layers.masks)
        return kept + self.threads * tile * n2 * (a_sample + blended) + self.orbit_memory

    @property
    def orbit_memory(self) -> int:
        """Return about how many bytes the reference orbit and its tables take."""
        length = forecast.reference_length(self.scene, self.digits) if self.deep else 0
        return length * BYTES_A_POINT

    def check_memory(self) -> None:
        """Raise an `OptionError` for a picture that does not fit into the memory that is free."""
        free = memory_size()
        if free and self.memory > 0.9 * free:  # the rest is for the compiler and the tables
            self._refuse_memory(free)

    def _refuse_memory(self, free: int) -> None:
        """Raise the error for a picture that does not fit into this many bytes."""
        needs = f"{self.memory / 2**30:.1f} GiB, and {free / 2**30:.1f} GiB are free"
        if self.orbit_memory > self.memory / 2:
            raise OptionError(
                f"the reference orbit of a width of {scientific(self.width)} needs about {needs}: "
                "give a wider view"
            )
        n = self.supersampling
        raise OptionError(
            f"{self.size[0]}x{self.size[1]} pixels of {n}x{n} samples need {needs}: give a smaller "
            "size= or supersampling="
            + ", or leave bloom= out" * (self.scene.develop.bloom > 0)
            + ", or write a .png, which needs less (fractals.render_to)"
            * (self.keeps == "pixels" and not self.scene.develop.bloom)
        )

    @cached_property
    def noise(self) -> float:
        """Return at most which share of the samples has wrong counts, because numbers are rounded.

        It is measured on some samples when it is first read, which takes about 50 ms, at most half
        a second. It is 0 for formulas with a perturbed step, which are exact at any depth, and in
        float32, where a scene asks for fewer bits.
        """
        if self.formula.perturbed or self.precision == "float32":
            return 0.0
        own = self.scene, self.formula, self.center, self.width, self.finest
        return _wrong_share(*own, self.digits, self.max_iterations, self.precision)

    @property
    def pixel(self) -> Fraction:
        """Return the side of a pixel in the plane."""
        return self.width / self.size[0]

    @property
    def probed(self) -> bool:
        """Tell whether a probe of the view finds the limit of iterations."""
        return self.scene.iteration.max_iterations == "auto" and not self.settled

    @cached_property
    def least_limit(self) -> int:
        """Return the least limit of iterations that a probe may find."""
        return MIN_LIMIT if self.depth == 1 else limit_by_zoom(self.formula, self.finest)

    @property
    def colors(self) -> bool:
        """Tell whether tiles are colored as soon as they are iterated."""
        return self.keeps in ("pixels", "bands") and not self.layers.whole

    @cached_property
    def jittered(self) -> bool:
        """Tell whether samples lie anywhere in their cells, and are weighted by their positions."""
        return self.antialias != "grid"

    @cached_property
    def explicit_positions(self) -> bool:
        """Tell whether each sample's position is computed by itself, not as column plus row."""
        return self.points is not None or self.jittered or self.view.projection != "plane"

    @property
    def doubled(self) -> bool:
        """Tell whether numbers are double-double."""
        return self.precision == DOUBLED

    @property
    def number(self) -> str:
        """Return the type of single numbers, in which a device iterates: "float64" or "float32"."""
        return "float64" if self.doubled else self.precision

    @cached_property
    def deep(self) -> bool:
        """Tell whether the method is perturbation."""
        return self.bits > 0

    @property
    def extended(self) -> bool:
        """Tell whether each difference is iterated with an exponent of its own."""
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
            "noise": float(f"{self.noise:.2g}"),
            "note": noise_note(self),
            "tiles": len(self.tiles),
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
        }


@with_keywords(RenderKeywords, RenderOptions)
def plan(*sources: Source, **keywords: Unpack[RenderKeywords]) -> Plan:
    """Return how `fractals.render` would draw a scene, without drawing.

    Parameters
    ----------
    *sources, **keywords
        The scene and the options of `fractals.render`.

    Returns
    -------
    Plan
        Method, number type, tiles, and estimates of seconds and bytes.

    Raises
    ------
    OptionError
        A keyword is unknown, or the view is too deep for the number type.
    SceneError
        A source can't be read, or the scene is invalid.
    DeviceError
        The device is missing.

    Examples
    --------
    >>> plan("mandelbrot", size=(64, 48), device="cpu").method
    'direct'
    """
    scene, options = read_request(sources, keywords, RenderKeywords, RenderOptions)
    if line := unused(scene):
        options.on_message(line)
    found: Plan = family_of(scene).plan(scene, options, "pixels")
    return found


def make_plan(
    scene: Scene,
    device: str = "cpu",
    interior_shortcuts: bool = True,
    threads: int = 1,
    keeps: Keeps = "pixels",
) -> Plan:
    """Return how a scene is drawn on a kind of device.

    `threads` is the number of CPU threads, or of the device's cores, that share the tiles. `keeps`
    is what stays in memory: "pixels" of the whole picture, or "layers" of its EXR; "bands" of a PNG
    on its way to a file; "raw" numbers of all samples; or, on their way to a "store", of the tiles
    being computed; or "nothing", where the view is only probed or measured. A view that is too deep
    for the number type is refused.
    """
    scene = scene.unframed().in_samples()
    formula, layers = scene.make_formula(), make_layers(scene)
    width, center = place_of(scene)
    finest = geometry.finest(scene.view, width, scene.image.size)
    spacing = log2(finest / (scene.image.size[0] * scene.image.supersampling))
    sampled = SampledView(formula, scene.julia, center, width, spacing)
    digits, place_bits, sample_bits, stable_bits = depth_of(sampled)
    limit, depth = limit_of(scene, finest), _depth_of(scene, finest)
    own = scene, formula, center, width, finest, digits, limit
    number, why = chosen(scene, formula, sample_bits, lambda: _wrong_share(*own, "float64"))
    direct = number != "float64" or formula.perturbed is None
    if direct:
        check_resolved(formula, number, lambda k: depth_of(sampled.wider(k)).counts, log2(finest))
    # By the scene alone, never by a device: both methods differ in chaotic counts.
    deep = not direct and stable_bits + SPARE_BITS[number] > BITS[number]
    exponent, bits = 0, 0
    if deep:
        layers.check_deep()
        exponent, bits = _orbit_numbers(sampled, finest, sample_bits)
        why = _why_deep(number, place_bits, exponent)
        if depth and scene.iteration.max_iterations == "auto":  # a guess, until it is probed
            limit = max(10_000, 4 * forecast.reference_length(scene, digits))
    check_range(scene, formula, number)
    interior_shortcuts = interior_shortcuts and formula.memoryless and not layers.statistics.inside
    single = min(limit, MAX_SINGLE) if deep else limit
    tiles = make_tiles(scene, device, single, threads, deep)
    in_bands = keeps not in ("pixels", "raw")
    band = band_rows(scene, tiles[0], threads) if in_bands else scene.image.size[1]
    return Plan(
        scene=scene,
        formula=formula,
        layers=layers,
        device=device,
        threads=threads,
        method="perturbation" if deep else "direct",
        precision=number,
        exponent=exponent,
        bits=bits,
        why=why,
        digits=digits,
        max_iterations=limit,
        size=scene.image.size,
        supersampling=scene.image.supersampling,
        center=center,
        width=width,
        view=scene.view,
        finest=finest,
        depth=depth,
        antialias=scene.image.antialias,
        interior_shortcuts=interior_shortcuts,
        steps_per_check=LIMITS[device].steps_per_check,
        check_every_step=_can_return(scene, formula),
        tiles=tiles,
        band=band,
        keeps=keeps,
    )


def _orbit_numbers(sampled: SampledView, finest: Fraction, sample_bits: float) -> tuple[int, int]:
    """Return exponent and bits of a deep view, as of `Plan`."""
    # Near 0 a Julia set's orbits are raised to the power of the degree: so are the differences,
    # and their digits.
    power = sampled.formula.degree if sampled.julia else 1
    exponent = math.floor(log2(finest)) if power * sampled.spacing < EXTENDED else 0
    if not sampled.julia:
        return exponent, GUARD_BITS + math.ceil(sample_bits)
    reach = log2(max(map(abs, sampled.center)) + sampled.width)  # of the view, from 0
    along = max(sample_bits, power * (max(0.0, reach) - sampled.spacing))
    return exponent, GUARD_BITS + math.ceil(along)


def _why_deep(number: str, place_bits: float, exponent: int) -> str:
    """Return why the method is perturbation; `place_bits`: the bits that places need."""
    after = " after some steps" if place_bits + SPARE_BITS[number] <= BITS[number] else ""
    with_each = ": with an exponent for each sample" if exponent else ""
    return f"which {number} does not resolve{after}{with_each}"


def _depth_of(scene: Scene, finest: Fraction) -> float:
    """Return the depth of a view, as of `Plan`."""
    zoom = log2(geometry.home_width_of(scene) / finest)
    return min(max((zoom - SHALLOW) / (DEEP - SHALLOW), 0.0), 1.0)


def _can_return(scene: Scene, formula: Formula) -> bool:
    """Tell whether an escaped orbit may come back, so that each step must be checked.

    Beyond R >= 2 and R >= |c| no orbit of z**d + c does (a parameter picture starts at 0, where the
    first point beyond R is c itself).
    """
    if formula.can_return or scene.julia is None:
        return formula.can_return
    x, y = (float(Fraction(Decimal(text))) for text in scene.julia)
    return math.hypot(x, y) > scene.iteration.escape_radius


def missing_digits(planned: Plan) -> int:
    """Return how many decimals the center lacks to be as exact as the distance of samples."""
    center = planned.scene.view.center
    if center is None:
        return 0
    columns = planned.size[0] * planned.supersampling
    return missing_decimals(center, planned.finest / columns)


def digits_note(missing: int, what: str) -> str:
    """Return a line about decimals that a center lacks, which a view requires.

    >>> digits_note(1, "this width")
    'the center has 1 decimal fewer than this width requires: a zero is added'
    """
    some = ("decimal", "a zero is") if missing == 1 else ("decimals", "zeros are")
    return f"the center has {missing} {some[0]} fewer than {what} requires: {some[1]} added"


def noise_note(planned: Plan) -> str:
    """Return a line for the user where counts may be wrong; or nothing."""
    if planned.noise < MIN_NOISE:
        return ""
    return (
        f"counts of up to {100 * planned.noise:.2g} % of the samples may be wrong: "
        f"{planned.precision} rounds "
        f"the orbits of '{planned.formula.name}', which has no perturbed step; in a wider view "
        "they are exact"
    )


def _wrong_share(
    scene: Scene,
    formula: Formula,
    center: tuple[Fraction, Fraction],
    width: Fraction,
    finest: Fraction,
    digits: int,
    limit: int,
    precision: str,
) -> float:
    """Return at most which share of the samples has wrong counts in a number type."""
    bits = (digits - 1) / math.log10(2)
    columns = scene.image.size[0] * scene.image.supersampling
    more = BITS[precision] - BITS["float64"]
    if max(bits, -log2(finest / columns)) < LEAST_NOISY_BITS + more:
        return 0.0
    from fractals.rendering.rounding import wrong_share  # it imports gmpy2

    own = scene, formula, center, width, finest
    return wrong_share(*own, bits, limit, BITS[precision])
