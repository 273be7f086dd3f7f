"""What a worker of a cluster holds of a film: see `fractals.films.cluster`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fractals.errors import FractalsError
from fractals.films.cluster import (
    Piece,
    facts_of_the_encoder,
    first_drawing,
    pieces_of,
    timeline_of,
)
from fractals.films.encode import Video
from fractals.films.encoders import Encoders
from fractals.films.flashes import Light, luminance
from fractals.films.plan import Chosen, Method
from fractals.films.planes import Frame
from fractals.films.strip import Strip
from fractals.films.timeline import Timeline
from fractals.films.work import Work
from fractals.io.parts import this_machine
from fractals.rendering.cluster.worker import (
    Made,
    RefusedError,
    known_sum,
    refuse_other,
    shares_folder,
)
from fractals.rendering.known import Known
from fractals.rendering.options import RenderOptions
from fractals.scene.model import Scene


def open_session(
    job: Mapping[str, Any], scene: Scene, options: RenderOptions, known: Known
) -> "FilmSession":
    """Return the session of a film."""
    header = job["header"]
    film, video = timeline_of(scene, options, known), Video(*header["video"])
    try:
        refuse_other(facts_of_the_encoder(video), job["program"])
    except RefusedError:
        raise
    except FractalsError as error:
        raise RefusedError(f"{this_machine()} is refused: {error}") from None
    if not shares_folder(job) and any(chosen.method == "strip" for chosen in film.parts):
        raise RefusedError(
            f"{this_machine()} is refused: it does not see '{job['folder']}', where the bands of a "
            "zoom are"
        )
    work = Work(Path(job["folder"]).parent, video.suffix, header["film"])  # of who asks
    return FilmSession(film, range(*header["frames"]), video, work)


class FilmSession:
    """A film on this worker; the part that was made last is kept between tasks.

    Attributes
    ----------
    known_sum : int
        What the machine that asks compares with its own.
    device : str
        The kind of the device.
    """

    def __init__(self, film: Timeline, numbers: range, video: Video, work: Work) -> None:
        self._film, self._video, self._work = film, video, work
        self._pieces = pieces_of(film, numbers, video)
        self._opened: tuple[Chosen, Method] | None = None
        drawing = first_drawing(film)
        self.known_sum, self.device = known_sum(drawing), drawing.plan.device
        self._open(self._pieces[0].chosen)

    def compute(self, numbers: Sequence[int]) -> Iterator[Made]:
        """Yield bands, then segments, which are encoded together."""
        for k in numbers:
            if self._pieces[k].band is not None:
                yield self._band(k)
        segments = [k for k in numbers if self._pieces[k].band is None]
        if segments:
            yield from self._segments(segments)

    def _open(self, chosen: Chosen) -> Method:
        if not self._opened or self._opened[0] is not chosen:
            self._opened = None  # its memory is free before the next one takes some
            method = self._film.open(chosen, self._work.bands(chosen.part.frames.start))
            if isinstance(method, Strip):
                method.prepare().files.share()
            self._opened = chosen, method
        return self._opened[1]

    def _band(self, k: int) -> Made:
        piece = self._pieces[k]
        strip = self._open(piece.chosen)
        assert isinstance(strip, Strip)
        assert piece.band is not None
        strip.make(piece.band)
        crc = np.frombuffer(strip.prepare().files.sum_of(piece.band), np.uint8)
        return Made(k, piece.name, {"crc": crc}, {})

    def _segments(self, numbers: Sequence[int]) -> Iterator[Made]:
        film, lights = self._film, dict[int, list[Light]]()
        size, threads = film.scene.image.size, film.options.threads
        assert film.scene.film
        fps = film.scene.film.fps
        with TemporaryDirectory(prefix="fractals-segments-") as folder:
            work = Work(Path(folder), self._video.suffix)
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
