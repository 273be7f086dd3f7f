"""Stores of sums: what the chunks so far add up to, so that a picture can go on.

Scatter images are made of chunks of trajectories, and solids of rows with their samples. A store is
a folder whose name ends in ``.fz``. It holds

``header.json``
    One table, as of `fractals.io.stores.store`: ``format`` is "fractals store"; ``version`` and
    ``family`` say what is kept; ``scene``; ``shape``, the rows and columns of the sums;
    ``chunks``, how many are in them; whole numbers of the family's own (see `SumKind`); ``crc``,
    the CRC-32 of the sums, 8 hexadecimal digits; ``program``; ``sums``, the version of what is
    added up, where it is not the first; ``checksum``, that of the other keys.
``sums-NUMBERS.npy``
    The sums, int64, in NumPy's format 1.0: of scatter images red, green, blue and count of the
    hits, shape (rows, columns, 4), and of solids red, green and blue of the light, shape (rows,
    columns, 3), or (rows, columns, 18) with the shares of sources. NUMBERS are chunks and others
    that tell the states of a store apart.
``parts/NAME.sums``
    The sums of some chunks, a file as of `fractals.io.stores.parts`, which another machine wrote.
    Sums are whole numbers, so added up in any order they are those of one machine.

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
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fractals import __version__
from fractals.backends.base import Stages
from fractals.errors import FractalsError, InputError, OptionError, SceneError, shown, typed
from fractals.io.escape_data import STORE
from fractals.io.files import (
    HEADER,
    PATH_SHOWN,
    STORE_FORMAT,
    as_path,
    check_overwrite,
    open_inside,
    read_store_header,
    writing,
    written,
)
from fractals.io.raw_data import RawData
from fractals.io.stores.parts import StoreParts, encode
from fractals.io.stores.store import (
    PARTS,
    checksum,
    claimed,
    clear,
    header_text,
    mapped,
    new_store,
    npy_header,
)
from fractals.meant import Hints
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.rendering.stores.compute_store import Computed, checked_part
from fractals.scene.model import Scene, validate
from fractals.threads import Progress, within


class PictureSums(Hints, RawData):
    """The raw numbers of a flame, an attractor, a Buddhabrot or a solid: sums of whole numbers.

    They are equal where all parts are. ``planes`` has the sums by name, each of shape (rows,
    columns), and ``numpy.asarray`` all of them.

    Attributes
    ----------
    scene : Scene
        What was computed.
    sums : ndarray of int64
        Rows, columns and numbers. Of points (rows and columns of buckets): red, green, blue and
        count. Of solids (rows and columns of pixels): red, green and blue of light; with
        ``relight``, the shares of sources.
    """

    store: ClassVar[str]  # the module that holds, as `KIND`, how these sums are kept
    sums: NDArray[np.int64]

    @property
    def channels(self) -> tuple[str, ...]:
        """Return the names of the numbers of a pixel or bucket."""
        raise NotImplementedError

    @property
    def planes(self) -> dict[str, NDArray[Any]]:
        """Return the sums by name, each of shape (rows, columns); row 0 is the top."""
        return {name: self.sums[..., k] for k, name in enumerate(self.channels)}

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the sums to a new store, which `recolor` shows and `compute_to` goes on with.

        Parameters
        ----------
        path : str or Path
            Ending in ``.fz``.
        overwrite : bool
            True: an existing store is replaced.

        Raises
        ------
        OptionError
            The suffix is another one.
        FractalsError
            The store exists, or can't be written.
        """
        save_sums(self, as_path(path), overwrite)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the sums."""
        return np.array(self.sums, dtype) if copy else np.asarray(self.sums, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the sums: rows, columns, and numbers of a pixel or bucket."""
        return self.sums.shape


GOES = 20  # in how many goes a store is written, at least
SECONDS = 60.0  # most seconds between two goes, by the forecast
SUMS = np.dtype("<i8")
ANOTHER = "name another store, or give overwrite=True"

Numbers = Mapping[str, int]


