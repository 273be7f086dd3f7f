"""Each port that a worker or a cluster of this machine opens is reached by its owner alone.

`tests/explorer/test_sockets.py` lists those of the explorer.
"""

import asyncio
import contextlib
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time

import pytest
from support.sockets import listening, needs_proc

from fractals.backends.cuda import gpus
from fractals.backends.probe import Device
from fractals.errors import DeviceError, FractalsError, OptionError, to_install
from fractals.rendering.cluster import pools
from fractals.rendering.cluster import worker as serving
from fractals.rendering.cluster.pools import write_keys


@needs_proc
def test_the_list_is_complete():
    """A socket of each kind is found, also one of another process of the tree."""
    with socket.create_server(("127.0.0.1", 0)) as first, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        found = {("127.0.0.1", first.getsockname()[1])}
        if socket.has_ipv6:
            second = socket.create_server(("::", 0), family=socket.AF_INET6)
            found.add(("::", second.getsockname()[1]))
        assert {(str(address), port) for address, port in listening(os.getpid())} >= found
        assert closed.getsockname()[1] not in {port for _, port in listening(os.getpid())}
        if socket.has_ipv6:
            second.close()


def code_runs(address, **security):
    """Tell whether a client of an address can have code run there."""
    from distributed import Client

    try:
        with Client(address, timeout=3, set_as_default=False, **security) as client:
            return bool(client.run_on_scheduler(os.getpid))
    except (OSError, TimeoutError, RuntimeError, ssl.SSLError):
        return False


def answers(port):
    """Tell whether a port says anything to who has no keys: in the clear, or over TLS."""
    found = []
    for wrap in (False, True):
        try:
            with contextlib.ExitStack() as stack:
                line = socket.create_connection(("127.0.0.1", port), timeout=3)
                stack.enter_context(line)
                if wrap:
                    context = ssl.create_default_context()
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                    line = stack.enter_context(context.wrap_socket(line))
                line.sendall(b"GET / HTTP/1.0\r\n\r\n")
                found.append(line.recv(1))
        except OSError:  # refused, or nothing was said
            found.append(b"")
    return any(found)


