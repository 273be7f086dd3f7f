"""Writes a film: as a video in segments, as an animated picture, or as a sequence of PNGs."""

import contextlib
import io
import itertools
import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from fractals import __version__
from fractals.errors import FractalsError, OptionError, SceneError, counted, shown, typed
from fractals.films import encode
from fractals.films.cluster import check_cluster, make_segments
from fractals.films.encode import DEFAULTS, Encoders, Video, choose_video
from fractals.films.flashes import Light, Watch
from fractals.films.frames import FrameSource
from fractals.films.options import SaveOptions
from fractals.films.plan import PartPlan, Timeline, segments_of
from fractals.films.planes import Frame, rounded
from fractals.films.work import FilmFolder, folder_of, open_work, sync
from fractals.io import metadata
from fractals.io.files import as_path, check_output, made_folder, published, writing, written
from fractals.io.image import Image
from fractals.io.load import load_scene
from fractals.meant import writer_of
from fractals.scene.model import Scene
from fractals.scene.numbers import plain, whole

NUMBERED = re.compile(r"[^%]*%0?\d?d[^%]*")
WEBP = {"quality": 80, "method": 4, "minimize_size": False}
GIF = {"optimize": False, "disposal": 1}
UNITS = {".webp": 1000, ".gif": 100}  # parts of a second in which frames are timed
MOST_FPS = {".webp": 60.0, ".gif": 50.0}  # browsers show faster ones slowly
MOST_SIDE = {".webp": 16_383, ".gif": 65_535}  # pixels, which their headers can say
MOST_PIXELS = 2**31  # of all frames: Pillow keeps them, compressed
COLORS = 256  # of a GIF
SUFFIXES = (*DEFAULTS, *MOST_FPS)
SPARE = 1.1  # times the forecast must be free on the disk


@dataclass(frozen=True)
class Saved:
    """Facts about a film's file."""

    path: Path  # of a sequence: its folder
    # frames, resumed: all frames, and the frames that an interrupted run had written
    frames: int
    resumed: int
    seconds: float  # that it took
    bytes: int  # of the files that hold the film
    methods: tuple[str, ...]  # of the parts
    flashes: bool  # whether frames that were made now flash more than three times a second


def video_of(
    path: str | Path, codec: str | None = None, bits: int | None = None, lossless: bool = False
) -> Video | None:
    """Return what a video of a path is encoded to; None for loops and sequences.

    Raises OptionError: the suffix, the codec and the bits do not fit together.
    """
    name, suffix = str(path), Path(path).suffix.lower()
    folder = name.endswith(("/", os.sep)) or os.path.isdir(name)
    if codec == "png" or folder or suffix == ".png":
        return None
    if suffix not in SUFFIXES:
        raise OptionError(
            f"'{shown(name)}': unknown type of film: end the name in {', '.join(SUFFIXES)}, or "
            f"name a FOLDER/ for PNGs{writer_of(suffix)}"
        )
    if suffix not in MOST_FPS:
        return choose_video(suffix, codec, bits, lossless)
    if codec or bits or lossless:
        raise OptionError(f"{suffix} takes no codec and no bits: write a .mp4 or a .mkv")
    return None


@dataclass(frozen=True)
class Output:
    """What a film is written to."""

    path: Path  # a file, or the folder of a sequence
    numbers: range  # the frames to write
    options: SaveOptions
    video: Video | None = None  # None for animated pictures and sequences
    sound: tuple[str, float] | None = None  # a file, and the seconds of it that are left out
    bits: int = 8  # of a sequence's PNGs
    names: str = ""  # of a sequence's PNGs, with a place for the number

    def path_of(self, number: int) -> Path:
        """Return the path of the file that a frame is written to."""
        return self.path / (self.names % number) if self.names else self.path


def make_output(film: Timeline, path: str | Path, options: SaveOptions) -> Output:
    """Return what a film is written to, after all checks that need no drawing."""
    numbers = _numbers(film, options.frames)
    as_path(path)  # whose end may tell a folder: frames/
    name = str(path)
    video = video_of(path, options.codec, options.bits, options.lossless)
    if video is None and options.cluster is not None:
        raise OptionError(
            "a cluster makes videos: name a .mp4, .mkv, .webm or .mov; several machines can each "
            "make a range of a sequence, such as frames=(0, 1000) of frames/"
        )
    suffix = Path(name).suffix.lower()
    heard = sound_of(film, name, video, options.sound)
    if video is None and suffix not in MOST_FPS:
        return _sequence(name, numbers, options)
    # Where there is a work folder, the film may be its own: see `_write_video`.
    resumes = video is not None and os.path.isdir(folder_of(Path(name)))
    check_output(name, options.overwrite or resumes)
    if video is None:
        check_loop(suffix, film.fps, film.size, len(numbers))
        return Output(Path(name), numbers, options)
    video.check_size(film.size)
    encode.check_encoder(video)
    if heard:
        heard = heard[0], heard[1] + numbers.start / film.fps
    if options.cluster is not None:
        check_cluster(options.cluster, film)
    return Output(Path(name), numbers, options, video, heard)


