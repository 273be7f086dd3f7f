"""ExploreOptions: how the explorer is served. `fractals.explore` describes them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from fractals.errors import OptionError, shown
from fractals.rendering.options import RenderOptions
from fractals.scene.keywords import SceneKeywords

# Bounds of whole numbers, here and on the command line.
LIMITS = {"port": (0, 65_535), "memory": (1, 2**20), "clients": (1, 1000)}


class ExploreKeywords(SceneKeywords, total=False):
    """The keywords of `fractals.explore`, for type checkers: keys of the scene, and options."""

    device: str
    threads: int | None
    host: str
    port: int
    browser: bool
    block: bool
    uds: str | None
    cert: str | None
    key: str | None
    allow_hosts: tuple[str, ...]
    read_only: bool
    memory: int
    clients: int
    gallery: bool | None
    on_message: Callable[[str], None]


@dataclass(frozen=True)
class ExploreOptions:
    """The options of `fractals.explore`, and their defaults.

    Raises
    ------
    OptionError
        An option has a bad value.
    """

    device: str = "auto"
    threads: int | None = None
    host: str = "127.0.0.1"
    port: int = 0  # with `uds`, the port under which the browser reaches the socket
    browser: bool = True
    block: bool = True
    uds: str | None = None
    cert: str | None = None
    key: str | None = None
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    memory: int = 1024  # MiB
    clients: int = 16
    gallery: bool | None = None
    on_message: Callable[[str], None] = warnings.warn

    def __post_init__(self) -> None:
        RenderOptions(self.device, self.threads, on_message=self.on_message)
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise OptionError(
                    f"{name} {shown(value, 20)}: give a whole number from {least} to {most}"
                )
        if bool(self.cert) != bool(self.key):
            raise OptionError("--cert and --key belong together: give both")

    @property
    def local(self) -> bool:
        """Tell whether only this machine reaches the server: bookmarks are files then."""
        return bool(self.uds) or self.host in ("127.0.0.1", "::1", "localhost")
