"""Stores of scatter images: what the chunks so far add up to, so that a picture can go on.

A store is a folder whose name ends in ``.fz``. It holds

``header.json``
    One table, as of `fractals.io.store`: ``format`` is "fractals store", ``version`` 4, ``family``
    "scatter"; ``scene``; ``shape``, the rows and columns of buckets with those beyond the edge, of
    which there are ``margin`` on each side; ``chunks``, how many are in the sums; ``hits``, their
    points in view; ``crc``, the CRC-32 of the sums, 8 hexadecimal digits; ``program``;
    ``checksum``, that of the other keys.
``sums-CHUNKS.npy``
    Red, green, blue and count of the hits, int64, shape (rows, columns, 4), in NumPy's format 1.0.
``parts/I-N.sums``
    The sums of the chunks of part I of N, a file as of `fractals.io.parts`, which another machine
    wrote. Sums are whole numbers, so added up in any order they are those of one machine.

Sums can't be written in place, as tiles are. New sums are written beside the old ones, then the
header that names them, and then the old ones are removed. So a process may be killed at any moment,
and no byte depends on when, where or in how many goes a store was computed.
"""

import contextlib
import hashlib
import math
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.errors import InputError, OptionError, SceneError, shown
from fractals.io.files import (
    HEADER,
    PATH_SHOWN,
    STORE_FORMAT,
    open_inside,
    read_store_header,
    writing,
    written,
)
from fractals.io.parts import StoreParts, encode
from fractals.io.store import (
    PARTS,
    checksum,
    claimed,
    clear,
    header_text,
    mapped,
    new_store,
    npy_header,
)
from fractals.rendering.compute_store import Computed, checked_part
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.scatter.plan import CHUNK, Hits, ScatterPlan, steps_of
from fractals.rendering.scatter.play import Player, open_player
from fractals.scene.geometry import place_of
from fractals.scene.model import Scene, validate

VERSION = 4  # of the format; stores of escape-time images have 2 and 3
GOES = 20  # in how many goes a store is written, at least
SECONDS = 60.0  # most seconds between two goes, by the forecast
SUMS = np.dtype("<i8")
ANOTHER = "name another store, or give overwrite=True"


