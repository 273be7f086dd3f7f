"""The method of each part of a film and its reason, and forecasts before anything is drawn."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from fractals.backends.devices import choose
from fractals.films.bands import keeps_values, obstacle
from fractals.films.encode import CODECS, Video
from fractals.films.facts import Facts
from fractals.films.frames import Frames, prepared
from fractals.films.motion import Motion, Part, Place, with_view
from fractals.films.planes import Frame
from fractals.films.recolored import Recolored
from fractals.films.request import FLAT
from fractals.films.strip import Strip
from fractals.films.strip_plan import Look
from fractals.films.tracks import Tracks, scene_of
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.scene.film import Film
from fractals.scene.layers import make_layers
from fractals.scene.model import Scene
from fractals.scene.numbers import log2

SEGMENT = 120  # frames that are made together: what is lost if the process is killed
# Fewest of a strip, whose segments pass at most an octave: its memory grows with their octaves.
LEAST_SEGMENT = 20
LARGE = 250e6  # bytes of a strip, above which segments pass half an octave
SPEEDS = 64  # frames of a part whose speeds are compared
GATHERED = 20e6  # pixels of frames a second that a thread takes from a strip (measured)
# Samples of a strip a second that a thread colors and blurs for a frame (measured).
SHADED = 90e6
COLORED = 30e6  # samples a second that a thread colors (measured)
RAW_BYTES = 36  # of a sample that is kept: count and z
LOOKS = 5  # frames of a part whose plans are averaged for the forecast
# Parts of a film for which this is done, because each frame takes up to 50 ms. A film of more parts
# takes the forecast of every few parts for those that follow, too.
FORECASTS = 40
GUESS = 100_000  # limit of iterations of a forecast, where it is "auto"


class Method(Protocol):
    """Yields the frames of a part."""

    def frames(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Yield frames in the order of their numbers."""


@dataclass(frozen=True)
class Chosen:
    """How a part is made.

    Attributes
    ----------
    part : Part
    method : str
        "strip", "frames" or "recolor".
    reason : str
        Why, for the user.
    samples : int
        That are iterated; where seconds are measured, with those added in noise.
    iterating, coloring : float
        Forecasts: seconds for the samples, and for the frames that are made of them.
    memory : int
        Bytes.
    segment : int
        Most frames that are made together.
    device : str
        The kind of device.
    """

    part: Part
    method: str
    reason: str
    samples: int
    iterating: float
    coloring: float
    memory: int
    segment: int
    device: str

    @property
    def seconds(self) -> float:
        """Return the forecast of the seconds, without encoding and compiling."""
        return self.iterating + self.coloring

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "frames": [self.part.frames.start, self.part.frames.stop],
            "kind": self.part.kind,
            "method": self.method,
            "reason": self.reason,
            "samples": self.samples,
            "seconds": float(f"{self.seconds:.2g}"),
            "memory": self.memory,
        }


def choose_methods(
    motion: Motion, tracks: Tracks, parts: Sequence[Part], options: RenderOptions
) -> Iterator[Chosen]:
    """Yield how each part of a film is made."""
    step = len(parts) // FORECASTS | 1  # odd, because keys often go there and back in turn
    forecast = 0.0, 0
    for k, part in enumerate(parts):
        if k % step == 0:
            forecast = _forecast(motion, tracks, part, options)
        yield _choose(motion, tracks, part, options, forecast)


def _choose(
    motion: Motion, tracks: Tracks, part: Part, options: RenderOptions, forecast: tuple[float, int]
) -> Chosen:
    """Return how a part of a film is made; `forecast` as of `_forecast`."""
    scene, count = motion.scene, len(part.frames)
    pixels = math.prod(scene.image.size)
    samples = pixels * scene.image.supersampling**2
    device, threads = choose(options.device).device.kind, threads_of(options)
    seconds, memory = forecast
    moving = [track.name for track in tracks.moving(part.first, part.last)]
    if part.kind == "still" and tracks.recolors(part.first, part.last):
        why = f"only {_listed(moving)}" if moving else "nothing changes"
        colored = count * samples / COLORED / threads if moving else 0.0
        memory += samples * RAW_BYTES
        reason = f"{why}: iterated once"
        return Chosen(part, "recolor", reason, samples, seconds, colored, memory, SEGMENT, device)
    if part.kind == "move":
        why = "the center moves"
    elif part.kind == "still" or not tracks.recolors(part.first, part.last):
        why = f"{_listed(moving)} what is iterated"
    elif not (why := obstacle(scene, part, bool(moving))):
        strip = _strip_of(motion, tracks, part, Facts(1, 0.0), options)
        numbers = millions(strip.samples), millions(count * samples)
        if strip.samples < count * samples:
            why = f"it takes {numbers[0]} samples, and frames {numbers[1]}"
            colored = count * pixels / GATHERED / threads
            if strip.colors:
                changes = _listed(moving) if moving else keeps_values(scene, part)
                why += f"; it keeps values, because {changes}"
                colored += count * strip.colorings / SHADED / threads
            made = seconds * strip.samples / samples
            _bound(strip)
            held = strip.memory, strip.segment
            return Chosen(part, "strip", why, strip.samples, made, colored, *held, device)
        why = f"a strip takes {numbers[0]} samples, and frames {numbers[1]}"
    made = count * seconds
    return Chosen(part, "frames", why, count * samples, made, 0.0, memory, SEGMENT, device)


