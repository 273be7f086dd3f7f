"""The families of images: what a formula is decides how it is planned, computed and colored.

A family is a file of this folder, of a wing that the catalog names, or an entry point of another
package (`fractals.families`). The formula of a scene names its family. Code that draws asks the
family, and names none.
"""

import contextlib
import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol

from fractals import catalog
from fractals.backends.base import Backend, Stages
from fractals.backends.devices import choose
from fractals.backends.probe import Device
from fractals.errors import FractalsError, OptionError, SceneError, first_line, shown
from fractals.io.escape_data import STORE
from fractals.io.facts import PictureFacts
from fractals.io.files import read_store_header
from fractals.io.image import Image, PictureFile
from fractals.rendering.options import RenderOptions, StoreOptions
from fractals.scene.model import Scene
from fractals.scene.scatter import QUALITIES
from fractals.scene.space import OF_SOLIDS
from fractals.threads import add, threads_for

if TYPE_CHECKING:
    from fractals.rendering.moves import Moves


class Rendered(PictureFacts):
    """Facts about a picture that was drawn into a file.

    Attributes
    ----------
    scene : Scene
    timings : dict of str to float
        Seconds of each stage; see `Image`. "encode" excludes what was compressed while a GPU drew.
    device, precision, method, loop : str
        What drew the picture; see `Image`.
    summary : Summary, optional
        Counts of the picture.
    """

    @classmethod
    def of(cls, image: Image) -> "Rendered":
        """Return the facts of a picture."""
        return cls(*(getattr(image, part.name) for part in fields(PictureFacts)))


class Refined(NamedTuple):
    """A picture on the way to that of `render`."""

    pixels: Any  # sRGB of 8 bits; array, shape (rows, columns, 3)
    step: int  # pixels of the scene's image that one of these covers, along each side
    said: str  # how far it is, for people: "quality 12 of 40"
    exact: bool  # whether these are the pixels of `render`


class Refinement(Protocol):
    """A picture that becomes ever finer."""

    share: float  # of the work until `render`'s picture, from 0 to 1

    @property
    def kept(self) -> int:
        """Return how many bytes stay in memory between pictures."""

    def prepare(self) -> None:
        """Compile what is drawn with; it may be called twice."""

    def pictures(self) -> Iterator[Refined | None]:
        """Yield pictures, the last one exact, and None after each step of a fraction of a second.

        An error that ``options.progress`` raises ends a step early.
        """

    def free(self) -> None:
        """Free what another refinement of the same image would take."""


# Seconds of a picture, beyond which a line says what takes less before a web page magnifies it.
SLOW_PAGE = 20
LARGE_PAGE = 3_000_000  # bytes of a web page, beyond which a line says its size
# The tables of a scene that not all families read, and the families that read them, for messages.
OWN_TABLES = {
    "scatter": "scatter images",
    "display": "scatter images",
    "relief": "reliefs, which have relief.heights",
    "camera": "solids and reliefs",
    "light": "solids and reliefs",
}


