"""How a picture of a solid is traced, before it is: the camera, the light, samples and seconds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.backends.python import PythonBackend
from fractals.color.palette import linear_of, load
from fractals.errors import OptionError, SceneError, to_install
from fractals.rendering.number_types import single_type
from fractals.rendering.plan import BYTES_OF_GLOW, Keeps
from fractals.scene.model import Scene
from fractals.scene.picture import View
from fractals.scene.space import Camera, Light, part_of
from fractals.space import light as lights
from fractals.space import march
from fractals.space.enough import WINDOW, Effort
from fractals.space.solid import MOST_STEPS, Solid

PROBE = 24  # rows and columns of rays that look where the surface is
FOCUS = 35  # percent of these that are nearer than what is sharp
# Percent of the probe's traps: the first and the last have the first and the last color.
QUANTILES = np.linspace(3, 97, 33)
EVEN = 0.8  # how evenly the surface takes its colors; 0: as evenly as traps are spread
SHADES = 256
PALETTE = "sandstone"  # where a scene names none: of low chroma, as stone is
FOOTPRINT = 0.7  # of a ray, in pixels: half of a pixel's diagonal
SUN = (-0.62, 0.52, 0.58)  # of a relief that says none: above, to the upper left of the map
GLOW = 0.12  # the sky around the sun, in the sun's light
# Paths for each of supersampling's samples, by quality, where all pixels have as many.
PER_SAMPLE = {"draft": 0.5, "good": 16.0, "best": 64.0}
# Where pixels have as many as they need: the most paths for each of supersampling's samples, the
# noise, and the fewest paths of a pixel, as of `fractals.space.enough`. A denoiser needs fewer, and
# for it half of the change of bounced light counts as noise; `BOUNCING` paths at most bounce there.
ENOUGH = {"draft": (0.5, 0.0, 1), "good": (32.0, 2.5, 8), "best": (256.0, 0.5, 16)}
TO_DENOISE = {"draft": (0.5, 0.0, 1), "good": (32.0, 1.3, 4), "best": (64.0, 0.8, 8)}
BOUNCING = {"draft": 0.5, "good": 12.0, "best": 32.0}
# How the noise rises with the paths of a denoised pixel for each of supersampling's samples, where
# a path takes a usual time. With 0.5, pictures of the gallery take 1.2 times as many paths.
RISING = {"good": 0.5}
SHARE = 0.5  # of the most paths, that pixels need as a rule
NEAREST = 1e-9  # distance of what is in view, for haze and focus
# Detail, of the solid's radius, that a solid's own steps resolve. Finer detail takes more steps,
# but not where there are FEW of them: such a solid is a shape whose steps have an end.
DETAIL, FEW = 1e-6, 4
FINEST = 2.0**-53  # detail that float64 resolves
ULPS = 8  # footprints of fewer units in the last place resolve no surface
BYTES_OF_SUMS = 24  # of a pixel, without the shares of sources
BYTES_OF_GUIDES = 72  # of a pixel, for a denoiser
BYTES_OF_LIST = 2**20  # of a thread
BAND = 2**22  # pixels whose sums are kept at once
# A second and thread: pictures of the gallery take 0.3 to 1.4 times the forecast (measured, Zen 4).
RAYS = {"cpu": 1.1e7, "python": 3e3, "simulator": 1e5, "opencl": 1e8, "cuda": 1e9}


@dataclass(frozen=True, eq=False)
class Seen:
    """What the rays of a picture's middle lines of sight meet, by a probe of few rays."""

    depth: float  # half of the surface in view is nearer
    sharp: float  # the distance that is sharp, where the scene says none
    traps: NDArray[np.float64]  # their quantiles

    @classmethod
    def of(cls, found: NDArray[Any]) -> "Seen":
        """Return what a probe has found, as of `fractals.space.march.make_first_body`."""
        hits = found[..., 0] >= 0
        if not hits.any():
            return cls(1.0, 1.0, np.linspace(0, 1, len(QUANTILES)))
        lengths, traps = found[..., 0][hits], found[..., 1][hits]
        found = np.percentile(traps.astype(np.float64), QUANTILES)
        found[-1] = max(found[-1], found[0] + 1e-6 * (1 + abs(found[0])))
        depth, sharp = np.percentile(lengths.astype(np.float64), (50, FOCUS))
        return cls(max(float(depth), NEAREST), max(float(sharp), NEAREST), found)


