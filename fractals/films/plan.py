"""The method of each part of a film and its reason, and forecasts before anything is drawn."""

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from fractals.backends.devices import choose
from fractals.errors import OptionError, counted, typed
from fractals.films.bands import BandMaker, keeps_values, obstacle
from fractals.films.encode import AUDIO, CODECS, Audio, Video
from fractals.films.frames import (
    NOTHING_SHARED,
    DevelopedFrames,
    FilmConstants,
    FilmDevice,
    FramesOnAnyDevice,
    FrameSource,
    Pictures,
    Recolored,
    SingleFrames,
    find_facts,
    prepared,
)
from fractals.films.gather import ColoredGather, FrameMaker
from fractals.films.motion import FilmPart, Motion, make_motion, with_view
from fractals.films.planes import Frame, rounded
from fractals.films.strip import Strip
from fractals.films.tracks import Tracks, scene_of
from fractals.films.valued import ValuedGather
from fractals.films.warned import warnings_of
from fractals.rendering.drawing import Drawing
from fractals.rendering.families import Family, family_of
from fractals.rendering.measured import call_seconds, is_measurable
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.render import measure
from fractals.rendering.tiles import Tile
from fractals.scene.film import FilmSettings
from fractals.scene.geometry import make_layers
from fractals.scene.model import Scene
from fractals.scene.numbers import whole
from fractals.threads import threads_for

# Parts of a film are divided where its tracks begin and end to move.
#
# A zoom in which nothing but the view changes is made from a strip that keeps colors. So a track
# that moves for some seconds does not have the whole zoom keep values, or be iterated frame by
# frame.


# Frames without a change that are made apart: another strip costs some octaves of samples.
LEAST = 120


def split_parts(film: "Timeline") -> list[FilmPart]:
    """Return the parts that have frames; a zoom is divided where its tracks stand still."""
    found: list[FilmPart] = []
    for part in film.motion.parts:
        if part.kind == "zoom" and _gains(film, part):
            found += _pieces(film.tracks, part)
        elif part.frames:
            found.append(part)
    return found


def _gains(film: "Timeline", part: FilmPart) -> bool:
    """Tell whether frames of a part without a change can be made faster than others."""
    span = part.first, part.last
    if not film.family.single_pixels or not film.tracks.moving(*span):
        return False
    return not (film.tracks.recolors(*span) and keeps_values(film.scene, part))


def _pieces(tracks: Tracks, part: FilmPart) -> Iterator[FilmPart]:
    frames = part.frames
    times = {time for track in tracks.tracks for time in track.curves[0].times}
    inner = sorted(time for time in times if part.first < time < part.last)
    begin = frames.start
    for one, two in itertools.pairwise([part.first, *inner, part.last]):
        if tracks.moving(one, two):
            continue
        first = frames.start if one == part.first else math.floor(one * part.rate) + 1
        stop = frames.stop if two == part.last else math.ceil(two * part.rate)
        if stop - first < LEAST:
            continue
        if begin < first:
            yield replace(part, frames=range(begin, first))
        yield replace(part, frames=range(first, stop))
        begin = stop
    if begin < frames.stop:
        yield replace(part, frames=range(begin, frames.stop))


SEGMENT = 120  # frames that are made together: what is lost if the process is killed
# Fewest frames of a strip's segment. A segment passes an octave at most, because memory grows with
# the octaves that it passes.
LEAST_SEGMENT = 20
MOST_POINTS = 2 * 10**9  # of pictures that are made together: a minute or two of a thread
LARGE = 250e6  # bytes of a strip, above which segments pass half an octave
SPEEDS = 64  # frames of a part whose speeds are compared
GATHERED = 20e6  # pixels of frames a second that a thread takes from a strip (measured)
# Samples of a strip a second that a thread colors and blurs for a frame (measured).
SHADED = 45e6
ALONE = 0.018  # seconds that a frame of a strip of values takes besides, in any number of threads
STARTED = 0.5  # seconds before the first frame and after the last one: probes, ffmpeg, joining
SEGMENTED = 0.1  # seconds by which a segment that is encoded takes longer
COLORED = 60e6  # samples a second that a thread colors (measured)
RAW_BYTES = 36  # of a sample that is kept: count and z
SHARED_LOOKS = 9  # frames of a film that are probed for what all of them share, such as haze
LOOKS = 5  # frames of a part whose plans are averaged for the forecast
# Parts of a film that are forecast by themselves; each plan takes up to 50 ms. In a film of more
# parts, the parts between two forecasts take the earlier forecast.
FORECASTS = 40
# A pixel takes fewer bits in larger frames, by the power SHRINKS of the pixels of a frame. The bits
# of codecs were measured in frames of USUAL pixels.
SHRINKS, USUAL = 0.22, 1920 * 1080
GUESS = 100_000  # limit of iterations of a forecast, where it is "auto"
PICTURES = "each is a picture of its own"  # the reason of families without single pixels