class Family(ABC):
    """How images of one kind are made.

    `plan` and `render` are what a family must have. By default an image is drawn in one piece, on
    one machine, and no raw numbers are kept.
    """

    title: str  # one line for lists
    has_inside = False  # whether a picture may show nothing but points inside a set
    suffixes: tuple[str, ...] = ()  # of files of raw numbers
    layered: tuple[str, ...] = ()  # suffixes of files of light and layers that `render_to` writes
    tables: tuple[str, ...] = ()  # those of `OWN_TABLES` that this family reads
    # The tables of a scene that change no raw numbers: `recolor` takes them from other scenes
    looks: tuple[str, ...] = ("color", "display", "develop")
    # Whether a pixel can be drawn without the others. Films then share what frames have in common.
    single_pixels = False
    uses_colorings = False  # whether samples have values, which colorings turn into colors
    keeps = False  # whether the samples of a picture that Ctrl-C ends are kept

    @property
    def moves(self) -> "Moves":
        """Return how views move, are filmed and are suggested; imported by what moves them."""
        from fractals.rendering.moves import Moves

        return Moves()

    @abstractmethod
    def plan(self, scene: Scene, options: RenderOptions, keeps: Any) -> Any:
        """Return how a scene is drawn, without drawing.

        An object with `seconds`, `samples`, `memory` in bytes, and `to_table`. `keeps`: what stays
        in memory, as of `fractals.rendering.plan.make_plan`.
        """

    @abstractmethod
    def render(self, scene: Scene, options: RenderOptions) -> Image:
        """Draw a picture."""

    def plan_table(
        self, scene: Scene, options: RenderOptions, keeps: Any, measures: bool
    ) -> dict[str, Any]:
        """Return the plan as plain values; `measures`: whether seconds are measured on samples."""
        found: dict[str, Any] = self.plan(scene, options, keeps).to_table()
        return found

    def program(self, scene: Scene) -> str:
        """Return what a compiled program of a scene is for, in a few words."""
        return scene.make_any_formula().name

    def taken_for(self, scene: Scene) -> str:
        """Return a line about a formula's text that may mean another one, or an empty text."""
        return ""

    def shared(self, scenes: Sequence[Scene], options: RenderOptions) -> Any:
        """Return what all frames of a film share, from scenes of some of its times.

        It follows from the scenes alone, so processes that make parts of a film agree.
        """
        return None

    def expose(self, scenes: Sequence[Scene], options: RenderOptions, shared: Any = None) -> Image:
        """Draw a frame of a film by itself.

        The first scene is that of the frame's time. Others, if something moves, follow each other
        while the shutter is open; by default the first alone is drawn.
        """
        return self.render(scenes[0], options)

    def compared(self, scene: Scene, options: RenderOptions) -> tuple[int, str]:
        """Return a checksum of some numbers of a picture, and the kind of the device.

        The machines of a cluster compare it before they draw frames of a film. Raises
        OptionError: they can't draw them.
        """
        raise OptionError("the frames of this film are drawn by one machine: leave cluster= out")

    def render_to(
        self,
        path: str | Path | BinaryIO,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
        cluster: Any,
    ) -> Rendered:
        """Draw a picture into a file."""
        if cluster is not None:
            raise OptionError(f"{self._of(scene)} is drawn by one machine: leave cluster= out")
        stages, target = Stages(), PictureFile(path, scene.image, overwrite)
        image = self.render(scene, options)
        stages.lap("iterate")
        image.timings = image.timings or stages.seconds
        return written_to(target, image, options)

    def refine(
        self,
        scene: Scene,
        options: RenderOptions,
        backend_of: Callable[[str], Backend],
        before: Any = None,
    ) -> Refinement:
        """Return a picture that becomes ever finer, where `single_pixels` is false.

        `backend_of`: opens the device for a number type. `before`: the previous refinement, of any
        family. Sums that the new picture can use are taken from it; it must not be used afterwards.
        """
        return AtOnce(self, scene, options)

    def run_kernels(self, scene: Scene, backend_of: Callable[[str], Backend]) -> int:
        """Draw some pixels, and return the place of the kernel that iterates among those that ran.

        `backend_of`: opens a backend for a number type; it may translate kernels in place of
        running them.
        """
        raise OptionError(f"{self._of(scene)} has no kernels that can be shown alone")

    def redraw(self, scene: Scene, options: RenderOptions, seed: int) -> Image:
        """Draw a picture again, to compare another with it; `seed` chooses what is checked more.

        `FractalsError`: what draws here differs from plain Python.
        """
        return self.render(scene, options)

    def fingerprint(self, scene: Scene, options: RenderOptions) -> bytes:
        """Return bytes of a picture that are equal on every device: the counts of its pixels."""
        counted = scene.replace(supersampling=1, antialias="grid", coloring="count", layers=[])
        counts: bytes = self.compute(counted, options).count.astype("<i4").tobytes()
        return counts

    def compute(self, scene: Scene, options: RenderOptions) -> Any:
        """Compute the raw numbers of a picture."""
        raise OptionError(f"{self._of(scene)} has no raw numbers to keep: render draws it")

    def compute_to(
        self, path: Path, scene: Scene, options: RenderOptions, store_options: StoreOptions
    ) -> Any:
        """Compute the raw numbers of a picture into a store, or go on with one."""
        raise OptionError(f"{self._of(scene)} is kept in no store: render draws it")

    def load(self, path: Path) -> Any:
        """Return the raw numbers of a store."""
        raise OptionError(f"{path}: images of its family have no raw numbers")

    def recolor(self, raw: Any, scene: Scene, options: RenderOptions) -> Image:
        """Draw the picture of raw numbers."""
        raise OptionError(f"{self._of(scene)} has no raw numbers: render draws it")

    def recolor_to(
        self,
        path: str | Path | BinaryIO,
        raw: Any,
        scene: Scene,
        options: RenderOptions,
        overwrite: bool,
    ) -> Rendered:
        """Draw the picture of raw numbers into a file."""
        target = PictureFile(path, scene.image, overwrite)
        return written_to(target, self.recolor(raw, scene, options), options)

    def live(self, image: Image) -> bytes:
        """Return what a web page of a picture draws other places with.

        `FractalsError`: why it can't.
        """
        raise FractalsError("pages draw images of escape time only")

    @staticmethod
    def _of(scene: Scene) -> str:
        formula = scene.make_any_formula()
        return f"an image of the family '{formula.family}' ({formula.name})"


