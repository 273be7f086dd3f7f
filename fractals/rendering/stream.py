"""A picture drawn into a file: bands of rows are compressed, written and let go on the way."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import BinaryIO, Unpack

from fractals.io import png
from fractals.io.escape_data import EscapeData
from fractals.io.files import check_output, written
from fractals.io.image import Image, check_format, format_of, png_beginning
from fractals.io.load import load_scene
from fractals.rendering.bands import Bands
from fractals.rendering.compiled_tiles import DrawTiles
from fractals.rendering.render import Options, Session, Source, recolor, render
from fractals.rendering.tiles import Tile
from fractals.scene.layers import make_layers
from fractals.scene.model import Scene
from fractals.threads import Progress, Queue, add, core_count


@dataclass(frozen=True)
class Rendered:
    """What is known of a picture that was drawn into a file.

    Attributes
    ----------
    timings : dict of str to float
        Seconds of each stage, as of an `Image`. What was compressed while a GPU drew is no part of
        encode.
    """

    scene: Scene
    timings: dict[str, float]
    device: str
    precision: str
    method: str


def render_to(
    path: str | Path | BinaryIO,
    *sources: Source,
    overwrite: bool = True,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Rendered:
    """Draw a picture into a file: what `render` and `Image.save` write, byte for byte.

    A PNG is written band by band, and so may be larger than the memory. A picture of another type,
    or whose colors depend on all of it (histogram, rank), is drawn whole first. The parameters that
    are not named here are those of `render`.

    Parameters
    ----------
    path : str, Path or binary file
        Its suffix names the type; an open file gets a PNG.
    overwrite : bool
        False: a file that exists already is an error.

    Raises
    ------
    OptionError
        The suffix is of no type that can be written, or of one that can't hold this picture.
    FractalsError
        The file can't be written; what was there before is still there.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> render_to(file, {"image": {"size": [8, 6]}}, device="cpu").device
    'cpu'
    >>> file.getvalue()[1:4]
    b'PNG'
    """
    scene = load_scene(*sources)
    threads = options.get("threads")
    whole = make_layers(scene).whole  # then its colors wait for all of its samples
    if whole and not isinstance(path, str | Path):
        image = render(scene, progress=progress, **options)
        path.write(image.encode())
        return _rendered(image)
    if not isinstance(path, str | Path):
        return _stream(path, Session(scene, streamed=True, **options), threads, progress)
    file_format = format_of(path)
    check_format(file_format, scene.image.size, scene.image.bits)
    check_output(path, overwrite)
    if file_format == "PNG" and not whole:
        session = Session(scene, streamed=True, **options)
        with written(path, overwrite) as file:
            return _stream(file, session, threads, progress)
    image = render(scene, progress=progress, **options)
    image.save(path, overwrite)
    return _rendered(image)


def _rendered(image: Image) -> Rendered:
    return Rendered(image.scene, image.timings, image.device, image.precision, image.method)


def recolor_to(
    path: str | Path | BinaryIO,
    raw: EscapeData,
    *sources: Source,
    overwrite: bool = True,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
    on_message: Callable[[str], None] = warnings.warn,
) -> Rendered:
    """Draw raw numbers into a file: what `color` and `Image.save` write, byte for byte.

    As with `render_to`, a PNG of a store may be larger than the memory: it is read in bands too.
    Where colors depend on all of it (histogram, rank), that takes 40 bytes a sample.
    """
    scene = load_scene(*(sources or (raw.scene,)))
    file_format = "PNG"
    if isinstance(path, str | Path):
        file_format = format_of(path)
        check_format(file_format, scene.image.size, scene.image.bits)
        check_output(path, overwrite)
        if file_format != "PNG":
            image = recolor(
                raw, scene, device=device, threads=threads, progress=progress, on_message=on_message
            )
            image.save(path, overwrite)
            return _rendered(image)
    session = Session(
        scene, device, raw.precision, threads, on_message=on_message, streamed=True, force=True
    )
    if not isinstance(path, str | Path):
        return _stream(path, session, threads, progress, raw)
    with written(path, overwrite) as file:
        return _stream(file, session, threads, progress, raw)


def _stream(
    file: BinaryIO,
    session: Session,
    threads: int | None,
    progress: Progress | None,
    raw: EscapeData | None = None,
) -> Rendered:
    picture, timings = session.scene.image, session.timings
    if raw:
        session.recolor(raw)
    else:
        session.start(iterating=True, shading=True, progress=progress)
    writer = png.Writer(file, png_beginning(session.scene, picture.size, picture.bits))
    bands = Bands(session, writer)
    drawing = session.backend.threads  # 0: the calling thread draws, so that others compress
    timings["encode"] = 0.0

    def draw(tile: Tile) -> dict[str, float]:
        with bands.given_up_on_error():
            begun = perf_counter()
            bands.wait_for_room(tile)
            waited = perf_counter() - begun
            seconds = session.draw(tile, bands.keep)
            begun = perf_counter()
            if drawing:
                bands.help()
            return {**seconds, "encode": waited + perf_counter() - begun}

    with bands.given_up_on_error():
        if not drawing:
            bands.start_helpers(threads or core_count())
        if draws := session.tiles_drawn():
            queue = Queue(len(session.plan.tiles))
            works = [partial(_sweep, bands, queue, draw_tiles) for draw_tiles in draws]
            session.run_queue(queue, works, progress)
        else:
            session.run(draw, progress)
        begun = perf_counter()
        if drawing:
            bands.start_helpers(drawing)
        bands.join_helpers()
    writer.end()
    timings["encode"] += perf_counter() - begun
    plan = session.plan
    return Rendered(session.scene, timings, session.device.kind, plan.precision, plan.method)


def _sweep(bands: "Bands", queue: Queue, draw_tiles: DrawTiles) -> dict[str, float]:
    """Draw tiles of the queue while there are some, and compress strips of bands that are whole."""
    spent: dict[str, float] = {}
    with bands.given_up_on_error():
        last = perf_counter()
        while bands.wait_for_tiles(queue):
            begun = perf_counter()
            laps = draw_tiles(queue, bands.rows, bands.height, bands.pixels_left)
            drawn = perf_counter()
            bands.note()
            bands.help()
            share = (drawn - begun) / (sum(laps.values()) or 1)  # others took all tiles
            waited = {"encode": begun - last + perf_counter() - drawn}
            last = perf_counter()
            add(spent, {stage: share * lap for stage, lap in laps.items()} | waited)
    return spent
