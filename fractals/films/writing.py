"""Writes a film: as a video in segments, as an animated picture, or as a sequence of PNGs."""

import contextlib
import math
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from fractals import __version__
from fractals.errors import FractalsError, OptionError, SceneError, shown
from fractals.films import encode
from fractals.films.cluster import check_cluster, make_segments
from fractals.films.encode import DEFAULTS, Encoders, Video, choose_video
from fractals.films.flashes import Light, Watch
from fractals.films.loops import MOST_FPS, check_loop, write_loop
from fractals.films.plan import FilmPlan, FrameSource, PartPlan, Timeline, segments_of
from fractals.films.planes import Frame, rounded
from fractals.films.work import FilmFolder, folder_of, open_work, sync
from fractals.io.files import check_output, published, writing, written
from fractals.io.image import Image
from fractals.io.load import load_scene
from fractals.rendering.options import RenderOptions
from fractals.scene.model import Scene

NUMBERED = re.compile(r"%0?(\d?)d")
SUFFIXES = (*DEFAULTS, *MOST_FPS)
SPARE = 1.1  # times the forecast must be free on the disk


class Film(Protocol):
    """What is asked of a film; see `fractals.films.film.Film`."""

    @property
    def scene(self) -> Scene:
        """Return the scene, with its table film."""

    @property
    def options(self) -> RenderOptions:
        """Return where and how it is drawn."""

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height."""

    @property
    def fps(self) -> float:
        """Return the frames a second."""

    @property
    def parts(self) -> tuple[PartPlan, ...]:
        """Return the method of each part."""

    def __len__(self) -> int: ...

    def frames(self, first: int = 0, last: int | None = None) -> Iterator[Frame]:
        """Yield frames."""

    def scene_at(self, number: int) -> Scene:
        """Return the scene of a frame."""

    def plan(self, video: Video | None = None) -> FilmPlan:
        """Return the method of each part."""

    def open(self, chosen: PartPlan, folder: Path | None = None) -> FrameSource:
        """Return what yields the frames of a part."""


@dataclass(frozen=True)
class Output:
    """What a film is written to."""

    path: Path  # a file, or the folder of a sequence
    kind: str  # "video", "loop" or "sequence"
    numbers: range  # the frames to write
    video: Video | None = None
    bits: int = 8  # of a sequence's PNGs
    names: str = ""  # of a sequence's PNGs, with a place for the number
    sound: tuple[str, float] | None = None  # a file, and the seconds of it that are left out
    # overwrite, keep: whether an existing file is replaced, and the work folder kept
    overwrite: bool = False
    keep: bool = False
    cluster: Any = None  # who makes the segments of a video


@dataclass(frozen=True)
class Saved:
    """Facts about a film's file."""

    path: Path
    # frames, resumed: all frames, and those that were there before
    frames: int
    resumed: int
    seconds: float  # that it took
    bytes: int
    methods: tuple[str, ...]  # of the parts
    flashes: bool  # whether frames that were made now flash more than three times a second


def video_of(
    path: str | Path, codec: str | None = None, bits: int | None = None, lossless: bool = False
) -> Video | None:
    """Return what a video of a path is encoded to; None for loops and sequences.

    Raises
    ------
    OptionError
        The suffix, the codec and the bits do not fit together.
    """
    name, suffix = str(path), Path(path).suffix.lower()
    folder = name.endswith(("/", os.sep)) or os.path.isdir(name)
    if codec == "png" or folder or suffix == ".png":
        return None
    if suffix not in SUFFIXES:
        raise OptionError(
            f"'{shown(name)}': unknown type of film: end the name in {', '.join(SUFFIXES)}, or "
            "name a FOLDER/ for PNGs"
        )
    if suffix not in MOST_FPS:
        return choose_video(suffix, codec, bits, lossless)
    if codec or bits or lossless:
        raise OptionError(f"{suffix} takes no codec and no bits: write a .mp4 or a .mkv")
    return None


