"""Sizes of pictures as text: names such as "4k", and "1920x1080"."""

import re
from typing import Any

from fractals.errors import shown

NAMED_SIZES = {
    "720p": (1280, 720),
    "1080p": (1920, 1080),
    "1440p": (2560, 1440),
    "2k": (2048, 1080),
    "4k": (3840, 2160),
    "5k": (5120, 2880),
    "8k": (7680, 4320),
    "16k": (15360, 8640),
}
MAX_SIDE = 200_000  # pixels


def size_of(given: Any) -> Any:
    """Return the width and height that a text means; values that are no text as they are.

    Raises
    ------
    ValueError
        A text is no size.

    Examples
    --------
    >>> size_of("4k"), size_of("640x480"), size_of([64, 48])
    ((3840, 2160), (640, 480), [64, 48])
    """
    if not isinstance(given, str):
        return given
    text = given.strip().lower()
    if text in NAMED_SIZES:
        return NAMED_SIZES[text]
    if not (sides := re.fullmatch(r"(\d{1,9})x(\d{1,9})", text, re.ASCII)):
        names = ", ".join(NAMED_SIZES)
        raise ValueError(f"'{shown(given, 40)}' is not a size such as 1920x1080, or {names}")
    return int(sides[1]), int(sides[2])
