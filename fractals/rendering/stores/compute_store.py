"""Raw numbers computed into a store, tile by tile; an interrupted store is resumed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from fractals.backends.base import Stages
from fractals.errors import FractalsError, OptionError
from fractals.io.escape_data import STORE
from fractals.io.facts import PictureFacts
from fractals.io.files import HEADER, as_path
from fractals.io.load import Source
from fractals.io.stores.store import (
    PartWriter,
    RawStore,
    TileWriter,
    check_program,
    check_same,
    claimed,
    clear,
    create_store,
    make_header,
    merge_parts,
    missing_parts,
    new_store,
    open_store,
    parts_of,
    tile_rows,
)
from fractals.rendering.drawing import (
    Drawing,
    Sink,
    compute_tile,
    open_drawing,
    open_plan,
    run,
)
from fractals.rendering.families import family_of
from fractals.rendering.iteration import Stop
from fractals.rendering.options import RenderOptions, StoreOptions, with_keywords
from fractals.rendering.plan import Plan
from fractals.rendering.render import or_on_the_cpu, read_fitted_request
from fractals.rendering.resume_data import ResumeData, known_of
from fractals.rendering.stores.known import load_known, save_known
from fractals.rendering.tiles import Tile, runs
from fractals.scene.keywords import StoreKeywords
from fractals.scene.model import Scene
from fractals.threads import Progress, add


@dataclass
class Computed(PictureFacts):
    """Facts about raw numbers that were computed into a store.

    Attributes
    ----------
    scene : Scene
        Of the store: a resumed store keeps the colors that it was begun with.
    timings : dict of str to float
        Seconds of each stage; see `fractals.Image`.
    device, precision, method : str
        What computed the numbers; see `EscapeData`.
    tiles, before : int
        Tiles of the store, or its chunks of points, and how many of them existed before.
    missing : int
        Tiles, or chunks, that are still missing, where only a part was asked for.
    unit : str
        "tiles", or of a scatter image "chunks".
    """

    tiles: int = 0
    before: int = 0
    missing: int = 0
    unit: str = "tiles"


@with_keywords(StoreKeywords, StoreOptions, RenderOptions)
def compute_to(path: str | Path, *sources: Source, **keywords: Unpack[StoreKeywords]) -> Computed:
    """Compute the raw numbers of a scene into a store, or resume a store that was interrupted.

    The bytes of the store are the same however often it was interrupted, and on which devices.

    Parameters
    ----------
    path : str or Path
        A folder whose name ends in ``.fz``; it may be among the sources too.
    *sources : str, Path, mapping or Scene
        The scene, as for `render`.
    **keywords
        The options of `render`, and keys of the scene.

    Returns
    -------
    Computed

    Raises
    ------
    OptionError
        The existing store is of another scene; the message names the keys. Keys that only color may
        differ.
    SceneError
        The header of the existing store is damaged. Damaged tiles are computed again.
    FractalsError
        The store can't be written, or another process computes it; or no worker can take part.
    """
    path = as_path(path)
    if path.suffix.lower() != STORE:
        raise OptionError(f"'{path}': a store's name ends in {STORE}")
    scene, options, store_options = read_fitted_request(
        sources, keywords, StoreKeywords, RenderOptions, StoreOptions
    )
    scene.to_table()  # a formula without a name can't be kept
    old = _header_there(path)

    def compute(options: RenderOptions) -> Computed:
        begun = _header_there(path) != old  # by a GPU that has failed
        asked = store_options.replace(overwrite=False) if begun else store_options
        computed: Computed = family_of(scene).compute_to(path, scene, options, asked)
        return computed

    return or_on_the_cpu(compute, options)


def _header_there(path: Path) -> tuple[int, int] | None:
    """Return what tells the header of a store from one that replaces it; None: there is none."""
    try:
        found = os.stat(path / HEADER)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def compute_data_to(
    path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
) -> Computed:
    """Compute escape data into a store; see `compute_to`."""
    cluster, overwrite, part = store_options.cluster, store_options.overwrite, store_options.part
    stages = Stages()
    if part is not None:
        if overwrite or cluster is not None:
            other = "cluster" if cluster is not None else "overwrite"
            raise OptionError(f"part and {other} exclude each other: give one of them")
        return _compute_part(path, scene, options, checked_part(part), stages)
    with claimed(path):
        store = open_store(path) if os.path.exists(path / HEADER) and not overwrite else None
        if store:
            check_same(store, scene)
            scene = store.scene  # which may have other colors
        plan, backend = open_plan(scene, options, "store")
        known = None
        if store:
            merge_parts(store)
            known = load_known(parts_of(store))
        missing = store.missing() if store else None
        if store and not missing:
            parts_of(store).clear()
            stages.lap("copy")
            return _computed(plan, stages, store, store.tiles)
        if store:
            check_program(store.program, store.path)
        else:
            clear(path)
        work = _tiles(plan, store.rows if store else tile_rows(scene), missing)
        plan = replace(plan, tiles=tuple(work))
        # Each thread has its numbers twice: computed, and being written.
        replace(plan, threads=2 * max(1, backend.threads)).check_memory()
        drawing = open_drawing(plan, backend, options, known=known, stages=stages)
        store = store or _create(path, drawing)
        _check_found(store, drawing)
        if cluster is None:
            _write_tiles(drawing, store, work, TileWriter(store), options.on_progress)
        else:
            _write_by(cluster, drawing, store, options)
        parts_of(store).clear()
        before = store.tiles - sum(map(len, work.values()))
        return _computed(plan, stages, store, before)


def _write_by(cluster: Any, drawing: Drawing, store: RawStore, options: RenderOptions) -> None:
    """Have tiles computed by a cluster, and write them into the planes."""
    from fractals.rendering.cluster.job import make_job, run_job

    parts = parts_of(store)

    def merge() -> None:
        merge_parts(store)

    def missing() -> list[int]:
        merge_parts(store)
        return store.missing()

    run_job(cluster, make_job("tiles", store.header, parts, missing, drawing, merge), options)
    drawing.stages.lap("iterate")


def _create(path: Path, drawing: Drawing) -> RawStore:
    source, plan = drawing.source, drawing.plan
    found = source.max_iterations, source.count_offset
    return create_store(path, make_header(plan.scene, drawing.planes, *found, plan.method))


def _check_found(store: RawStore, drawing: Drawing) -> None:
    """Raise a `FractalsError` where a store was begun with other numbers than would be found."""
    found = drawing.source.max_iterations, drawing.source.count_offset
    if found != (store.max_iterations, store.count_offset):
        raise FractalsError(
            f"'{store.path}' was begun with max_iterations {store.max_iterations}, "
            f"and here it would be {found[0]}: "
            "resume it where it was begun, or give overwrite=True"
        )
    if store.planes != drawing.planes:
        raise FractalsError(
            f"'{store.path}' keeps {', '.join(store.planes)}, and the colors of its own scene need "
            f"{', '.join(drawing.planes)}: give overwrite=True"
        )


def _write_tiles(
    drawing: Drawing,
    store: RawStore,
    work: Mapping[Tile, Sequence[int]],
    writer: TileWriter | PartWriter,
    progress: Progress | None,
) -> None:
    """Compute tiles, and write those of the store that are in them."""
    n = drawing.plan.supersampling

    def take(tile: Tile, stop: Stop) -> dict[str, float]:
        shape = tile.height * n, tile.width * n
        planes = {name: np.empty(shape, dtype) for name, dtype in store.planes.items()}
        seconds, writing = compute_tile(drawing, tile, planes, stop), Stages()
        for k in work[tile] if not stop() else ():
            rows = store.window(k)
            own = slice(rows.start - tile.y * n, rows.stop - tile.y * n)
            writer.write(k, {name: plane[own] for name, plane in planes.items()})
        add(seconds, writing.end("copy"))
        return seconds

    try:
        run(drawing, drawing.plan.tiles, Sink(take), progress)
    finally:
        writer.close()


def checked_part(part: tuple[int, int]) -> tuple[int, int]:
    """Return the number of a part, and how many there are; others are an `OptionError`."""
    i, n = part
    if not 0 <= i < n:
        raise OptionError(f"part {i} of {n}: the parts are 0 to {n - 1}")
    return i, n


def _compute_part(
    path: Path, scene: Scene, options: RenderOptions, part: tuple[int, int], stages: Stages
) -> Computed:
    """Compute each n-th tile of a store as parts; the first process to come creates the store."""
    store = open_store(path) if (path / HEADER).exists() else None
    known: ResumeData | None = None
    if store:
        check_same(store, scene)
        check_program(store.program, store.path)
        scene = store.scene
        known = load_known(parts_of(store))
    plan, backend = open_plan(scene, options, "store")
    drawing = open_drawing(plan, backend, options, stages=stages) if known is None else None
    if store is None:
        assert drawing
        with new_store(path) as folder:
            save_known(known_of(drawing.source), parts_of(_create(folder, drawing)))
        store = open_store(path)
        check_same(store, scene)
    elif drawing:
        _check_found(store, drawing)
        save_known(known_of(drawing.source), parts_of(store))
    missing = missing_parts(store)
    i, n = part
    own = [k for k in missing if k % n == i]
    left = len(missing) - len(own)
    if not own:
        stages.lap("copy")
        return _computed(plan, stages, store, store.tiles - len(missing), left)
    work = _tiles(plan, store.rows, own)
    plan = replace(plan, tiles=tuple(work))
    replace(plan, threads=2 * max(1, backend.threads)).check_memory()
    known = load_known(parts_of(store))
    drawing = open_drawing(plan, backend, options, known=known, stages=stages)
    _check_found(store, drawing)
    _write_tiles(drawing, store, work, PartWriter(store), options.on_progress)
    return _computed(plan, stages, store, store.tiles - len(missing), left)


def _tiles(plan: Plan, rows: int, missing: Sequence[int] | None) -> dict[Tile, Sequence[int]]:
    """Return the tiles to compute, each with the numbers of the store's tiles in it."""
    n, (width, height) = plan.supersampling, plan.size
    tall = rows // n
    if missing is None:
        missing = range(-(-height // tall))
    at_once = max(1, plan.largest_tile // (rows * width * n))  # a GPU takes several
    work = {}
    for near in runs(missing, at_once):
        top, bottom = near[0] * tall, min(height, (near[-1] + 1) * tall)
        work[Tile(0, top, width, bottom - top)] = near
    return work


def _computed(
    plan: Plan, stages: Stages, store: RawStore, before: int, missing: int = 0
) -> Computed:
    facts = plan.device, plan.precision, plan.method
    tiles = store.tiles
    return Computed(
        store.scene, stages.seconds, *facts, tiles=tiles, before=before, missing=missing
    )