@dataclass(frozen=True)
class PartPlan:
    """How a part is made."""

    part: FilmPart
    method: str  # "strip", "frames" or "recolor"
    reason: str  # why, for the user
    samples: int  # iterated samples; where seconds are measured, with samples added in noise
    # iterating, coloring: forecasts: seconds for the samples, and for the frames that are made of
    # them
    iterating: float
    coloring: float
    memory: int  # bytes
    device: str  # the kind of device
    strip: Strip | None = None  # of the method "strip"
    pictures: bool = False  # whether frames are pictures of a family without single pixels

    @property
    def segment(self) -> int:
        """Return the most frames that are made together."""
        if self.strip:
            return self.strip.segment
        most = MOST_POINTS * len(self.part.frames) // max(1, self.samples)
        return min(SEGMENT, max(LEAST_SEGMENT, most)) if self.pictures else SEGMENT

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


def choose_methods(film: "Timeline", parts: Sequence[FilmPart]) -> Iterator[PartPlan]:
    """Yield how each part of a film is made."""
    step = len(parts) // FORECASTS | 1  # odd, because keys often go there and back in turn
    forecast = 0.0, 0, 0
    for k, part in enumerate(parts):
        if k % step == 0:
            forecast = _forecast(film, part)
        yield _choose(film, part, *forecast)


def _choose(
    film: "Timeline", part: FilmPart, seconds: float, samples: int, memory: int
) -> PartPlan:
    """Return how a part of a film is made; the last three arguments: those of `_forecast`."""
    scene, tracks, count = film.scene, film.tracks, len(part.frames)
    pixels = math.prod(film.size)
    device, threads = choose(film.options.device).device.kind, threads_of(film.options)
    moving = [track.name for track in tracks.moving(part.first, part.last)]
    if not film.family.single_pixels:
        still = part.kind == "still" and not moving
        times = 1 if still else count
        why = "nothing changes: drawn once" if still else PICTURES
        taken = times * samples, times * seconds, 0.0, memory
        return PartPlan(part, "frames", why, *taken, device, pictures=True)
    if part.kind == "still" and tracks.recolors(part.first, part.last):
        why = f"only {_listed(moving)}" if moving else "nothing changes"
        colored = count * samples / COLORED / threads if moving else 0.0
        memory += samples * RAW_BYTES
        reason = f"{why}: iterated once"
        return PartPlan(part, "recolor", reason, samples, seconds, colored, memory, device)
    if part.kind == "move":
        why = "the center moves"
    elif part.kind == "still" or not tracks.recolors(part.first, part.last):
        why = f"{_listed(moving)} what is iterated"
    elif not (why := obstacle(scene, part, bool(moving))):
        strip = strip_of(film, part)
        numbers = millions(strip.samples), millions(count * samples)
        if strip.samples < count * samples:
            why = f"it takes {numbers[0]} samples, and frames {numbers[1]}"
            colored = count * pixels / GATHERED / threads
            if strip.colors:
                changes = _listed(moving) if moving else keeps_values(scene, part)
                why += f"; it keeps values, because {changes}"
                colored += count * (strip.colorings / SHADED / threads + ALONE)
            made = seconds * strip.samples / samples
            if strip.memory > LARGE:
                strip.segment = segment_of(part, 0.5)
            taken = strip.samples, made, colored, strip.memory
            return PartPlan(part, "strip", why, *taken, device, strip)
        why = f"a strip takes {numbers[0]} samples, and frames {numbers[1]}"
    made = count * seconds
    return PartPlan(part, "frames", why, count * samples, made, 0.0, memory, device)


