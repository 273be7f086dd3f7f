"""The options of the explorer, as `fractals.rendering.options` describes them."""

from typing import Any

from fractals.errors import OptionError, shown
from fractals.rendering.options import DeviceOptions, option


class ExploreOptions(DeviceOptions):
    """How the explorer is served; a bad value is an `OptionError`."""

    host: str | None = option(
        None,
        "Address to listen at (default: 127.0.0.1, this machine only; of a class 0.0.0.0).",
        "Other machines reach the server only at an address of this machine that they know, or at "
        '"0.0.0.0", which stands for all.',
    )
    port: int = option(
        0,
        "Port to listen at (default: a free one, the same in each run if possible).",
        limits=(0, 65_535),
    )
    browser: bool = option(
        True,
        "Open no browser; `on_message` receives the address.",
        command="Print the address; open no browser.",
    )
    block: bool = option(
        True, "The server runs in a thread, and the call returns at once; ``close()`` ends it."
    )
    uds: str | None = option(
        None, "Unix socket to listen at; the port is then that of the tunnel to it."
    )
    cert: str | None = option(None, "Certificate, for HTTPS.")
    key: str | None = option(None, "Its private key.")
    allow_hosts: tuple[str, ...] = option(
        (),
        "More names under which browsers reach the server, such as that of a proxy.",
        command="Another name under which browsers reach the server; can be repeated.",
    )
    read_only: bool = option(False, "Visitors upload, export and keep nothing on the server.")
    memory: int = option(
        1024,
        "MiB of raw numbers that recoloring needs, of all pages together (default: 1024).",
        limits=(1, 2**20),
    )
    clients: int | None = option(
        None,
        "Most pages that are connected at once (default: 16, of a class 40).",
        limits=(1, 1000),
    )
    classroom: bool = option(
        False,
        "Lead a class: guests of the local network open a short address, type a code, and follow "
        "your view until they explore alone; your page shows their pictures.",
    )
    cluster: Any = option(
        None,
        "Have PNGs and videos drawn by the workers of a Dask scheduler: tcp://HOST:PORT, "
        "tls://HOST:PORT or FILE.json.",
    )
    gallery: bool | None = option(
        None,
        "Whether the page starts with the gallery; by default, if no source and no key is given.",
    )

    def check(self) -> None:
        """Raise an `OptionError` for a bad value."""
        super().check()
        for name, field in self.fields.items():
            value = getattr(self, name)
            least, most = field.limits or (value, value)
            if value is None and field.default is None:
                continue
            if field.limits and (type(value) is not int or not least <= value <= most):
                raise OptionError(
                    f"{name} {shown(value, 20)}: give a whole number from {least} to {most}"
                )
        if bool(self.cert) != bool(self.key):
            raise OptionError("cert= and key= belong together: give both")
        if self.classroom and self.uds:
            raise OptionError("classroom=, uds=: guests reach no Unix socket: give host=")
        if self.classroom and self.clients == 1:
            raise OptionError("classroom=, clients=1: give 2 or more, for a leader and a guest")

    @property
    def local(self) -> bool:
        """Tell whether only this machine reaches the server."""
        return bool(self.uds) or self.address in ("127.0.0.1", "::1", "localhost")

    @property
    def keeps(self) -> bool:
        """Tell whether bookmarks are files of this machine's user."""
        return self.local and not (self.read_only or self.classroom)

    @property
    def address(self) -> str:
        """Return where the server listens."""
        return self.host or ("0.0.0.0" if self.classroom else "127.0.0.1")

    @property
    def pages(self) -> int:
        """Return how many pages may be connected at once."""
        return self.clients or (40 if self.classroom else 16)
