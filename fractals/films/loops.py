"""Animated pictures: WebP and GIF, which browsers show everywhere and repeat."""

import io
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from fractals.errors import OptionError
from fractals.films.planes import Frame, rounded

WEBP = {"quality": 80, "method": 4, "minimize_size": False}
GIF = {"optimize": False, "disposal": 1}
UNITS = {".webp": 1000, ".gif": 100}  # parts of a second in which frames are timed
MOST_FPS = {".webp": 60.0, ".gif": 50.0}  # browsers show faster ones slowly
MOST_PIXELS = 2**31  # of all frames: Pillow keeps them, compressed
COLORS = 256  # of a GIF


def check_loop(suffix: str, fps: float, pixels: int) -> None:
    """Raise an `OptionError` where an animated picture can't hold a film."""
    if fps > MOST_FPS[suffix]:
        raise OptionError(
            f"{suffix}: browsers show at most {MOST_FPS[suffix]:g} frames a second: give "
            f"--fps {25 if suffix == '.gif' else 30}"
        )
    if pixels > MOST_PIXELS:
        raise OptionError(
            f"{suffix}: {pixels / 1e6:.0f} Mpixel are too many for an animated picture: write a "
            ".mp4, or give a smaller --size or fewer --seconds"
        )


def durations(suffix: str, fps: float, count: int) -> list[int]:
    """Return the time of each frame, in ms, so that together they are the film's length.

    Examples
    --------
    >>> durations(".webp", 60, 3), durations(".gif", 40, 4)
    ([17, 16, 17], [20, 30, 30, 20])
    """
    units = UNITS[suffix]
    ends = [round(k * units / fps) for k in range(count + 1)]
    return [(b - a) * 1000 // units for a, b in itertools.pairwise(ends)]


def write_loop(
    file: BinaryIO, suffix: str, frames: Iterable[Frame], fps: float, count: int
) -> None:
    """Write frames as an animated picture that repeats for ever."""
    import PIL.Image

    pictures: Iterator[Any] = (_picture(frame, suffix) for frame in frames)
    first = next(pictures)
    options: dict[str, Any] = (
        dict(WEBP) if suffix == ".webp" else {"optimize": False, "disposal": 1}
    )
    first.save(
        file,
        PIL.Image.registered_extensions()[suffix],
        save_all=True,
        append_images=pictures,
        duration=durations(suffix, fps, count),
        loop=0,
        **options,
    )


def _picture(frame: Frame, suffix: str) -> Any:
    import PIL.Image

    picture = PIL.Image.fromarray(rounded(frame))
    if suffix == ".gif":
        return picture.quantize(COLORS, PIL.Image.Quantize.MEDIANCUT)
    return picture


def webp_bytes(frames: Iterable[Frame], fps: float) -> bytes:
    """Return an animated WebP of frames."""
    kept = list(frames)
    buffer = io.BytesIO()
    write_loop(buffer, ".webp", kept, fps, len(kept))
    return buffer.getvalue()
