"""Pools: how the workers of a cluster are reached, by Dask or by any object with `submit`.

Whoever connects to a port of Dask without TLS runs code on its machine. So what is started here
uses TLS with keys that exist only as long as the cluster, and opens no port but those of TLS.
"""

import contextlib
import datetime
import ipaddress
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from fractals.errors import FractalsError, OptionError, SceneError, shown, to_install, typed
from fractals.io.files import read_json, writing
from fractals.rendering.options import MAX_THREADS

# Keys for TLS between the machines of a cluster: an authority, and a certificate that it signed.
#
# All machines of a cluster share one certificate: whoever has its key may send tasks and do them.
# The authority's own key is thrown away, so nobody can sign another certificate later.

KEYS = ("ca.pem", "cert.pem", "key.pem")
DAYS = 365


class Keys(NamedTuple):
    """The certificate of an authority, and a certificate and its key: PEM texts, or paths."""

    authority: str
    certificate: str
    key: str


def make_keys(days: int = DAYS) -> Keys:
    """Return new keys that are valid for some days, as texts.

    Raises FractalsError: `cryptography` is not installed.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
    except ImportError:
        raise FractalsError(f"keys for TLS need cryptography: {to_install('cluster')}") from None

    def named(text: str) -> Any:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def builder(subject: Any, key: Any, authority: bool) -> Any:
        begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(hours=1)  # clocks differ
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(named("fractals cluster authority"))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(begin + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(authority, 0 if authority else None), True)
        )

    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_id = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    signs = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    authority = (
        builder(named("fractals cluster authority"), authority_key, True)
        .add_extension(signs, True)
        .add_extension(authority_id, False)
        .sign(authority_key, hashes.SHA256())
    )
    usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(authority_id)
    certificate = (
        builder(named("fractals cluster"), key, False)
        .add_extension(x509.ExtendedKeyUsage(usages), False)
        .add_extension(issuer, False)
        .sign(authority_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    found = authority.public_bytes(pem), certificate.public_bytes(pem), secret
    return Keys(*(content.decode("ascii") for content in found))


def write_keys(folder: Path, days: int = DAYS) -> None:
    """Write new keys to a folder.

    Raises FractalsError: a key exists already, can't be written, or `cryptography` is not
    installed.
    """
    contents = make_keys(days)
    with writing(folder):
        made = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in KEYS:
            if os.path.lexists(folder / name):
                raise FractalsError(f"'{folder / name}' exists already: name another folder")
        try:
            for name, content in zip(KEYS, contents, strict=True):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                with os.fdopen(os.open(folder / name, flags, 0o600), "w") as file:
                    file.write(content)
        except OSError:  # a part of the keys is of no use, and would be in the way
            for name in KEYS:
                (folder / name).unlink(missing_ok=True)
            if made:
                folder.rmdir()
            raise


# dask-jobqueue has a package of its own, because it is needed on clusters with a job system only.
STARTED = ("local", "slurm")  # clusters that end with the command
TIMEOUT = 20  # seconds to reach a scheduler
WAIT = 0.1  # seconds between two looks for a file
SOON = 2.0  # seconds without an answer, after which a line says that it is waited for
SILENT = 50  # level of Dask's log
EARLY = 300  # seconds before the end of a job at which its worker stops
ADDRESS = re.compile(r"(?:(tcp|tls)://)?([\w.-]+|\[[0-9a-fA-F:]+\]):(\d{1,5})", re.ASCII)
SAFE_PATH = "PYTHONSAFEPATH"  # environment: Python then imports nothing from the current folder


class Pool:
    """Workers that can be given tasks; here an executor, as one whose machines are unknown."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._most = int(getattr(executor, "_max_workers", 4))  # concurrent.futures and others

    def workers(self) -> Mapping[str, str]:
        """Return the addresses of the workers that are there, each with its host ("": unknown)."""
        return {"the executor": ""}

    def submit(self, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a future of a call on a worker."""
        return self._executor.submit(function, *arguments)

    def share(self, worker: str) -> int:
        """Return how many workers share the cores of a worker's machine."""
        return self._most if isinstance(self._executor, ProcessPoolExecutor) else 1

    def ahead(self, worker: str) -> int:
        """Return how many tasks may be submitted to a worker at a time, to keep it busy."""
        return 2 * self._most

    def close(self) -> None:
        """End what was started for this job."""


class DaskPool(Pool):
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
        """Return a future of a call on a worker, which does its calls in their order."""
        return self.client.submit(
            function,
            *arguments,
            key=f"fractals-{self._name}-{next(self._numbers)}",
            workers=[worker],
            allow_other_workers=False,
            pure=False,
            fifo_timeout=0,  # a worker does its tasks in this order, also those of one moment
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

    An address is ``"tcp://host:port"``, ``"tls://host:port"``, the name of a scheduler file that
    ends in ``.json``, ``"local:N"`` or ``"slurm:N"``. `keys` is the folder that `fractals
    cluster-keys` wrote; `insecure` allows a public address without TLS; `on_message` gets the
    address of the dashboard.

    Raises OptionError: the address is none of these, or public and without TLS. Raises
    FractalsError: Dask is not installed, or the scheduler does not answer.
    """
    if isinstance(cluster, str):
        pool = _open_address(cluster, keys, insecure, on_message)
        link = _dashboard(pool.client)
        if link:
            on_message(f"{cluster}: {link}")
        return pool
    if type(cluster).__module__.startswith("distributed."):
        return DaskPool(cluster)
    if isinstance(cluster, Pool):
        return cluster
    if callable(getattr(cluster, "submit", None)):
        return Pool(cluster)
    raise OptionError(
        f"cluster={typed(cluster, 60)}: give an address, a Dask client, or an object with submit"
    )


def _open_address(
    address: str, keys: str | Path | None, insecure: bool, on_message: Callable[[str], None]
) -> DaskPool:
    check_known(address, insecure)
    kind, _, number = address.partition(":")
    if kind in STARTED:
        if keys:
            raise OptionError(f"{address} makes keys of its own: leave keys= out")
        return (_local if kind == "local" else _slurm)(int(number))
    distributed = import_distributed()
    try:
        with said_to_wait(address, on_message):
            where = read_address(address, insecure)
            more = security_settings(where, keys)
            address_towards(where)
            client = distributed.Client(where, timeout=TIMEOUT, set_as_default=False, **more)
    except FractalsError:
        raise
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
    elif kind == "local" and int(number) > MAX_THREADS:  # each is a process of this machine
        raise OptionError(f"'{address}': give {MAX_THREADS} workers or fewer")


def check_address(address: str, insecure: bool) -> None:
    """Raise an `OptionError` for what is no address, or a public one without TLS."""
    if address.endswith(".json"):
        try:
            address = _address_in(address)
        except SceneError:  # `read_address` waits for it
            return
    _check(address, insecure)


def read_address(address: str, insecure: bool) -> str:
    """Return an address as tcp://HOST:PORT or tls://HOST:PORT; a scheduler's file is waited for.

    Raises OptionError: the text is no address, or a public one without TLS. Raises FractalsError:
    there is no file for TIMEOUT seconds.
    """
    if address.endswith(".json"):
        until = time.monotonic() + TIMEOUT
        while True:
            try:
                address = _address_in(address)
                break
            except SceneError as error:  # not there, or not written to its end
                if os.path.exists(address) and not os.path.isfile(address):
                    raise
                if time.monotonic() > until:
                    raise FractalsError(
                        f"no scheduler wrote its file within {TIMEOUT} s: {error}"
                    ) from None
            time.sleep(WAIT)
    _check(address, insecure)
    return address if "://" in address else f"tcp://{address}"


def _address_in(file: str) -> str:
    return str(read_json(Path(file)).get("address", ""))


def _check(address: str, insecure: bool) -> None:
    found = ADDRESS.fullmatch(address)
    if not found:
        raise OptionError(
            f"'{shown(address, 80)}' is no address of a scheduler: give tcp://HOST:PORT, "
            "tls://HOST:PORT, FILE.json, local:N or slurm:N"
        )
    if not found[1] and found[2] in STARTED:
        raise OptionError(f"{address} starts workers of its own: give the address of a scheduler")
    if not 1 <= int(found[3]) <= 65535:
        raise OptionError(f"'{shown(address, 80)}': a port is a number from 1 to 65535")
    if found[1] != "tls" and not insecure and is_public(found[2].strip("[]")):
        raise OptionError(
            f"{found[2]} is a public address, and whoever reaches a scheduler without TLS runs "
            "code on its workers: give tls://... (see fractals cluster-keys --help), or "
            "insecure=True"
        )


def is_public(host: str) -> bool:
    """Tell whether a host has an address that is reached from anywhere.

    >>> is_public("127.0.0.1"), is_public("8.8.8.8"), is_public("::ffff:8.8.8.8")
    (False, True, True)
    """
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):  # the second one: no name of a host
        return False  # connecting will say why
    addresses = [ipaddress.ip_address(each.partition("%")[0]) for each in found]
    return any((getattr(each, "ipv4_mapped", None) or each).is_global for each in addresses)


def address_towards(address: str) -> str:
    """Return the IP address of this machine from which it reaches what `read_address` returned.

    It is the loopback address for a scheduler of this machine.

    Raises FractalsError: the host is not known, or no network leads there.
    """
    found = ADDRESS.fullmatch(address)
    assert found, address
    host, port, reason = found[2].strip("[]"), int(found[3]), "no address"
    for family in (socket.AF_INET, socket.AF_INET6):  # in the order in which Dask tries them
        try:
            kind = socket.SOCK_DGRAM  # connecting sends nothing, and chooses the own address
            for *_, place in socket.getaddrinfo(host, port, family, kind):
                with socket.socket(family, kind) as probe:
                    probe.connect(place)
                    return str(probe.getsockname()[0])
        except OSError as error:
            reason = error.strerror or str(error)
        except UnicodeError:
            reason = "no name of a host"
    raise FractalsError(f"{shown(host, 80)} can't be reached: {reason}")


@contextlib.contextmanager
def said_to_wait(address: str, on_message: Callable[[str], None]) -> Iterator[None]:
    """Say, where it takes long, that a scheduler is waited for: it may start later than others."""
    line = f"no scheduler answers at {shown(address, 80)} yet: trying for {TIMEOUT} s"
    timer = threading.Timer(SOON, on_message, [line])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def import_distributed() -> Any:
    """Return the module `distributed`, or raise a `FractalsError` that says how to install it."""
    try:
        import distributed
    except ImportError:
        raise FractalsError(f"cluster= needs Dask: {to_install('cluster')}") from None
    import dask

    # Tasks name their workers. A worker that is stopped or killed is no reason to give a task up.
    dask.config.set({"distributed.scheduler.work-stealing": False})
    dask.config.set({"distributed.scheduler.allowed-failures": 100})
    return distributed


def security_settings(address: str, keys: str | Path | None) -> dict[str, Any]:
    """Return the setting ``security`` of Dask for an address and a folder of keys, if any.

    Raises OptionError: there are keys, and the address does not use TLS, or the reverse. Dask's
    configuration may name keys, too. Raises FractalsError: a key is missing.
    """
    if not keys:
        if address.startswith("tls://") and import_distributed().Security().tls_ca_file is None:
            raise OptionError(
                f"{shown(address, 80)} uses TLS: give keys=FOLDER, of fractals cluster-keys"
            )
        return {}
    if not address.startswith("tls://"):
        raise OptionError(f"keys= are for TLS, and {address} does not use it: give tls://...")
    paths = _paths(keys)
    for path in paths:
        if not os.path.isfile(path):
            raise FractalsError(f"'{path}' is missing: fractals cluster-keys writes it")
    return {"security": _security(paths)}


def _paths(folder: str | Path) -> Keys:
    return Keys(*(str(Path(folder, name)) for name in KEYS))


def _security(keys: Keys) -> Any:
    """Return Dask's settings for paths of keys, or for their texts."""
    names = ("scheduler", "worker", "client")
    pairs = {f"tls_{name}_cert": keys.certificate for name in names} | {
        f"tls_{name}_key": keys.key for name in names
    }
    security = import_distributed().Security
    return security(tls_ca_file=keys.authority, require_encryption=True, **pairs)


def _local(workers: int) -> DaskPool:
    """Start workers on this machine, which share its cores."""
    distributed = import_distributed()
    from fractals.rendering.cluster.nodes import QuietScheduler, QuietWorker

    common = {"host": "127.0.0.1", "protocol": "tls", "security": _security(make_keys())}
    worker = {
        "cls": distributed.Nanny,
        "options": {
            **common,
            "worker_class": QuietWorker,
            "nthreads": 1,
            "memory_limit": 0,
            "resources": {"tile": 1},
            "silence_logs": SILENT,
        },
    }
    with contextlib.ExitStack() as ends:
        ends.enter_context(_nothing_from_the_current_folder())
        try:
            with _interrupts_ignored():
                cluster = distributed.SpecCluster(
                    workers=dict.fromkeys(range(workers), worker),
                    scheduler={"cls": QuietScheduler, "options": {**common, "dashboard": False}},
                    security=common["security"],
                    silence_logs=SILENT,
                )
            client = distributed.Client(cluster, set_as_default=False)
        except Exception as error:
            raise FractalsError(f"local:{workers} can't be started: {shown(error)}") from None
        return DaskPool(client, [client, cluster, ends.pop_all()])


@contextlib.contextmanager
def _nothing_from_the_current_folder() -> Iterator[None]:
    """Start processes that import no module that happens to lie in the current folder.

    Dask starts workers, and multiprocessing its tracker of resources, without Python's option -P.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


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
        raise FractalsError(
            f"slurm:N needs dask-jobqueue: {to_install('cluster', 'slurm')}"
        ) from None
    if not shutil.which("sbatch"):
        raise FractalsError(
            f"slurm:{jobs} needs the command sbatch: give it where jobs are submitted"
        )
    import dask

    from fractals.rendering.cluster.nodes import QuietScheduler, QuietWorker

    walltime = dask.config.get("jobqueue.slurm.walltime", None) or "00:30:00"
    more = ["--nthreads", "1", "--resources", "tile=1", "--memory-limit", "0"]
    more += ["--lifetime", f"{max(60, _seconds(str(walltime)) - EARLY)}s"]
    more += ["--lifetime-stagger", "4m"]
    more += ["--worker-class", f"{QuietWorker.__module__}.{QuietWorker.__qualname__}"]
    python = dask.config.get("jobqueue.slurm.python", None) or sys.executable
    folder = dask.config.get("jobqueue.slurm.shared-temp-directory", None) or os.getcwd()
    folder = os.path.expandvars(os.path.expanduser(folder))
    if re.search(r"\s", folder):
        raise OptionError(
            f"slurm:{jobs}: jobs read their keys from '{shown(folder, 80)}', whose name has a "
            "blank: start from another folder, or set shared-temp-directory in "
            "~/.config/dask/jobqueue.yaml"
        )
    with contextlib.ExitStack() as ends:
        with writing(Path(folder)):
            kept = ends.enter_context(TemporaryDirectory(prefix=".fractals-keys-", dir=folder))
        write_keys(Path(kept))
        try:
            cluster = SLURMCluster(
                processes=1,
                python=f"{python} -P",
                worker_extra_args=more,
                scheduler_cls=QuietScheduler,
                scheduler_options={"dashboard": False},
                protocol="tls://",
                security=_security(_paths(kept)),
            )
            cluster.scale(jobs=jobs)
            client = distributed.Client(cluster, set_as_default=False)
        except Exception as error:
            raise FractalsError(
                f"slurm:{jobs} can't be started ({shown(error, 120)}): set cores, memory and "
                "walltime in ~/.config/dask/jobqueue.yaml"
            ) from None
        return DaskPool(client, [client, cluster, ends.pop_all()])


def _seconds(walltime: str) -> int:
    """Return the seconds of a walltime of Slurm.

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
