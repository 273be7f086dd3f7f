"""A film by a cluster: its workers make the bands of strips, and encode segments.

Bands are files in the film's work folder, which all workers see, so each is made once. A segment is
encoded once its bands are there, and comes back as a part. A band goes when the last segment that
needs it is there.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fractals.errors import FractalsError, OptionError
from fractals.films import encode
from fractals.films.encode import CODECS, Encoder, Encoders, Video
from fractals.films.flashes import Light, luminance
from fractals.films.frames import FilmConstants, FrameSource, prepared
from fractals.films.gather import FrameMaker
from fractals.films.plan import PartPlan, Timeline, segments_of, threads_of
from fractals.films.planes import Frame
from fractals.films.strip import Strip
from fractals.films.texel_files import band_path
from fractals.films.work import PARTS, FilmFolder, crc_of
from fractals.io.stores.parts import StoreParts, this_machine
from fractals.io.stores.store import header_text
from fractals.rendering.cluster import dispatch
from fractals.rendering.cluster.dispatch import PartForecast
from fractals.rendering.cluster.job import Cluster, ClusterJob, check_formula, run_job
from fractals.rendering.cluster.worker import (
    Made,
    RefusedError,
    facts_of_this_program,
    refuse_other,
    shares_folder,
)
from fractals.rendering.options import RenderOptions
from fractals.rendering.resume_data import ResumeData
from fractals.scene.model import Scene

OPENER = "fractals.films.cluster"  # the module of the workers' side
# Seconds of a task of segments, which are encoded together by one core each: with fewer of them,
# most cores of a large machine wait for the last encoder.
AIM = 20.0
SIDE = 64  # pixels of the frames that each machine encodes before it joins


@dataclass(frozen=True)
class Piece:
    """What a worker makes: a band of a strip, or a segment."""

    name: str  # of the part that comes back
    chosen: PartPlan  # the part of the film, and how it is made
    seconds: float  # forecast
    band: int | None = None  # None for a segment
    frames: range = range(0)  # of a segment
    # Of a segment: places of its bands in `pieces_of`; frozenset of int
    needs: frozenset[int] = frozenset()


def pieces_of(film: Timeline, numbers: range, video: Video) -> list[Piece]:
    """Return what workers make of some frames, bands before the first segment that needs them.

    All machines of a job have the same list.
    """
    pieces: list[Piece] = []
    encoding = film.scene.image.size[0] * film.scene.image.size[1] / threads_of(film.options)
    encoding /= CODECS[video.codec].pixels_a_second
    for chosen in film.parts:
        places: dict[int, int] = {}  # of bands
        strip = chosen.strip
        drawn = chosen.iterating if chosen.method == "frames" else 0.0
        each = (chosen.coloring + drawn) / len(chosen.part.frames) + encoding
        for frames in segments_of(chosen, numbers):
            needs = _bands_of(strip, frames) if strip else []
            for band in needs:
                if strip and band not in places:
                    places[band] = len(pieces)
                    seconds = chosen.iterating * strip.layout.band_samples(band) / strip.samples
                    name = f"{len(pieces):06d}.band"
                    pieces.append(Piece(name, chosen, seconds, band))
            name = f"{len(pieces):06d}.segment"
            own = frozenset(places[band] for band in needs)
            pieces.append(Piece(name, chosen, each * len(frames), None, frames, own))
    return pieces


def _bands_of(strip: Strip, frames: range) -> list[int]:
    """Return the bands that frames of a strip need, the innermost first."""
    octaves = [strip.part.moment(number).octaves for number in (frames[0], frames[-1])]
    shallow, deep = min(octaves), max(octaves)
    if strip.colors:
        return sorted(strip.sampled.bands_of(shallow, deep), reverse=True)
    layout = strip.layout
    needed = {
        band
        for level in range(layout.levels)
        for band in layout.needed(level, shallow, deep)
        if level >= layout.finest(band)
    }
    return sorted(needed, reverse=True)


def check_cluster(cluster: Any, film: Timeline) -> None:
    """Raise an `OptionError` where a cluster can't make a film."""
    if not film.family.single_pixels:
        compared(film)
        return
    check_formula(film.scene.make_formula())
    strips = any(chosen.strip for chosen in film.parts)
    if strips and isinstance(cluster, Cluster) and cluster.returns:
        raise OptionError(
            "a zoom does not return through Dask (returns=True): its bands are files in the film's "
            "work folder, which all workers need to see"
        )