class Adder(Protocol):
    """Adds up the chunks of one image.

    A *total* is what some chunks add up to: a dataclass with `scene`, `sums` and `chunks`, the
    chunk that follows them.
    """

    plan: Any  # of the image: scene, device, precision, method, chunks, seconds

    def none(self) -> Any:
        """Return the total of no chunk."""

    def add(self, total: Any, last: int, progress: Progress | None) -> Any:
        """Return a total with the chunks that follow, up to the one before `last`."""

    def join(self, total: Any, last: int, sums: NDArray[np.int64], numbers: Numbers) -> Any:
        """Return a total with chunks that follow, added up elsewhere: the rows of `rows_of`."""

    def rows_of(self, first: int, last: int) -> slice:
        """Return the rows of the sums to which some chunks add."""

    def numbers(self, total: Any) -> dict[str, int]:
        """Return the header's numbers of a total."""

    def numbers_of_part(self, total: Any) -> dict[str, int]:
        """Return the numbers of a part."""

    def only(self, total: Any, first: int) -> Any:
        """Return a total that was begun at a chunk, for messages."""

    def facts(self) -> dict[str, Any]:
        """Return what the sums depend on."""

    def short_sum(self) -> int:
        """Return the CRC-32 of a few sums, which machines compare."""

    def check_sent(self) -> None:
        """Raise an `OptionError` for a formula that workers do not have."""


class SumKind(NamedTuple):
    """How sums of a family are kept."""

    module: str  # that holds this, as `KIND`
    family: str
    version: int  # of the format; stores of escape-time images have 2 and 3
    images: str  # as messages name them
    unit: str  # what chunks are called
    keys: tuple[str, ...]  # the header's numbers, besides chunks
    mark: tuple[str, ...]  # which of `keys` stand in the name of the sums, before the chunks
    keys_of_part: tuple[str, ...]
    shape: Callable[[Scene, Numbers], tuple[int, int, int]]  # of the sums
    total: Callable[[Scene, NDArray[np.int64], Numbers], Any]
    open: Callable[[Scene, RenderOptions], Adder]
    # Return what goes on with a store, and its total; another scene is an `OptionError`
    resume: Callable[["SumStore", Any], tuple[Any, Any]]
    reopen: Callable[[Any, Numbers], Any]  # Return what goes on with a header's numbers
    # Return which numbers a plan adds up: 1, or more where they have changed
    sums_version: Callable[[Any], int] = lambda plan: 1