def chosen_device(options: RenderOptions) -> tuple[Device, int]:
    """Return the device and the number of threads of a picture; tell why another device draws."""
    device, note = choose(options.device)
    if note:
        options.on_message(note)
    return device, threads_for(options.threads, device.cores or 1)


class AtOnce:
    """The refinement of a family that draws in one piece."""

    kept: int = 0
    share: float = 0.0

    def __init__(self, family: Family, scene: Scene, options: RenderOptions) -> None:
        self._family, self._scene, self._options = family, scene, options

    def prepare(self) -> None:
        """Compile nothing ahead."""

    def pictures(self) -> Iterator[Refined | None]:
        """Yield the picture."""
        yield Refined(self._family.render(self._scene, self._options).pixels, 1, "", True)

    def free(self) -> None:
        """Free nothing: nothing is kept."""


def written_to(target: PictureFile, image: Image, options: RenderOptions) -> Rendered:
    """Write a picture to a file, and return the facts of its making."""
    stages = Stages()
    with target.open() as file:
        if target.file_format == "HTML":
            _write_page(file, image, options)
        else:
            image.write(file, target.file_format)
    stages.lap("encode")
    image.timings["encode"] = 0.0
    add(image.timings, stages.seconds)
    return Rendered.of(image)


def _write_page(file: BinaryIO, image: Image, options: RenderOptions) -> None:
    """Write a web page, which draws other places where the family can tell it how.

    `SceneError`: the scene, which the page holds, can't be written.
    """
    from fractals.io import web_page

    image.scene.to_toml()
    live, reason = None, ""
    try:
        live = family_of(image.scene).live(image)
    except FractalsError as error:
        reason = first_line(error)
        options.on_message(f"the page magnifies one picture, and draws no other places: {reason}")
    page = web_page.page_of(image.scene, image.encode("WEBP"), live, reason)
    if live and len(page) > LARGE_PAGE:
        options.on_message(
            f"the page has {len(page) / 1e6:.1f} MB, and {len(live) * 4 / 3e6:.1f} MB of it draw "
            "other places: a file of another format, such as WebP, holds the picture alone"
        )
    file.write(page)


