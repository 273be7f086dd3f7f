"""`fractals.explore`: the explorer from Python. The server is imported when it is called."""

import importlib.util
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

from fractals.errors import FractalsError, OptionError, shown
from fractals.explorer import server
from fractals.explorer.server import Running
from fractals.io.load import Source, load_scene
from fractals.rendering.options import RenderOptions, split_keywords, with_keywords
from fractals.scene.keywords import SceneKeywords

NEEDED = ("starlette", "uvicorn", "websockets")
INSTALL = "pip install 'fractals-numba[explore]'"
LIMITS = {"port": (0, 65_535), "memory": (1, 2**20), "clients": (1, 1000)}


class ExploreKeywords(SceneKeywords, total=False):
    """The keywords of `fractals.explore`: keys of the scene, and fields of `ExploreOptions`."""

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
    """How the explorer is served: see `explore`.

    Raises
    ------
    OptionError
        An option has a bad value.
    """

    device: str = "auto"
    threads: int | None = None
    host: str = "127.0.0.1"
    port: int = 0
    browser: bool = True
    block: bool = True
    uds: str | None = None
    cert: str | None = None
    key: str | None = None
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    memory: int = 1024
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


@with_keywords(ExploreKeywords, ExploreOptions)
def explore(*sources: Source, **keywords: Unpack[ExploreKeywords]) -> Running:
    """Start the explorer, and open its page in the browser.

    Parameters
    ----------
    *sources : str, Path, mapping or Scene
        The scene that is shown first, as of `fractals.load_scene`.
    device, threads
        As of `fractals.render`.
    host, port : str, int
        Where the server listens; port 0 is a free one. Other machines reach the server only if
        `host` names one of this machine's addresses, or "0.0.0.0".
    browser : bool
        False: no browser is opened; `on_message` receives the address.
    block : bool
        False: the server runs in a thread, and the call returns at once; ``close()`` ends it.
    uds : str, optional
        Path of a Unix socket, in place of host and port.
    cert, key : str, optional
        Files of a certificate and its key, for HTTPS.
    allow_hosts : tuple of str
        More names under which browsers reach the server, such as that of a proxy.
    read_only : bool
        True: visitors upload, export and keep nothing on the server.
    memory : int
        MiB of raw numbers that are kept for recoloring, for all clients together.
    clients : int
        Most pages that are connected at once.
    gallery : bool, optional
        Whether the page starts with the gallery; by default, if no source and no key is given.
    on_message : callable
        Called with lines such as the address; `warnings.warn` by default.
    **keywords
        Keys of the scene, such as ``palette``.

    Returns
    -------
    Running
        With ``url``, ``invitation()`` (an address that opens the page once) and ``close()``.

    Raises
    ------
    FractalsError
        The extra `explore` is not installed, or the address is in use.
    OptionError, SceneError, DeviceError
        As of `fractals.render`.
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise FractalsError(f"the explorer requires {', '.join(missing)}: {INSTALL}")
    keys, given = split_keywords(keywords, ExploreKeywords, ExploreOptions)
    options = ExploreOptions(**given)
    from fractals.explorer.session import Terms

    scene = load_scene(*sources, **keys)
    scene.to_table()  # raises for a formula without a name, which no page could share
    address = server.Address(
        options.host,
        options.port,
        options.uds,
        options.cert,
        options.key,
        tuple(options.allow_hosts),
    )
    terms = Terms(
        scene,
        options.read_only,
        address.local,
        options.memory * 2**20,
        options.clients,
        gallery=not (sources or keys) if options.gallery is None else options.gallery,
    )
    running = server.start(terms, options.device, options.threads, address)
    tell = options.on_message
    if not address.local and not address.cert:
        tell(
            f"{address.host}: others on the network can read plain HTTP: give --cert and --key, "
            "or keep 127.0.0.1 and forward the port (ssh -L)"
        )
    page = running.invitation()
    tell(f"exploring at {page} (the address opens once)")
    if options.browser:
        server.open_browser(page)
    if options.block:
        running.serve()
    else:
        threading.Thread(target=running.serve, name="fractals-server", daemon=True).start()
    return running