def _listed(names: list[str]) -> str:
    return f"{' and '.join(names)} {'change' if len(names) > 1 else 'changes'}"


def millions(samples: int) -> str:
    """Return a number of samples as text."""
    return f"{samples / 1e6:.1f} million"


def threads_of(options: RenderOptions) -> int:
    """Return how many threads draw."""
    device = choose(options.device).device
    return options.threads or device.cores or 1


def open_strip(
    motion: Motion,
    tracks: Tracks,
    part: Part,
    facts: Facts,
    options: RenderOptions,
    folder: Path | None = None,
) -> Strip:
    """Return the strip of a part. It keeps values where colors change, or are those of a frame."""
    strip = _strip_of(motion, tracks, part, facts, options, folder)
    _bound(strip)
    return strip


def _bound(strip: Strip) -> None:
    """Have the segments of a strip pass fewer octaves where it takes much memory."""
    if strip.memory > LARGE:
        strip.segment = segment_of(strip.part, 0.5)


def _strip_of(
    motion: Motion,
    tracks: Tracks,
    part: Part,
    facts: Facts,
    options: RenderOptions,
    folder: Path | None = None,
) -> Strip:
    film = motion.scene.film or Film()
    scene = scene_of(tracks, motion.scene, part.first)
    look = Look(film.density, film.shutter)
    valued = tracks.moving(part.first, part.last) or keeps_values(scene, part)
    colors = partial(scene_of, tracks, motion.scene) if valued else None
    size = scene.image.size
    moving = bool(colors) and _moves_options(tracks, scene, part)
    segment = segment_of(part, 1.0)
    return Strip(scene, part, size, look, facts, options, segment, folder, colors, moving)


def _moves_options(tracks: Tracks, scene: Scene, part: Part) -> bool:
    """Tell whether options of colorings change that read more than the gradient."""
    times = [part.first, part.last]
    for track in tracks.moving(part.first, part.last):
        times += [time for time in track.curves[0].times if part.first < time < part.last]
    drawn = [make_layers(scene_of(tracks, scene, time)).drawn for time in times]
    return any(
        layer.coloring.settings != first.coloring.settings and not layer.coloring.gradient
        for layers in drawn
        for first, layer in zip(drawn[0], layers, strict=True)
    )


