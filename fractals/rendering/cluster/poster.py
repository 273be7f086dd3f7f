"""Posters: strips of a PNG that the workers of a cluster draw and compress.

``NAME.png.parts/`` beside the picture holds them until all are there, so that the same command goes
on after an interruption. Where a strip ends depends on the picture's size alone, so the file is
that of `render_to`, byte for byte.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from fractals import __version__
from fractals.errors import FractalsError, OptionError, SceneError
from fractals.io import png
from fractals.io.image import PictureFile, png_beginning
from fractals.io.load import load_scene
from fractals.io.parts import NAME, Part, Parts, clear_folder
from fractals.io.store_lock import claimed
from fractals.io.summary import resolved_values
from fractals.rendering.cluster.job import make_job, run_job
from fractals.rendering.cluster.worker import facts_of_this_program, strip_name
from fractals.rendering.drawing import Drawing
from fractals.rendering.options import RenderOptions
from fractals.scene.model import Scene

SUFFIX = ".parts"


def check_poster(path: Any, target: PictureFile, whole: bool) -> Path:
    """Return the path of a picture, or raise an `OptionError` where a cluster can't draw it."""
    if not target.streams or not isinstance(path, str | Path):
        raise OptionError("a cluster draws a PNG into a file: name one that ends in .png")
    if whole:
        raise OptionError(
            "a cluster does not draw colorings of the whole picture (histogram, rank): compute a "
            "store with --cluster, then recolor it"
        )
    return Path(path)


def draw_poster(
    path: Path, target: PictureFile, drawing: Drawing, options: RenderOptions, cluster: Any
) -> None:
    """Draw a picture into a file by a cluster."""
    begun = perf_counter()
    plan, source = drawing.plan, drawing.source
    picture = plan.scene.image
    found = source.max_iterations, source.count_offset
    header = {
        "scene": plan.scene.to_table(),
        "max_iterations": int(found[0]),
        "count_offset": float(found[1]),
        "program": __version__,
        "compression": facts_of_this_program()["compression"],
    }
    text = json.dumps(header, ensure_ascii=False).encode("utf-8", "surrogatepass")
    folder = path.with_name(path.name + SUFFIX)
    parts = Parts(folder, hashlib.sha256(text).hexdigest()[:32])
    strips = -(-plan.size[1] // png.strip_rows(picture.size, picture.bits))
    with claimed(folder):
        _check_folder(folder)
        parts.tidy()

        def missing() -> list[int]:
            return [k for k in range(strips) if parts.read(strip_name(k)) is None]

        run_job(cluster, make_job("strips", header, parts, missing, drawing), options)
        with target.open() as file:
            resolved = resolved_values(plan.scene, *found)
            beginning = png_beginning(plan.scene, picture.size, picture.bits, resolved)
            writer = png.Writer(file, beginning)
            for k in range(strips):
                writer.put(k, _strip(parts.read(strip_name(k)), k, path))
            writer.end()
        parts.clear()
    drawing.timings["iterate"] += perf_counter() - begun


def remove_rest(path: Path, scene: Scene) -> None:
    """Remove the strips of a picture that is there: a process was killed before it did so."""
    folder = path.with_name(path.name + SUFFIX)
    if folder.is_dir() and path.is_file():
        with contextlib.suppress(SceneError):
            if load_scene(path) == scene:
                with claimed(folder):
                    _check_folder(folder)
                    clear_folder(folder)


def _check_folder(folder: Path) -> None:
    others = [n for n in os.listdir(folder) if not (n.startswith(".") or NAME.fullmatch(n))]
    if others:
        raise FractalsError(f"'{folder}' holds other things ('{others[0]}'): name another picture")


def _strip(part: Part | None, k: int, path: Path) -> png.Strip:
    if part is None:
        raise FractalsError(
            f"'{path}': strip {k} was lost on the way: the same command draws it again"
        )
    facts: Mapping[str, int] = part.facts
    return png.Strip(part.arrays["chunk"].tobytes(), facts["checksum"], facts["length"])
