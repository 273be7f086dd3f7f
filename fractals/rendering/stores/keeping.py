"""Pictures that Ctrl-C ends: the samples so far are shown, and kept for the same call."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

import numpy as np

from fractals.errors import OptionError, shown
from fractals.io.files import check_output, folder_beside
from fractals.io.image import PictureFile
from fractals.rendering.families import Family, Rendered, written_to
from fractals.rendering.options import RenderOptions
from fractals.rendering.preview import Onlooker
from fractals.rendering.stores.kept import BANDS, Kept, kept_beside
from fractals.scene.model import Scene

SAMPLES = "samples"  # the name of what is kept, in a folder beside the picture
FILE_TIME = "file_time"  # of the arrays: when the picture of these samples was written
Arrays = Mapping[str, Any]
# Takes the arrays that were kept, or None. Returns the picture, and the arrays with which another
# call goes on: none if the picture is complete.
Draw = Callable[[Arrays | None], tuple[Any, Arrays]]
# Takes whether an existing file may be replaced. Returns the function that writes a picture.
OpenFile = Callable[[bool], Callable[[Any], Rendered]]


def check_kept(path: str | Path | BinaryIO, family: Family, cluster: Any, overwrite: bool) -> None:
    """Raise an `OptionError` where the samples of a picture can't be kept.

    Where no samples are kept yet, an existing file at `path` is an error before anything is drawn.
    """
    if not family.keeps:
        raise OptionError(
            "keep=True is for solids, reliefs and scatter images, whose samples are added up: "
            "leave it out"
        )
    if cluster is not None:
        raise OptionError("a cluster keeps what it has computed: leave keep=True out")
    if not isinstance(path, str | Path):
        raise OptionError("keep=True requires the name of a file")
    if not folder_beside(Path(path), BANDS).exists():
        check_output(path, overwrite)


def draw_kept(
    path: Path,
    scene: Scene,
    precision: str,
    version: int | list[int],
    options: RenderOptions,
    overwrite: bool,
    draw: Draw,
    open_file: OpenFile | None = None,
) -> Rendered:
    """Draw a picture whose samples stay beside its file where Ctrl-C ends it.

    version : int or list of int
        Of what samples add up to, and how many numbers of a pixel where versions differ. They
        depend on it, on the precision and on the scene.
    open_file : callable, optional
        Of a picture that is no `Image`.

    KeyboardInterrupt: the picture that is written has a part of its samples.
    """
    assert options.watch
    facts = {"scene": scene.to_toml(), "precision": precision, "sums": version}
    with kept_beside(path) as kept:
        whole = scene.image.size[1]
        same = kept.band_of(facts) == whole
        if not (same or overwrite) and kept.load(SAMPLES):
            raise OptionError(
                f"'{shown(kept.folder)}' keeps samples of another picture or version: name another "
                "file, or give overwrite=True"
            )
        before = kept.load(SAMPLES) if same and not overwrite else None
        # A picture that another call has put there stays
        ours = before is not None and _time_of(path) == int(before.get(FILE_TIME, 0))
        if open_file:
            write = open_file(overwrite or ours)
        else:
            target = PictureFile(path, scene.image, overwrite or ours)
            write = partial(written_to, target, options=options)
        kept.begin(facts, whole)
        with _removed_if_empty(kept), _heard(options.watch):
            image, rest = draw(before)
            drawn = write(image)
            if not rest:
                return drawn
            kept.save(SAMPLES, **rest, **{FILE_TIME: np.int64(_time_of(path))})
        options.on_message(f"{path}: {drawn.summary} are kept; drawing it again goes on with them")
        raise KeyboardInterrupt


def _time_of(path: Path) -> int:
    """Return when a file was changed, in ns; -1: there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1


@contextlib.contextmanager
def _removed_if_empty(kept: Kept) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if not (kept.folder / f"{SAMPLES}.npz").exists():
            kept.end()
        raise


@contextlib.contextmanager
def _heard(watch: Onlooker) -> Iterator[None]:
    """Have Ctrl-C end the work that is watched, once there are samples; a second one as usual.

    A process that ignores SIGINT goes on ignoring it. Other threads than the main one hear nothing.
    """
    before: Any = None

    def hear(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        watch.stopped = True

    def begin() -> None:
        nonlocal before
        if before is None and threading.current_thread() is threading.main_thread():
            found = signal.getsignal(signal.SIGINT)
            if found not in (signal.SIG_IGN, None):
                before = found
                signal.signal(signal.SIGINT, hear)

    watch.begun = begin
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
