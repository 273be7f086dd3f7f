"""How a scatter image is computed and shown, before it is.

Work is cut into *chunks* of 256 trajectories. Chunk n is always the same points, whatever the
picture's size, view or device, and a picture of quality q is the first chunks that give q points a
pixel. So a better picture is the same one continued.
"""

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals.color.palette import srgb_from_linear
from fractals.errors import OptionError, SceneError, shown
from fractals.io.png import strip_rows
from fractals.io.raw_data import Axes, axes_of, view_facts
from fractals.kernels.elementary import exp, sincos
from fractals.kernels.random import MASK
from fractals.rendering.number_types import BITS, single_type
from fractals.rendering.plan import Keeps
from fractals.rendering.stores.sums import PictureSums
from fractals.scatter import estimate as kernels
from fractals.scatter.attractor import Attractor
from fractals.scatter.buddhabrot import Buddhabrot
from fractals.scatter.game import HIT, SHADES, Flame, Game, Window
from fractals.scene.geometry import finest, home_width_of, matrix, place_of
from fractals.scene.model import Scene
from fractals.scene.scatter import Display

# --- The spatial filters of flam3, from buckets to pixels: how far each reaches, its values


def _lanczos(lobes: int, t: float) -> float:
    return float(np.sinc(t) * np.sinc(t / lobes))


def _bell(t: float) -> float:
    return 0.75 - t * t if t < 0.5 else 0.5 * (t - 1.5) ** 2


def _b_spline(t: float) -> float:
    return 0.5 * t**3 - t**2 + 2 / 3 if t < 1 else (2 - t) ** 3 / 6


def _mitchell(t: float) -> float:
    if t < 1:
        return (7 * t**3 - 12 * t**2 + 16 / 3) / 6
    return (-7 / 3 * t**3 + 12 * t**2 - 20 * t + 32 / 3) / 6


def _catrom(t: float) -> float:
    if t < 1:
        return 0.5 * (2 + t * t * (3 * t - 5))
    return 0.5 * (4 + t * (-8 + t * (5 - t)))


def _blackman(t: float) -> float:
    return float(0.42 + 0.5 * sincos(math.pi * t)[1] + 0.08 * sincos(2 * math.pi * t)[1])


FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "gaussian": (1.5, lambda t: float(exp(-2 * t * t))),
    "hermite": (1.0, lambda t: (2 * t - 3) * t * t + 1),
    "box": (0.5, lambda t: 1.0),
    "triangle": (1.0, lambda t: 1 - t),
    "bell": (1.5, _bell),
    "b_spline": (2.0, _b_spline),
    "lanczos3": (3.0, partial(_lanczos, 3)),
    "lanczos2": (2.0, partial(_lanczos, 2)),
    "mitchell": (2.0, _mitchell),
    "blackman": (1.0, _blackman),
    "catrom": (2.0, _catrom),
    "hamming": (1.0, lambda t: 0.54 + 0.46 * sincos(math.pi * t)[1]),
    "hanning": (1.0, lambda t: 0.5 + 0.5 * sincos(math.pi * t)[1]),
    "quadratic": (1.5, _bell),
}


def filter_taps(display: Display, step: int) -> NDArray[np.float64]:
    """Return the filter from buckets to pixels along one axis: the weights add up to 1."""
    support, kernel = FILTERS[display.filter]
    wide = 2 * support * step * display.filter_radius
    count = int(wide) + 1
    count += (count ^ step) & 1  # centered on the pixel
    scale = support * count / wide if wide > 0 else 1.0
    places = [abs((2 * k + 1) / count - 1) * scale for k in range(count)]
    values = np.array([kernel(t) if t < support else 0.0 for t in places])
    if values.sum() <= 0:
        values = np.array([float(t == min(places)) for t in places])
    taps: NDArray[np.float64] = values / values.sum()
    return taps


# --- Plans

