"""The pipeline: scene -> plan -> tiles -> raw numbers -> picture. Read this first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Unpack

from fractals.backends.base import Backend
from fractals.errors import OptionError
from fractals.io.escape_data import EscapeData
from fractals.io.image import Image
from fractals.io.load import Source
from fractals.rendering.drawing import Drawing, compute_data, draw_all, open_drawing, open_plan
from fractals.rendering.fit import fit_new_coloring, read_fitted_request
from fractals.rendering.measured import MAX_REFERENCE, Measured, look
from fractals.rendering.options import (
    RecolorKeywords,
    RenderKeywords,
    RenderOptions,
    read_request,
    with_keywords,
)
from fractals.rendering.plan import Plan
from fractals.scene.layers import make_layers
from fractals.scene.model import Scene
from fractals.scene.paint import Color


@with_keywords(RenderKeywords)
def render(*sources: Source, **keywords: Unpack[RenderKeywords]) -> Image:
    """Draw a picture.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        Gallery names, files, tables and scenes, merged from left to right, as of
        `fractals.load_scene`. None: the Mandelbrot set.
    device : str
        "auto", "cpu", "gpu", "cuda", "cuda:1", "cuda:all", "simulator" or "python".
    threads : int, optional
        Most CPU threads; by default one for each core.
    interior_shortcuts : bool
        False: orbits that provably stay inside are iterated to the end (for benchmarks). No count
        changes.
    cache : bool
        False: reference orbits of deep views are neither read from disk nor written to it.
    force : bool
        True: deep views whose estimate exceeds an hour are drawn.
    progress : callable, optional
        Called as ``progress(tiles_done, tiles)`` in the calling thread, several times a second.
    on_message : callable
        Called with one line of text, such as why another device draws; `warnings.warn` by default.
    **keys
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
    scene, options = read_fitted_request(sources, keywords)
    return draw_image(*open_plan(scene, options), options)


def draw_image(plan: Plan, backend: Backend, options: RenderOptions) -> Image:
    """Draw the picture of a plan; see `open_plan`."""
    if not plan.layers.whole:
        return finish(open_drawing(plan, backend, options), options)
    # The colors of each pixel depend on all samples: iterate all of them, then color.
    raw = compute_data(plan, backend, options)
    image = finish(open_drawing(plan, backend, options, stored=raw), options)
    for stage, seconds in raw.timings.items():
        image.timings[stage] += seconds
    return image


def finish(drawing: Drawing, options: RenderOptions) -> Image:
    """Draw all tiles, and return the picture with the facts of its making."""
    plan = drawing.plan
    pixels = draw_all(drawing, options.progress)
    facts = plan.device, plan.precision, plan.method, drawing.source.loop, drawing.summary
    return Image(pixels, plan.scene, drawing.timings, *facts)


@with_keywords(RenderKeywords)
def compute(*sources: Source, **keywords: Unpack[RenderKeywords]) -> EscapeData:
    """Compute the raw numbers of a picture, from which `recolor` draws it.

    Parameters
    ----------
    *sources, **keywords
        As of `render`.

    Returns
    -------
    EscapeData
        Counts, z, and what the colorings of the scene need, as arrays of all samples.

    Raises
    ------
    OptionError, SceneError, DeviceError
        As of `render`.

    Examples
    --------
    >>> raw = compute(size=(3, 1), supersampling=1, device="cpu")
    >>> raw.count.shape, int(raw.count[0, 1]) == raw.max_iterations
    ((1, 3), True)
    """
    scene, options = read_fitted_request(sources, keywords)
    return compute_data(*open_plan(scene, options, "raw"), options)


def measure(scene: Scene, options: RenderOptions) -> Measured | None:
    """Return the forecast of a picture, by the programs and the orbit that draw it.

    None: its reference orbit takes longer than a forecast may.
    """
    begun = perf_counter()

    def watch(_done: int, _tiles: int) -> None:
        if perf_counter() - begun > 2 * MAX_REFERENCE:
            raise TimeoutError

    quiet = replace(options, force=True, progress=watch, on_message=lambda line: None)
    plan, backend = open_plan(scene, quiet, "bands")
    try:
        return look(plan, open_drawing(plan, backend, quiet, shading=False).source)
    except TimeoutError:
        return None


def find_max_iterations(*sources: Source, **keywords: Unpack[RenderKeywords]) -> int:
    """Return the most iterations with which a scene is drawn, also where it says "auto".

    Parameters
    ----------
    *sources, **keywords
        As of `render`.
    """
    scene, options = read_request(sources, keywords)
    # Colors change no count, and the search takes no longer for a larger picture.
    scene = scene.model_copy(update={"color": Color()})
    plan, backend = open_plan(scene, replace(options, force=True), "bands")
    if not plan.probed:
        return plan.max_iterations
    return open_drawing(plan, backend, options, shading=False).source.max_iterations


@with_keywords(RecolorKeywords)
def recolor(raw: EscapeData, *sources: Source, **keywords: Unpack[RecolorKeywords]) -> Image:
    """Draw the picture of raw numbers, without iterating.

    Parameters
    ----------
    raw : EscapeData
        From `compute`, or from a file.
    *sources : str, Path, mapping or Scene
        As of `render`; by default the scene of the raw numbers.
    device, threads, progress, on_message
        As of `render`.
    **keys
        Keys of the scene, such as ``palette``.

    Returns
    -------
    Image

    Raises
    ------
    OptionError
        A keyword is unknown; the scene has another size; or its coloring needs what the raw numbers
        lack.
    SceneError, DeviceError
        As of `render`.

    Examples
    --------
    >>> raw = compute(size=(8, 6), device="cpu")
    >>> recolor(raw, palette="ember", device="cpu").size
    (8, 6)
    """
    scene, options = read_recoloring(raw, sources, keywords)
    plan, backend = open_plan(scene, options, iterates=False)
    return finish(open_drawing(plan, backend, options, stored=raw), options)


def read_recoloring(
    raw: EscapeData, sources: Sequence[Source], keywords: Mapping[str, Any]
) -> tuple[Scene, RenderOptions]:
    """Return the scene and the options that `recolor` was called with."""
    if not isinstance(raw, EscapeData):
        raise OptionError(
            f"{raw!r:.60} are no raw numbers: give what fractals.compute returned, or "
            "fractals.EscapeData.load(path)"
        )
    sources = sources or (raw.scene,)
    scene, options = read_request(sources, keywords, RecolorKeywords)
    if raw.exact and not make_layers(scene).lacking(raw.planes):  # those are refused later
        scene = fit_new_coloring(scene, sources, keywords)
    if scene.iteration.number_type != raw.precision:
        scene = scene.replace(precision=raw.precision)
    return scene, replace(options, force=True)
