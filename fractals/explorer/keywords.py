"""The keywords of public functions, for signatures and type checkers.

Made by scripts/keywords.py from the model of scenes and from classes of options.
"""

from collections.abc import Callable
from typing import Any, SupportsIndex

from fractals.scene.keywords import SceneKeywords


class ExploreKeywords(SceneKeywords, total=False):
    """Keywords of `fractals.explore`."""

    formulas: tuple[str, ...]
    lossy: bool
    device: str
    threads: SupportsIndex | None
    on_message: Callable[[str], None]
    host: str | None
    port: SupportsIndex
    browser: bool
    block: bool
    uds: str | None
    cert: str | None
    key: str | None
    allow_hosts: tuple[str, ...]
    read_only: bool
    memory: SupportsIndex
    clients: SupportsIndex | None
    classroom: bool
    cluster: Any
    gallery: bool | None
