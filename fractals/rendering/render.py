"""The pipeline: scene -> plan -> tiles -> raw numbers -> picture. Read this first."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, Unpack

from fractals.backends.base import Backend, Stages
from fractals.errors import DeviceFailedError, OptionError, on_the_cpu, typed
from fractals.io import png
from fractals.io.facts import resolved_values
from fractals.io.image import Image, png_beginning
from fractals.io.load import Source, with_colors
from fractals.io.raw_data import RawData
from fractals.rendering.bands import Bands, Helpers, ended_on_error
from fractals.rendering.drawing import (
    Drawing,
    DrawTiles,
    Loop,
    Sink,
    compiled_draws,
    draw_all,
    draw_tile_to,
    open_drawing,
    open_plan,
    run,
)
from fractals.rendering.families import (
    Rendered,
    family_of,
    load_raw,
    tell_of_page,
    unused,
)
from fractals.rendering.iteration import Stop
from fractals.rendering.options import (
    CHOSEN,
    PictureFileOptions,
    PictureOptions,
    RenderOptions,
    ReplaceOptions,
    read_request,
    reading,
    with_keywords,
)
from fractals.rendering.plan import Plan
from fractals.rendering.preview import Canvas, check_apart, watching
from fractals.rendering.raw_numbers import EscapeData, open_colored
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import make_layers
from fractals.scene.keywords import (
    PictureKeywords,
    RecolorFileKeywords,
    RecolorKeywords,
    RenderFileKeywords,
    RenderKeywords,
)
from fractals.scene.model import Scene
from fractals.scene.paint import Color
from fractals.threads import Queue, add, threads_for

if TYPE_CHECKING:
    from fractals.rendering.measured import Measured

T = TypeVar("T")
Own = TypeVar("Own", bound=RenderOptions)


@with_keywords(PictureKeywords, PictureOptions)
def render(*sources: Source, **keywords: Unpack[PictureKeywords]) -> Image:
    """Draw a picture.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        Gallery names, files, tables and scenes, merged from left to right. None: the
        Mandelbrot set.
    **keywords
        Keys of the scene without their table, such as ``size``, ``palette`` or ``center``; they are
        merged last.

    Returns
    -------
    Image
        Pixels, scene, and the seconds of each stage.

    Raises
    ------
    OptionError
        A keyword is unknown or has a bad value; or the picture does not fit into memory.
    SceneError
        A source can't be read, or the scene is invalid; all errors are reported at once.
    DeviceError
        The device is missing.

    Examples
    --------
    >>> render("mandelbrot", size=(8, 6), device="cpu").pixels.shape
    (6, 8, 3)
    """
    scene, options = read_fitted_request(sources, keywords, PictureKeywords, PictureOptions)
    with watching(scene, options) as watched:
        return or_on_the_cpu(partial(family_of(scene).render, scene), watched)


def or_on_the_cpu(draw: Callable[[Own], T], options: Own, path: str | Path | BinaryIO = "") -> T:
    """Return ``draw(options)``: on the CPU, if "auto" has chosen a GPU that fails meanwhile."""
    try:
        return draw(options)
    except DeviceFailedError as error:
        options = without_gpu(options, error, path)
    return draw(options)


def without_gpu(options: Own, error: DeviceFailedError, path: str | Path | BinaryIO = "") -> Own:
    """Return options that draw on the CPU, and tell the user why; or raise the error of the GPU.

    It is raised where the user named the GPU. `path`: where the picture is written; an open file
    may have a part of the picture already, so nothing else is drawn into it.
    """
    if options.device != "auto" or not isinstance(path, str | Path):
        raise error
    options.on_message(on_the_cpu(error.args[0]))
    return options.replace(device="cpu")


def read_fitted_request(
    sources: Sequence[Source], keywords: Mapping[str, Any], allowed: type, *options: type
) -> tuple[Scene, *tuple[Any, ...]]:
    """Return what `read_request` returns, with colors that fit what is chosen by keywords.

    The family of a scene may not read all its keys. `on_message` of the first options names those
    that are not read.
    """
    scene, *made = read_request(sources, keywords, allowed, *options)
    if line := unused(scene):
        made[0].on_message(line)
    if CHOSEN & keywords.keys():
        from fractals.rendering.fit import fit_new_coloring

        scene = fit_new_coloring(scene, sources, keywords)
    return scene, *made


def draw_image(
    plan: Plan, backend: Backend, options: RenderOptions, stages: Stages | None = None
) -> Image:
    """Draw the picture of a plan; see `open_plan` and `open_colored`."""
    return finish(open_colored(plan, backend, options, stages), options)


def finish(drawing: Drawing, options: RenderOptions) -> Image:
    """Draw all tiles, and return the picture with the facts of its making."""
    pixels = draw_all(drawing, options.on_progress, options.watch)
    return Image(pixels, **vars(drawing.facts))


@with_keywords(RenderKeywords, RenderOptions)
def compute(*sources: Source, **keywords: Unpack[RenderKeywords]) -> EscapeData | Any:
    """Compute the raw numbers of a picture, from which `recolor` draws it.

    What is returned has ``planes``, arrays of one shape by name, ``to_xarray()``, and ``save``. The
    arrays have an element for each sample: with ``supersampling=2``, the default, they are twice as
    high and wide as the picture.

    Parameters
    ----------
    *sources, **keywords
        The scene and the options of `render`.

    Returns
    -------
    EscapeData or PictureSums
        Of escape time and reliefs: counts, z, and what the colorings of the scene need. Of flames,
        attractors, Buddhabrots and solids: sums of points or of light. Both are `RawData`; the type
        for checkers is that of escape time.

    Raises
    ------
    OptionError, SceneError, DeviceError
        An argument or a source is invalid, or the device is missing.

    Examples
    --------
    >>> raw = compute(size=(3, 1), supersampling=1, device="cpu")
    >>> raw.count.shape, int(raw.count[0, 1]) == raw.max_iterations
    ((1, 3), True)
    """
    scene, options = read_fitted_request(sources, keywords, RenderKeywords, RenderOptions)
    return or_on_the_cpu(partial(family_of(scene).compute, scene), options)


def measure(scene: Scene, options: RenderOptions, planned: Plan) -> "Measured | None":
    """Return the forecast of a planned picture, measured with the programs and the orbit it needs.

    None: the reference orbit takes longer than a forecast may. For a picture on a GPU only the
    limit of iterations is measured, on the CPU, which finds it before a GPU has started.
    """
    from fractals.rendering.measured import MAX_REFERENCE, look

    begun = perf_counter()

    def watch(_done: int, _tiles: int) -> None:
        if perf_counter() - begun > 2 * MAX_REFERENCE:
            raise TimeoutError

    device = "cpu" if planned.device in ("cuda", "opencl", "simulator") else planned.device
    quiet = options.replace(device=device, force=True, progress=watch, on_message=lambda line: None)
    plan, backend = open_plan(scene, quiet, "nothing")
    try:
        return look(planned, open_drawing(plan, backend, quiet).source)
    except TimeoutError:
        return None


def find_max_iterations(*sources: Source, **keywords: Unpack[RenderKeywords]) -> int:
    """Return the most iterations with which a scene is drawn, also where it says "auto"."""
    scene, options = read_request(sources, keywords, RenderKeywords, RenderOptions)
    # Colors change no count, and the search takes no longer for a larger picture.
    scene = scene.model_copy(update={"color": Color()})

    def find(options: RenderOptions) -> int:
        plan, backend = open_plan(scene, options.replace(force=True), "nothing")
        if not plan.probed:
            return plan.max_iterations
        return open_drawing(plan, backend, options).source.max_iterations

    return or_on_the_cpu(find, options)


@with_keywords(RecolorKeywords, RenderOptions)
def recolor(
    raw: RawData | str | Path, *sources: Source, **keywords: Unpack[RecolorKeywords]
) -> Image:
    """Draw the picture of raw numbers, without iterating.

    Parameters
    ----------
    raw : EscapeData, PictureSums, str or Path
        From `compute`, or the path of a file.
    *sources : str, Path, mapping or Scene
        Scenes whose colors and layers are taken, as by `fractals recolor`; their view, size and
        limit are not. By default the colors of the raw numbers' own scene.
    device, threads, progress, on_message
        The device and the most CPU threads that color, and the callbacks of `render`.
    **keys
        Keys of the scene, such as ``palette`` or ``bits``.

    Returns
    -------
    Image

    Raises
    ------
    OptionError
        A keyword is unknown; `size` is another one; or the coloring needs what the raw numbers
        lack.
    SceneError, DeviceError
        A source is invalid, or the device is missing.

    Examples
    --------
    >>> raw = compute(size=(8, 6), device="cpu")
    >>> recolor(raw, palette="ember", device="cpu").size
    (8, 6)
    """
    raw = _raw_numbers(raw)
    scene, options = read_recoloring(raw, sources, keywords, RecolorKeywords, RenderOptions)
    return or_on_the_cpu(partial(family_of(scene).recolor, raw, scene), options)


def _raw_numbers(given: Any) -> Any:
    """Return raw numbers that are given, of any family, or those of a file."""
    if isinstance(given, str | Path):
        return load_raw(given)
    if not isinstance(getattr(given, "scene", None), Scene) or isinstance(given, Image):
        raise OptionError(
            f"{typed(given, 60)} are no raw numbers: give what fractals.compute returned, or the "
            "path of a file"
        )
    return given


def read_recoloring(
    raw: Any,
    sources: Sequence[Source],
    keywords: Mapping[str, Any],
    allowed: type,
    *options: type,
) -> tuple[Scene, *tuple[Any, ...]]:
    """Return the scene and the options that `recolor` was called with, as `read_request` does."""
    colors = with_colors(raw.scene, family_of(raw.scene).looks, *sources, **reading(keywords))
    scene, *made = read_request((colors,), keywords, allowed, *options)
    if not isinstance(raw, EscapeData):
        return scene, *made
    if raw.exact and not make_layers(scene).lacking(raw.planes):  # `recolor` refuses others later
        from fractals.rendering.fit import fit_new_coloring

        scene = fit_new_coloring(scene, (colors,), keywords)
    if scene.iteration.number_type != raw.precision:
        scene = scene.replace(precision=raw.precision)
    return scene, *made


# Pictures drawn into files: bands of rows are compressed, written and freed while others draw.


@with_keywords(RenderFileKeywords, PictureFileOptions, PictureOptions)
def render_to(
    path: str | Path | BinaryIO, *sources: Source, **keywords: Unpack[RenderFileKeywords]
) -> Rendered:
    """Draw a picture into a file: the bytes that `render` and `Image.save` write.

    A PNG is written band by band, so it may be larger than the memory. Pictures of other types, and
    pictures whose colors depend on all samples (histogram, rank), are drawn whole first. A cluster
    draws a PNG.

    Parameters
    ----------
    path : str, Path or binary file
        Its suffix names the type; an open file receives a PNG. A web page (.html) of an escape-time
        scene draws other places by itself.
    *sources : str, Path, mapping or Scene
        The scene, as for `render`.
    **keywords
        The options of `render`, and keys of the scene.

    Returns
    -------
    Rendered

    Raises
    ------
    OptionError
        The suffix names no type of picture, or a type that can't hold this picture; or a
        keyword is invalid.
    FractalsError
        The file exists, or can't be written; an existing file is unchanged.
    SceneError, DeviceError
        A source is invalid, or the device is missing.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> render_to(file, size=(8, 6), device="cpu").device
    'cpu'
    >>> file.getvalue()[1:4]
    b'PNG'
    """
    scene, options, file_options = read_fitted_request(
        sources, keywords, RenderFileKeywords, PictureOptions, PictureFileOptions
    )
    return draw_scene_to(path, scene, options, file_options)


def draw_scene_to(
    path: str | Path | BinaryIO,
    scene: Scene,
    options: PictureOptions,
    file_options: PictureFileOptions,
) -> Rendered:
    """Draw a scene of any family into a file, as `render_to` does."""
    family, cluster, overwrite = family_of(scene), file_options.cluster, file_options.overwrite
    seen = options.preview is not False or file_options.keep  # while the picture is drawn
    if seen or cluster is not None:
        _check_beside(path, scene, options, file_options)
    if isinstance(path, str | Path) and Path(path).suffix.lower() == ".html":
        tell_of_page(scene, options)
    drawn = partial(family.render_to, path, scene, overwrite=overwrite, cluster=cluster)
    with watching(scene, options, file_options.keep) if seen else nullcontext(options) as watched:
        return or_on_the_cpu(drawn, watched, path)


def _check_beside(
    path: str | Path | BinaryIO,
    scene: Scene,
    options: PictureOptions,
    file_options: PictureFileOptions,
) -> None:
    """Check the files of previews, of raw numbers that are kept and of a cluster."""
    cluster, overwrite = file_options.cluster, file_options.overwrite
    if all(isinstance(each, str | Path) for each in (path, options.preview)):
        check_apart(path, options.preview)
    if file_options.keep:
        from fractals.rendering.stores.keeping import check_kept

        check_kept(path, family_of(scene), cluster, overwrite)
    if cluster is not None and isinstance(path, str | Path) and not overwrite:
        from fractals.rendering.cluster.job import remove_rest

        remove_rest(Path(path), scene)


@with_keywords(RecolorFileKeywords, ReplaceOptions, RenderOptions)
def recolor_to(
    path: str | Path | BinaryIO,
    raw: RawData | str | Path,
    *sources: Source,
    **keywords: Unpack[RecolorFileKeywords],
) -> Rendered:
    """Draw raw numbers into a file: the bytes that `recolor` and `Image.save` write.

    A PNG of a store may be larger than the memory: the store is read band by band. Colors that
    depend on all samples (histogram, rank) take 40 bytes a sample.

    Parameters
    ----------
    path : str, Path or binary file
        Its suffix names the type; an open file receives a PNG.
    raw, *sources
        The raw numbers and the colors, as for `recolor`.
    **keywords
        The options of `recolor`, and keys of the scene.

    Returns
    -------
    Rendered

    Raises
    ------
    OptionError, FractalsError
        The raw numbers or the type of file don't fit the picture, or the file exists or can't be
        written.
    """
    raw = _raw_numbers(raw)
    scene, options, file_options = read_recoloring(
        raw, sources, keywords, RecolorFileKeywords, RenderOptions, ReplaceOptions
    )
    overwrite = file_options.overwrite
    recolored_to = partial(family_of(scene).recolor_to, path, raw, scene, overwrite=overwrite)
    return or_on_the_cpu(recolored_to, options, path)


def stream(file: BinaryIO, drawing: Drawing, options: RenderOptions) -> Rendered:
    """Draw a picture into an open file as a PNG."""
    plan = drawing.plan
    picture = plan.scene.image
    found = drawing.source.max_iterations, drawing.source.count_offset
    resolved = resolved_values(plan.scene, *found)
    writer = png.PngWriter(file, png_beginning(plan.scene, picture.size, picture.bits, resolved))
    progress, canvas = options.on_progress, None
    if (watch := options.watch) and watch.shows and not picture.hdr:
        canvas = Canvas(plan.scene)
        progress = watch.following(progress, canvas.pixels)
    bands = Bands(plan, drawing.backend, writer, drawing.dtype, canvas)
    drawers = drawing.backend.threads  # 0: the calling thread draws, so that others compress
    with ended_on_error(bands):
        helpers = None if drawers else Helpers(bands, threads_for(options.threads))
        run(drawing, plan.tiles, _band_sink(drawing, bands), progress)
        (helpers or Helpers(bands, drawers)).join()
    writer.end()
    drawing.stages.lap("encode")
    return Rendered(**vars(drawing.facts))


def _band_sink(drawing: Drawing, bands: Bands) -> Sink:
    """Return the sink that keeps tiles in bands; its threads also compress whole bands."""

    def take(tile: Tile, stop: Stop) -> dict[str, float]:
        with ended_on_error(bands):
            begun = perf_counter()
            bands.wait_for_room(tile)
            waited = perf_counter() - begun
            seconds = draw_tile_to(drawing, tile, bands.parts, stop)
            bands.drawn(tile)
            begun = perf_counter()
            if drawing.backend.threads:
                bands.help()
            return {**seconds, "encode": waited + perf_counter() - begun}

    def loops(tiles: Sequence[Tile]) -> list[Loop]:
        return [partial(_draw_and_help, bands, draw) for draw in compiled_draws(drawing, tiles)]

    return Sink(take, loops)


def _draw_and_help(bands: Bands, draw_tiles: DrawTiles, queue: Queue) -> dict[str, float]:
    """Draw tiles of the queue until it is empty, and compress strips of whole bands."""
    spent: dict[str, float] = {}
    with ended_on_error(bands):
        last = perf_counter()
        while bands.wait_for_tiles(queue):
            begun = perf_counter()
            laps = draw_tiles(queue, bands.rows, bands.height, bands.pixels_left)
            drawn = perf_counter()
            bands.note()
            bands.help()
            share = (drawn - begun) / (sum(laps.values()) or 1)  # 0: others took all tiles
            waited = {"encode": begun - last + perf_counter() - drawn}
            last = perf_counter()
            add(spent, {stage: share * lap for stage, lap in laps.items()} | waited)
    return spent
