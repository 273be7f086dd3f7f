"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from typing import Any, SupportsFloat, SupportsIndex, TypedDict

from fractals.scene.keywords import RenderKeywords


class FilmKeywords(RenderKeywords, total=False):
    """Keywords of `fractals.film`."""

    to: str | SupportsFloat | None
    cycle: SupportsFloat | None
    turn: SupportsFloat | None
    seconds: SupportsFloat | None
    fps: SupportsFloat | None
    preview: bool


class SaveKeywords(TypedDict, total=False):
    """Keywords of `Film.save`."""

    overwrite: bool
    cluster: Any
    frames: tuple[SupportsIndex, SupportsIndex] | None
    sound: str | None
    codec: str | None
    bits: SupportsIndex | None
    lossless: bool
    keep_strip: bool
