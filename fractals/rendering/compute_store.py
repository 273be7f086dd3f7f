"""Raw numbers computed into a store, tile by tile: stopped at any moment, it goes on from there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Unpack

import numpy as np

from fractals.errors import FractalsError, OptionError
from fractals.io.files import HEADER
from fractals.io.load import load_scene
from fractals.io.store import SUFFIX, Store, create_store, open_store, tile_rows
from fractals.io.store_lock import check_same, check_version, claimed, clear
from fractals.rendering import forecast
from fractals.rendering.cost import check_cost
from fractals.rendering.plan import Plan
from fractals.rendering.render import Options, Session, Source
from fractals.rendering.tiles import Tile
from fractals.scene.model import Scene
from fractals.threads import Progress


@dataclass(frozen=True)
class Computed:
    """What is known of raw numbers that were computed into a store.

    Attributes
    ----------
    tiles, before : int
        How many tiles there are, and how many of them were there when it began.
    timings : dict of str to float
        Seconds of each stage; copy includes writing.
    """

    scene: Scene
    timings: dict[str, float]
    device: str
    precision: str
    method: str
    tiles: int
    before: int


def compute_to(
    path: str | Path,
    *sources: Source,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Computed:
    """Compute the raw numbers of a scene into a store, or go on where that was interrupted.

    Whatever was killed, when, on which device, and how often: the store is the same, byte for byte.
    The parameters that are not named here are those of `fractals.render`.

    Parameters
    ----------
    path : str or Path
        A folder whose name ends in ``.fz``; it may be among the sources too.
    overwrite : bool
        True: begin anew, even where there is a store.

    Raises
    ------
    OptionError
        The store that is there is of another scene: the keys are named. What only colors is no
        difference.
    SceneError
        The store that is there is damaged beyond its tiles. Tiles that are damaged are computed
        again.
    FractalsError
        The store can't be written, or another process computes it.
    """
    path = Path(path)
    if path.suffix.lower() != SUFFIX:
        raise OptionError(f"'{path}': a store's name ends in {SUFFIX}")
    scene = load_scene(*sources)
    number = options.pop("precision", None)
    if number not in (None, scene.iteration.number_type):
        scene = scene.replace(precision=number)
    scene.to_table()  # a formula without a name can't be kept
    with claimed(path):
        store = open_store(path) if (path / HEADER).exists() and not overwrite else None
        if store:
            check_same(store, scene)
            scene = store.scene  # which may have begun with other colors
        session = Session(scene, streamed=True, repeatable=True, **options)
        missing = store.missing() if store else None
        if store and not missing:
            return _computed(session, store, store.tiles)
        if store:
            check_version(store)
        else:
            clear(path)
        return _compute(path, session, store, missing, progress)


def _compute(
    path: Path,
    session: Session,
    kept: Store | None,
    missing: list[int] | None,
    progress: Progress | None,
) -> Computed:
    rows = kept.rows if kept else tile_rows(session.scene)
    work = _tiles(session.plan, rows, missing)
    memory = forecast.memory(
        session.scene,
        session.plan.precision,
        False,
        list(work),
        session.plan.band,
        2 * max(1, session.backend.threads),  # each has its numbers twice: computed, and to write
        session.layers.statistics.planes,
    )
    session.plan = replace(session.plan, tiles=tuple(work), memory=memory)
    check_cost(session.plan, force=True)
    session.start(iterating=True, progress=progress)
    found = session.max_iterations, session.count_offset
    if kept and found != (kept.max_iterations, kept.count_offset):
        raise FractalsError(
            f"'{path}' was begun with max_iterations {kept.max_iterations}, "
            f"and here it would be {found[0]}: "
            "go on where it was begun, or give --overwrite"
        )
    planes, method = session.planes(), session.plan.method
    if kept and kept.planes != planes:
        raise FractalsError(
            f"'{path}' keeps {', '.join(kept.planes)}, and the colors of its own scene need "
            f"{', '.join(planes)}: give --overwrite"
        )
    store = kept or create_store(path, session.scene, planes, *found, method)
    n = session.plan.supersampling

    def compute(tile: Tile) -> dict[str, float]:
        shape = tile.height * n, tile.width * n
        planes = {name: np.empty(shape, dtype) for name, dtype in store.planes.items()}
        seconds = session.fill(tile, planes)
        begun = perf_counter()
        for k in work[tile]:
            rows = store.window(k)
            own = slice(rows.start - tile.y * n, rows.stop - tile.y * n)
            store.write(k, {name: plane[own] for name, plane in planes.items()})
        seconds["copy"] += perf_counter() - begun
        return seconds

    try:
        session.run(compute, progress)
    finally:
        store.close()
    return _computed(session, store, store.tiles - sum(map(len, work.values())))


def _tiles(plan: Plan, rows: int, missing: Sequence[int] | None) -> dict[Tile, Sequence[int]]:
    """Return what to compute in one go, and which tiles of the store that is."""
    n, (width, height) = plan.supersampling, plan.size
    tall = rows // n
    if missing is None:
        missing = range(-(-height // tall))
    at_once = max(1, plan.largest_tile // (rows * width * n))  # a GPU takes several
    work = {}
    for run in _runs(missing, at_once):
        top, bottom = run[0] * tall, min(height, (run[-1] + 1) * tall)
        work[Tile(0, top, width, bottom - top)] = run
    return work


def _runs(missing: Sequence[int], at_once: int) -> Iterator[Sequence[int]]:
    """Yield tiles of the store that lie side by side and are computed together on a GPU.

    Examples
    --------
    >>> list(_runs([0, 1, 2, 5, 6], 2))
    [[0, 1], [2], [5, 6]]
    """
    begin = 0
    for end, (last, following) in enumerate(pairwise([*missing, -1]), 1):
        if following != last + 1 or end - begin == at_once:
            yield missing[begin:end]
            begin = end


def _computed(session: Session, store: Store, before: int) -> Computed:
    plan = session.plan
    return Computed(
        store.scene,
        session.timings,
        session.device.kind,
        plan.precision,
        plan.method,
        store.tiles,
        before,
    )