def sound_of(
    film: Timeline, path: str, video: Video | None, given: str | None
) -> tuple[str, float] | None:
    """Return the file of a film's sound, and its seconds to leave out; None: there is none.

    given : str or None
        A file of sound in place of the scene's.

    Raises FractalsError where the file is missing, and OptionError where a film of this kind holds
    no sound.
    """
    own = film.scene.film.sound if film.scene.film else None
    if not (given or own):
        return None
    if video is None:
        suffix = Path(path).suffix.lower()
        kind = suffix if suffix in MOST_FPS else "a sequence of PNGs"
        asked = "sound=" if given else "[film.sound] of the scene"
        *some, last = encode.AUDIO
        raise OptionError(
            f"{kind} holds no sound: leave {asked} out, or end the name in {', '.join(some)} or "
            f"{last}"
        )
    heard = (own.file, own.start) if own and not given else (str(given), 0.0)
    encode.check_sound(heard[0])
    return heard


def _numbers(film: Timeline, frames: tuple[int, int] | None) -> range:
    given = plain((0, len(film)) if frames is None else frames)
    parts = given if isinstance(given, list | tuple) else ()
    pair = [number for number in map(whole, parts) if number is not None]
    if not len(pair) == len(parts) == 2:
        raise OptionError(
            f"frames={typed(frames)}: give two whole numbers, a frame and the one after the last"
        )
    first, last = pair
    if not 0 <= first < last <= len(film):
        asked = f"{shown(first, 40)}:{shown(last, 40)}"
        raise OptionError(f"frames {asked}: the film has frames 0:{len(film)}")
    return range(first, last)


def _sequence(name: str, numbers: range, options: SaveOptions) -> Output:
    bits = options.bits or (16 if options.lossless else 8)
    if bits not in (8, 16):
        raise OptionError(f"PNGs have 8 or 16 bits per channel, not {bits}")
    path = Path(name)
    if path.suffix.lower() != ".png":
        return Output(path, numbers, options, bits=bits, names="%05d.png")
    if not NUMBERED.fullmatch(path.name):
        raise OptionError(
            f"'{shown(name)}': a sequence has one number in its names, such as frame%05d.png; "
            "film.still(seconds) is one picture"
        )
    return Output(path.parent, numbers, options, bits=bits, names=path.name)


def save_film(film: Timeline, path: str | Path, options: SaveOptions) -> Saved:
    """Write a film, and return facts about the file."""
    output = make_output(film, path, options)
    begun = perf_counter()
    plan = film.plan(output.video)
    making = Making(film, output, Watch(film.fps))
    write = _write_video if output.video else _write_sequence if output.names else _write_loop
    resumed = write(making, plan.parts)
    making.flashes.end()
    return Saved(
        output.path,
        len(output.numbers),
        resumed,
        perf_counter() - begun,
        sum(path.stat().st_size for path in set(map(output.path_of, output.numbers))),
        tuple(chosen.method for chosen in plan.parts),
        making.flashes.found,
    )


class Making:
    """A film that is being made: its progress and its flashes."""

    def __init__(self, film: Timeline, output: Output, flashes: Watch) -> None:
        self.film, self.output, self.flashes = film, output, flashes
        self.done, self.progress = 0, film.options.on_progress
        self._lights: dict[int, Sequence[Light]] = {}  # by the first frame of a segment

    def note(self, frames: int = 1) -> None:
        """Report that frames are done."""
        self.done += frames
        if self.progress:
            self.progress(self.done, len(self.output.numbers))

    def watched(self, first: int, frames: Iterator[Frame]) -> Iterator[Frame]:
        """Yield frames from a number on, followed by the check for flashes, and reported."""
        self.flashes.begin(first)
        for frame in frames:
            self.flashes.add(frame)
            yield frame
            self.note()

    def made(self, numbers: range, lights: Sequence[Light]) -> None:
        """Report a segment of a cluster; `lights`: of its frames, where they were made now."""
        if lights:
            self._lights[numbers.start] = lights
        self.note(len(numbers))

    def look_at_all(self) -> None:
        """Check the segments of a cluster for flashes, in order."""
        for first in sorted(self._lights):
            self.flashes.begin(first)
            for light in self._lights[first]:
                self.flashes.look(light)