@dataclass(frozen=True)
class SaveOptions:
    """How a film is written: see `Film.save`."""

    overwrite: bool = False
    codec: str | None = None
    bits: int | None = None
    lossless: bool = False
    frames: tuple[int, int] | None = None
    sound: str | None = None
    keep_strip: bool = False
    cluster: Any = None


def make_output(film: Film, path: str | Path, options: SaveOptions) -> Output:
    """Return what a film is written to, after all checks that need no drawing."""
    numbers, again = _numbers(film, options.frames), options.overwrite
    name = str(path)
    video = video_of(path, options.codec, options.bits, options.lossless)
    if video is None and options.cluster is not None:
        raise OptionError(
            "a cluster makes videos: name a .mp4, .mkv, .webm or .mov; several machines can each "
            "make a range of a sequence, such as -o frames/ --frames 0:1000"
        )
    suffix = Path(name).suffix.lower()
    if video is None and suffix not in MOST_FPS:
        return _sequence(name, numbers, options)
    # Where there is a work folder, the film may be its own: see `_write_video`.
    check_output(name, again or (video is not None and os.path.isdir(folder_of(Path(name)))))
    if video is None:
        check_loop(suffix, film.fps, len(numbers) * math.prod(film.size))
        return Output(Path(name), "loop", numbers, overwrite=again)
    video.check_size(film.size)
    encode.check_encoder(video)
    own = film.scene.film.sound if film.scene.film else None
    heard = (options.sound, 0.0) if options.sound else (own.file, own.start) if own else None
    if heard:
        encode.check_sound(heard[0])
        heard = heard[0], heard[1] + numbers.start / film.fps
    if options.cluster is not None:
        check_cluster(options.cluster, film.scene, film.parts)
    output = Output(Path(name), "video", numbers, video, sound=heard, overwrite=again)
    return replace(output, keep=options.keep_strip, cluster=options.cluster)


def _numbers(film: Film, frames: tuple[int, int] | None) -> range:
    first, last = frames or (0, len(film))
    if not 0 <= first < last <= len(film):
        raise OptionError(f"frames {first}:{last}: the film has frames 0:{len(film)}")
    return range(first, last)


def _sequence(name: str, numbers: range, options: SaveOptions) -> Output:
    bits, overwrite = options.bits or (16 if options.lossless else 8), options.overwrite
    if bits not in (8, 16):
        raise OptionError(f"PNGs have 8 or 16 bits per channel, not {bits}")
    path = Path(name)
    if path.suffix.lower() == ".png":
        if not NUMBERED.search(path.name):
            raise OptionError(
                f"'{shown(name)}': a sequence has a number in its names, such as frame%05d.png; "
                "--still writes one picture"
            )
        return Output(path.parent, "sequence", numbers, None, bits, path.name, None, overwrite)
    return Output(path, "sequence", numbers, None, bits, "%05d.png", None, overwrite)


def write(film: Film, output: Output) -> Saved:
    """Write a film, and return facts about the file."""
    begun = perf_counter()
    writers = {"video": _write_video, "loop": _write_loop, "sequence": _write_sequence}
    plan = film.plan(output.video)
    making = Making(film, output, Watch(film.fps))
    resumed = writers[output.kind](making, plan.parts)
    making.flashes.end()
    found = output.path
    size = (
        sum(file.stat().st_size for file in found.iterdir() if file.is_file())
        if found.is_dir()
        else found.stat().st_size
    )
    return Saved(
        found,
        len(output.numbers),
        resumed,
        perf_counter() - begun,
        size,
        tuple(chosen.method for chosen in plan.parts),
        making.flashes.found,
    )