class HitStore:
    """A store on disk: its header, and the sums that the header names."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        self.path, self.name = path, shown(path, PATH_SHOWN)
        try:
            if header["version"] != VERSION:
                raise SceneError(
                    f"a store of version {shown(header['version'], 40)}, and this program reads "
                    f"version {VERSION} of scatter images: pip install --upgrade fractals-numba"
                )
            if header["checksum"] != checksum(header):
                raise SceneError(f"its {HEADER} is damaged: its checksum is not that of its keys")
            self.scene = validate(header["scene"], "")
            self.margin, self.chunks, self.in_view = (
                _whole(header[key]) for key in ("margin", "chunks", "hits")
            )
            rows, columns = map(_whole, header["shape"])
            self.crc, self.program = str(header["crc"]), shown(header["program"], 40)
        except InputError as error:
            raise SceneError(f"{self.name}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SceneError(
                f"{self.name}: its {HEADER} is damaged ({shown(repr(error), 80)})"
            ) from None
        step = self.scene.image.supersampling
        sides = [side * step + 2 * self.margin for side in self.scene.image.size]
        if [columns, rows] != sides:
            raise SceneError(f"{self.name}: its {HEADER} is damaged: its keys don't fit together")
        self.shape = rows, columns, 4

    def sums(self) -> NDArray[np.int64]:
        """Return the sums, mapped into memory; damaged ones are a `SceneError`."""
        sums: NDArray[np.int64] = mapped(self.path / sums_name(self.chunks), SUMS, self.shape)
        if f"{zlib.crc32(sums.data):08x}" != self.crc:
            raise SceneError(
                f"{self.name}: its sums are damaged: overwrite=True computes them again"
            )
        return sums

    def load(self) -> Hits:
        """Return what the chunks so far add up to."""
        samples = self.chunks * CHUNK * steps_of(self.scene)
        return Hits(self.scene, self.sums(), self.chunks, samples, self.in_view, self.margin)


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError(f"{shown(value, 40)} is not a whole number")
    return value


def sums_name(chunks: int) -> str:
    """Return the name of the file of the sums of some chunks."""
    return f"sums-{chunks}.npy"


def write_hits(path: Path, hits: Hits) -> None:
    """Write what the chunks so far add up to into a store that is locked by this process."""
    sums = np.ascontiguousarray(hits.sums, SUMS)
    header = {
        "format": STORE_FORMAT,
        "version": VERSION,
        "family": "scatter",
        "scene": hits.scene.to_table(),
        "shape": list(sums.shape[:2]),
        "margin": hits.margin,
        "chunks": hits.chunks,
        "hits": hits.hits,
        "crc": f"{zlib.crc32(sums.data):08x}",
        "program": __version__,
    }
    new = path / sums_name(hits.chunks)
    with writing(path):
        with contextlib.suppress(FileNotFoundError):
            new.unlink()  # of a process that was killed before it wrote the header
        with open_inside(new, "xb") as file:
            file.write(npy_header(SUMS, sums.shape))
            file.write(sums.data)
            file.flush()
            os.fsync(file.fileno())
    with written(path / HEADER, overwrite=True) as file:
        file.write(header_text({**header, "checksum": checksum(header)}).encode() + b"\n")
    remove_others(path, hits.chunks)


def remove_others(path: Path, chunks: int) -> None:
    """Remove the sums that the header of a store does not name."""
    with writing(path):
        for sums in path.glob("sums-*.npy"):
            if sums.name != sums_name(chunks):
                sums.unlink()


@dataclass
class Going:
    """A store that is being computed, and locked by this process."""

    path: Path
    player: Player
    hits: Hits  # what is added up so far
    parts: StoreParts
    timings: dict[str, float] = field(default_factory=lambda: {"iterate": 0.0, "copy": 0.0})

    def add(self, part: "Part") -> None:
        """Add the part that follows the chunks so far."""
        sums = self.hits.sums + part.sums
        self.hits = self.player.plan.hits(sums, part.last, self.hits.hits + part.hits)

    def write(self) -> None:
        """Write what is added up so far."""
        begun = perf_counter()
        write_hits(self.path, self.hits)
        self.timings["copy"] += perf_counter() - begun


Play = Callable[[Going, RenderOptions], None]


def compute_hits_to(
    path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions, play: Play
) -> Computed:
    """Compute the sums of a scatter image into a store, or go on with one; see `compute_to`.

    With a higher quality than that of the store, the store is continued. `play` plays the chunks
    that are missing: `play_here`, or what a cluster does.
    """
    if store_options.part is not None:
        if store_options.overwrite or store_options.cluster is not None:
            other = "overwrite" if store_options.cluster is None else "cluster"
            raise OptionError(f"part and {other} exclude each other: give one of them")
        return _compute_part(path, scene, options, checked_part(store_options.part))
    with claimed(path):
        there = (path / HEADER).exists() and not store_options.overwrite
        store = HitStore(path, read_store_header(path)) if there else None
        player = open_player(scene, options)
        hits = player.plan.no_hits()
        if store:
            player, hits = continued(store, player)
            remove_others(path, store.chunks)  # a process may have been killed before it did
        else:
            clear(path)
        plan = player.plan
        before = hits.chunks
        if store is None or hits.scene != store.scene:
            write_hits(path, hits)
        going = Going(path, player, hits, parts_of(path, plan))
        play(going, options)
        if all(part.last <= plan.chunks for part in parts_there(going.parts, plan)):
            going.parts.clear()  # others are of a higher quality
        return _computed(plan, going.hits, going.timings, going.hits.chunks, before)


def play_here(going: Going, options: RenderOptions) -> None:
    """Play the chunks of a store that are missing, and write it now and then."""
    player, plan = going.player, going.player.plan
    found = [part for part in parts_there(going.parts, plan) if part.last <= plan.chunks]
    while going.hits.chunks < plan.chunks:
        begun, first = perf_counter(), going.hits.chunks
        if part := next((each for each in found if each.first == first), None):
            going.add(part)
        else:
            starts = [each.first for each in found if each.first > first]
            last = min(plan.chunks, first + chunks_at_once(plan), *starts)
            going.hits = player.play(going.hits, last, options.on_progress)
        going.timings["iterate"] += perf_counter() - begun
        going.write()


def _computed(
    plan: ScatterPlan, hits: Hits, timings: dict[str, float], chunks: int, before: int
) -> Computed:
    facts = plan.device, plan.precision, plan.method
    return Computed(
        hits.scene,
        timings,
        *facts,
        summary=hits,  # type: ignore[arg-type]
        tiles=chunks,
        before=before,
        unit="chunks",
    )


# Parts: each machine plays chunks of its own, and the last call adds up their sums.


class Part(NamedTuple):
    """What the chunks of a part add up to, so far."""

    first: int  # chunk
    last: int  # the chunk after the last one
    hits: int  # points in view
    sums: NDArray[np.int64]
    name: str  # of its file


def _compute_part(
    path: Path, scene: Scene, options: RenderOptions, part: tuple[int, int]
) -> Computed:
    """Play the chunks of a part; the first process to come creates the store."""
    player = open_player(scene, options)
    if not (path / HEADER).exists():
        with new_store(path) as folder:
            write_hits(folder, player.plan.no_hits())
    player, whole = continued(HitStore(path, read_store_header(path)), player)
    plan, (i, n) = player.plan, part
    first, end = (whole.chunks + (plan.chunks - whole.chunks) * k // n for k in (i, i + 1))
    parts, name = parts_of(path, plan), f"{i:06d}-{n:06d}.sums"
    hits = replace(plan.no_hits(), chunks=first)
    there = read_part(parts, name, plan)
    if there and there.first == first and there.last <= end:
        hits = plan.hits(there.sums, there.last, there.hits)
    before, timings = hits.chunks - first, {"iterate": 0.0, "copy": 0.0}
    while hits.chunks < end:
        begun = perf_counter()
        hits = player.play(hits, min(end, hits.chunks + chunks_at_once(plan)), options.on_progress)
        played = perf_counter()
        facts = {"first": first, "last": hits.chunks, "hits": hits.hits}
        parts.keep(name, encode(name, parts.work, {"sums": hits.sums}, facts))
        timings["iterate"] += played - begun
        timings["copy"] += perf_counter() - played
    hits = replace(hits, samples=(hits.chunks - first) * CHUNK * plan.steps)
    computed = _computed(plan, hits, timings, plan.chunks - whole.chunks, before)
    return replace(computed, missing=_missing(parts_there(parts, plan), whole.chunks, plan.chunks))


def parts_of(path: Path, plan: ScatterPlan) -> StoreParts:
    """Return the parts of a store; those of another scene count as missing."""
    facts = {key: str(value) for key, value in facts_of(plan.scene).items()}
    work: dict[str, Any] = {**facts, "margin": plan.margin, "program": __version__}
    if plan.rows is not None:
        work["rows"] = [plan.rows.start, plan.rows.stop]
    text = header_text(work).encode("utf-8", "surrogatepass")
    return StoreParts(path / PARTS, hashlib.sha256(text).hexdigest()[:32])


def parts_there(parts: StoreParts, plan: ScatterPlan) -> list[Part]:
    """Return the parts that are there."""
    found = (read_part(parts, name, plan) for name in parts.names())
    return [part for part in found if part]


def read_part(parts: StoreParts, name: str, plan: ScatterPlan) -> Part | None:
    """Return a part; None where it is missing or damaged."""
    found = parts.read(name) if name else None
    if found is None or set(found.arrays) != {"sums"}:
        return None
    sums = found.arrays["sums"]
    try:
        first, last, hits = (_whole(found.facts[key]) for key in ("first", "last", "hits"))
    except (KeyError, ValueError):
        return None
    fits = sums.dtype == SUMS and sums.shape == (*plan.shape, 4) and first < last
    return Part(first, last, hits, sums, name) if fits else None


def _missing(found: Sequence[Part], first: int, last: int) -> int:
    """Return how many chunks of a range no part has."""
    missing, at = 0, first
    for part in sorted(found, key=lambda each: each.first):
        missing += max(0, min(part.first, last) - at)
        at = max(at, part.last)
    return missing + max(0, last - at)


def chunks_at_once(plan: ScatterPlan) -> int:
    """Return how many chunks are played between two goes of writing."""
    goes = max(GOES, math.ceil(plan.seconds / SECONDS))
    return max(1, math.ceil(plan.chunks / goes))


def continued(store: HitStore, player: Player) -> tuple[Player, Hits]:
    """Return what goes on with a store, and its sums; another scene is an `OptionError`.

    The store keeps the display that it was begun with, and the higher quality.
    """
    hits = store.load()
    check_same(hits, player.plan, f"'{store.name}' is there, of another scene", ANOTHER)
    if store.program != __version__:
        raise OptionError(
            f"'{store.name}' was begun by fractals {store.program}, and this is {__version__}: "
            "the last digits of their points may differ. overwrite=True computes all again; "
            f"pip install fractals-numba=={store.program} goes on with it"
        )
    quality = max(player.plan.scene.scatter.quality, store.scene.scatter.quality)
    scene = store.scene.replace(quality=quality)
    plan = replace(player.plan, scene=scene.unframed(), reserve=store.margin)
    return Player(plan, player.backend), replace(hits, scene=scene)


def check_same(hits: Hits, plan: ScatterPlan, what: str, how: str) -> None:
    """Raise an `OptionError` where hits are not those of a plan."""
    theirs, ours = facts_of(hits.scene), facts_of(plan.scene)
    if keys := [key for key in ours if ours[key] != theirs[key]]:
        verb = "differs" if len(keys) == 1 else "differ"
        raise OptionError(f"{what}: {', '.join(keys)} {verb}: {how}")
    if plan.needed_margin > hits.margin:
        raise OptionError(
            f"{what}: it keeps {hits.margin} buckets beyond the edge of the picture, and "
            f"estimator_radius and filter need {plan.needed_margin}: {how}"
        )


def facts_of(scene: Scene) -> dict[str, Any]:
    """Return what the hits of a scene depend on, by key."""
    scene = scene.unframed()
    formula, own, view, color = scene.make_any_formula(), scene.scatter, scene.view, scene.color
    width, center = place_of(scene, formula)
    precision = scene.iteration.precision
    return {
        "formula": scene.to_table()["formula"],
        "julia": scene.julia,
        "view.center": center,
        "view.width": width,
        "view.rotation": view.rotation,
        "view.mirror": view.mirror,
        "view.stretch": (view.stretch, view.stretch and view.stretch_angle),
        "image.size": scene.image.size,
        "image.supersampling": scene.image.supersampling,
        "iteration.precision": precision,
        "iteration.max_iterations": scene.iteration.max_iterations,
        "iteration.escape_radius": scene.iteration.escape_radius,
        "color.palette": scene.to_table()["color"]["palette"],
        "image.gamut": scene.image.primaries,
        "color.density": color.density,
        "color.offset": color.offset,
        "scatter.seed": own.seed,
        "scatter.steps": own.steps,
        "scatter.fuse": own.fuse,
    }