class SumStore:
    """A store on disk: its header, and the sums that the header names."""

    def __init__(self, path: Path, header: Mapping[str, Any], kind: SumKind) -> None:
        self.path, self.name, self._kind = path, shown(path, PATH_SHOWN), kind
        try:
            if header["version"] != kind.version:
                raise SceneError(
                    f"a store of version {shown(header['version'], 40)}, and this program reads "
                    f"version {kind.version} of {kind.images}: "
                    "take a newer fractals"
                )
            if header["checksum"] != checksum(header):
                raise SceneError(f"its {HEADER} is damaged: its checksum is not that of its keys")
            self.scene = validate(header["scene"], "")
            self.numbers = {key: whole_number(header[key]) for key in (*kind.keys, "chunks")}
            rows, columns = map(whole_number, header["shape"])
            self.crc, self.program = str(header["crc"]), shown(header["program"], 40)
            self.sums_version = whole_number(header.get("sums", 1))
            self.shape = kind.shape(self.scene, self.numbers)
        except InputError as error:
            raise SceneError(f"{self.name}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SceneError(f"{self.name}: its {HEADER} is damaged ({typed(error, 80)})") from None
        if (rows, columns) != self.shape[:2]:
            raise SceneError(f"{self.name}: its {HEADER} is damaged: its keys don't fit together")
        self.file = name_of_sums(kind, self.numbers)

    def sums(self) -> NDArray[np.int64]:
        """Return the sums, mapped into memory; damaged ones are a `SceneError`."""
        sums: NDArray[np.int64] = mapped(self.path / self.file, SUMS, self.shape)
        if f"{zlib.crc32(sums.data):08x}" != self.crc:
            raise SceneError(
                f"{self.name}: its sums are damaged: overwrite=True computes them again"
            )
        return sums

    def load(self) -> Any:
        """Return what the chunks so far add up to."""
        return self._kind.total(self.scene, self.sums(), self.numbers)


def check_sums(store: SumStore, version: int) -> None:
    """Raise an `OptionError` where the sums of a store can't be added to those of a version."""
    if store.sums_version != version:
        raise OptionError(
            f"'{store.name}' has sums of version {store.sums_version}, and this program adds up "
            f"version {version}: they can be shown, but not continued. {ANOTHER}"
        )


def check_same(theirs: Mapping[str, Any], ours: Mapping[str, Any], what: str, how: str) -> None:
    """Raise an `OptionError` that names the keys in which what two sums depend on differs."""
    if keys := [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]:
        verb = "differs" if len(keys) == 1 else "differ"
        raise OptionError(f"{what}: {', '.join(keys)} {verb}: {how}")


def whole_number(value: Any) -> int:
    """Return a whole number from 0 on; another value is a `ValueError`."""
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError(f"{shown(value, 40)} is not a whole number")
    return value


def name_of_sums(kind: SumKind, numbers: Numbers) -> str:
    """Return the name of the file of the sums of a header's numbers."""
    return "-".join(["sums", *(str(numbers[key]) for key in (*kind.mark, "chunks"))]) + ".npy"


def write_total(path: Path, adder: Adder, total: Any, kind: SumKind) -> None:
    """Write what the chunks so far add up to into a store that is locked by this process."""
    sums = np.ascontiguousarray(total.sums, SUMS)
    numbers = {**adder.numbers(total), "chunks": total.chunks}
    header = {
        "format": STORE_FORMAT,
        "version": kind.version,
        "family": kind.family,
        "scene": total.scene.to_table(),
        "shape": list(sums.shape[:2]),
        **numbers,
        "crc": f"{zlib.crc32(sums.data):08x}",
        "program": __version__,
    }
    if (sums_version := kind.sums_version(adder.plan)) > 1:
        header["sums"] = sums_version
    name = name_of_sums(kind, numbers)
    new = path / name
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
    remove_others(path, name)


def save_sums(total: Any, path: Path, overwrite: bool) -> None:
    """Write a total to a new store."""
    if path.suffix.lower() != STORE:
        raise OptionError(f"'{path}': the sums of a picture are saved as a store, NAME{STORE}")
    check_overwrite(overwrite)
    if os.path.exists(path / HEADER) and not overwrite:
        raise FractalsError(f"'{path}' exists already: {ANOTHER}")
    kind: SumKind = import_module(total.store).KIND
    # What counts a total's numbers needs no program of a device.
    adder = kind.open(total.scene, RenderOptions(device="python", force=True))
    with claimed(path):
        clear(path)
        write_total(path, adder, total, kind)


def remove_others(path: Path, name: str) -> None:
    """Remove the sums that the header of a store does not name."""
    with writing(path):
        for sums in path.glob("sums-*.npy"):
            if sums.name != name:
                sums.unlink()


@dataclass
class Going:
    """A store that is being computed, and locked by this process."""

    path: Path
    kind: SumKind
    adder: Adder
    total: Any  # what is added up so far
    parts: StoreParts
    stages: Stages = field(default_factory=Stages)

    def join(self, part: "Part") -> None:
        """Add the part that follows the chunks so far."""
        self.total = self.adder.join(self.total, part.last, part.sums, part.numbers)

    def write(self) -> None:
        """Write what is added up so far."""
        self.stages.lap("iterate")
        write_total(self.path, self.adder, self.total, self.kind)
        self.stages.lap("copy")


Play = Callable[[Going, RenderOptions], None]


def compute_sums_to(
    path: Path,
    scene: Scene,
    options: RenderOptions,
    store_options: StoreOptions,
    kind: SumKind,
    play: Play,
) -> Computed:
    """Compute the sums of an image into a store, or go on with one; see `compute_to`.

    Where the scene asks for more than the store has, the store is continued. `play` plays the
    chunks that are missing: `play_here`, or what a cluster does.
    """
    stages = Stages()
    if store_options.part is not None:
        if store_options.overwrite or store_options.cluster is not None:
            other = "overwrite" if store_options.cluster is None else "cluster"
            raise OptionError(f"part and {other} exclude each other: give one of them")
        return _compute_part(path, scene, options, checked_part(store_options.part), kind, stages)
    with claimed(path):
        there = os.path.exists(path / HEADER) and not store_options.overwrite
        store = SumStore(path, read_store_header(path), kind) if there else None
        adder = kind.open(scene, options)
        total = adder.none()
        if store:
            adder, total = kind.resume(store, adder)
            remove_others(path, store.file)  # a process may have been killed before it did
        else:
            clear(path)
        before, last = total.chunks, adder.plan.chunks
        if store is None or (total.scene, total.chunks) != (store.scene, store.numbers["chunks"]):
            write_total(path, adder, total, kind)
        going = Going(path, kind, adder, total, parts_of(path, adder), stages)
        play(going, options)
        if all(part.last <= last for part in parts_there(going)):
            going.parts.clear()  # others are of a higher quality
        stages.lap("copy")
        return _computed(going, before)


def play_here(going: Going, options: RenderOptions) -> None:
    """Play the chunks of a store that are missing, and write it now and then."""
    adder, plan = going.adder, going.adder.plan
    found = [part for part in parts_there(going) if part.last <= plan.chunks]
    begin = going.total.chunks
    while going.total.chunks < plan.chunks:
        first = going.total.chunks
        if part := next((each for each in found if each.first == first), None):
            going.join(part)
        else:
            starts = [each.first for each in found if each.first > first]
            last = min(plan.chunks, first + chunks_at_once(plan), *starts)
            progress = within(options.on_progress, first - begin, last - first, plan.chunks - begin)
            going.total = adder.add(going.total, last, progress)
        going.write()


def _computed(going: Going, before: int) -> Computed:
    plan, total = going.adder.plan, going.total
    return Computed(
        total.scene,
        going.stages.seconds,
        plan.device,
        plan.precision,
        plan.method,
        summary=total,
        tiles=total.chunks,
        before=before,
        unit=going.kind.unit,
    )


# Parts: each machine plays chunks of its own, and the last call adds up their sums.


class Part(NamedTuple):
    """What the chunks of a part add up to, so far."""

    first: int  # chunk
    last: int  # the chunk after the last one
    numbers: dict[str, int]
    sums: NDArray[np.int64]  # of the rows to which these chunks add
    name: str  # of its file


def _compute_part(
    path: Path,
    scene: Scene,
    options: RenderOptions,
    part: tuple[int, int],
    kind: SumKind,
    stages: Stages,
) -> Computed:
    """Play the chunks of a part; the first process to come creates the store."""
    adder = kind.open(scene, options)
    if not (path / HEADER).exists():
        with new_store(path) as folder:
            write_total(folder, adder, adder.none(), kind)
    adder, whole = kind.resume(SumStore(path, read_store_header(path), kind), adder)
    plan, (i, n) = adder.plan, part
    first, end = (whole.chunks + (plan.chunks - whole.chunks) * k // n for k in (i, i + 1))
    none, parts = replace(adder.none(), chunks=first), parts_of(path, adder)
    going = Going(path, kind, adder, none, parts, stages)
    name = f"{i:06d}-{n:06d}.sums"
    there = read_part(going, name)
    if there and there.first == first and there.last <= end:
        going.join(there)
    before = going.total.chunks - first
    while going.total.chunks < end:
        done = going.total.chunks
        last = min(end, done + chunks_at_once(plan))
        progress = within(options.on_progress, done - first, last - done, end - first)
        going.total = adder.add(going.total, last, progress)
        stages.lap("iterate")
        content = content_of(adder, going.total, first)
        going.parts.keep(name, encode(name, going.parts.work, *content))
        stages.lap("copy")
    going.total = adder.only(going.total, first)
    missing = _missing(parts_there(going), whole.chunks, plan.chunks)
    return replace(_computed(going, before), tiles=plan.chunks - whole.chunks, missing=missing)


def content_of(
    adder: Adder, total: Any, first: int
) -> tuple[dict[str, NDArray[np.int64]], dict[str, int]]:
    """Return the arrays and the facts of a part that begins with a chunk."""
    sums = total.sums[adder.rows_of(first, total.chunks)]
    return {"sums": sums}, {"first": first, "last": total.chunks, **adder.numbers_of_part(total)}


def parts_of(path: Path, adder: Adder) -> StoreParts:
    """Return the parts of a store; those of another scene count as missing."""
    facts = {key: str(value) for key, value in adder.facts().items()}
    text = header_text({**facts, "program": __version__}).encode("utf-8", "surrogatepass")
    return StoreParts(path / PARTS, hashlib.sha256(text).hexdigest()[:32])


def parts_there(going: Going) -> list[Part]:
    """Return the parts that are there."""
    found = (read_part(going, name) for name in going.parts.names())
    return [part for part in found if part]


def read_part(going: Going, name: str) -> Part | None:
    """Return a part; None where it is missing or damaged."""
    found = going.parts.read(name) if name else None
    if found is None or set(found.arrays) != {"sums"}:
        return None
    sums, whole = found.arrays["sums"], going.total.sums
    try:
        first, last = (whole_number(found.facts[key]) for key in ("first", "last"))
        numbers = {key: whole_number(found.facts[key]) for key in going.kind.keys_of_part}
    except (KeyError, ValueError):
        return None
    rows = len(range(whole.shape[0])[going.adder.rows_of(first, last)])
    fits = sums.dtype == SUMS and sums.shape == (rows, *whole.shape[1:]) and first < last
    return Part(first, last, numbers, sums, name) if fits else None


def _missing(found: Sequence[Part], first: int, last: int) -> int:
    """Return how many chunks of a range no part has."""
    missing, at = 0, first
    for part in sorted(found, key=lambda each: each.first):
        missing += max(0, min(part.first, last) - at)
        at = max(at, part.last)
    return missing + max(0, last - at)


def chunks_at_once(plan: Any) -> int:
    """Return how many chunks are played between two goes of writing."""
    goes = max(GOES, math.ceil(plan.seconds / SECONDS))
    at_once: int = max(1, math.ceil(plan.chunks / goes))
    return at_once
