"""The workers of a cluster that draw exports and films."""

import dataclasses
import threading
from typing import Any

from fractals.errors import FractalsError, OptionError

COUNT_SECONDS = 2.0  # between two looks at how many workers there are


class Workers:
    """The workers that have joined a scheduler, whose number is followed in a thread.

    Raises OptionError: the address is none of a scheduler. Raises FractalsError: Dask is not
    installed, or no scheduler answers.
    """

    def __init__(self, cluster: Any) -> None:
        from fractals.rendering.cluster.job import Cluster
        from fractals.rendering.cluster.pools import STARTED, open_pool

        self.cluster = cluster if isinstance(cluster, Cluster) else Cluster(cluster)
        address = self.cluster.address
        if not isinstance(address, str) or address.partition(":")[0] in STARTED:
            raise OptionError(
                f"cluster={address!r:.60}: the explorer requires the address of a scheduler, such "
                "as tcp://HOST:PORT, because each export is a process that joins it"
            )
        self._pool = open_pool(address, self.cluster.keys, self.cluster.insecure)
        self._ended = threading.Event()
        self.count = len(self._pool.workers())
        threading.Thread(target=self._follow, name="fractals-workers", daemon=True).start()

    def _follow(self) -> None:
        while not self._ended.wait(COUNT_SECONDS):
            try:
                self.count = len(self._pool.workers())
            except FractalsError:  # the scheduler is away, and may come again
                self.count = 0

    def asked(self) -> dict[str, Any] | None:
        """Return the keywords of the `Cluster` of a job; None: this machine works alone."""
        if not self.count:
            return None
        keys = self.cluster.keys and str(self.cluster.keys)
        return {**dataclasses.asdict(self.cluster), "keys": keys}

    def end(self) -> None:
        """Leave the cluster."""
        self._ended.set()
        self._pool.close()
