"""Answers to questions about a frame: what is under a pixel, previews, colors that fit, links."""

import contextlib
import itertools
import math
import shlex
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fractals import catalog
from fractals.color import palette as palettes
from fractals.errors import DeviceFailedError, FractalsError, OptionError
from fractals.explorer import outside, protocol
from fractals.explorer.frames import SIXTEENTHS, text_of
from fractals.explorer.jobs import exported
from fractals.explorer.navigation import julia_scene
from fractals.explorer.packing import Where, pack_table
from fractals.explorer.pages import ROWS, draw_preview, small
from fractals.explorer.scheduler import SHEET, DrawingTask, Engine, Steps
from fractals.explorer.session import Session
from fractals.explorer.view import ViewValues
from fractals.io.png import Pixels
from fractals.rendering.drawing import draw_tile, open_drawing, sampled
from fractals.rendering.families import family_of, moves_of
from fractals.rendering.fit import fit_colors
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import make_plan
from fractals.rendering.tiles import Tile
from fractals.scene.credits import SAID
from fractals.scene.geometry import make_layers
from fractals.scene.model import Scene
from fractals.scene.numbers import significant
from fractals.tools import surprise as surprises

OTHER_PROGRAMS = ("kfr", "fraktaler3", "flame")  # formats that hold a scene, and not a palette
SHEET_PIXELS = 40 * 256**2  # of all pictures of a sheet, if they are square
GOLDEN = (math.sqrt(5) - 1) / 2


