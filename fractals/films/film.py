"""Film: a scene that moves, as frames, as a file, or in a notebook."""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, Unpack

from fractals.errors import FractalsError, OptionError, counted, shown
from fractals.films.frames import SingleFrames
from fractals.films.keywords import FilmKeywords, SaveKeywords
from fractals.films.motion import make_places
from fractals.films.options import FilmOptions, SaveOptions
from fractals.films.plan import Timeline
from fractals.films.warned import FLAT
from fractals.films.writing import Saved, save_film, webp_bytes
from fractals.io.image import Image
from fractals.io.load import Source
from fractals.rendering.families import family_of
from fractals.rendering.options import RenderOptions, read_request, split_keywords, with_keywords
from fractals.scene.credits import unsigned
from fractals.scene.film import FilmSettings
from fractals.scene.geometry import home_width_of, make_layers, place_of
from fractals.scene.model import Scene
from fractals.scene.numbers import (
    decimal_text,
    decimals,
    log2,
    missing_decimals,
    plain,
    scientific,
    width_text,
)
from fractals.search.find import find_misiurewicz

T = TypeVar("T")

SPEED = 1.5  # octaves a second of a zoom without a length
SHORTEST = 2.0  # seconds of a zoom without a length
# Times the width of the whole, beyond which `to` lacks a minus sign: the set would be some pixels.
WIDEST = 100
PREVIEW = 4  # the sides of a film divided by those of its preview
LEAST = 16  # pixels of a preview's side
SPARE = 12  # decimals of a center beyond those of the narrowest width
CONTRAST = 1.6  # density of the transfer cbrt over the density of log, for equal contrast
SHOWN = 12  # characters of a center in a message
NOTEBOOK = (256, 24, 12.0)  # pixels across, frames and fps of the loop in a notebook


@with_keywords(FilmKeywords, FilmOptions, RenderOptions)
def film(*sources: Source, **keywords: Unpack[FilmKeywords]) -> "Film":
    """Return the film of a scene: of its table film, or of what is asked for.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        Gallery names, files, tables and scenes, merged from left to right.
    **keywords
        Keys of the scene and options of `fractals.render`.

    Returns
    -------
    Film
        Nothing is drawn yet.

    Raises
    ------
    OptionError, SceneError
        An argument or a source is invalid, nothing moves, or keys are out of order.

    Examples
    --------
    >>> dive = film("seahorse", to="1e-4", seconds=2, fps=30, size=(64, 36), device="cpu")
    >>> len(dive)
    60
    """
    scene, asked, options = read_request(
        sources, keywords, FilmKeywords, FilmOptions, RenderOptions
    )
    to, seconds = asked.to, asked.seconds
    loops = {name: getattr(asked, name) for name in LOOPS if getattr(asked, name) is not None}
    scene = scene.unframed()
    table = (scene.film or FilmSettings()).model_dump(mode="json", exclude_none=True)
    keyed = bool(table["keys"] or table["tracks"])
    for name in ("to", *LOOPS):
        if keyed and getattr(asked, name) is not None:
            raise OptionError(
                f"{name}=: the scene has keys or tracks of its own: give a scene "
                "without [film], or change its keys"
            )
    if to is not None and loops:
        raise OptionError(
            f"to= and {next(iter(loops))}= are both given: a zoom does not end where it begins"
        )
    if loops:
        table |= _looped(scene, loops, seconds)
    elif not keyed:
        width = None if to is None else _width(to)
        if width:
            scene = _aimed(scene, width, options.on_message)
        table |= _zoomed(scene, to, width, seconds)
    if seconds is not None:
        table["seconds"] = seconds
    if asked.fps is not None:
        table["fps"] = asked.fps
    if asked.preview:
        table["density"] = min(1.0, table["density"])
    scene = unsigned(scene, scene.replace(film=table))
    if family_of(scene).single_pixels:
        scene = _with_contrast(scene, options.on_message)
    return Film(_small(scene) if asked.preview else scene, options)