def _write_video(making: Making, parts: tuple[PartPlan, ...]) -> int:
    film, output, options = making.film, making.output, making.output.options
    assert output.video
    _check_disk(film.plan(output.video, sound=bool(output.sound)).bytes, output.path)
    with open_work(
        output.path, _header(film, output), output.video.suffix, options.overwrite
    ) as work:
        if _is_there(output, work):
            making.note(len(output.numbers))
            work.remove()
            return len(output.numbers)
        if options.cluster is None:
            resumed = _make_segments(making, parts, output.video, work)
        else:
            numbers, video = output.numbers, output.video
            resumed = make_segments(options.cluster, film, numbers, video, work, making.made)
            making.look_at_all()
        segments = (each for chosen in parts for each in segments_of(chosen, output.numbers))
        paths = [work.find(first) for first in sorted(each.start for each in segments)]
        _publish(film, output, work, [path for path in paths if path])
        if not options.keep_strip:
            work.remove()
    return resumed


def _is_there(output: Output, work: FilmFolder) -> bool:
    """Tell whether a process was killed between giving this film its name and removing its folder.

    Raises FractalsError: another file has the name, and is not to be replaced.
    """
    if not os.path.exists(output.path):
        return False
    if work.is_finished(output.path):
        return True
    if not output.options.overwrite and not work.resumes:
        work.remove()  # it was empty, or a rest of a film that is finished
    check_output(output.path, output.options.overwrite)
    return False


def _make_segments(
    making: Making, parts: tuple[PartPlan, ...], video: Video, work: FilmFolder
) -> int:
    """Make the segments that are missing; return how many frames were there before."""
    film, resumed = making.film, 0
    tell = film.options.on_message
    with Encoders(film.size, film.fps, video, work, tell=tell) as encoders:
        for chosen in parts:
            method: FrameSource | None = None
            for numbers in segments_of(chosen, making.output.numbers):
                if work.find(numbers.start):
                    resumed += len(numbers)
                    making.note(len(numbers))
                    continue
                method = method or film.open(chosen, work.bands(chosen.part.frames.start))
                frames = making.watched(numbers.start, method.frames(numbers))
                encoders.encode(numbers.start, frames)
    return resumed


def _publish(film: Timeline, output: Output, work: FilmFolder, segments: list[Path]) -> None:
    """Join the segments, check the number of frames, and give the film its name."""
    assert output.video
    suffix, count = output.video.suffix, len(output.numbers)
    joined = work.joined
    seconds = count / film.fps
    tell = film.options.on_message
    said = metadata.film_tags(film.scene)
    encode.join(segments, joined, suffix, seconds, output.sound, said, tell)
    found = encode.count_frames(joined, tell)
    if found != count:
        raise FractalsError(
            f"'{shown(joined)}' holds {counted(found, 'frame')} and not {count}: the same command "
            "tries again"
        )
    sync(joined)
    if not output.options.keep_strip:
        work.finish()
    with writing(output.path):
        if output.options.overwrite:
            os.replace(joined, output.path)
        else:
            published(str(joined), output.path)
            joined.unlink(missing_ok=True)


def _header(film: Timeline, output: Output) -> dict[str, Any]:
    assert output.video
    return {
        "scene": film.scene.to_table(),
        "frames": [output.numbers.start, output.numbers.stop],
        "video": output.video.to_table(),
        "sound": list(output.sound) if output.sound else None,
        "segments": [chosen.segment for chosen in film.parts],
        "program": __version__,
        "ffmpeg": encode.version(),
    }


def _check_disk(size: int, path: Path) -> None:
    free = shutil.disk_usage(path.parent).free
    if SPARE * 2 * size > free:
        raise FractalsError(
            f"the film takes about {2 * size / 2**20:.1f} MiB while it is made, and "
            f"{free / 2**20:.1f} MiB are free there: name a place on another disk"
        )


def _write_loop(making: Making, parts: tuple[PartPlan, ...]) -> int:
    film, output = making.film, making.output
    numbers = output.numbers
    frames = making.watched(numbers.start, film.frames(numbers.start, numbers.stop))
    with written(output.path, output.options.overwrite) as file:
        suffix = output.path.suffix.lower()
        write_loop(file, suffix, frames, film.fps, len(numbers), film.scene)
    return 0


