"""Film: a scene that moves, as frames, as a file, or in a notebook."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

from fractals.errors import OptionError
from fractals.films.encode import Video
from fractals.films.frames import SingleFrames
from fractals.films.plan import FilmPlan, Timeline, threads_of
from fractals.films.planes import Frame
from fractals.films.request import ZoomRequest, with_wishes
from fractals.films.writing import Saved, SaveOptions, make_output, write
from fractals.io.image import Image
from fractals.io.load import Source
from fractals.rendering.options import (
    read_request,
    split_keywords,
    with_keywords,
)
from fractals.scene.keywords import RenderKeywords, SaveKeywords

NOTEBOOK = (256, 24, 12.0)  # pixels across, frames and fps of the loop in a notebook


@with_keywords(RenderKeywords)
def film(
    *sources: Source,
    to: Any = None,
    seconds: float | None = None,
    fps: float | None = None,
    cycle: float | None = None,
    preview: bool = False,
    **keywords: Unpack[RenderKeywords],
) -> "Film":
    """Return the film of a scene: of its table film, or of what is asked for.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        As of `fractals.render`.
    to : str or number, optional
        Zoom from the scene's view to this width. Without it, and without keys in the scene, the
        film zooms from the formula's home view to the scene's view.
    seconds, fps : float, optional
        Length and frames a second; by default those of the scene, or 1.5 octaves and 60.
    cycle : float, optional
        Seconds in which the palette moves once round, without a jump at the end.
    preview : bool
        True: a quarter of the size, one sample a pixel.
    **keywords
        As of `fractals.render`.

    Returns
    -------
    Film
        Nothing is drawn yet.

    Raises
    ------
    OptionError, SceneError
        As of `fractals.render`; or nothing moves, or keys are out of order.

    Examples
    --------
    >>> dive = film("seahorse", to="1e-4", seconds=2, fps=30, size=(64, 36), device="cpu")
    >>> len(dive)
    60
    """
    scene, options = read_request(sources, keywords)
    scene = scene.unframed()
    return Film(
        with_wishes(scene, ZoomRequest(to, cycle, seconds, fps, preview), options.on_message),
        options,
    )


class Film(Timeline):
    """A film: ``len(film)`` frames. Iterating yields them; notebooks show a small loop.

    Attributes
    ----------
    scene : Scene
        With its table film.
    options : RenderOptions
        Where and how it is drawn.
    """

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

    def __repr__(self) -> str:
        width, height = self.size
        return f"Film({len(self)} frames, {width}x{height}, {self.fps:g} fps, {self.seconds:g} s)"

    def __iter__(self) -> Iterator[Frame]:
        return self.frames()

    def frames(self, first: int = 0, last: int | None = None) -> Iterator[Frame]:
        """Yield frames: arrays of uint16, shape (height, width, 3), of sRGB values.

        Parameters
        ----------
        first, last : int
            The first frame, and the one after the last.
        """
        numbers = range(len(self))[first:last]
        for chosen in self.parts:
            part = chosen.part.frames
            own = range(max(numbers.start, part.start), min(numbers.stop, part.stop))
            if own:
                yield from self.open(chosen).frames(own)

    def still(self, seconds: float) -> Image:
        """Return the picture of a time, drawn by itself with the samples of a picture.

        Raises
        ------
        OptionError
            The film has no such time.
        """
        if not 0 <= seconds <= self.seconds:
            raise OptionError(f"{seconds:g} s: the film has {self.seconds:g} s")
        frames, seconds = self._drawn_alone(seconds)
        return frames.image(seconds)

    def _drawn_alone(self, seconds: float) -> tuple[SingleFrames, float]:
        """Return what draws single frames of a time's part, and the time within the part."""
        part = self.motion.part_at(seconds)
        frames = SingleFrames(self.motion, self.tracks, part, self.facts, self.options)
        return frames, min(seconds, part.ends)

    def plan(self, video: Video | None = None, measured: bool = False) -> FilmPlan:
        """Return the method of each part with its reason, and forecasts.

        measured : bool
            Whether seconds are measured on some samples, which compiles programs.
        """
        parts = self.measured() if measured else self.parts
        return FilmPlan(self.scene, parts, len(self), video, threads_of(self.options))

    @with_keywords(SaveKeywords, SaveOptions)
    def save(self, path: str | Path, **keywords: Unpack[SaveKeywords]) -> Saved:
        """Write the film to a file. The same call resumes a film that was interrupted.

        Parameters
        ----------
        path : str or Path
            The suffix names the type: .mp4, .mkv, .webm, .mov, .webp, .gif; a name with %05d and
            .png, or a folder NAME/, is a sequence of PNGs.
        overwrite : bool
            True: an existing file is replaced.
        codec : str, optional
            "h264", "hevc", "av1", "prores", "ffv1" or "png".
        bits : int, optional
            Of a channel.
        lossless : bool
            True: FFV1 of 16 bits in .mkv, or PNGs of 16 bits.
        frames : (int, int), optional
            The first frame, and the one after the last.
        sound : str, optional
            A file of sound, in place of the scene's.
        keep_strip : bool
            True: the work folder stays.
        cluster : object, optional
            Workers that make the segments of a video, as of `fractals.compute_to`. They need to see
            the work folder, ``NAME.film/`` beside the film.

        Returns
        -------
        Saved
            Facts about the file.

        Raises
        ------
        OptionError
            The options do not fit together, or another film was begun there.
        FractalsError
            ffmpeg is missing or fails, or the file can't be written. What is done is kept.
        """
        _, given = split_keywords(keywords, SaveKeywords, SaveOptions)
        return write(self, make_output(self, path, SaveOptions(**given)))

    def _repr_html_(self) -> str:
        import base64
        import html

        from fractals.films.loops import webp_bytes

        across, count, fps = NOTEBOOK
        width, height = self.size
        size = (across, max(2, round(across * height / width)))
        small = Film(self.scene.replace(size=size, supersampling=1), self.options)
        numbers = sorted({round(k * (len(self) - 1) / (count - 1)) for k in range(count)})
        places = (small._drawn_alone(small.motion.seconds(number)) for number in numbers)
        frames = (alone.frame(seconds) for alone, seconds in places)
        source = base64.b64encode(webp_bytes(frames, fps)).decode()
        return (
            f'<figure><img src="data:image/webp;base64,{source}">'
            f"<figcaption>{html.escape(repr(self))}</figcaption></figure>"
        )
