"""Dask's scheduler and worker without the HTTP port that each of them opens.

Dask has no setting that leaves the port out: ``dashboard=False`` leaves out pages only. Whoever
reaches the port reads what the cluster does, without a key, also where all other ports use TLS.
"""

from typing import Any

from distributed import Scheduler, Worker


class QuietScheduler(Scheduler):  # type: ignore[misc]
    """A scheduler that listens on the port of its address only."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Open no port."""


class QuietWorker(Worker):  # type: ignore[misc]
    """A worker that listens on the port of its address only."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Open no port."""