CHUNK = 256  # trajectories
MAX_TRAJECTORIES = 2**31
# The widest view, and one over the narrowest: the square of a width is a finite number, and not 0.
FARTHEST = {"float32": 10**15, "float64": 10**140}
# Points for each pixel, by quality: of flames and attractors, and of orbits, which cost some ten
# times as much each.
POINTS = {"draft": (5.0, 1.0), "good": (50.0, 10.0), "best": (500.0, 100.0)}
SPARE = 8  # log2 of the fewest numbers along a bucket; with 2**6 lines become pearls
PILOT = 256  # columns of the picture in which a pilot counts
LIMIT = 2000  # steps of an orbit where the scene says "auto"
ORBIT = 80.0  # points of trajectories that take as long as an orbit, by a rough guess
# Points a second and thread, and buckets shown a second.
SAMPLES = {"cpu": 8e7, "python": 1e4, "simulator": 1e6, "opencl": 1e8, "cuda": 1e9}
PIXELS = {"cpu": 2e6, "python": 500, "simulator": 2e5, "opencl": 1e7, "cuda": 1e8}
BYTES_OF_SUMS = 32  # of a bucket
BYTES_OF_SMALL = 16  # of a bucket, of sums of 32 bits
BYTES_OF_SPREAD = 28  # of a bucket, while the spread of its hits is found
BYTES_OF_RECORDS = 8  # of a bucket, for each thread of the CPU
FREE = 0.9  # of the memory that is free; the rest is for the compiler and the tables


