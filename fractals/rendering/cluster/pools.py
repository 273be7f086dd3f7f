"""Pools: how the workers of a cluster are reached, by Dask or by any object with `submit`."""

import contextlib
import ipaddress
import os
import re
import secrets
import shutil
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from fractals.errors import FractalsError, OptionError, shown
from fractals.io.files import read_json

MISSING = "needs Dask: pip install 'fractals-numba[cluster]'"
# dask-jobqueue has a package of its own, because it is needed on clusters with a job system only.
MISSING_SLURM = "slurm:N needs dask-jobqueue: pip install 'fractals-numba[cluster,slurm]'"
STARTED = ("local", "slurm")  # clusters that end with the command
TIMEOUT = 20  # seconds to reach a scheduler
EARLY = 300  # seconds before the end of a job at which its worker stops
ADDRESS = re.compile(r"(?:(tcp|tls)://)?([\w.-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})", re.ASCII)
KEYS = ("ca.pem", "cert.pem", "key.pem")  # as `fractals cluster-keys` writes them


class Pool(Protocol):
    """Workers that can be given tasks."""

    def workers(self) -> Mapping[str, str]:
        """Return the addresses of the workers that are there, each with its host ("": unknown)."""

    def submit(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a future of a call on a worker."""

    def share(self, worker: str) -> int:
        """Return how many workers share the cores of a worker's machine."""

    def ahead(self, worker: str) -> int:
        """Return how many tasks may be submitted to a worker at a time."""

    def close(self) -> None:
        """End what was started for this job."""


class ExecutorPool:
    """An object with `submit`, as one worker whose machines are not known."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._most = int(getattr(executor, "_max_workers", 4))  # concurrent.futures and others

    def workers(self) -> Mapping[str, str]:
        """Return the executor itself."""
        return {"the executor": ""}

    def submit(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a future of a call."""
        return self._executor.submit(function, *arguments)

    def share(self, worker: str) -> int:
        """Return how many processes of this machine share its cores."""
        return self._most if isinstance(self._executor, ProcessPoolExecutor) else 1

    def ahead(self, worker: str) -> int:
        """Return how many tasks keep all processes busy."""
        return 2 * self._most

    def close(self) -> None:
        """Leave the executor to its owner."""


class DaskPool:
    """The workers of a Dask cluster.

    Each task names its worker, so a task moves to another worker only if this process says so.
    """

    def __init__(self, client: Any, started: Iterable[Any] = ()) -> None:
        self.client = client
        self._started = list(started)  # closed at the end, in this order
        self._hosts: Mapping[str, str] = {}  # of the workers at the last look
        self._name, self._numbers = secrets.token_hex(8), count()  # keys that no other job has

    def workers(self) -> Mapping[str, str]:
        """Return the addresses of the workers and their hosts."""
        try:
            found: Mapping[str, int] = self.client.nthreads()
        except Exception as error:
            raise FractalsError(
                f"the scheduler does not answer any more ({type(error).__name__}): "
                "finished parts are kept; the same command resumes"
            ) from None
        self._hosts = {address: host_of(address) for address in found}
        return self._hosts

    def submit(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a future of a call on a worker."""
        return self.client.submit(
            function,
            *arguments,
            key=f"fractals-{self._name}-{next(self._numbers)}",
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )

    def share(self, worker: str) -> int:
        """Return how many workers share the cores of a worker's machine."""
        return max(1, list(self._hosts.values()).count(host_of(worker)))

    def ahead(self, worker: str) -> int:
        """Return how many tasks hide the time that it takes to submit one."""
        return 3

    def close(self) -> None:
        """Close the client and the cluster, where they were started here."""
        for each in self._started:
            with contextlib.suppress(Exception):
                each.close()


def host_of(address: str) -> str:
    """Return the host of a worker's address.

    Examples
    --------
    >>> host_of("tcp://10.0.0.1:4711")
    '10.0.0.1'
    """
    return address.rpartition("://")[2].rpartition(":")[0]


def open_pool(
    cluster: Any,
    keys: str | Path | None = None,
    insecure: bool = False,
    on_message: Callable[[str], None] = lambda line: None,
) -> Pool:
    """Return the pool of an address, a Dask client, or an executor.

    Parameters
    ----------
    cluster : object
        ``"tcp://host:port"``, ``"tls://host:port"``, the name of a scheduler file that ends in
        ``.json``, ``"local:N"``, ``"slurm:N"``, a ``distributed.Client``, or an object with
        `submit`.
    keys : str or Path, optional
        The folder of keys that `fractals cluster-keys` wrote, for TLS.
    insecure : bool
        True: a public address without TLS is allowed.
    on_message : callable
        Called with the address of the dashboard.

    Raises
    ------
    OptionError
        The address is none of these, or public and without TLS.
    FractalsError
        Dask is not installed, or the scheduler does not answer.
    """
    if isinstance(cluster, str):
        pool = _open_address(cluster, keys, insecure)
        link = _dashboard(pool.client)
        if link:
            on_message(f"{cluster}: {link}")
        return pool
    if type(cluster).__module__.startswith("distributed."):
        return DaskPool(cluster)
    if isinstance(cluster, DaskPool | ExecutorPool):
        return cluster
    if callable(getattr(cluster, "submit", None)):
        return ExecutorPool(cluster)
    raise OptionError(
        f"cluster={cluster!r:.60}: give an address, a Dask client, or an object with submit"
    )


def _open_address(address: str, keys: str | Path | None, insecure: bool) -> DaskPool:
    check_known(address, insecure)
    kind, _, number = address.partition(":")
    if kind in STARTED:
        return (_local if kind == "local" else _slurm)(int(number))
    distributed = import_distributed()
    where: dict[str, Any] = {"address": address}
    if address.endswith(".json"):
        where = {"scheduler_file": address}
    if address.startswith("tls://") and keys:
        where["security"] = security_of(keys)
    try:
        client = distributed.Client(**where, timeout=TIMEOUT, set_as_default=False)
    except Exception as error:  # whatever a transport raises
        raise FractalsError(
            f"no scheduler answers at {shown(address, 80)} ({shown(error, 100)}): start one with "
            "'dask scheduler', and workers with 'fractals worker ADDRESS'"
        ) from None
    return DaskPool(client, [client])


def check_known(address: str, insecure: bool) -> None:
    """Raise an `OptionError` for what `open_pool` takes for no address."""
    kind, _, number = address.partition(":")
    if kind not in STARTED:
        check_address(address, insecure)
    elif not re.fullmatch(r"[1-9]\d{0,4}", number, re.ASCII):
        raise OptionError(f"'{shown(address, 80)}': give a number of workers, such as {kind}:4")


def check_address(address: str, insecure: bool) -> None:
    """Raise an `OptionError` for what is no address, or a public one without TLS."""
    if address.endswith(".json"):
        if not os.path.exists(address):
            return  # Dask waits for it
        address = str(read_json(Path(address)).get("address", ""))
    found = ADDRESS.fullmatch(address)
    if not found:
        raise OptionError(
            f"'{shown(address, 80)}' is no address of a scheduler: give tcp://HOST:PORT, "
            "tls://HOST:PORT, FILE.json, local:N or slurm:N"
        )
    if found[1] != "tls" and not insecure and is_public(found[2].strip("[]")):
        raise OptionError(
            f"{found[2]} is a public address, and whoever reaches a scheduler without TLS runs "
            "code on its workers: give tls://... (see fractals cluster-keys --help), or --insecure"
        )


def is_public(host: str) -> bool:
    """Tell whether a host has an address that is reached from anywhere."""
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:
        return False  # connecting will say why
    return any(ipaddress.ip_address(each.partition("%")[0]).is_global for each in found)


def import_distributed() -> Any:
    """Return the module `distributed`, or raise a `FractalsError` that says how to install it."""
    try:
        import distributed
    except ImportError:
        raise FractalsError(f"--cluster {MISSING}") from None
    import dask

    # Tasks name their workers. A worker that is stopped or killed is no reason to give a task up.
    dask.config.set({"distributed.scheduler.work-stealing": False})
    dask.config.set({"distributed.scheduler.allowed-failures": 100})
    return distributed


def security_of(keys: str | Path) -> Any:
    """Return Dask's security settings for a folder of keys."""
    ca, cert, key = (str(Path(keys, name)) for name in KEYS)
    for path in (ca, cert, key):
        if not os.path.isfile(path):
            raise FractalsError(f"'{path}' is missing: fractals cluster-keys writes it")
    distributed = import_distributed()
    names = ("scheduler", "worker", "client")
    pairs = {f"tls_{name}_cert": cert for name in names} | {
        f"tls_{name}_key": key for name in names
    }
    return distributed.Security(tls_ca_file=ca, require_encryption=True, **pairs)


def _local(workers: int) -> DaskPool:
    """Start workers on this machine, which share its cores."""
    distributed = import_distributed()
    try:
        with _interrupts_ignored():
            cluster = distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                resources={"tile": 1},
                dashboard_address="127.0.0.1:0",
                silence_logs=50,
            )
        client = distributed.Client(cluster, set_as_default=False)
    except Exception as error:
        raise FractalsError(f"local:{workers} can't be started: {shown(error)}") from None
    return DaskPool(client, [client, cluster])


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which is for this one; it then ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _slurm(jobs: int) -> DaskPool:
    """Start workers as jobs of Slurm, as the user's dask-jobqueue settings say."""
    distributed = import_distributed()
    try:
        from dask_jobqueue import SLURMCluster
    except ImportError:
        raise FractalsError(MISSING_SLURM) from None
    if not shutil.which("sbatch"):
        raise FractalsError(
            f"slurm:{jobs} needs the command sbatch: give it where jobs are submitted"
        )
    import dask

    walltime = dask.config.get("jobqueue.slurm.walltime", None) or "00:30:00"
    more = ["--nthreads", "1", "--resources", "tile=1", "--memory-limit", "0"]
    more += ["--lifetime", f"{max(60, _seconds(str(walltime)) - EARLY)}s"]
    more += ["--lifetime-stagger", "4m"]
    try:
        cluster = SLURMCluster(
            processes=1, worker_extra_args=more, scheduler_options={"dashboard_address": ":0"}
        )
        cluster.scale(jobs=jobs)
        client = distributed.Client(cluster, set_as_default=False)
    except Exception as error:
        raise FractalsError(
            f"slurm:{jobs} can't be started ({shown(error, 120)}): set cores, memory and "
            "walltime in ~/.config/dask/jobqueue.yaml"
        ) from None
    return DaskPool(client, [client, cluster])


def _seconds(walltime: str) -> int:
    """Return the seconds of a walltime of Slurm.

    Examples
    --------
    >>> _seconds("01:30:00"), _seconds("2-00:00:00"), _seconds("45")
    (5400, 172800, 2700)
    """
    days, _, rest = walltime.rpartition("-")
    parts = [int(part) for part in rest.split(":") if part.isdecimal()] or [0]
    if len(parts) == 1 and not days:  # minutes
        parts = [0, *parts, 0]
    hours, minutes, seconds = ([*parts, 0, 0] if days else [0, 0, *parts][-3:])[:3]
    return int(days or 0) * 86400 + hours * 3600 + minutes * 60 + seconds


def _dashboard(client: Any) -> str:
    """Return the line about the dashboard, where there is one."""
    try:
        import bokeh  # noqa: F401
    except ImportError:
        return ""
    link = str(client.dashboard_link or "")
    return f"dashboard {link}" if link else ""