def make_segments(
    cluster: Any,
    film: Timeline,
    numbers: range,
    video: Video,
    work: FilmFolder,
    made: Callable[[range, Sequence[Light]], None],
) -> int:
    """Have the segments of a film made, and return how many frames were there before.

    `made` is called with the frames of each segment, and the luminance of those that were made now.

    Raises FractalsError: the cluster can't finish the film. Finished segments are kept.
    """
    header = {**_header(film, numbers, video), "film": work.film}
    digest = hashlib.sha256(header_text(header).encode("utf-8", "surrogatepass"))
    parts = StoreParts(work.path / PARTS, digest.hexdigest()[:32])
    pieces = pieces_of(film, numbers, video)
    collected = _Collected(pieces, parts, work, made)
    missing = collected.missing()
    resumed = sum(len(pieces[k].frames) for k in collected.done)
    if missing:
        plan = PartForecast(
            lambda k: pieces[k].seconds,
            lambda k: dispatch.AIM if pieces[k].band is not None else AIM,
            collected.is_ready,
        )
        job = ClusterJob(
            "film",
            header,
            parts,
            collected.missing,
            ResumeData(film.facts.max_iterations, film.facts.count_offset),
            compared(film)[0],
            received=collected.receive,
            opener=OPENER,
            program=facts_of_this_program() | facts_of_the_encoder(video),
            plan=plan,
        )
        run_job(cluster, job, film.options.replace(progress=None))
    parts.clear()
    return resumed


def _header(film: Timeline, numbers: range, video: Video) -> dict[str, Any]:
    table = film.scene.film
    silent = table.model_copy(update={"sound": None}) if table else None
    return {
        "scene": film.scene.model_copy(update={"film": silent}).to_table(),
        "frames": [numbers.start, numbers.stop],
        "video": [video.codec, video.bits, video.sampling, video.suffix],
        "facts": film.facts.to_table(),
        "segments": [chosen.segment for chosen in film.parts],
    }


def facts_of_the_encoder(video: Video) -> dict[str, str]:
    """Return what must be equal on all machines, so that segments have the same bytes."""
    frame = (np.arange(SIDE * SIDE * 3, dtype=np.uint32) ** 2 % 65521).astype(np.uint16)
    with TemporaryDirectory(prefix="fractals-") as folder:
        path = Path(folder, f"known{video.suffix}")
        encoder = Encoder(path, video, (SIDE, SIDE), Fraction(25))
        encoder.write_all(np.roll(frame, k).reshape(SIDE, SIDE, 3) for k in range(3))
        encoder.close()
        return {"ffmpeg": f"{encode.version()} ({crc_of(path):08x})"}


def compared(film: Timeline) -> tuple[int, str]:
    """Return the checksum of some numbers of the first frame, and the kind of the device."""
    scene = film.scene_at(0)
    if film.family.single_pixels:
        scene = prepared(scene, film.facts)

    def compare(options: RenderOptions) -> tuple[int, str]:
        quiet = options.replace(force=True, progress=None, on_message=lambda line: None)
        return film.family.compared(scene, quiet)

    return film.device.draw(compare)