class Making:
    """A film that is being made: its progress and its flashes."""

    def __init__(self, film: Film, output: Output, flashes: Watch) -> None:
        self.film, self.output, self.flashes = film, output, flashes
        self.done = 0
        self._lights: dict[int, Sequence[Light]] = {}  # by the first frame of a segment

    def note(self, frames: int = 1) -> None:
        """Report that frames are done."""
        self.done += frames
        if self.film.options.progress:
            self.film.options.progress(self.done, len(self.output.numbers))

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
    film, output = making.film, making.output
    assert output.video
    _check_disk(film.plan(output.video).bytes, output.path)
    with open_work(
        output.path, _header(film, output), output.video.suffix, output.overwrite
    ) as work:
        if _is_there(output, work):
            making.note(len(output.numbers))
            work.remove()
            return len(output.numbers)
        if output.cluster is None:
            resumed = _make_segments(making, parts, output.video, work)
        else:
            assert isinstance(film, Timeline)
            given = output.numbers, output.video, work
            resumed = make_segments(output.cluster, film, *given, making.made)
            making.look_at_all()
        segments = (each for chosen in parts for each in segments_of(chosen, output.numbers))
        paths = [work.find(first) for first in sorted(each.start for each in segments)]
        _publish(film, output, work, [path for path in paths if path])
        if not output.keep:
            work.remove()
    return resumed


def _is_there(output: Output, work: FilmFolder) -> bool:
    """Tell whether a process was killed between giving this film its name and removing its folder.

    Raises
    ------
    FractalsError
        Another file has the name, and is not to be replaced.
    """
    if not os.path.exists(output.path):
        return False
    if work.is_finished(output.path):
        return True
    if not output.overwrite and not work.resumes:
        work.remove()  # it was empty, or a rest of a film that is finished
    check_output(output.path, output.overwrite)
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


def _publish(film: Film, output: Output, work: FilmFolder, segments: list[Path]) -> None:
    """Join the segments, check the number of frames, and give the film its name."""
    assert output.video
    suffix, count = output.video.suffix, len(output.numbers)
    joined = work.joined
    seconds = count / film.fps
    tell = film.options.on_message
    encode.join(segments, joined, suffix, seconds, output.sound, film.scene.title, tell)
    found = encode.count_frames(joined, tell)
    if found != count:
        raise FractalsError(
            f"'{shown(joined)}' holds {found} frames and not {count}: the same command tries again"
        )
    sync(joined)
    if not output.keep:
        work.finish()
    with writing(output.path):
        if output.overwrite:
            os.replace(joined, output.path)
        else:
            published(str(joined), output.path)
            joined.unlink(missing_ok=True)


def _header(film: Film, output: Output) -> dict[str, Any]:
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
            f"the film takes about {2 * size / 2**20:.0f} MiB while it is made, and "
            f"{free / 2**20:.0f} MiB are free there: name a place on another disk"
        )


def _write_loop(making: Making, parts: tuple[PartPlan, ...]) -> int:
    film, output = making.film, making.output
    numbers = output.numbers
    frames = making.watched(numbers.start, film.frames(numbers.start, numbers.stop))
    with written(output.path, output.overwrite) as file:
        write_loop(file, output.path.suffix.lower(), frames, film.fps, len(numbers))
    return 0


def _write_sequence(making: Making, parts: tuple[PartPlan, ...]) -> int:
    film, output = making.film, making.output
    folder = output.path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FractalsError(f"the folder '{folder}' can't be made: {error.strerror}") from None
    there = set() if output.overwrite else _pictures_there(film, output)
    making.note(len(there))
    for chosen in parts:
        for numbers in segments_of(chosen, output.numbers):
            missing = [number for number in numbers if number not in there]
            if not missing:
                continue
            made = making.watched(missing[0], film.open(chosen).frames(missing))
            for number, frame in zip(missing, made, strict=True):
                pixels = frame if output.bits == 16 else rounded(frame)
                path = folder / (output.names % number)
                Image(pixels, _scene_of(film, output, number)).save(path, output.overwrite)
    return len(there)


def _scene_of(film: Film, output: Output, number: int) -> Scene:
    return film.scene_at(number).replace(bits=16 if output.bits == 16 else 8)


def _pictures_there(film: Film, output: Output) -> set[int]:
    """Return the numbers of the pictures that an earlier call wrote.

    Raises
    ------
    FractalsError
        A file of such a name is another picture.
    """
    there = set()
    for number in output.numbers:
        path = output.path / (output.names % number)
        if os.path.lexists(path):
            with contextlib.suppress(SceneError):
                if load_scene(path) == _scene_of(film, output, number):
                    there.add(number)
                    continue
        check_output(path, False)
    return there
