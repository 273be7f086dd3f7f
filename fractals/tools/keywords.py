"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from collections.abc import Callable
from typing import Any, SupportsFloat, SupportsIndex

from fractals.scene.keywords import SceneKeywords


class SuggestKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.find_interesting`."""

    formulas: tuple[str, ...]
    lossy: bool
    device: str
    threads: SupportsIndex | None
    on_message: Callable[[str], None]
    count: SupportsIndex
    centers: bool
    progress: Callable[[int, int], None] | None


class TraceKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.trace`."""

    formulas: tuple[str, ...]
    lossy: bool
    contours: SupportsIndex
    rays: Any
    paper: SupportsFloat
    pen: SupportsFloat
    shortest: SupportsFloat
    colored: bool
