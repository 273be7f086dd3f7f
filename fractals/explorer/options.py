"""ExploreOptions: how the explorer is served. `fractals.explore` describes them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

from fractals.errors import OptionError, shown

# Bounds of whole numbers, here and on the command line.
LIMITS = {"port": (0, 65_535), "memory": (1, 2**20), "clients": (1, 1000)}


@dataclass(frozen=True)
class ExploreOptions:
    """The options of `fractals.explore`, and their defaults; a bad value is an `OptionError`."""

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
        from fractals.rendering.options import RenderOptions  # `fractals explore --help` waits

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
