"""Previews: small pictures of one that is being drawn, shown again as it gets better.

They cost at most `SHARE` of the time. Families offer what they have between two steps of their
work, and `Onlooker` decides whether it is time for a preview, before anything is made of the offer.
"""

import math
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fractals.errors import FractalsError, OptionError, first_line, shown, typed
from fractals.io import png
from fractals.io.files import check_output, open_to_read, written
from fractals.io.image import Image
from fractals.scene.model import Scene
from fractals.threads import Progress

SIDE = 480  # pixels of a preview's longer side
FIRST = 2.0  # seconds before the first preview: shorter pictures have none
SHARE = 0.015  # of the time that passed, at most, that previews have taken
GROWTH = 1.25  # of the time that passed, from one preview to the next; a still eye sees the change
LONGEST = 60.0  # seconds between two previews, where they cost little
LEAST = 0.03  # seconds that the first preview is expected to take, besides what its numbers take:
BYTES_A_SECOND = 6e8  # of the numbers that a preview is made of (measured: 5e8 to 1.4e9)
MARK = "Comment", "preview of a picture by fractals"  # a text of a preview's PNG
MOST_TEXT = 200  # bytes of such a text in a file of others that is read

Pixels = NDArray[Any]
Make = Callable[[], Pixels]


class ShowPreview(Protocol):
    """Where previews are seen."""

    def __call__(self, image: Image) -> None:
        """Show a preview in place of the one before."""


class Screen(ABC):
    """Where previews are seen until the picture is there."""

    @abstractmethod
    def __call__(self, image: Image) -> None:
        """Show a preview in place of the one before."""

    def ready(self) -> bool:
        """Tell whether previews can be shown; asked once, when the first one is due."""
        return True

    @abstractmethod
    def end(self) -> None:
        """Remove the preview."""