def segment_of(part: Part, octaves: float) -> int:
    """Return how many frames of a strip are made together: those of some octaves, or more."""
    numbers = part.frames[:: max(1, len(part.frames) // SPEEDS)]
    fastest = max(part.speed(number) for number in numbers)
    rate = octaves * part.rate
    frames = rate / fastest if fastest * SEGMENT > rate else SEGMENT
    return min(SEGMENT, max(LEAST_SEGMENT, math.floor(frames)))


def segments_of(chosen: Chosen, numbers: range) -> list[range]:
    """Return the segments of a part, in the order in which they are made.

    A zoom inwards is made from its end: what is deep is seen again, smaller, in no later frame,
    while what is wide is seen in all earlier ones.
    """
    own = chosen.part.frames
    found = []
    for first in range(own.start, own.stop, chosen.segment):
        last = min(first + chosen.segment, own.stop)
        clipped = range(max(first, numbers.start), min(last, numbers.stop))
        if clipped:
            found.append(clipped)
    inwards = chosen.method == "strip" and chosen.part.octaves > 0
    return found[::-1] if inwards else found


def _forecast(
    motion: Motion, tracks: Tracks, part: Part, options: RenderOptions
) -> tuple[float, int]:
    """Return the mean seconds and the most bytes of a frame that is drawn by itself."""
    kind, threads = choose(options.device).device.kind, threads_of(options)
    plans = [
        make_plan(scene, kind, options.interior_shortcuts, threads)
        for scene in frame_scenes(motion, tracks, part, Facts(GUESS, 0.0))
    ]
    return sum(plan.seconds for plan in plans) / LOOKS, max(plan.memory for plan in plans)


def frame_scenes(motion: Motion, tracks: Tracks, part: Part, facts: Facts) -> list[Scene]:
    """Return the scenes of LOOKS frames that are spread over a part."""
    found = []
    for k in range(LOOKS):
        seconds = part.first + (part.last - part.first) * k / (LOOKS - 1)
        view = with_view(motion.scene, part.moment_at(seconds))
        found.append(prepared(scene_of(tracks, view, seconds), facts))
    return found


def open_method(
    chosen: Chosen,
    motion: Motion,
    tracks: Tracks,
    facts: Facts,
    options: RenderOptions,
    folder: Path | None = None,
) -> Method:
    """Return what yields the frames of a part; a strip keeps its bands in `folder`."""
    if chosen.method == "strip":
        return open_strip(motion, tracks, chosen.part, facts, options, folder)
    made = {"frames": Frames, "recolor": Recolored}[chosen.method]
    return made(motion, tracks, chosen.part, facts, options)


@dataclass(frozen=True)
class FilmPlan:
    """How a film is made, before it is made.

    Attributes
    ----------
    scene : Scene
    parts : tuple of Chosen
    count : int
        Number of frames.
    video : Video, optional
        None where frames are not encoded by ffmpeg.
    threads : int
        That make frames, while others encode.
    """

    scene: Scene
    parts: tuple[Chosen, ...]
    count: int
    video: Video | None
    threads: int = 1

    @property
    def seconds(self) -> float:
        """Return a forecast of the seconds, with encoding and without compiling."""
        pixels = self.count * math.prod(self.scene.image.size)
        encoding = pixels / CODECS[self.video.codec].pixels_a_second if self.video else 0.0
        return sum(chosen.seconds for chosen in self.parts) + encoding / self.threads

    @property
    def bytes(self) -> int:
        """Return a rough forecast of the file's size."""
        a_pixel = CODECS[self.video.codec].bits_a_pixel if self.video else 6.0
        return round(self.count * math.prod(self.scene.image.size) * a_pixel / 8)

    @property
    def memory(self) -> int:
        """Return the most bytes of any part, without those of the encoder."""
        return max(chosen.memory for chosen in self.parts)

    @property
    def samples(self) -> int:
        """Return how many samples are iterated."""
        return sum(chosen.samples for chosen in self.parts)

    def to_table(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "frames": self.count,
            "size": list(self.scene.image.size),
            "video": self.video.to_table() if self.video else None,
            "samples": self.samples,
            "seconds": float(f"{self.seconds:.2g}"),
            "bytes": self.bytes,
            "memory": self.memory,
            "parts": [chosen.to_table() for chosen in self.parts],
        }


def warnings_of(scene: Scene, parts: tuple[Chosen, ...]) -> list[str]:
    """Return what may look bad in a film, a line each."""
    layers, found = make_layers(scene), []
    if missing := _missing_digits(scene, parts):
        found.append(
            f"the center has {missing} decimals fewer than the deepest view requires: zeros are "
            "added"
        )
    moved = [chosen.part for chosen in parts if chosen.part.kind != "still"]
    if layers.whole and any(chosen.method == "frames" for chosen in parts):
        found.append("histogram and rank color each frame by itself: colors may flicker")
    first = layers.drawn[0]
    deep = max((abs(part.octaves) for part in moved), default=0) > FLAT
    if deep and first.subtracts_offset and first.transfer == "log":
        found.append(
            "one count offset serves the whole film, so deep frames have little contrast: "
            "--transfer cbrt --density 0.5 keeps it"
        )
    return found


def _missing_digits(scene: Scene, parts: tuple[Chosen, ...]) -> int:
    """Return how many decimals the center of the deepest view lacks.

    None are lacking of a center of whole numbers, such as 0 + 1i: it is meant exactly.
    """
    keys = scene.film.keys if scene.film else ()
    centers = [key.center for key in keys] + [scene.view.center]
    places = [place for chosen in parts for place in (chosen.part.start, chosen.part.end)]
    deepest = min(places, key=lambda place: place.width)
    needed = math.ceil(-log2(deepest.width / scene.image.size[0]) * math.log10(2))
    given = [_decimals(center) for center in centers if center and _is_at(center, deepest)]
    most = max(given, default=0)
    return max(0, needed - most) if most > 0 else 0


def _decimals(center: Sequence[str]) -> int:
    exponents = [Decimal(part).as_tuple().exponent for part in center]
    return max(-e for e in exponents if isinstance(e, int))


def _is_at(center: Sequence[str], place: Place) -> bool:
    return tuple(Fraction(Decimal(part)) for part in center) == place.center