def _listed(names: list[str]) -> str:
    return f"{' and '.join(names)} {'change' if len(names) > 1 else 'changes'}"


def millions(samples: int) -> str:
    """Return a number of samples as text."""
    return f"{samples / 1e6:.1f} million"


def threads_of(options: RenderOptions) -> int:
    """Return how many threads draw."""
    return threads_for(options.threads, choose(options.device).device.cores or 1)


def strip_of(film: "Timeline", part: FilmPart) -> Strip:
    """Return the strip of a part. It keeps values where colors change, or are those of a frame."""
    tracks, table = film.tracks, film.scene.film or FilmSettings()
    scene = scene_of(tracks, film.scene, part.first)
    valued = tracks.moving(part.first, part.last) or keeps_values(scene, part)
    colors = partial(scene_of, tracks, film.scene) if valued else None
    moving = bool(colors) and _moves_options(tracks, scene, part)
    return Strip(scene, part, table.density, table.shutter, segment_of(part, 1.0), colors, moving)


def _moves_options(tracks: Tracks, scene: Scene, part: FilmPart) -> bool:
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


def segment_of(part: FilmPart, octaves: float) -> int:
    """Return how many frames of a strip are made together: those of some octaves, or more."""
    numbers = part.frames[:: max(1, len(part.frames) // SPEEDS)]
    fastest = max(part.speed(number) for number in numbers)
    rate = octaves * part.rate
    frames = rate / fastest if fastest * SEGMENT > rate else SEGMENT
    return min(SEGMENT, max(LEAST_SEGMENT, math.floor(frames)))


def segments_of(chosen: PartPlan, numbers: range) -> list[range]:
    """Return the segments of a part, in the order in which they are made.

    A zoom inwards is made from its end, so that each row of the strip is needed once.
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


def _forecast(film: "Timeline", part: FilmPart) -> tuple[float, int, int]:
    """Return the mean seconds, the samples and the most bytes of a frame drawn by itself."""
    quiet = film.options.replace(on_message=lambda line: None)
    facts = FilmConstants(GUESS, 0.0) if film.family.single_pixels else NOTHING_SHARED
    scenes = frame_scenes(film, part, facts)
    plans = [film.family.plan(scene, quiet, "pixels") for scene in scenes]
    return (
        sum(plan.seconds for plan in plans) / LOOKS,
        max(plan.samples for plan in plans),
        max(plan.memory for plan in plans),
    )


def frame_scenes(film: "Timeline", part: FilmPart, facts: FilmConstants) -> list[Scene]:
    """Return the scenes of LOOKS frames that are spread over a part."""
    found = []
    for k in range(LOOKS):
        seconds = part.first + (part.last - part.first) * k / (LOOKS - 1)
        view = with_view(film.scene, part.moment_at(seconds))
        found.append(prepared(scene_of(film.tracks, view, seconds), facts))
    return found


@dataclass(frozen=True)
class FilmPlan:
    """How a film is made, before it is made."""

    scene: Scene
    parts: tuple[PartPlan, ...]
    count: int  # number of frames
    video: Video | None  # None where frames are not encoded by ffmpeg
    threads: int = 1  # that make frames, while others encode
    # measured, writing: bytes of the file without sound by some frames that were encoded, and
    # seconds of writing it without ffmpeg
    measured: int | None = None
    writing: float = 0.0
    sound: bool = False  # whether the file has sound

    @property
    def audio(self) -> Audio | None:
        """Return how the sound is encoded; None: there is none."""
        return AUDIO[self.video.suffix] if self.sound and self.video else None

    @property
    def length(self) -> float:
        """Return the seconds that the film lasts."""
        return self.count / self.scene.film.fps if self.scene.film else 0.0

    @property
    def seconds(self) -> float:
        """Return a forecast of the seconds, with encoding and without compiling."""
        pixels, encoding = self.count * math.prod(self.scene.image.size), self.writing
        if self.video:
            segments = sum(math.ceil(len(one.part.frames) / one.segment) for one in self.parts)
            encoding = pixels / CODECS[self.video.codec].pixels_a_second + SEGMENTED * segments
            encoding /= self.threads
        if self.audio:  # encoded by one thread, after the frames
            encoding += self.audio.seconds * self.length
        return STARTED + sum(chosen.seconds for chosen in self.parts) + encoding

    @property
    def bytes(self) -> int:
        """Return a forecast of the file's size: a rough one where no frames were encoded for it."""
        sound = self.audio.bits * self.length / 8 if self.audio else 0.0
        if self.measured is not None:
            return round(self.measured + sound)
        pixels = math.prod(self.scene.image.size)
        a_pixel = 6.0
        if self.video:
            a_pixel = CODECS[self.video.codec].bits_a_pixel * (pixels / USUAL) ** -SHRINKS
        return round(self.count * pixels * a_pixel / 8 + sound)

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


# The seconds that the parts of a film take, from some samples of them.


BANDS = 6  # of a strip; the forecast iterates some samples of each
PIECES, ACROSS, DOWN = 8, 128, 16  # of a band: how many, and their samples
PATIENCE = 1.0  # seconds after which no further piece of a band is iterated
STRIP_COLORED = (
    70e6  # samples a second that a thread colors, blurs and averages for a strip (measured)
)


def is_soon_measured(film: "Timeline", chosen: PartPlan) -> bool:
    """Tell whether some samples of a part are soon iterated, and tell the seconds of all.

    A GPU is not used to capacity by some samples, and the orbit of a very deep view takes long.
    """
    if not film.family.single_pixels:
        return False
    shortcuts = film.options.interior_shortcuts
    scenes = frame_scenes(film, chosen.part, FilmConstants(GUESS, 0.0))
    plans = (make_plan(scene, chosen.device, shortcuts) for scene in scenes)
    return all(map(is_measurable, plans))


def with_measured_seconds(film: "Timeline", chosen: PartPlan) -> PartPlan:
    """Return the same with measured seconds in place of those of a formula."""
    options = film.options.replace(force=True, progress=None, on_message=lambda line: None)
    threads = threads_of(options)
    if chosen.strip:
        samples, seconds = _strip_samples(chosen.strip, film.facts, options, threads)
        more = f"; texels in noise take about {millions(samples - chosen.samples)} more"
        reason = chosen.reason + more * (samples > chosen.samples)
        return replace(chosen, iterating=seconds, samples=samples, reason=reason)
    found = []
    for scene in frame_scenes(film, chosen.part, film.facts):
        planned = make_plan(scene, "cpu", options.interior_shortcuts, threads)
        measured = measure(scene, options, planned) if is_measurable(planned) else None
        found.append((measured or planned).seconds)
    frames = len(chosen.part.frames) if chosen.method == "frames" else 1
    return replace(chosen, iterating=frames * sum(found) / LOOKS)


def _strip_samples(
    strip: Strip, facts: FilmConstants, options: RenderOptions, threads: int
) -> tuple[int, float]:
    """Return the samples of all bands, with those added in noise, and their seconds."""
    maker, layout = make_frames(strip, facts, options).bands, strip.layout
    texels = np.array(list(map(layout.band_samples, strip.bands)))
    looks = np.unique(np.linspace(strip.bands[0], layout.bands - 1, BANDS).astype(int))
    looks = looks[::-1].tolist()
    opened, found = 0.0, []
    for band in looks:
        begun = perf_counter()
        drawing = maker.open(band, 0)
        drawing.source.iterate(Tile(0, 0, 1, 1), 1)  # compiles
        if band != looks[0]:  # the first one also computes the orbit
            opened += perf_counter() - begun
        found.append(_look(maker, drawing, not strip.colors))
    seconds, added = (
        np.interp(strip.bands, looks[::-1], each[::-1]) for each in zip(*found, strict=True)
    )
    tables = len(set(map(maker.group, strip.bands)))
    opened *= tables / max(1, len(looks) - 1)
    samples = texels * (1 + added)
    return round(samples.sum()), opened + float(
        np.dot(samples, seconds + 1 / STRIP_COLORED)
    ) / threads


def _look(maker: BandMaker, drawing: Drawing, refined: bool) -> tuple[float, float]:
    """Return a thread's seconds for a sample of a band, and the samples added for a texel."""
    columns, rows = drawing.plan.size
    across, down = min(ACROSS, columns), min(DOWN, rows)
    places = np.linspace(0, columns - across, PIECES).astype(int)
    heights = itertools.cycle((0, (rows - down) // 2, rows - down))
    tiles = [Tile(int(x), y, across, down) for x, y in zip(places, heights, strict=False)]
    spent, added, call = list[float](), 0.0, call_seconds(drawing.source)
    for tile in tiles:
        begun = perf_counter()
        raw = drawing.source.iterate(tile)
        spent.append(max(0.0, perf_counter() - begun - call))
        if refined:
            added += maker.refiner.added(drawing, tile, raw)
        if sum(spent) > PATIENCE:
            break
    return sum(spent) / (len(spent) * across * down), added / len(spent)


def make_frames(
    strip: Strip, facts: FilmConstants, options: RenderOptions, folder: Path | None = None
) -> FrameMaker:
    """Return what makes frames of a strip; `folder` keeps bands for a process after this one."""
    maker = ValuedGather if strip.colors else ColoredGather
    return maker(strip, facts, options, folder)


# Timeline: the parts of a scene's film, their methods, and what all frames share.


MEASURED = 50  # most parts to measure; each may take some seconds


@dataclass(frozen=True, eq=False, repr=False)
class Timeline:
    """The views, values, parts and frames of a scene's film."""

    scene: Scene  # with its table film
    options: RenderOptions  # where and how it is drawn
    found: FilmConstants | None = None  # what another process has found for this film

    def __post_init__(self) -> None:
        if self.scene.view.projection != "plane":
            raise OptionError("an exponential map is no view of a film: give projection='plane'")
        if self.scene.image.primaries != "srgb":
            raise OptionError("a film has the colors of sRGB: leave gamut and hdr out of its scene")
        self.tracks.check(self.motion.count / self.motion.rate)

    @cached_property
    def family(self) -> Family:
        """Return the family of the images."""
        return family_of(self.scene)

    @cached_property
    def tracks(self) -> Tracks:
        """Return the values that change over time."""
        return Tracks(self.scene)

    @cached_property
    def motion(self) -> Motion:
        """Return the views of all frames."""
        return make_motion(self.scene, self.tracks.length)

    @cached_property
    def device(self) -> FilmDevice:
        """Return what draws."""
        return FilmDevice(self.options)

    @cached_property
    def facts(self) -> FilmConstants:
        """Return the limit of iterations, the count offset, and what else all frames share."""
        if not self.family.single_pixels:
            numbers = np.linspace(0, len(self) - 1, SHARED_LOOKS).astype(int).tolist()
            scenes = [self.scene_at(number) for number in dict.fromkeys(numbers)]
            shared = self.device.draw(partial(self.family.shared, scenes))
            return replace(NOTHING_SHARED, shared=shared)
        return self.found or self.device.draw(partial(find_facts, self.motion, self.tracks))

    @cached_property
    def parts(self) -> tuple[PartPlan, ...]:
        """Return the method of each part."""
        return tuple(choose_methods(self, split_parts(self)))

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height in pixels."""
        return self.scene.image.size

    @property
    def fps(self) -> float:
        """Return the frames a second."""
        assert self.scene.film
        return self.scene.film.fps

    @property
    def seconds(self) -> float:
        """Return the length."""
        return len(self) / self.fps

    def __len__(self) -> int:
        return self.motion.count

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def __getitem__(self, number: SupportsIndex) -> Frame:
        if isinstance(number, slice):
            raise TypeError("a film has no slices: film.frames(first, last) yields frames")
        found = operator.index(number)
        if not -len(self) <= found < len(self):
            raise IndexError(f"frame {found}: the film has {counted(len(self), 'frame')}")
        found %= len(self)
        return next(self.frames(found, found + 1))

    @overload
    def frames(
        self, first: int = 0, last: int | None = None, *, dtype: Literal["uint16"] = "uint16"
    ) -> Iterator[Frame]: ...

    @overload
    def frames(
        self, first: int = 0, last: int | None = None, *, dtype: Literal["uint8"]
    ) -> Iterator[NDArray[np.uint8]]: ...

    def frames(
        self, first: int = 0, last: int | None = None, *, dtype: str = "uint16"
    ) -> Iterator[Frame] | Iterator[NDArray[np.uint8]]:
        """Yield frames: arrays of shape (height, width, 3), of sRGB values.

        Parameters
        ----------
        first, last : int
            The first frame, and the one after the last.
        dtype : str
            "uint16", or "uint8", which other libraries take as pictures.

        Raises
        ------
        OptionError
            The type is another one, or a number is not whole.
        """
        if dtype not in ("uint8", "uint16"):
            raise OptionError(f"dtype={typed(dtype)}: give 'uint8' or 'uint16'")
        begin, end = whole(first), len(self) if last is None else whole(last)
        if begin is None or end is None:
            raise OptionError(f"frames({typed(first)}, {typed(last)}): give whole numbers")
        frames = self._frames(range(len(self))[begin:end])
        return map(rounded, frames) if dtype == "uint8" else frames

    def _frames(self, numbers: range) -> Iterator[Frame]:
        for chosen in self.parts:
            part = chosen.part.frames
            own = range(max(numbers.start, part.start), min(numbers.stop, part.stop))
            if own:
                yield from self.open(chosen).frames(own)

    def open(self, chosen: PartPlan, folder: Path | None = None) -> FrameSource:
        """Return what yields the frames of a part; a strip keeps its bands in `folder`."""
        return FramesOnAnyDevice(self.device, partial(self.opened, chosen, folder))

    def opened(self, chosen: PartPlan, folder: Path | None, options: RenderOptions) -> FrameSource:
        """Return what yields the frames of a part from the device of some options."""
        if chosen.strip:
            made = make_frames(chosen.strip, self.facts, options, folder)
            if not self.tracks.develops:
                return made
            return DevelopedFrames(made.frames, self.scene_at, threads_of(options))
        if chosen.method == "recolor":
            return Recolored(self.motion, self.tracks, chosen.part, self.facts, options)
        return self.single(chosen.part, options)

    def single(self, part: FilmPart, options: RenderOptions) -> SingleFrames:
        """Return what draws frames of a part by themselves."""
        source = SingleFrames if self.family.single_pixels else Pictures
        return source(self.motion, self.tracks, part, self.facts, options)

    def scene_at(self, number: int) -> Scene:
        """Return the scene of a frame, without a film."""
        seconds = self.motion.seconds(number)
        return scene_of(self.tracks, self.motion.view_at(seconds), seconds)

    def plan(
        self, video: Video | None = None, *, measured: bool = False, sound: bool = False
    ) -> FilmPlan:
        """Return the method of each part with its reason, and forecasts.

        measured : bool
            Whether seconds are measured on some samples, which compiles programs.
        sound : bool
            Whether a file of sound is given to ``save``. The forecasts count the sound of the scene
            in any case.
        """
        parts = self.parts
        if measured and len(parts) <= MEASURED:
            parts = tuple(
                with_measured_seconds(self, chosen) if is_soon_measured(self, chosen) else chosen
                for chosen in parts
            )
        heard = sound or bool(self.scene.film and self.scene.film.sound)
        return FilmPlan(self.scene, parts, len(self), video, threads_of(self.options), sound=heard)

    def warnings(self) -> list[str]:
        """Return what may look bad, a line each."""
        if not self.family.single_pixels:
            return []
        framed = any(each.method == "frames" for each in self.parts if each.part.kind != "still")
        return warnings_of(self.scene, [each.part for each in self.parts], framed)