class Onlooker:
    """Looks at a picture while it is drawn.

    Attributes
    ----------
    keeps : bool
        Whether Ctrl-C keeps the samples so far; see `fractals.rendering.stores.keeping`.
    stopped : bool
        Whether it was typed: the work ends with what is there.
    spent : float
        Seconds that previews have taken.
    shown : int
        How many there were.
    """

    def __init__(
        self,
        scene: Scene,
        show: ShowPreview | None,
        keeps: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._scene, self._show, self._clock = scene, show, clock
        self._begun, self._next, self._last = clock(), FIRST, 0.0
        self.keeps, self.stopped, self.begun = keeps, False, lambda: None
        self.spent, self.shown = 0.0, 0

    @property
    def shows(self) -> bool:
        """Tell whether there are previews."""
        return self._show is not None

    def offer(self, make: Make, size: int = 0, taken: Callable[[], float] | None = None) -> None:
        """Show what `make` returns, if it is time: uint8, shape (rows, columns, 3).

        size : int
            Bytes of the numbers that it is made of.
        taken : callable, optional
            The clock of what a preview takes, in seconds; that of the thread where others go on
            working meanwhile.
        """
        taken = taken or self._clock
        passed = self._clock() - self._begun
        cost = max(self._last, LEAST + size / BYTES_A_SECOND)
        late = passed >= self._next and self.spent + cost <= SHARE * passed
        if self._show is None or not late:
            return
        if not self.shown and isinstance(self._show, Screen) and not self._show.ready():
            self._show = None
            return
        begun = taken()
        pixels = make()
        height, width = pixels.shape[:2]
        scene = _sized(self._scene, (width, height))
        self._show(Image(pixels, scene, drawn=False))
        self._last = taken() - begun
        self.spent, self.shown = self.spent + self._last, self.shown + 1
        self._next = passed + min(LONGEST, (GROWTH - 1) * passed)

    def following(self, progress: Progress | None, make: Make) -> Progress:
        """Return a progress function that also offers what other threads have drawn so far."""

        def heard(done: int, total: int) -> None:
            if progress:
                progress(done, total)
            if 0 < done < total:
                self.offer(make, taken=thread_time)

        return heard


def step_of(scene: Scene) -> int:
    """Return how many pixels of a picture one of its preview covers, along each side."""
    return max(1, math.ceil(max(scene.image.size) / SIDE))


def small_scene(scene: Scene, step: int) -> Scene:
    """Return a scene whose pixels cover `step` of another's, along each side."""
    width, height = (-(-side // step) for side in scene.image.size)
    return _sized(scene, (width, height))


def _sized(scene: Scene, size: tuple[int, int]) -> Scene:
    image = scene.image.model_copy(update={"size": size, "bits": 8, "hdr": False})
    return scene.model_copy(update={"image": image})


def binned(numbers: NDArray[Any], step: int) -> NDArray[Any]:
    """Return sums of squares of numbers, `step` along each side, smaller at the last edges.

    `numbers`: shape (rows, columns, channels).
    """
    for axis in (0, 1):
        numbers = np.add.reduceat(numbers, np.arange(0, numbers.shape[axis], step), axis=axis)
    return numbers


class Canvas:
    """A preview of pixels that are drawn tile by tile: black where there are none yet.

    Of the pixels that one of the preview covers only a few are taken, because reading all of them
    would take longer than a simple formula's iteration.
    """

    def __init__(self, scene: Scene) -> None:
        step = step_of(scene)
        self._n = min(2, step)  # pixels that are taken, along each side
        self._step = -(-step // self._n)
        width, height = (-(-side // self._step) for side in scene.image.size)
        self._taken = np.zeros((height, width, 3), np.uint8)

    @classmethod
    def of(cls, scene: Scene, pixels: NDArray[Any]) -> Pixels:
        """Return the preview of the pixels of a whole picture."""
        canvas = cls(scene)
        canvas.put(pixels)
        return canvas.pixels()

    def put(self, rows: NDArray[Any], top: int = 0) -> None:
        """Take rows of the picture, uint8 or uint16, whose first row is `top`."""
        first = -top % self._step
        few = rows[first :: self._step, :: self._step]
        if few.dtype == np.uint16:
            few = few >> 8
        at = (top + first) // self._step
        self._taken[at : at + len(few)] = few

    def pixels(self) -> Pixels:
        """Return the preview."""
        sums = binned(self._taken.astype(np.uint16), self._n)
        counts = binned(np.ones((*self._taken.shape[:2], 1), np.uint16), self._n)
        means: Pixels = (sums // counts).astype(np.uint8)
        return means


@contextmanager
def watching(scene: Scene, options: Any, keep: bool = False) -> Iterator[Any]:
    """Give the options of a picture what looks at it, where anything does.

    `options`: `fractals.rendering.options.PictureOptions`. An `OptionError` says what is wrong with
    their preview.
    """
    show = shown_by(options.preview, options.on_message)
    if show is None and not keep:
        yield options.replace(preview=None)
        return
    try:
        yield options.replace(preview=Onlooker(scene, show, keep))
    finally:
        if isinstance(show, Screen):
            show.end()


def shown_by(given: Any, tell: Callable[[str], None]) -> ShowPreview | None:
    """Return where previews are seen, as the keyword `preview` says."""
    if given is None:
        return NotebookCell() if in_notebook() else None
    if given is False:
        return None
    if isinstance(given, str | Path):
        return PreviewFile(Path(given), tell)
    if callable(given):
        found: ShowPreview = given
        return found
    raise OptionError(f"preview={typed(given)}: give the name of a PNG, a function, or False")


class PreviewFile:
    """A small PNG that is replaced as a picture gets better."""

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        if path.suffix.lower() != ".png":
            raise OptionError(f"'{shown(path)}': a preview is a PNG: end its name in .png")
        if os.path.exists(path) and not _is_preview(path):
            raise OptionError(f"'{shown(path)}' is there and is no preview: name another file")
        check_output(path, overwrite=True)
        self._path, self._tell, self._failed = path, tell, False

    def __call__(self, image: Image) -> None:
        """Replace the file; where that fails the picture goes on without previews."""
        if self._failed:
            return
        from PIL.PngImagePlugin import PngInfo

        texts = PngInfo()
        texts.add_itxt(*MARK)
        try:
            with written(self._path) as file:
                image.to_pil().save(file, "PNG", compress_level=1, pnginfo=texts)
        except FractalsError as error:
            self._failed = True
            self._tell(f"no more previews: {first_line(error)}")


def check_apart(path: Any, preview: Any) -> None:
    """Raise an `OptionError` where a picture and its preview are one file."""
    if _place(path) == _place(preview):
        raise OptionError(f"preview={str(preview)!r} is the picture itself: name another file")


def _place(path: str | Path) -> str:
    """Return a file's absolute path: the same for all names of the file."""
    try:
        return os.path.normcase(os.path.realpath(path))
    except ValueError:  # a zero byte or a surrogate, which the check of the file tells of
        return str(path)


def _is_preview(path: Path) -> bool:
    """Tell whether a file is a preview, which the next one may replace."""
    try:
        with open_to_read(path) as file:
            return png.begins(file) and png.read_text(file, MARK[0], MOST_TEXT) == MARK[1]
    except (OSError, ValueError):
        return False


# --- Notebooks


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    found = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(found, "kernel")


class NotebookCell(Screen):
    """The output of a notebook's cell, which shows a preview until the picture is there."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, image: Image) -> None:
        """Show a preview in place of the one before."""
        from IPython import display

        picture = display.Image(data=image.encode("PNG"))
        if self._handle is None:
            self._handle = display.display(picture, display_id=True)
        else:
            self._handle.update(picture)

    def end(self) -> None:
        """Remove the preview: what the call returns is shown in its place."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