class Film(Timeline):
    """A film: ``len(film)`` frames. Iterating yields them, and ``film[k]`` is one.

    Notebooks show a small loop.

    Attributes
    ----------
    scene : Scene
        With its table film.
    options : RenderOptions
        Where and how it is drawn.
    """

    def __repr__(self) -> str:
        (width, height), frames = self.size, counted(len(self), "frame")
        return f"Film({frames}, {width}x{height}, {self.fps:g} fps, {self.seconds:g} s)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Film):
            return NotImplemented
        return (self.scene, self.options) == (other.scene, other.options)

    def __hash__(self) -> int:
        return hash(self.scene.to_json())

    def still(self, seconds: float) -> Image:
        """Return the picture of a time, drawn by itself with the samples of a picture.

        Raises
        ------
        OptionError
            The film has no such time.
        """
        at = plain(seconds)
        if not isinstance(at, int | float) or not 0 <= at <= self.seconds:
            said = f"{at:g}" if isinstance(at, float) else shown(seconds, 40)
            raise OptionError(f"{said} s: the film has {self.seconds:g} s")
        return self._drawn_alone(at, SingleFrames.image)

    def _drawn_alone(self, seconds: float, draw: Callable[[SingleFrames, float], T]) -> T:
        """Return what is drawn of a time by itself, such as its picture."""
        part = self.motion.part_at(seconds)
        within = min(seconds, part.ends)
        return self.device.draw(lambda options: draw(self.single(part, options), within))

    @with_keywords(SaveKeywords, SaveOptions)
    def save(self, path: str | Path, **keywords: Unpack[SaveKeywords]) -> Saved:
        """Write the film to a file. The same call resumes a film that was interrupted.

        The workers of a cluster make the segments of a video; they need to see the work folder,
        ``NAME.film/`` beside the film.

        Parameters
        ----------
        path : str or Path
            The suffix names the type: .mp4, .mkv, .webm, .mov, .webp, .gif; a name with %05d and
            .png, or a folder NAME/, is a sequence of PNGs.
        **keywords
            No other keyword is taken.

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
        _, options = split_keywords(keywords, SaveKeywords, SaveOptions)
        return save_film(self, path, options)

    def _repr_html_(self) -> str:
        import base64
        import html

        across, count, fps = NOTEBOOK
        width, height = self.size
        size = (across, max(2, round(across * height / width)))
        small = Film(self.scene.replace(size=size, supersampling=1), self.options)
        numbers = sorted({round(k * (len(self) - 1) / (count - 1)) for k in range(count)})
        frames = (
            small._drawn_alone(small.motion.seconds(number), lambda alone, at: alone.frame(at))
            for number in numbers
        )
        source = base64.b64encode(webp_bytes(frames, fps)).decode()
        return (
            f'<figure><img src="data:image/webp;base64,{source}">'
            f"<figcaption>{html.escape(repr(self))}</figcaption></figure>"
        )


def _with_contrast(scene: Scene, on_message: Callable[[str], None]) -> Scene:
    """Return a scene whose colors by "auto" are not flat in deep frames.

    All frames share a count offset, and logarithms of large counts differ by little. Cube roots
    with CONTRAST times the density have the same contrast near a count of 20.
    """
    assert scene.film
    places = make_places(scene, scene.film.keys) if scene.film.keys else []
    widths = [place.width for place in places] or [Fraction(1)]
    layer = make_layers(scene).drawn[0]
    flat = layer.subtracts_offset and layer.transfer == "log"
    tracked = any(name.split(".")[-1] == "density" for name in scene.film.tracks)
    octaves = log2(max(widths) / min(widths))
    if not flat or tracked or octaves <= FLAT:
        return scene
    on_message(
        f"a zoom of {octaves:.0f} octaves: deep frames would be flat with the transfer log, so it "
        f"is cbrt, and the density {CONTRAST} times as high; transfer='log' keeps both"
    )
    return scene.replace(transfer="cbrt", density=CONTRAST * scene.color.density)


def _looped(scene: Scene, loops: Mapping[str, float], seconds: float | None) -> Mapping[str, Any]:
    """Return the table of a film in which something goes round, by the seconds of a round."""
    length = max(loops.values()) if seconds is None else seconds
    tracks = {}
    for name, once in loops.items():
        if not 0 < once < math.inf:
            raise OptionError(f"{name}={once:g}: give more than 0 seconds")
        track, first, whole = LOOPS[name](scene)
        rounds = round(length / once)
        if rounds < 1 or not math.isclose(rounds * once, length, rel_tol=1e-9):
            raise OptionError(
                f"{name}={once:g}: {length:g} s are no whole number of such rounds: the loop would "
                "jump"
            )
        tracks[track] = [[0, first], [length, first + rounds * whole]]
    return {"loop": True, "tracks": tracks, "seconds": length}


# What goes round in a loop: the track, its first value, and what a round adds to it.


def _palette_round(scene: Scene) -> tuple[str, float, float]:
    if not scene.color.make_palette().cyclic:
        raise OptionError("cycle=: the palette has two ends; give a cyclic one by palette=")
    return "offset", scene.color.offset, 1.0


def _formula_round(scene: Scene) -> tuple[str, float, float]:
    formula = scene.make_any_formula()
    if "turn" not in formula.parameters:
        raise OptionError(f"turn=: '{formula.name}' does not turn: flames and flows do")
    return "formula.turn", formula.parameters["turn"], 360.0


LOOPS: dict[str, Callable[[Scene], tuple[str, float, float]]] = {
    "cycle": _palette_round,
    "turn": _formula_round,
}


def _zoomed(
    scene: Scene, to: Any, width: Fraction | None, seconds: float | None
) -> Mapping[str, Any]:
    """Return the table of a film that zooms; `width` is the number of `to`."""
    own, _ = place_of(scene)
    if width is None:
        first, last = home_width_of(scene), own
        if first == last:
            raise OptionError(
                "nothing moves: give to=WIDTH, cycle=SECONDS, turn=SECONDS, or a scene with "
                "[[film.keys]]"
            )
    else:
        first, last = own, width
        if (times := last / home_width_of(scene)) > WIDEST:
            raise OptionError(
                f"to={to} is {scientific(times)} times the width of the whole fractal, which would "
                "be a dot: give a smaller width, such as 1e-12"
            )
        if first == last:
            raise OptionError(f"to={to} is the width of the scene, so nothing moves: give another")
    seconds = seconds or max(SHORTEST, abs(log2(first / last)) / SPEED)
    start = {"at": 0, "width": width_text(first)}
    return {"keys": [start, {"at": seconds, "width": width_text(last)}], "seconds": seconds}


def _aimed(scene: Scene, width: Fraction, on_message: Callable[[str], None]) -> Scene:
    center, needed = scene.view.center, decimals(width)
    missing = missing_decimals(center, width) if center else 0
    if not missing:  # the scene's center lies in the last view
        return scene
    try:
        eye = find_misiurewicz(scene, digits=needed + SPARE)
    except FractalsError:
        return scene  # drawing tells how many digits are missing
    x, y = eye.center
    on_message(
        f"the zoom goes to the eye of a spiral, {x[:SHOWN]}..., {y[:SHOWN]}..., because the "
        f"scene's center has {counted(needed - missing, 'decimal')} and this depth requires "
        f"{needed}"
    )
    return scene.replace(center=(x, y))


def _width(given: Any) -> Fraction:
    try:
        width = Fraction(Decimal(decimal_text(given)))
    except ValueError as error:
        raise OptionError(f"to=: {error}") from None
    if not width > 0:
        raise OptionError(f"to={given} is not greater than 0")
    return width


def _small(scene: Scene) -> Scene:
    width, height = (max(LEAST, side // PREVIEW // 2 * 2) for side in scene.image.size)
    return scene.replace(size=(width, height), supersampling=1)