def _write_sequence(making: Making, parts: tuple[PartPlan, ...]) -> int:
    film, output = making.film, making.output
    with made_folder(output.path):
        there = set() if output.options.overwrite else _pictures_there(film, output)
        making.note(len(there))
        for chosen in parts:
            for numbers in segments_of(chosen, output.numbers):
                missing = [number for number in numbers if number not in there]
                if not missing:
                    continue
                made = making.watched(missing[0], film.open(chosen).frames(missing))
                for number, frame in zip(missing, made, strict=True):
                    pixels = frame if output.bits == 16 else rounded(frame)
                    Image(pixels, _scene_of(film, output, number)).save(
                        output.path_of(number), overwrite=output.options.overwrite
                    )
    return len(there)


def _scene_of(film: Timeline, output: Output, number: int) -> Scene:
    return film.scene_at(number).replace(bits=16 if output.bits == 16 else 8)


def _pictures_there(film: Timeline, output: Output) -> set[int]:
    """Return the numbers of the pictures that an earlier call wrote.

    Raises FractalsError: a file of such a name is another picture.
    """
    there = set()
    for number in output.numbers:
        path = output.path_of(number)
        if os.path.lexists(path):
            with contextlib.suppress(SceneError):
                if load_scene(path) == _scene_of(film, output, number):
                    there.add(number)
                    continue
        check_output(path, False)
    return there


# Animated pictures: WebP and GIF, which browsers show everywhere and repeat.


def check_loop(suffix: str, fps: float, size: tuple[int, int], count: int) -> None:
    """Raise an `OptionError` where an animated picture can't hold a film of `count` frames."""
    pixels, most = count * math.prod(size), MOST_SIDE[suffix]
    if max(size) > most:
        raise OptionError(
            f"{size[0]}x{size[1]}: the sides of a {suffix} have at most {most} pixels; give a "
            "smaller size=, or lossless=True and a .mkv"
        )
    if fps > MOST_FPS[suffix]:
        raise OptionError(
            f"{suffix}: browsers show at most {MOST_FPS[suffix]:g} frames a second: give "
            f"fps={25 if suffix == '.gif' else 30}"
        )
    if pixels > MOST_PIXELS:
        raise OptionError(
            f"{suffix}: {pixels / 1e6:.0f} Mpixel are too many for an animated picture: write a "
            ".mp4, or give a smaller size= or fewer seconds="
        )


def durations(suffix: str, fps: float, count: int) -> list[int]:
    """Return the time of each frame, in ms, so that together they are the film's length.

    >>> durations(".webp", 60, 3), durations(".gif", 40, 4)
    ([17, 16, 17], [20, 30, 30, 20])
    """
    units = UNITS[suffix]
    ends = [round(k * units / fps) for k in range(count + 1)]
    return [(b - a) * 1000 // units for a, b in itertools.pairwise(ends)]


def write_loop(
    file: BinaryIO,
    suffix: str,
    frames: Iterable[Frame],
    fps: float,
    count: int,
    scene: Scene | None = None,
) -> None:
    """Write frames as an animated picture that repeats for ever, with its scene's texts."""
    import PIL.Image

    pictures: Iterator[Any] = (_picture(frame, suffix) for frame in frames)
    first = next(pictures)
    options: dict[str, Any] = WEBP if suffix == ".webp" else GIF
    if scene and (said := metadata.signature_of(scene)):
        text = {"xmp": metadata.xmp(scene).encode()}
        options = options | (text if suffix == ".webp" else {"comment": ". ".join(said.values())})
    first.save(
        file,
        PIL.Image.registered_extensions()[suffix],
        save_all=True,
        append_images=pictures,
        duration=durations(suffix, fps, count),
        loop=0,
        **options,
    )


def _picture(frame: Frame, suffix: str) -> Any:
    import PIL.Image

    picture = PIL.Image.fromarray(rounded(frame))
    if suffix == ".gif":
        return picture.quantize(COLORS, PIL.Image.Quantize.MEDIANCUT)
    return picture


def webp_bytes(frames: Iterable[Frame], fps: float) -> bytes:
    """Return an animated WebP of frames."""
    kept = list(frames)
    buffer = io.BytesIO()
    write_loop(buffer, ".webp", kept, fps, len(kept))
    return buffer.getvalue()