@pytest.mark.cluster
@needs_proc
@pytest.mark.filterwarnings("default")
def test_a_cluster_of_this_machine(tmp_path, monkeypatch):
    """All ports are on loopback and speak TLS, and strangers run nothing."""
    pytest.importorskip("distributed")
    from distributed.security import Security

    (tmp_path / "signal.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    before = set(listening(os.getpid()))  # other tests of this process may have a cluster
    pool = pools.open_pool("local:2")
    try:
        found = set(listening(os.getpid())) - before
        assert len(found) == 5  # a scheduler, two workers, and two processes that watch them
        assert all(address.is_loopback for address, _ in found), found
        assert not any(answers(port) for _, port in found)
        for _, port in found:
            assert not code_runs(f"tcp://127.0.0.1:{port}")
        scheduler = pool.client.scheduler.address
        assert not code_runs(scheduler, security=Security.temporary())
        assert code_runs(scheduler, security=pool.client.security)
    finally:
        pool.close()
    assert not found & set(listening(os.getpid()))
    assert os.listdir() == ["signal.py"]
    assert "PYTHONSAFEPATH" not in os.environ


class Scheduler:
    """A scheduler in a process of its own, started as docs/how-to/many-machines.md says."""

    def __init__(self, folder, *options):
        self.file = folder / "scheduler.json"
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *options]
        command += ["--port", "0", "--dashboard-address", "127.0.0.1:0"]
        command += ["--scheduler-file", str(self.file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, **quiet)

    def __enter__(self):
        until = time.monotonic() + 60
        while not (self.file.exists() and self.file.read_text()):
            assert time.monotonic() < until
            time.sleep(0.1)
        assert all(address.is_loopback for address, _ in listening(self._process.pid))
        return re.search(r"\w+://[\w.:\[\]]+", self.file.read_text())[0]

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()


def started_worker(*words):
    """Return a process of `fractals worker` that is ready, and the line that says so."""
    command = [sys.executable, "-m", "fractals", "worker", *map(str, words)]
    command += ["--cpu", "--threads", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    return process, process.stderr.readline()


@pytest.mark.cluster
@needs_proc
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("way", ["address", "name", "file", "tls"])
def test_a_worker(tmp_path, way):
    """It has one port, where the scheduler is; with TLS, nobody without keys runs code in it."""
    pytest.importorskip("distributed")
    from distributed.security import Security

    keyed, more = [], []
    if way == "tls":
        write_keys(tmp_path / "keys", 1)
        names = zip(("ca-file", "cert", "key"), pools.KEYS, strict=True)
        for option, name in names:
            keyed += [f"--tls-{option}", str(tmp_path / "keys" / name)]
        keyed += ["--protocol", "tls"]
        more = ["--keys", tmp_path / "keys"]
    with Scheduler(tmp_path, "--host", "127.0.0.1", *keyed) as address:
        port = address.rpartition(":")[2]
        where = {"name": f"localhost:{port}", "file": tmp_path / "scheduler.json"}
        worker, line = started_worker(where.get(way, address), *more)
        try:
            assert re.search(r"//127\.0\.0\.1:\d+ is ready at ", line), line
            assert line.endswith(", cpu\n" if way == "tls" else ", cpu, without TLS\n")
            ((listens, port),) = listening(worker.pid)
            assert listens.is_loopback
            if way == "tls":
                assert not answers(port)
                assert not code_runs(f"tcp://127.0.0.1:{port}")
                assert not code_runs(f"tls://127.0.0.1:{port}", security=Security.temporary())
        finally:
            worker.terminate()
            worker.communicate()


@pytest.fixture
def interfaces(monkeypatch):
    """Return a function that says from which address this machine reaches all others."""

    def play(own):
        monkeypatch.setattr(serving, "address_towards", lambda address: own)

    return play


def test_a_worker_is_where_its_scheduler_is_reached():
    """The system is asked: connecting a datagram socket sends nothing."""
    for host in ("127.0.0.1", "localhost", "127.3.4.5"):
        assert pools.address_towards(f"tcp://{host}:8786").startswith("127.")
    if socket.has_ipv6:
        assert pools.address_towards("tls://[::1]:8786") == "::1"
    for host in ("no.such.host.invalid", "..", "-", "300.1.1.1", "a" * 70):
        with pytest.raises(FractalsError, match=rf"{re.escape(host)} can't be reached: "):
            pools.address_towards(f"tcp://{host}:8786")


@pytest.mark.parametrize("verb", [["worker"], ["render", "-o", "a.png", "--cluster"]])
def test_a_scheduler_that_is_not_there_is_waited_for_and_said(run, monkeypatch, verb):
    """It may be started after its workers."""
    pytest.importorskip("distributed")
    for module in (pools, serving):
        monkeypatch.setattr(module, "TIMEOUT", 2)
    monkeypatch.setattr(pools, "SOON", 0.1)
    with socket.socket() as closed:  # its port is taken, and nothing listens there
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        code, _, err = run(*verb, address)
    waits, fails = err.splitlines()
    assert code == 1
    assert waits == f"fractals: no scheduler answers at {address} yet: trying for 2 s"
    assert fails.startswith(f"fractals: no scheduler answers at {address} ")
    assert "'dask scheduler'" in fails
    code, _, err = run(*verb, "no.such.host.invalid:8786")
    assert (code, err.count("\n")) == (1, 1)
    assert "no.such.host.invalid can't be reached: " in err


def test_a_public_address_of_its_own_needs_tls(interfaces):
    """A scheduler at a private address may be reached through a public one."""
    pytest.importorskip("distributed")
    interfaces("8.8.4.4")
    given = ("cpu", 1, None)
    with pytest.raises(OptionError, match=r"from 8\.8\.4\.4, a public address"):
        serving.serve("tcp://10.0.0.1:8786", *given, False, print)


@pytest.mark.parametrize("own", ["10.1.2.3", "fd00::1"])
def test_a_worker_listens_there_only(interfaces, monkeypatch, own):
    pytest.importorskip("distributed")
    from fractals.rendering.cluster import nodes

    given = {}

    class Played:
        address = "tcp://played"

        def __init__(self, **options):
            given.update(options)

        def __await__(self):
            return asyncio.sleep(0).__await__()

        async def finished(self):
            pass

        async def close(self, **_):
            pass

    interfaces(own)
    monkeypatch.setattr(nodes, "QuietWorker", Played)
    serving.serve("10.0.0.1:8786", "cpu", 1, None, False, lambda line: None)
    assert given["host"] == (f"[{own}]" if ":" in own else own)
    assert given["scheduler_ip"] == "tcp://10.0.0.1:8786"


@pytest.mark.parametrize(
    ("device", "error", "words"),
    [
        ("nope", OptionError, "unknown device 'nope'"),
        ("cuda:3", DeviceError, "no CUDA GPU for 'cuda:3' (none is there)"),
    ],
)
def test_a_worker_looks_at_its_device_before_it_looks_for_a_scheduler(
    monkeypatch, device, error, words
):
    monkeypatch.setattr(gpus, "found", lambda: ([], "none is there"))
    monkeypatch.setattr(serving, "read_address", None)
    with pytest.raises(error, match=re.escape(words)):
        serving.serve("127.0.0.1:8786", device, 1, None, False, print)


@pytest.mark.parametrize(
    ("visible", "named"), [(None, ["0", "2"]), ("5, GPU-a,7", ["5", "7"]), ("2,3,1,9", ["2", "1"])]
)
def test_each_process_gets_a_gpu_that_is_visible(monkeypatch, visible, named):
    """The numbers of the variable stay those of the driver, which may hide others' GPUs."""
    cards = [Device(kind="cuda", name="a card", index=k, problem=k % 2 * "hot") for k in range(3)]
    monkeypatch.setattr(gpus, "found", lambda: (cards, ""))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert serving.gpus_of("auto") == named
    assert serving.gpus_of("cuda:0") == ()


def test_a_file_of_a_scheduler_is_checked_when_it_comes(tmp_path, monkeypatch):
    """It may appear, or change, after the options were looked at."""
    file = tmp_path / "scheduler.json"
    monkeypatch.setattr(pools, "TIMEOUT", 0.3)
    pools.check_address(str(file), False)
    with pytest.raises(FractalsError, match=r"no scheduler wrote its file within .*no such file"):
        pools.read_address(str(file), False)
    monkeypatch.setattr(pools, "TIMEOUT", 30)
    text = '{"address": "tcp://8.8.8.8:8786"}'
    file.write_text(text[:-9])  # the scheduler is about to write the rest
    pools.check_address(str(file), False)
    threading.Timer(0.2, file.write_text, [text]).start()
    with pytest.raises(OptionError, match=r"8\.8\.8\.8 is a public address"):
        pools.read_address(str(file), False)
    assert pools.read_address(str(file), True) == "tcp://8.8.8.8:8786"


@pytest.mark.skipif(os.name != "posix", reason="needs a limit of the size of files")
def test_a_part_of_the_keys_does_not_stay(tmp_path):
    """Files of other names in the folder do."""
    pytest.importorskip("cryptography")
    kept = tmp_path / "old" / "mine"
    kept.parent.mkdir()
    kept.write_bytes(b"mine")
    for folder in ("new", "old"):
        line = f"ulimit -f 0; {sys.executable} -B -m fractals cluster-keys {folder}"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["old", "mine"]


def test_keys_that_would_not_be_used_are_an_error(tmp_path):
    """Whoever gives keys means TLS."""
    write_keys(tmp_path / "keys", 1)
    for address in ("tcp://127.0.0.1:1", "127.0.0.1:1"):
        with pytest.raises(OptionError, match="keys= are for TLS"):
            pools.open_pool(address, tmp_path / "keys")
    with pytest.raises(OptionError, match="local:2 makes keys of its own"):
        pools.open_pool("local:2", tmp_path / "keys")


@pytest.mark.parametrize("cluster", ["local:1", "slurm:1"])
def test_without_cryptography_one_line_says_what_to_install(monkeypatch, cluster):
    pytest.importorskip("distributed")
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setitem(sys.modules, "cryptography", None)
    monkeypatch.setattr(pools.shutil, "which", lambda name: name)
    with pytest.raises(FractalsError) as caught:
        pools.open_pool(cluster)
    assert str(caught.value) == (f"keys for TLS need cryptography: {to_install('cluster')}")


def test_a_process_for_each_gpu_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    assert serving.serve_each_gpu(["0"], ["--help"], 1) == 0
    assert os.listdir() == ["json.py"]
