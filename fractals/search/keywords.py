"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from collections.abc import Callable
from typing import SupportsIndex

from fractals.scene.keywords import SceneKeywords


class SearchKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.find_nucleus`."""

    formulas: tuple[str, ...]
    lossy: bool
    max_period: SupportsIndex | None
    progress: Callable[[str, int, int], None] | None


class SpiralKeywords(SearchKeywords, total=False):
    """Keywords of `fractals.find_misiurewicz`."""

    digits: SupportsIndex | None