class _Collected:
    """The segments and bands that are there."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        parts: StoreParts,
        work: FilmFolder,
        made: Callable[[range, Sequence[Light]], None],
    ) -> None:
        self._pieces, self._parts, self._work, self._made = pieces, parts, work, made
        self._segments = [k for k, piece in enumerate(pieces) if piece.band is None]
        self._users: dict[int, set[int]] = defaultdict(set)  # of bands: segments to be made
        self._bands: set[int] = set()
        # Places of segments in the work folder
        self.done = {k for k in self._segments if work.find(pieces[k].frames.start)}
        for k in self._segments:
            if k in self.done:
                made(pieces[k].frames, ())
                continue
            for band in pieces[k].needs:
                self._users[band].add(k)

    def missing(self) -> list[int]:
        """Return the places of pieces that are missing and needed."""
        for k in self._segments:
            self._take(k)
        missing = [k for k in self._segments if k not in self.done]
        needed = {band for k in missing for band in self._pieces[k].needs}
        self._bands = {band for band in needed if self._has(band)}
        return sorted({*missing, *(needed - self._bands)})

    def is_ready(self, k: int) -> bool:
        """Tell whether the bands of a piece are there."""
        return self._pieces[k].needs <= self._bands

    def receive(self, k: int) -> None:
        """Note that a worker has made a piece."""
        if self._pieces[k].band is None:
            self._take(k)
        else:
            self._bands.add(k)

    def _take(self, k: int) -> None:
        """Move a segment from its part to the work folder, and remove bands of no more use."""
        piece = self._pieces[k]
        part = self._parts.read(piece.name) if k not in self.done else None
        if part is None:
            return
        video, light = part.arrays.get("video"), part.arrays.get("light")
        count = len(piece.frames)
        if video is None or light is None or video.dtype != np.uint8 or len(light) != count:
            self._parts.remove([part.name])  # no segment is in it: it is made again
            return
        first = piece.frames.start
        self._work.draft(first).write_bytes(video.data)
        self._work.keep(first)
        self.done.add(k)
        self._made(piece.frames, list(light))
        names = [piece.name]
        for band in piece.needs:
            self._users[band].discard(k)
            if not self._users[band]:
                names.append(self._pieces[band].name)
                self._path(band).unlink(missing_ok=True)
        self._parts.remove(names)

    def _has(self, band: int) -> bool:
        return self._path(band).exists() and self._parts.read(self._pieces[band].name) is not None

    def _path(self, k: int) -> Path:
        piece = self._pieces[k]
        assert piece.band is not None
        return band_path(self._work.bands(piece.chosen.part.frames.start), piece.band)


# The worker's side: what a worker of a cluster holds of a film.


def open_session(
    job: Mapping[str, Any], scene: Scene, options: RenderOptions, known: ResumeData
) -> "FilmSession":
    """Return the session of a film."""
    header = job["header"]
    found = FilmConstants(known.max_iterations, known.count_offset)
    film, video = Timeline(scene, options, found), Video(*header["video"])
    try:
        refuse_other(facts_of_the_encoder(video), job["program"])
    except RefusedError:
        raise
    except FractalsError as error:
        raise RefusedError(f"{this_machine()} is refused: {error}") from None
    if not shares_folder(job) and any(chosen.strip for chosen in film.parts):
        raise RefusedError(
            f"{this_machine()} is refused: it does not see '{job['folder']}', where the bands of a "
            "zoom are"
        )
    # The folder of the machine that asks.
    work = FilmFolder(Path(job["folder"]).parent, video.suffix, header["film"])
    return FilmSession(film, range(*header["frames"]), video, work)


class FilmSession:
    """A film on this worker; the part that was made last is kept between tasks.

    The machine that asks compares `known_sum` with its own; `device` is the kind of the device.
    """

    def __init__(self, film: Timeline, numbers: range, video: Video, work: FilmFolder) -> None:
        self._film, self._video, self._work = film, video, work
        self._pieces = pieces_of(film, numbers, video)
        self._opened: tuple[PartPlan, FrameSource] | None = None
        self.known_sum, self.device = compared(film)
        self._open(self._pieces[0].chosen)

    def compute(self, numbers: Sequence[int]) -> Iterator[Made]:
        """Yield bands, then segments, which are encoded together."""
        for k in numbers:
            if self._pieces[k].band is not None:
                yield self._band(k)
        segments = [k for k in numbers if self._pieces[k].band is None]
        if segments:
            yield from self._segments(segments)

    def _open(self, chosen: PartPlan) -> FrameSource:
        if not self._opened or self._opened[0] is not chosen:
            self._opened = None  # its memory is free before the next one takes some
            folder = self._work.bands(chosen.part.frames.start)
            method = self._film.opened(chosen, folder, self._film.options)
            if isinstance(method, FrameMaker):
                method.files.share()
            self._opened = chosen, method
        return self._opened[1]

    def _band(self, k: int) -> Made:
        piece = self._pieces[k]
        maker = self._open(piece.chosen)
        assert isinstance(maker, FrameMaker)
        assert piece.band is not None
        maker.make(piece.band)
        crc = np.frombuffer(maker.files.sum_of(piece.band), np.uint8)
        return Made(k, piece.name, {"crc": crc}, {})

    def _segments(self, numbers: Sequence[int]) -> Iterator[Made]:
        film, lights = self._film, dict[int, list[Light]]()
        size, threads = film.scene.image.size, film.options.threads
        assert film.scene.film
        fps = film.scene.film.fps
        with TemporaryDirectory(prefix="fractals-segments-") as folder:
            work = FilmFolder(Path(folder), self._video.suffix)
            work.clean()
            with Encoders(size, fps, self._video, work, threads, 0.0) as encoders:
                for k in numbers:
                    piece, lights[k] = self._pieces[k], []
                    encoders.encode(piece.frames.start, self._frames(piece, lights[k]))
            for k in numbers:
                piece = self._pieces[k]
                path = work.find(piece.frames.start)
                if path is None:
                    raise FractalsError(f"{this_machine()}: a segment of the film was damaged")
                video = np.fromfile(path, np.uint8)
                yield Made(k, piece.name, {"video": video, "light": np.array(lights[k])}, {})

    def _frames(self, piece: Piece, lights: list[Light]) -> Iterator[Frame]:
        for frame in self._open(piece.chosen).frames(piece.frames):
            lights.append(luminance(frame))
            yield frame