@dataclass(frozen=True)
class ScatterPlan:
    """How a scatter image is computed and shown."""

    scene: Scene
    formula: Flame | Attractor | Buddhabrot
    device: str
    threads: int
    width: Fraction
    center: tuple[Fraction, Fraction]
    precision: str  # the number type of the points: "float32" or "float64"
    keeps: Keeps = "pixels"  # as of `fractals.rendering.plan.Plan`
    reserve: int = 0  # least margin: that of a store
    band: int = 0  # rows of the picture that are drawn at once; 0: all
    rows: range | None = None  # of the picture, where this is the plan of a band
    enough: int = 0  # chunks, where a look found how many are enough (`fractals.scatter.enough`)

    def __repr__(self) -> str:
        return (
            f"ScatterPlan(method={self.method!r}, precision={self.precision!r}, "
            f"device={self.device!r}, chunks={self.chunks})"
        )

    @property
    def method(self) -> str:
        """Return how points are found."""
        return self.formula.method

    @property
    def orbits(self) -> bool:
        """Tell whether a trajectory is an orbit of any length."""
        return isinstance(self.formula, Buddhabrot)

    @property
    def colored(self) -> bool:
        """Tell whether a hit adds a color of the palette: not in a Nebulabrot."""
        return not (isinstance(self.formula, Buddhabrot) and self.formula.limits)

    @property
    def steps(self) -> int:
        """Return the points of a trajectory; an orbit counts as one."""
        return steps_of(self.scene)

    @property
    def limit(self) -> int:
        """Return the most steps of an orbit."""
        given = self.scene.iteration.max_iterations
        if isinstance(self.formula, Buddhabrot) and self.formula.limits:
            return max(self.formula.limits) + 1
        return LIMIT if given == "auto" else given

    @property
    def kernel(self) -> tuple[Any, ...]:
        """Return what makes the kernel of GPUs, and its options."""
        if isinstance(self.formula, Buddhabrot):
            return self.formula.kernel_of(self.scene.julia is not None)
        return self.formula.kernel

    @property
    def relative_width(self) -> Fraction:
        """Return the width as brightness takes it: that of a home view is 4, but of flames.

        Flames are as bright as in flam3, where a plane of larger numbers is darker.
        """
        if isinstance(self.formula, Flame):
            return self.width
        return 4 * self.width / Fraction(self.formula.width)

    @property
    def step(self) -> int:
        """Return how many buckets a pixel has along each axis."""
        return self.scene.image.supersampling

    @property
    def margin(self) -> int:
        """Return how many buckets beyond the picture's edge are counted."""
        return max(self.needed_margin, self.reserve)

    @property
    def needed_margin(self) -> int:
        """Return how many buckets beyond the picture's edge its pixels depend on."""
        display = self.scene.display
        wide = max(display.estimator_radius, display.estimator_minimum)
        # A spread follows from the hits around a bucket, up to half a pixel away.
        reach = math.ceil(wide * self.step) + max(1, self.step // 2) if wide else 0
        return reach + (len(filter_taps(display, self.step)) - self.step) // 2

    @property
    def columns(self) -> int:
        """Return the columns of buckets, those beyond the edge included."""
        return self.scene.image.size[0] * self.step + 2 * self.margin

    @property
    def all_rows(self) -> int:
        """Return the rows of buckets of the whole picture, those beyond the edge included."""
        return self.scene.image.size[1] * self.step + 2 * self.margin

    @property
    def drawn(self) -> range:
        """Return the rows of the picture that are drawn."""
        return range(self.scene.image.size[1]) if self.rows is None else self.rows

    @property
    def counted(self) -> range:
        """Return the rows of buckets that are counted: those on which the drawn rows depend.

        The first one is a multiple of the buckets that a pixel has.
        """
        rows, around = self.drawn, self.around
        first = max(0, rows.start * self.step - around)
        return range(first, min(self.all_rows, rows.stop * self.step + 2 * self.margin + around))

    @property
    def around(self) -> int:
        """Return how many buckets away an estimate looks, where a pixel has several."""
        return self.step if self.step > 1 else 0

    @property
    def shape(self) -> tuple[int, int]:
        """Return the rows and columns of buckets that are counted."""
        return len(self.counted), self.columns

    @property
    def bands(self) -> int:
        """Return how many bands the picture is drawn in."""
        height = self.scene.image.size[1]
        return -(-height // (self.band or height))

    def rows_of(self, band: int) -> range:
        """Return the rows of the picture in a band."""
        height = self.scene.image.size[1]
        tall = self.band or height
        return range(band * tall, min(height, (band + 1) * tall))

    @property
    def games(self) -> int:
        """Return how many times all points are thrown: for each band.

        The exposure of orbits needs two games more: see `Player.totals`.
        """
        if self.rows is not None:
            return 1
        return self.bands + (2 if self.orbits and self.bands > 1 else 0)

    def fitted(self, free: int) -> "ScatterPlan":
        """Return the plan in bands that fit into the memory that is free, in bytes; 0: not known.

        Raw numbers are in no bands. The lowest band is a strip of the file.
        """
        room = FREE * free
        if not free or self.memory <= room or self.keeps not in ("pixels", "bands"):
            return self
        height = self.scene.image.size[1]
        least = min(height, strip_rows(self.scene.image.size, self.scene.image.bits))
        strips = range(1, height // least + 1)
        most = bisect.bisect_right(strips, room, key=lambda k: replace(self, band=k * least).memory)
        bands = math.ceil(height / (least * max(1, most)))
        return replace(self, band=math.ceil(height / (bands * least)) * least)

    def check_memory(self, free: int) -> None:
        """Raise an `OptionError` for a picture that does not fit into the memory that is free."""
        if not free or self.memory <= FREE * free:
            return
        more = "" if self.band else ", or draw it with render and keep no samples, which needs less"
        raise OptionError(
            f"the picture takes {self.memory / 2**30:.3g} GiB, and {free / 2**30:.3g} GiB are "
            f"free: give a smaller size=, or less supersampling={more}"
        )

    @property
    def chunks(self) -> int:
        """Return how many chunks give the scene's quality: at most, where no look was taken."""
        points = points_of(self.scene) * math.prod(self.scene.image.size)
        most = max(1, math.ceil(points / (CHUNK * self.steps)))
        return min(most, self.enough or most)

    @property
    def fuse(self) -> int:
        """Return how many first steps of a trajectory draw nothing."""
        return max(self.scene.scatter.fuse, self.formula.settle)

    @property
    def samples(self) -> int:
        """Return how many points are plotted."""
        return self.chunks * CHUNK * self.steps

    @property
    def memory(self) -> int:
        """Return about how many bytes the sums, the light and the pixels take."""
        real = np.dtype(self.precision).itemsize
        shown = BYTES_OF_SUMS + 8 * real + BYTES_OF_SPREAD
        records = BYTES_OF_RECORDS * self.threads if self.device == "cpu" else 0
        most = max(2 * BYTES_OF_SUMS + BYTES_OF_SMALL + records, shown)
        width, height = self.scene.image.size
        band = self.band or height
        counted = min(self.all_rows, band * self.step + 2 * self.margin + 2 * self.around)
        kept = band if self.keeps == "bands" else height
        return counted * self.columns * most + kept * width * 3 * self.scene.image.bits // 8

    @property
    def file_size(self) -> int:
        """Return the bytes of a store."""
        return math.prod(self.shape) * BYTES_OF_SUMS

    @property
    def seconds(self) -> float:
        """Return a rough estimate of the seconds, without compiling."""
        rest = ORBIT if self.orbits else 1 + self.fuse / self.steps
        played = self.games * self.samples * rest / SAMPLES[self.device]
        shown = self.all_rows * self.columns / PIXELS[self.device]
        return (played + shown) / max(1, self.threads)

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "device": self.device,
            "method": self.method,
            "precision": self.precision,
            "size": list(self.scene.image.size),
            "supersampling": self.step,
            "orbits" if self.orbits else "points": self.samples,
            "chunks": self.chunks,
            **({"bands": self.bands, "games": self.games} if self.bands > 1 else {}),
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
            "note": grid_note(self),
        }

    def exposure(self, hits: "Hits", totals: "Totals | None" = None) -> "Exposure":
        """Return how hits become light; `totals`: of the whole picture, where these are a band's.

        Of orbits nobody knows how many points are in view, so their mean density is that of a flame
        whose points are all in view.
        """
        display, (width, height) = self.scene.display, self.scene.image.size
        k1 = display.brightness * 268 / 256 * kernels.WHITE
        area = float(self.relative_width**2) * height / width
        gains = np.ones(4)
        if not self.orbits:
            quality = hits.samples / (width * height)
            k2 = self.step**2 / (area * kernels.WHITE * quality)
            return Exposure(k1, k2, gains, HIT)
        totals = totals or Totals.of(hits)
        means = totals.inner / (width * height * self.step**2)
        if isinstance(self.formula, Buddhabrot) and self.formula.limits:
            # A channel that no orbit in view adds to stays black: the others keep their light
            least = min(filter(None, means[:3]), default=0.0)
            gains[:3] = least / np.maximum(means[:3], 1e-9)
        weight = totals.every // max(1, totals.hits)
        k2 = 1 / (16 * height / width * max(float(means[3]), 1e-9))
        return Exposure(k1, k2, gains, max(HIT, weight))

    def window(self, counted: range | None = None) -> Window:
        """Return where points fall; `counted`: rows of buckets, in place of the plan's own."""
        counted = self.counted if counted is None else counted
        real = np.dtype(self.precision).type
        rows, columns = self.all_rows, self.columns
        scale = self.scene.image.size[0] * self.step / self.width
        a, b, c, d = matrix(self.scene.view)
        det = a * d - b * c
        # From the plane to the picture, whose rows go down
        inverse = d / det, -b / det, c / det, -a / det
        numbers = [float(part) for part in self.center]
        numbers += [float(part * scale) for part in inverse]
        numbers += [columns / 2, rows / 2, columns, counted.stop, 1, counted.start]
        return Window(np.array(numbers, real), columns, counted.start, self.colors())

    def data(self, real: Any) -> Any:
        """Return the numbers of a flame or an attractor, for points of a number type."""
        assert not isinstance(self.formula, Buddhabrot)
        return self.formula.data(real)

    def moment(self, scene: Scene) -> "ScatterPlan | None":
        """Return the plan of a picture at another time, while the shutter is open.

        None: its points can't be added to those of this picture, because another program makes
        them, or orbits of other numbers.
        """
        scene = scene.model_copy(update={"display": self.scene.display})
        plan = make_scatter_plan(scene, self.device, self.threads, self.keeps)
        plan = replace(plan, precision=self.precision)  # a zoom may come to where float32 ends
        same = plan.kernel == self.kernel and plan.shape == self.shape
        if self.orbits:
            same = same and plan.formula == self.formula
            same = same and plan.orbit_numbers() == self.orbit_numbers()
        return plan if same else None

    def colors(self) -> NDArray[np.uint32]:
        """Return what hits add, by color."""
        return self.formula.colors(self.shades())

    def shades(self) -> NDArray[np.float64]:
        """Return the colors along the palette: encoded, from 0 to 1; shape (SHADES, 3)."""
        paint = self.scene.color
        palette = paint.make_palette()
        at = paint.offset + paint.density * np.arange(SHADES) / (SHADES - 1)
        at = at - np.floor(at) if palette.cyclic else at.clip(0, 1)
        shades: NDArray[np.float64] = srgb_from_linear(
            palette.linear(at, self.scene.image.primaries)
        ).clip(0, 1)
        return shades

    def hits(self, sums: NDArray[np.int64], chunks: int, hits: int) -> "Hits":
        """Return what some chunks add up to."""
        samples = chunks * CHUNK * self.steps
        return Hits(self.scene, sums, chunks, samples, hits, self.margin)

    def no_hits(self) -> "Hits":
        """Return what no chunk adds up to."""
        return self.hits(np.zeros((*self.shape, 4), np.int64), 0, 0)

    def pilot(self) -> "ScatterPlan":
        """Return the plan of the picture in which a pilot counts: small, and without an edge."""
        width, height = self.scene.image.size
        size = PILOT, max(1, round(PILOT * height / width))
        scene = self.scene.replace(size=size, supersampling=1, estimator_radius=0.0)
        scene = scene.replace(estimator_minimum=0.0, filter="box")
        return replace(self, scene=scene, reserve=0, band=0, rows=None)

    def orbit_numbers(self) -> dict[str, Any]:
        """Return what the orbits of a Buddhabrot depend on, besides its own options."""
        julia = self.scene.julia
        return {
            "limit": self.limit,
            "escape_radius": self.scene.iteration.escape_radius,
            "julia": tuple(map(float, julia)) if julia else None,
        }

    def game(self, first: int) -> Game:
        """Return the trajectories from one on."""
        own = self.scene.scatter
        seed = own.seed & MASK, own.seed >> 32
        return Game(first, own.steps, self.fuse, *seed)


def make_scatter_plan(
    scene: Scene, device: str, threads: int, keeps: Keeps = "pixels"
) -> ScatterPlan:
    """Return how a scene is drawn on a kind of device; see `fractals.rendering.plan.make_plan`."""
    scene = scene.unframed()
    formula = scene.make_any_formula()
    assert isinstance(formula, Flame | Attractor | Buddhabrot)
    if scene.julia is not None and not isinstance(formula, Buddhabrot):
        line = f"julia: the formula '{formula.name}' has no Julia sets"
        raise SceneError(line, code="has_no_julia_sets", name=formula.name)
    if scene.view.projection != "plane":
        raise SceneError("view.projection: a scatter image is drawn in the plane")
    if scene.color.layers:
        raise SceneError("color.layers: a scatter image has one layer, of its palette's colors")
    width, center = place_of(scene)
    single = not isinstance(formula, Buddhabrot) and _has_room(scene, width, center, "float32")
    number = single_type(scene, "float32" if single else "float64")
    plan = ScatterPlan(scene, formula, device, threads, width, center, number, keeps)
    _check_place(plan)
    if isinstance(formula, Buddhabrot) and not formula.anti and plan.limit <= formula.least:
        raise SceneError(
            f"formula.least: {formula.least} steps, and orbits end at {plan.limit}, so none is "
            "drawn: give a lower least, or more max_iterations="
        )
    if plan.chunks * CHUNK > MAX_TRAJECTORIES:
        most = MAX_TRAJECTORIES * plan.steps / math.prod(scene.image.size)
        raise OptionError(
            f"quality {points_of(scene):g} takes more than {MAX_TRAJECTORIES} trajectories: "
            f"give at most {most:.0f}, or more steps="
        )
    return plan


def _has_room(
    scene: Scene, width: Fraction, center: tuple[Fraction, Fraction], number: str
) -> bool:
    """Tell whether a view has enough numbers of a type along a bucket.

    With fewer, hits lie on a grid, and orbits soon end in cycles. The small cells of a Buddhabrot
    need float64 in any view.
    """
    buckets = scene.image.size[0] * scene.image.supersampling
    bucket = finest(scene.view, width, scene.image.size) / buckets
    reach = max(home_width_of(scene) / 2, *map(abs, center))
    return bool(reach <= bucket * 2 ** (BITS[number] - SPARE))


def grid_note(plan: ScatterPlan) -> str:
    """Return a line for the user where points lie on the grid of their numbers; or nothing."""
    if _has_room(plan.scene, plan.width, plan.center, plan.precision):
        return ""
    more = ", or give precision='float64'" if plan.precision == "float32" else ""
    return (
        f"points lie on a grid, because {plan.precision} has few numbers in so narrow a view: "
        f"draw a wider one{more}"
    )


def _check_place(plan: ScatterPlan) -> None:
    """Raise a `SceneError` for a view beyond the range of the number type."""
    view, most = plan.scene.view, FARTHEST[plan.precision]
    for key, given, value in (
        ("width", view.width, plan.width),
        ("width", view.width, 1 / plan.width),
        ("center", view.center, max(map(abs, plan.center))),
    ):
        if value > most:
            other = " (precision='float64' reaches farther)" if plan.precision == "float32" else ""
            raise SceneError(
                f"view.{key}: '{shown(given, 40)}' is beyond 1e±{math.log10(most):.0f}, where "
                f"scatter images of {plan.precision} end{other}"
            )


def points_of(scene: Scene) -> float:
    """Return the points for each pixel."""
    given = scene.scatter.quality
    if isinstance(given, str):
        return POINTS[given][isinstance(scene.make_any_formula(), Buddhabrot)]
    return given


def steps_of(scene: Scene) -> int:
    """Return the points of a trajectory; an orbit of any length counts as one."""
    return 1 if isinstance(scene.make_any_formula(), Buddhabrot) else scene.scatter.steps


class Totals(NamedTuple):
    """What all hits of a picture add up to."""

    inner: NDArray[np.int64]  # red, green, blue and count within the picture's edge
    every: int  # the count with those beyond the edge
    hits: int  # points in view

    @classmethod
    def of(cls, hits: "Hits") -> "Totals":
        """Return the totals of a picture that is counted whole."""
        m, (rows, columns) = hits.margin, hits.sums.shape[:2]
        inner = hits.sums[m : rows - m, m : columns - m]
        return cls(inner.sum(axis=(0, 1)), int(hits.count.sum()), hits.hits)


class Exposure(NamedTuple):
    """How hits become light; see `fractals.scatter.estimate.make_density_body`."""

    k1: float  # brightness
    k2: float  # the density of a hit
    gains: NDArray[np.float64]  # factors of the channels
    weight: int  # what a hit adds to a bucket's count


@dataclass(eq=False, repr=False)
class Hits(PictureSums):
    """What the points of a scatter image add up to."""

    store = "fractals.scatter.store"
    scene: Scene
    # Red, green, blue, count; shape (rows, columns, 4), or without rows where they were freed
    sums: NDArray[np.int64]
    chunks: int  # how many chunks are in them
    samples: int  # points that were plotted, in view or not
    hits: int  # points in view
    margin: int  # buckets beyond the edge of the picture, on each side

    @property
    def channels(self) -> tuple[str, ...]:
        """Return the names of the numbers of a bucket."""
        return ("red", "green", "blue", "count")

    def axes(self) -> Axes:
        """Return the dimensions of the sums, and the coordinates of buckets in the plane."""
        rows, columns, _ = self.sums.shape
        return axes_of(self.scene, (rows, columns), self.margin)

    def notes(self) -> dict[str, dict[str, Any]]:
        """Return the meaning of the sums, by name."""
        one = {"one_hit": self.one_hit}
        found: dict[str, dict[str, Any]] = {
            name: {"long_name": f"{name} of the bucket's hits, sRGB, times one_hit", **one}
            for name in self.channels[:3]
        }
        return found | {"count": {"long_name": "hits of the bucket, times one_hit", **one}}

    def facts(self) -> dict[str, Any]:
        """Return numbers about all sums."""
        numbers = {"samples": self.samples, "hits": self.hits, "margin": self.margin}
        return {
            **numbers,
            "supersampling": self.scene.image.supersampling,
            **view_facts(self.scene),
        }

    @property
    def one_hit(self) -> int:
        """Return what a hit of opacity 1 adds to the count of its bucket."""
        return int(self.count.sum()) // max(1, self.hits) if self.orbits else HIT

    @property
    def count(self) -> NDArray[np.int64]:
        """Return the hits of each bucket, times what one adds."""
        count: NDArray[np.int64] = self.sums[..., 3]
        return count

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        if self.orbits:
            return {"orbits": self.samples, "points_in_view": self.hits}
        return {"points": self.samples, "in_view": float(f"{self.share:.4g}")}

    def answers(self, plan: ScatterPlan) -> bool:
        """Tell whether a plan asks for these hits, and not for fewer."""
        quality = plan.scene.scatter.quality
        if self.orbits and isinstance(quality, str):  # as many orbits as a picture needs
            return self.scene.scatter.quality == quality
        return self.samples == plan.samples

    @property
    def orbits(self) -> bool:
        """Tell whether samples are orbits, each of many points."""
        return isinstance(self.scene.make_any_formula(), Buddhabrot)

    @property
    def share(self) -> float:
        """Return the share of the points that are in view."""
        return self.hits / max(1, self.samples)

    def __str__(self) -> str:
        if self.orbits:
            return f"{self.samples / 1e6:.3g} M orbits, {self.hits / 1e6:.3g} M points in view"
        return f"{self.samples / 1e6:.3g} M points, {100 * self.share:.3g} % in view"