@dataclass(frozen=True)
class SolidPlan:
    """How a picture of a solid is traced."""

    scene: Scene
    solid: Solid
    device: str
    threads: int
    precision: str
    clearance: float  # the distance estimate where the camera is
    keeps: Keeps = "pixels"

    method: str = "rays"

    def __repr__(self) -> str:
        return (
            f"SolidPlan(method={self.method!r}, precision={self.precision!r}, "
            f"device={self.device!r}, samples_per_pixel={self.samples_per_pixel})"
        )

    @property
    def steps(self) -> int:
        """Return the most steps of an orbit: as many as the detail of what is nearest takes."""
        given = self.scene.iteration.max_iterations
        if given != "auto":
            return min(given, MOST_STEPS)
        detail = FOOTPRINT * self.pixel * self.clearance
        return steps_for(self.solid, detail / self.solid.shortness)

    @property
    def least_clearance(self) -> float:
        """Return how near the surface a camera there may be, for float64 to resolve its pixels."""
        position, _ = place_of(self.scene.camera, self.solid)
        return ULPS * FINEST * max(1.0, math.hypot(*position)) / (FOOTPRINT * self.pixel)

    @property
    def samples_per_pixel(self) -> int:
        """Return how many paths a pixel has, at most."""
        return self.effort.most

    @property
    def effort(self) -> Effort:
        """Return how many paths pixels need."""
        return effort_of(self.scene)

    @property
    def samples(self) -> int:
        """Return how many paths are traced, at most."""
        return math.prod(self.scene.image.size) * self.samples_per_pixel

    @property
    def file_size(self) -> int:
        """Return the bytes of a store."""
        width, height = self.scene.image.size
        return width * height * 8 * numbers_of(self.scene)

    @property
    def band(self) -> int:
        """Return how many rows of the picture are traced at once."""
        width, height = self.scene.image.size
        return min(height, max(1, BAND // width))

    @property
    def seconds(self) -> float:
        """Return a rough estimate of the seconds, without compiling."""
        share, each = SHARE if self.effort.noise else 1.0, self.effort.bounced or self.effort.most
        paths = share * each * math.prod(self.scene.image.size)
        rays = paths * (3 + 2 * self.scene.light.bounces)
        if self.keeps == "layers" and has_pinhole(self.scene):
            rays *= 2
        steps = 1 / math.sqrt(self.scene.camera.ray_step)  # 1.4 to 2 times for 0.4 (measured)
        return rays * steps / RAYS[self.device] / max(1, self.threads)

    @property
    def memory(self) -> int:
        """Return about how many bytes the sums and the pixels take."""
        width, height = self.scene.image.size
        if self.keeps in ("raw", "store"):  # a store's file is mapped, too
            return 2 * self.file_size + self.threads * BYTES_OF_LIST
        kept = self.band if self.keeps == "bands" else height
        pixels = kept * width * 3 * self.scene.image.bits // 8
        if self.scene.develop.whole and self.keeps == "pixels":
            pixels += width * height * BYTES_OF_GLOW
        guides = (self.band + height) * width * BYTES_OF_GUIDES * self.scene.develop.denoise
        sums = self.band * width * BYTES_OF_SUMS
        return sums + guides + pixels + self.threads * BYTES_OF_LIST

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "device": self.device,
            "method": self.method,
            "precision": self.precision,
            "size": list(self.scene.image.size),
            "samples_per_pixel": self.samples_per_pixel,
            "paths": self.samples,
            "bounces": self.scene.light.bounces,
            "clearance": float(f"{self.clearance:.2g}"),
            "least_clearance": float(f"{self.least_clearance:.2g}"),
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
        }

    def space(self, real: Any) -> march.Space:
        """Return the solid as data."""
        return march.space_of(self.solid, self.steps, real, self.scene.camera.ray_step)

    def probe_camera(self, real: Any) -> NDArray[Any]:
        """Return the camera of the probe, which sees what the picture shows.

        Its few rays have the picture's footprint: traps grow with the distance from the surface.
        """
        width, height = self.eye_size
        pixel = self.pixel * height / PROBE
        numbers = [*self._place(), pixel, PROBE / 2, PROBE / 2, 0.0, 1.0, FOOTPRINT * self.pixel]
        if self.scene.camera.panorama:
            return np.array([*numbers, self.pixel * width / PROBE, 0.0], np.dtype(real))
        right = slice(march.RIGHT, march.RIGHT + 3)
        numbers[right] = [part * width / height for part in numbers[right]]
        return np.array([*numbers, 0.0, 0.0], np.dtype(real))

    def shot(self, seen: Seen, real: Any) -> lights.Shot:
        """Return what paths need besides the solid."""
        camera, light = self.scene.camera, self.scene.light
        width, height = self.eye_size
        pixel, column = self.pixel, self.pixel if camera.panorama else 0.0
        focus = camera.focus or seen.sharp
        numbers = [*self._place(), pixel, width / 2, height / 2]
        numbers += [camera.lens * focus, focus, FOOTPRINT * pixel, column]
        numbers.append(camera.stereo * focus / 2)
        turns = lights.turns_of(light.bounces)
        return lights.Shot(
            np.array(numbers, np.dtype(real)),
            np.array(self._light(seen), np.dtype(real)),
            self._colors(seen).astype(real),
            turns,
            light.bounces,
            0,
            0,
            march.from_camera(real),
        )

    def ends(self, seen: Seen) -> tuple[float, float]:
        """Return the traps that have the first and the last color."""
        return self.scene.color.range or (float(seen.traps[0]), float(seen.traps[-1]))

    @property
    def whole_size(self) -> tuple[int, int]:
        """Return columns and rows of the whole that the picture is a part of, or of the picture."""
        return whole_of(self.scene)[0]

    @property
    def corner(self) -> tuple[int, int]:
        """Return the column and the row of the whole that are the picture's first."""
        return whole_of(self.scene)[1]

    @property
    def eye_size(self) -> tuple[int, int]:
        """Return columns and rows of the whole picture of one eye."""
        width, height = self.whole_size
        if not self.scene.camera.stereo:
            return width, height
        return (width, height // 2) if self.scene.camera.panorama else (width // 2, height)

    def columns(self, rounds: int = 0) -> range:
        """Return the whole's columns that are traced for the picture.

        `rounds`: after which pixels were compared with their neighbors. Those beyond the edges of a
        part decide there, so its pixels have as many samples as in the whole.
        """
        first, beyond = self.corner[0], WINDOW * rounds
        end = first + self.scene.image.size[0]
        return range(max(0, first - beyond), max(end, min(self.whole_size[0], end + beyond)))

    @property
    def pixel(self) -> float:
        """Return the size of a pixel at distance 1; of a panorama, its angle."""
        width, height = self.whole_size
        if self.scene.camera.panorama:
            return 2 * math.pi / width
        return 2 * math.tan(math.radians(self.scene.camera.field) / 2) / height

    def _place(self) -> list[float]:
        """Return position, and the directions ahead, to the right and up."""
        position = np.array(place_of(self.scene.camera, self.solid)[0])
        return [*position.tolist(), *axes_of(self.scene.camera, self.solid).ravel().tolist()]

    def _light(self, seen: Seen) -> list[float]:
        camera, sun = self.scene.camera, sun_of(self.scene, self.solid)
        return light_numbers(self.scene, sun, camera.focus or seen.depth, self.ends(seen))

    def _colors(self, seen: Seen) -> NDArray[np.float64]:
        """Return colors for traps from the first to the last one, and how much light they give off.

        A color is the light that is reflected.
        """
        paint = self.scene.color
        palette = load(PALETTE) if paint.palette == "auto" else paint.make_palette()
        share = np.arange(SHADES) / (SHADES - 1)
        if paint.range is None:
            low, high = self.ends(seen)
            traps = low + share * (high - low)
            ranks = np.interp(traps, seen.traps, np.linspace(0, 1, len(seen.traps)))
            share = EVEN * ranks + (1 - EVEN) * share
        given_off = emitted_at(self.scene.light, share)
        at = paint.offset + paint.density * share
        at = at - np.floor(at) if palette.cyclic else at.clip(0, 1)
        gamut = self.scene.image.primaries
        return np.column_stack([palette.linear(at, gamut).clip(0, 1), given_off])


def light_numbers(
    scene: Scene, sun: NDArray[np.float64], depth: float, ends: tuple[float, float]
) -> list[float]:
    """Return the numbers of light, as of `fractals.space.light`.

    `depth`: the distance to which haze is measured. `ends`: the traps of the first and last color.
    """
    light, across = scene.light, across_of(sun)
    along = crossed(sun, across)
    wide = math.tan(math.radians(light.sun_size) / 2)
    rows = [sun, wide * across, wide * along, *sources_of(scene)]
    numbers = [float(part) for row in rows for part in row]
    return [*numbers, GLOW, light.haze / depth, light.gloss, ends[0], 1 / (ends[1] - ends[0])]


def emitted_at(light: Light, share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of its light the surface gives off, by its place among the colors."""
    away = np.abs(share - light.emission_at) / light.emission_width
    given_off: NDArray[np.float64] = (1 - away).clip(0, 1) ** 2
    return given_off


def whole_of(scene: Scene) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the size of the whole that a picture is a part of, and where its first pixel is.

    One eye's picture is a part of the pair.
    """
    camera, (width, height) = scene.camera, scene.image.size
    column = row = 0
    if camera.whole is not None:
        width, height, column, row = part_of(camera.whole)
    if camera.stereo and camera.eye != "both":
        right = camera.eye == "right"
        if camera.panorama:
            row, height = row + height * right, 2 * height
        else:
            column, width = column + width * right, 2 * width
    return (width, height), (column, row)


def quality_of(scene: Scene) -> str:
    """Return the quality in words: "draft", "good" or "best"."""
    given = scene.scatter.quality
    return given if isinstance(given, str) else "good"


def samples_of(scene: Scene) -> int:
    """Return how many paths a pixel of a scene has, where all have as many."""
    given, each = scene.light.samples, scene.image.supersampling**2
    return math.ceil(PER_SAMPLE[quality_of(scene)] * each) if given == "auto" else given


def effort_of(scene: Scene) -> Effort:
    """Return how many paths the pixels of a solid have."""
    if scene.light.samples != "auto":
        return Effort(scene.light.samples, 0.0)
    table = TO_DENOISE if scene.develop.denoise else ENOUGH
    share, noise, least = table[quality_of(scene)]
    each = scene.image.supersampling**2
    most = math.ceil(share * each)
    if not scene.develop.denoise:
        return Effort(most, noise, least)
    rising, bounced = RISING.get(quality_of(scene), 0.0), BOUNCING[quality_of(scene)]
    return Effort(most, noise, least, rising / each, math.ceil(bounced * each))


def numbers_of(scene: Scene) -> int:
    """Return how many numbers a pixel has in a store."""
    return 3 + lights.SHARES if scene.light.relight else 3


def has_pinhole(scene: Scene) -> bool:
    """Tell whether an EXR has the picture before the lens, too, by paths of its own."""
    return scene.camera.lens > 0 and scene.light.relight


def sources_of(scene: Scene) -> NDArray[np.float64]:
    """Return the light of the sources, as of `fractals.space.light`; shape (5, 3)."""
    light, gamut = scene.light, scene.image.primaries
    sun = linear_of(light.sun_color, gamut) * light.sun_power
    given_off = linear_of(light.emission_color, gamut) * light.emission
    return np.array([sun, *(linear_of(each, gamut) for each in light.sky), given_off])


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the vector of length 1 in a direction."""
    found: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return found


def crossed(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cross product; `numpy.cross` takes 25 times as long for one pair."""
    (x, y, z), (u, v, w) = one.tolist(), other.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def across_of(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a direction at right angles to another."""
    axis = np.zeros(3)
    axis[int(np.abs(vector).argmin())] = 1.0
    return unit(crossed(vector, axis))


Triple = tuple[float, float, float]


def place_of(camera: Camera, solid: Solid) -> tuple[Triple, Triple]:
    """Return where a camera is, and what it looks at."""
    return camera.position or solid.position, camera.target or solid.target


def axes_of(camera: Camera, solid: Solid) -> NDArray[np.float64]:
    """Return the directions ahead, to the right and up; shape (3, 3).

    Where the camera looks along what should be up, another direction is up.
    """
    position, target = (np.array(part) for part in place_of(camera, solid))
    ahead = unit(target - position)
    right = crossed(ahead, np.array(camera.up or solid.up))
    right = unit(right) if np.linalg.norm(right) > 1e-9 else across_of(ahead)
    up = crossed(right, ahead)
    angle = math.radians(camera.roll)
    cosine, sine = math.cos(angle), math.sin(angle)
    return np.stack([ahead, cosine * right + -sine * up, sine * right + cosine * up])


def sun_of(scene: Scene, solid: Solid) -> NDArray[np.float64]:
    """Return the direction to the sun."""
    if scene.light.sun != "key":
        return unit(np.array(scene.light.sun))
    ahead, right, up = axes_of(scene.camera, solid)
    return unit(0.55 * up - 0.7 * right - 0.45 * ahead)


def sun_over_ground(scene: Scene) -> NDArray[np.float64]:
    """Return the direction to the sun of a relief, away from its ground."""
    return unit(np.array(SUN if scene.light.sun == "key" else scene.light.sun))


def make_solid_plan(scene: Scene, device: str, threads: int, keeps: Keeps = "pixels") -> SolidPlan:
    """Return how a picture of a solid is traced.

    `SceneError`: the scene has keys of other images, or its camera sees nothing.
    """
    solid = scene.make_any_formula()
    assert isinstance(solid, Solid)
    _check_keys(scene, solid)
    if scene.develop.denoise and find_spec("pyoidn") is None:
        raise OptionError(f"denoise=True needs Open Image Denoise: {to_install('denoise')}")
    position, target = place_of(scene.camera, solid)
    if math.dist(position, target) < 1e-9 * (1 + math.hypot(*position)):
        raise SceneError("camera: position and target are the same point")
    plan = SolidPlan(scene, solid, device, threads, "float64", 0.0, keeps)
    clearance = distance_at(plan, position)
    if clearance <= 0:
        raise SceneError("camera.position: it is inside the solid: move the camera away from it")
    plan = replace(plan, clearance=clearance)
    return replace(plan, precision=_precision(plan))


def steps_for(solid: Solid, detail: float = 0.0) -> int:
    """Return the most steps of an orbit, for detail of some size; 0: the finest in float64."""
    if solid.steps < FEW:
        return solid.steps
    deeper = math.log(max(detail / solid.bound, FINEST)) / math.log(DETAIL)
    return min(MOST_STEPS, math.ceil(solid.steps * max(1.0, deeper)))


def distance_at(plan: SolidPlan, place: Sequence[float]) -> float:
    """Return the distance estimate at a place; outside the sphere around the solid: that to it.

    Orbits take as many steps as the finest detail does.
    """
    beyond = math.hypot(*place) - plan.solid.bound
    if beyond > 0:
        return beyond
    field = march.make_field(PythonBackend("float64").target, plan.solid.walk)
    with np.errstate(all="ignore"):
        steps = replace(plan, clearance=0.0).steps
        found, _ = field(*map(float, place), space_in_python(plan.solid, steps))
    return float(found) / plan.solid.shortness if math.isfinite(found) else 0.0


def space_in_python(solid: Solid, steps: int) -> march.Space:
    """Return a solid as data, in Python's own numbers."""
    space = march.space_of(solid, steps, np.float64)
    return space._replace(numbers=space.numbers.tolist())


def _check_keys(scene: Scene, solid: Solid) -> None:
    if scene.julia is not None:
        raise SceneError(f"julia: '{solid.name}' is a solid, whose constants are its options")
    if scene.view != View():
        key = next(iter(scene.view.model_dump(exclude_defaults=True)))
        raise SceneError(
            f"view.{key}: a solid is seen by a camera: give position=, target= and field="
        )
    if scene.camera.eye != "both" and not scene.camera.stereo:
        raise SceneError(f"camera.eye: '{scene.camera.eye}' is an eye of a pair: give stereo=")
    if scene.camera.whole is not None and scene.develop.whole:
        raise SceneError(
            "camera.whole: bloom and denoise need the light of the whole picture: leave them out"
        )
    whole, corner = whole_of(scene)
    side = whole[1 if scene.camera.panorama else 0]
    if scene.camera.stereo and side % 2:
        name = "height" if scene.camera.panorama else "width"
        raise SceneError(f"size: the {name} of a stereo pair is even, and {side} is not")
    for first, size, most in zip(corner, scene.image.size, whole, strict=True):
        if first + size > most:
            raise SceneError(
                f"camera.whole: {scene.camera.whole} has no room for a picture of "
                f"{scene.image.size[0]}x{scene.image.size[1]} there: give a smaller size="
            )
    if scene.color.layers:
        raise SceneError("color.layers: a solid has one layer, of its palette's colors")


def _precision(plan: SolidPlan) -> str:
    """Return the number type: float32 if it resolves a pixel of the nearest surface.

    `OptionError`: float64 does not, either; or the scene asks for double-double numbers.
    """
    bits = 53 + math.ceil(math.log2(plan.least_clearance / plan.clearance))
    if bits > 53:
        raise OptionError(
            f"the camera is so near the surface that {bits} bits are needed, and float64 has 53: "
            "move it away, or give a smaller size="
        )
    return single_type(plan.scene, "float32" if bits <= 24 else "float64")