def pick(session: Session, message: protocol.Pick) -> None:
    """Answer what is under a pixel."""
    place = session.frames.place(message.frame)
    center = text_of(place, message.at)
    scene = session.scene(message.frame)
    answer: dict[str, Any] = {
        "frame": message.frame,
        "at": list(message.at),
        "center": list(center),
        "count": None,
        "inside": None,
        "value": None,
        "distance": None,
        "period": None,
        "focus": None,
    }

    def steps(work: DrawingTask) -> Steps:
        view = session.values
        column, row = (part / SIXTEENTHS for part in message.at)
        answer.update(moves_of(scene).looked_at(scene, column, row))
        if view is None or view.frame != message.frame or not session.engine.runs(view.single):
            session.say("picked", **answer)
            return
        single, (width, height) = view.single, place.size
        x = min(max(message.at[0] // SIXTEENTHS, 0), width - 1)
        y = min(max(message.at[1] // SIXTEENTHS, 0), height - 1)
        tile = Tile(x, y, 1, 1)
        raw = single.source.iterate(tile)
        count = np.empty((1, 1), np.int32)
        value = float(view.values.plain(tile, raw, [(raw.count, count)])[0][0, 0])
        limit = single.source.max_iterations
        inside = int(count[0, 0]) >= limit
        answer.update(
            count=int(count[0, 0]), inside=inside, value=value if math.isfinite(value) else None
        )
        if message.full:
            yield None
            at = scene.replace(center=center, width=significant(place.pixel), max_iterations=limit)
            name = "period" if inside else "distance"
            found = yield from session.engine.prepared(
                work, at, name, lambda: value_at(session.engine, at, name)
            )
            if inside:
                answer["period"] = found and round(found / GOLDEN)
            elif found:
                answer["distance"] = significant(Fraction(found) / 1000 * place.pixel)
        session.say("picked", **answer)

    session.ask("pick", steps, message)


def value_at(engine: Engine, scene: Scene, coloring: str) -> float | None:
    """Return a coloring's value at the center of a view; None where it has none."""
    try:
        one = scene.replace(coloring=coloring, layers=[], size=(1, 1), transfer="linear")
        one = one.replace(mask="auto", range=None) if one.color.range else one
        backend = engine.backend(one.iteration.number_type)
        one_sample = one.replace(supersampling=1, antialias="grid")
        plan = make_plan(one_sample, backend.kind, keeps="nothing")
        options = RenderOptions(force=True, on_message=lambda line: None)
        drawing = sampled(open_drawing(plan, backend, options))
    except DeviceFailedError:
        raise  # the engine goes on with another device
    except FractalsError:
        return None
    tile = Tile(0, 0, 1, 1)
    found = float(ViewValues(drawing).plain(tile, drawing.source.iterate(tile))[0][0, 0])
    return found if math.isfinite(found) else None


def julia(session: Session, message: protocol.Julia) -> None:
    """Draw a preview of the Julia set of a point."""
    scene = small(julia_scene(session, message.frame, message.at), message.size, message.size)

    def steps(work: DrawingTask) -> Steps:
        pixels = yield from draw_preview(session.engine, work, scene)
        session.preview(message.seq, 0, pixels)

    session.ask("julia", steps, message)


def loupe(session: Session, message: protocol.Loupe) -> None:
    """Draw a part of an export, with exactly its pixels."""
    scene, size = exported(session, message), session.frames.place(message.frame).size
    whole = "the colors of a pixel depend on the whole picture here: export it to see them"
    if not family_of(scene).single_pixels:
        raise OptionError(whole)
    if make_layers(scene).whole or scene.develop.bloom:
        raise OptionError(whole)
    sides = [min(message.width, side) for side in scene.image.size]
    span = message.span if moves_of(scene).in_plane else 1.0
    finer = scene.image.size[0] / size[0] / span  # pixels of the file, to one of the frame
    corner = [
        round(all_ / 2 + (at / SIXTEENTHS - shown / 2) * finer - side / 2)
        for all_, at, shown, side in zip(scene.image.size, message.at, size, sides, strict=True)
    ]
    x, y = (
        min(max(0, at), all_ - side)
        for at, all_, side in zip(corner, scene.image.size, sides, strict=True)
    )
    part = Tile(x, y, *sides)

    def steps(work: DrawingTask) -> Steps:
        backend = session.engine.backend(scene.iteration.number_type)
        plan = make_plan(scene, backend.kind, threads=backend.threads or 1, keeps="bands")
        options = RenderOptions(force=True, on_message=lambda line: None)
        opened = partial(open_drawing, plan, backend, options)
        drawing = yield from session.engine.prepared(work, scene, "picture", opened)
        pixels = np.empty((part.height, part.width, 3), np.uint8)
        for row in range(0, part.height, ROWS):
            tile = Tile(part.x, part.y + row, part.width, min(ROWS, part.height - row))
            draw_tile(drawing, tile, pixels[tile.within(part)], work.stale)
            work.check()
            yield None
        session.say("surprised", job=message.job, index=0, label="", scene={})
        session.preview(message.job, 0, pixels)
        session.say("done", job=message.job)

    session.ask("loupe", steps, message, SHEET)


def fit(session: Session, message: protocol.Fit) -> None:
    """Answer the density and the offset that fit a view."""
    values = _values(session, message)
    density, offset = values.fit(message.layer, always=not message.chosen)
    session.say("fit", frame=message.frame, layer=message.layer, density=density, offset=offset)


def histogram(session: Session, message: protocol.Histogram) -> None:
    """Answer how often values occur in a view."""
    values = _values(session, message)
    low, high, counts = values.histogram(message.layer, message.bins)
    session.say(
        "histogram", frame=message.frame, layer=message.layer, low=low, high=high, counts=counts
    )


def _values(session: Session, message: protocol.Fit | protocol.Histogram) -> ViewValues:
    session.frames.place(message.frame)
    if session.values is None or session.values.frame != message.frame:
        session.scene(message.frame).make_formula()  # raises where samples have no values
        raise OptionError("the view is not drawn yet")
    values = session.values.values
    if message.layer >= len(values.layers):
        raise OptionError(f"there is no layer {message.layer}")
    return values


def lookup(session: Session, message: protocol.Lookup) -> None:
    """Send the lookup table of a palette."""
    color = outside.scene_of({"color": {"palette": message.palette}}).color
    palettes.parse_color(message.inside)
    table = color.make_palette().lookup(message.inside)
    session.outbox.put(pack_table(Where(message.seq, w=3, h=len(table)), table))


def link(session: Session, message: protocol.Link) -> None:
    """Answer a frame's scene as a link, as TOML and as a command."""
    scene = session.scene(message.frame, message.author)
    view = session.values
    limit = view.single.source.max_iterations if view and view.frame == message.frame else None
    toml = scene.to_toml()
    session.say(
        "link",
        frame=message.frame,
        link=outside.link_of(scene),
        toml=toml,
        command=command_of(scene),
        others=list(texts_of_others(scene, limit)),
    )


def texts_of_others(scene: Scene, limit: int | None) -> Iterator[dict[str, Any]]:
    """Yield a scene as other programs read it, as far as they can.

    `limit`: the number of iterations that "auto" stands for, once it is known.
    """
    table = scene.to_table()
    for name in OTHER_PROGRAMS:
        form = catalog.load("format", name)()
        if form.writes_limit and table["iteration"]["max_iterations"] == "auto":
            if limit is None:
                continue
            table["iteration"]["max_iterations"] = limit
        with contextlib.suppress(FractalsError):
            data, lost = form.write(table)
            yield {"name": name, "text": data.decode(), "lost": lost}


def command_of(scene: Scene) -> str:
    """Return a command that draws a scene; one that has more than a command says needs its file."""
    table = scene.to_values()
    color, view, image, iteration = (
        table[name] for name in ("color", "view", "image", "iteration")
    )
    keys: dict[str, Any] = {key: table[key] for key in ("formula", "julia") if key in table}
    keys |= {key: view[key] for key in ("center", "width", "zoom", "rotation") if key in view}
    keys |= {key: image[key] for key in ("size", "supersampling")}
    keys |= {key: iteration[key] for key in ("max_iterations", "escape_radius")}
    keys |= {key: color[key] for key in COLOR_KEYS}
    drawn = scene.model_copy(update={**dict.fromkeys(SAID, ""), "film": None})
    if Scene().replace(**keys) != drawn or any(map(_has_tables, (color, keys["formula"]))):
        return "fractals render scene.toml"
    usual = Scene().to_values()
    for key, known in (("formula", usual), ("rotation", usual["view"])):
        if keys[key] == known[key]:
            del keys[key]
    for key, value in usual["iteration"].items():
        if keys.get(key) == value:
            del keys[key]
    texts = {key: _text(key, value) for key, value in keys.items()}
    words = [f"--{key.replace('_', '-')}={text}" for key, text in texts.items()]
    return shlex.join(["fractals", "render", *words])


COLOR_KEYS = ("coloring", "palette", "density", "offset", "transfer", "inside")


def _text(key: str, value: Any) -> str:
    """Return the value of a key as a command has it."""
    if key == "size":
        return "x".join(map(str, value))
    if key in ("center", "julia"):
        return ",".join(value)
    if key in ("formula", "coloring"):
        return _named(value)
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _has_tables(formula: Any) -> bool:
    values = formula.values() if isinstance(formula, dict) else ()
    parts = (part for each in values for part in (each if isinstance(each, list) else [each]))
    return any(isinstance(part, dict) for part in parts)


def _named(given: Any) -> str:
    if not isinstance(given, dict):
        return str(given)
    options = [f"{key}={_option(value)}" for key, value in given.items() if key != "name"]
    return ",".join([given["name"], *options])


def _option(value: Any) -> str:
    """Return an option's value as text; a pair of numbers is a complex number."""
    if isinstance(value, list) and len(value) == 2:
        return f"{value[0]}{value[1]:+}i"
    return str(value)


def surprise(session: Session, message: protocol.Surprise) -> None:
    """Draw twelve scenes like that of a frame."""
    scene = session.scene(message.frame)

    def steps(work: DrawingTask) -> Steps:
        choice, indices = surprises.ComposedChoice(), itertools.count()

        def show(label: surprises.Label, mutated: Scene, pixels: Pixels) -> None:
            index, table = next(indices), mutated.to_table()
            named = label._asdict()
            session.say("surprised", job=message.job, index=index, scene=table, **named)
            session.preview(message.job, index, pixels)

        for label, mutated in surprises.mutations(scene, message.seed, locked=message.locked):
            try:
                pixels = yield from draw_preview(session.engine, work, small(mutated))
            except DeviceFailedError:
                raise
            except FractalsError:
                continue
            if choice.takes((label, mutated, pixels), pixels):
                show(label, mutated, pixels)
            if choice.ends:
                break
        for picture in choice.rest():
            show(*picture)
        session.say("done", job=message.job)

    session.ask("surprise", steps, message, SHEET)


def sheet(session: Session, message: protocol.Sheet) -> None:
    """Draw small pictures of scenes whose keys replace those of a frame's scene."""
    if len(message.scenes) * message.width**2 > SHEET_PIXELS:
        raise OptionError("too many pictures of this width: ask for fewer")
    scene = session.scene(message.frame)

    def steps(work: DrawingTask) -> Steps:
        table = scene.to_table() | dict.fromkeys(SAID, "")
        for index, given in enumerate(message.scenes):
            try:
                merged = {**table, **given}
                kept = {key: value for key, value in merged.items() if value is not None}
                made = outside.scene_of(kept)
                if message.fit and family_of(made).single_pixels:  # others have no values to fit to
                    fitted = partial(fit_colors, made)
                    made = yield from session.engine.prepared(work, made, "picture", fitted)
                drawn = small(made, message.width, samples=2)
                pixels = yield from draw_preview(session.engine, work, drawn)
            except DeviceFailedError:
                raise
            except FractalsError:  # it has no meaning for the formula, or the depth
                continue
            if message.fit and surprises.is_flat(pixels):
                continue
            found = made.to_table()
            session.say("surprised", job=message.job, index=index, label="", scene=found)
            session.preview(message.job, index, pixels)
        session.say("done", job=message.job)

    session.ask("sheet", steps, message, SHEET)