def load_raw(path: str | Path) -> Any:
    """Return the raw numbers of a file, of any family."""
    path, name = Path(path), "escape"
    if path.suffix.lower() == STORE:
        name = read_store_header(path).get("family", "escape")
        if not catalog.has("family", name):
            raise SceneError(
                f"{shown(path)}: a store of the family '{shown(name, 40)}', which is unknown"
            )
    return load(name).load(path)


def family_of(scene: Scene) -> Family:
    """Return the family of a scene: that of its formula, or of a relief."""
    return load(scene.family)


def moves_of(scene: Scene) -> "Moves":
    """Return how views of a scene move, as its family says."""
    return family_of(scene).moves


def unused(scene: Scene) -> str:
    """Return a line about keys that a scene's family does not read, or an empty text.

    The line also says how a formula's text was understood, where it could mean another one.
    """
    given = OWN_TABLES.keys() & scene.model_fields_set
    lines = _unused_tables(scene) if given else "", family_of(scene).taken_for(scene)
    return "; ".join(filter(None, lines))


def _unused_tables(scene: Scene) -> str:
    """Return a line about keys of a scene that its family does not read, or an empty text."""
    own = family_of(scene).tables
    others = [table for table in OWN_TABLES if table not in own]
    found = {table: getattr(scene, table).model_dump(exclude_defaults=True) for table in others}
    if isinstance(found.get("scatter", {}).get("quality"), str):
        del found["scatter"]["quality"]  # a word is for all families
    if not any(found.values()):
        return ""
    by_owner: dict[str, list[str]] = {}
    for table, keys in found.items():
        for key in keys:
            alone = table == "camera" and key in OF_SOLIDS
            owners = "solids" if alone else OWN_TABLES[table]
            by_owner.setdefault(owners, []).append(f"{table}.{key}")
    lines = [f"{', '.join(keys)}: for {owners}" for owners, keys in by_owner.items()]
    more = "; samples= says how fine a solid's light is" if _means_samples(scene, found) else ""
    return f"{'; '.join(lines)}; not used here{more}"


def _means_samples(scene: Scene, found: Mapping[str, Mapping[str, Any]]) -> bool:
    """Tell whether a number was given as `quality` to a family whose word for it is `samples`."""
    return "quality" in found.get("scatter", ()) and "light" in family_of(scene).tables


def seconds_by_quality(
    scene: Scene, options: RenderOptions, keeps: Any, known: float = 0.0
) -> dict[str, float]:
    """Return the forecast of each quality in words, where they differ.

    `known`: the seconds of the scene itself where they were measured; else 0.
    """
    found, quiet = dict[str, float](), options.replace(on_message=lambda line: None)
    estimate = family_of(scene).plan(scene, quiet, keeps).seconds if known else 0.0
    measured = known / estimate if estimate else 1.0
    for word in QUALITIES:
        with contextlib.suppress(OptionError):  # more than can be drawn
            planned = family_of(scene).plan(scene.replace(quality=word), quiet, keeps)
            found[word] = float(f"{measured * planned.seconds:.2g}")
    return found if len(set(found.values())) > 1 else {}


def tell_of_page(scene: Scene, options: RenderOptions) -> None:
    """Tell before a web page's one picture is drawn how long that takes, and what is quicker."""
    if type(family_of(scene)).live is not Family.live:
        return
    planned = family_of(scene).plan(scene, options.replace(on_message=lambda line: None), "nothing")
    draft = seconds_by_quality(scene, options, "nothing").get("draft", planned.seconds)
    if planned.seconds > SLOW_PAGE and draft < planned.seconds / 2:
        options.on_message(
            f"the page will magnify one picture, which takes about {planned.seconds:.2g} s: "
            f"quality='draft' takes about {draft:.2g} s"
        )


@functools.cache
def load(name: str) -> Family:
    """Return the family of a name."""
    family: Family = catalog.load("family", name)()
    return family
