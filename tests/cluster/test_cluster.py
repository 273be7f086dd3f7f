"""Stores and posters by two processes, which are killed, stopped, of another version, or lie."""

import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import pytest
from support.scenes import scene
from support.stores import contents
from support.workers import after, wait_for_workers

import fractals
from fractals.errors import FractalsError
from fractals.io import png
from fractals.io.stores import store
from fractals.io.stores.store import MIN_SAMPLES, open_store
from fractals.rendering.cluster import dispatch, job, pools

# The engine has warnings of its own.
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

TILE = 2**10  # samples
STEPS = 20_000  # a tile of the picture takes some tens of milliseconds
DEEP = {
    "center": ["-1.7685736562992577", "-0.0009642968513582"],
    "width": "1e-13",
    "max_iterations": "auto",
    "size": (64, 48),
}


@pytest.fixture(scope="session")
def drawn():
    """Return a scene that takes some seconds."""
    return scene(
        size=(640, 480),
        center=["-0.743643887037151", "0.131825904205330"],
        width="3e-6",
        max_iterations=STEPS,
    )


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles in a small picture."""
    monkeypatch.setattr(store, "MIN_SAMPLES", TILE)


@pytest.fixture(scope="session")
def whole(tmp_path_factory, drawn):
    """Return the store of the scene as one process computes it, of 160 tiles."""
    path = tmp_path_factory.mktemp("whole") / "whole.fz"
    with mock.patch.object(store, "MIN_SAMPLES", TILE):
        fractals.compute_to(path, drawn, device="cpu")
    assert open_store(path).tiles == 160
    return path


@pytest.fixture(scope="session")
def plain(tmp_path_factory, drawn):
    """Return the same store as a process of its own computes it, with the usual tiles."""
    path = tmp_path_factory.mktemp("plain") / "plain.fz"
    with mock.patch.object(store, "MIN_SAMPLES", MIN_SAMPLES):
        fractals.compute_to(path, drawn, device="cpu")
    return path


def compute(path, drawn, cluster, **more):
    return fractals.compute_to(path, drawn, device="cpu", cluster=cluster, on_message=str, **more)


def test_workers_write_the_store_of_one_machine(tmp_path, client, drawn, whole):
    seen = []
    done = compute(tmp_path / "a.fz", drawn, client, progress=lambda *given: seen.append(given))
    assert contents(tmp_path / "a.fz") == contents(whole)
    assert seen[-1] == (done.tiles, done.tiles)


def test_a_worker_does_the_tasks_of_one_moment_in_their_order(tmp_path, client):
    path = tmp_path / "order"

    def note(number, path):
        time.sleep(0.0 if number else 0.5)  # the others wait for the first one
        with open(path, "a") as file:
            file.write(f"{number} ")

    pool = pools.open_pool(client)
    worker = min(pool.workers())
    for future in [pool.submit(worker, note, number, path) for number in range(30)]:
        future.result()
    assert [*map(int, path.read_text().split())] == [*range(30)]


def test_deep_views_and_results_that_come_back(tmp_path, client):
    """Without a shared folder the orbit goes to the workers, and the tiles come back."""
    drawn = scene(**DEEP)
    fractals.compute_to(tmp_path / "whole.fz", drawn, device="cpu")
    compute(tmp_path / "a.fz", drawn, job.Cluster(client, returns=True))
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")
    compute(tmp_path / "b.fz", drawn, client)
    assert contents(tmp_path / "b.fz") == contents(tmp_path / "whole.fz")


def test_a_poster_is_the_picture_of_one_machine(tmp_path, client, drawn):
    large = drawn.replace(size=(700, 900), max_iterations=2000)
    fractals.render_to(tmp_path / "whole.png", large, device="cpu")
    assert png.strip_rows((700, 900), 8) < 300
    fractals.render_to(tmp_path / "a.png", large, device="cpu", cluster=client, on_message=str)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.png", "whole.png"]


def test_a_worker_is_killed(tmp_path, client, pids, drawn, whole):
    victim = next(iter(pids().values()))
    kill = after(0.3, lambda: os.kill(victim, signal.SIGKILL))
    compute(tmp_path / "a.fz", drawn, client, progress=kill)
    assert contents(tmp_path / "a.fz") == contents(whole)
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


def test_a_worker_stands_still(tmp_path, client, pids, drawn, whole, monkeypatch):
    """Others compute what it had. Its own results come late and change nothing."""
    monkeypatch.setattr(dispatch, "LEAST_LATE", 0.5)
    victim = next(iter(pids().values()))
    stop = after(0.3, lambda: os.kill(victim, signal.SIGSTOP))
    try:
        compute(tmp_path / "a.fz", drawn, client, progress=stop)
        assert contents(tmp_path / "a.fz") == contents(whole)
    finally:
        os.kill(victim, signal.SIGCONT)
    client.run(os.getpid)  # it goes on with what it had
    time.sleep(0.5)
    assert contents(tmp_path / "a.fz") == contents(whole)


@pytest.mark.parametrize("how", ["truncated", "flipped"])
def test_a_part_is_damaged_after_its_receipt(tmp_path, client, drawn, whole, how):
    damaged = []

    def damage():
        part = min((tmp_path / "a.fz" / "parts").glob("*.tile"))
        content = bytearray(part.read_bytes())
        content[-1] ^= 1
        part.write_bytes(content[:-1] if how == "truncated" else content)
        damaged.append(part)

    compute(tmp_path / "a.fz", drawn, client, progress=after(0.3, damage))
    assert damaged
    assert contents(tmp_path / "a.fz") == contents(whole)


def full(*_):
    raise OSError(28, "No space left on device")


def test_a_full_disk_of_a_worker_is_one_line(tmp_path, client, drawn, whole):
    def fill(function):
        from fractals.io import files

        files.os.fsync = function

    client.run(fill, full)
    try:
        with pytest.raises(FractalsError, match="No space left on device") as ended:
            compute(tmp_path / "a.fz", drawn, client)
        assert "\n" not in str(ended.value)
    finally:
        client.run(fill, os.fsync)
    compute(tmp_path / "a.fz", drawn, client)
    assert contents(tmp_path / "a.fz") == contents(whole)


def test_another_version_is_refused(tmp_path, client, patch, drawn, whole):
    told = []
    address = next(iter(client.run(os.getpid)))
    patch("__version__", "9.9", [address])
    fractals.compute_to(
        tmp_path / "a.fz", drawn, device="cpu", cluster=client, on_message=told.append
    )
    refused = [line for line in told if "is refused" in line]
    assert len(refused) == 1
    assert re.search(r"its version is 9\.9, and on the machine that asks it is", refused[0])
    assert contents(tmp_path / "a.fz") == contents(whole)


def lie(drawing, tile, planes, stop):
    from fractals.rendering.cluster import worker

    seconds = worker.before["compute_tile"](drawing, tile, planes, stop)
    planes["count"][0, 0] += 1
    return seconds


def test_a_worker_that_lies_is_named(tmp_path, client, patch, drawn, monkeypatch):
    monkeypatch.setattr(dispatch, "CHECK", 1)
    address, pid = next(iter(client.run(os.getpid).items()))
    patch("compute_tile", lie, [address])
    with pytest.raises(FractalsError, match="computed twice, with different results") as named:
        compute(tmp_path / "a.fz", drawn, client)
    assert f"(process {pid})" in str(named.value)


def test_two_clients_on_one_store(tmp_path, client, drawn, whole):
    errors = []

    def second():
        try:
            compute(tmp_path / "a.fz", drawn, client)
        except FractalsError as error:
            errors.append(str(error))

    thread = threading.Thread(target=second)
    compute(tmp_path / "a.fz", drawn, client, progress=after(0.1, thread.start))
    thread.join()
    assert contents(tmp_path / "a.fz") == contents(whole)
    assert len(errors) == 1
    assert "is being computed by another process" in errors[0]


def test_an_interrupted_client_goes_on(tmp_path, client, drawn, whole):
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compute(tmp_path / "a.fz", drawn, client, progress=after(0.5, interrupt))
    done = compute(tmp_path / "a.fz", drawn, client)
    assert done.before >= 0.4 * done.tiles
    assert contents(tmp_path / "a.fz") == contents(whole)


def is_busy():
    from fractals.rendering.cluster import worker

    return worker._one_at_a_time.locked()


@pytest.mark.parametrize("returns", [False, True], ids=["shared folder", "no folder"])
def test_an_interrupt_stops_running_tasks(tmp_path, client, drawn, returns):
    """A tile would take at least ten seconds here, for its samples inside."""
    slow = scene(size=(640, 480), max_iterations=5000 * STEPS)
    path, asked = tmp_path / "a.fz", job.Cluster(client, returns=returns)
    idle = time.monotonic()

    def interrupt(done, total):  # called ten times a second
        nonlocal idle
        if not all(client.run(is_busy).values()):
            idle = time.monotonic()
        if time.monotonic() > idle + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compute(path, slow, asked, progress=interrupt, interior_shortcuts=False)
    until = time.monotonic() + 5
    while any(client.run(is_busy).values()):
        assert time.monotonic() < until, "a worker goes on"
        time.sleep(0.1)
    assert len(list((path / "parts").glob("*.tile"))) < open_store(path).tiles


def test_processes_of_an_executor_without_a_folder(tmp_path):
    """Each process gets the orbit with the first task that it can't do without."""
    drawn = scene(**DEEP)
    fractals.compute_to(tmp_path / "whole.fz", drawn, device="cpu")
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        compute(tmp_path / "a.fz", drawn, job.Cluster(executor, returns=True))
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")


def use(device):
    from fractals.rendering.cluster import worker

    worker.settings.device = device


@pytest.mark.slow
def test_workers_with_different_devices(tmp_path, client, monkeypatch):
    """A worker on the CPU and one on the simulator of a GPU: the bytes are those of one machine."""
    drawn = scene(size=(64, 48), max_iterations=300)
    fractals.compute_to(tmp_path / "whole.fz", drawn, device="cpu")
    fractals.render_to(tmp_path / "whole.png", drawn, device="cpu")
    addresses = list(client.run(os.getpid))
    client.run(use, "simulator", workers=addresses[:1])
    given = {"cluster": client, "on_message": str}  # the device is "auto": each worker has its own
    machines = set()
    feed, is_new = dispatch.Dispatch._feed, dispatch.Results.is_new

    def feed_both(self):
        if [known.state for known in self._workers.values()] == ["ready", "ready"]:
            feed(self)

    def note(self, receipt):
        machines.add(receipt["machine"])
        return is_new(self, receipt)

    monkeypatch.setattr(dispatch.Dispatch, "_feed", feed_both)
    monkeypatch.setattr(dispatch.Results, "is_new", note)
    try:
        fractals.compute_to(tmp_path / "a.fz", drawn, **given)
        assert len(machines) == 2
        fractals.render_to(tmp_path / "a.png", drawn, **given)
    finally:
        client.run(use, "auto")
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()


def fractals_command(*words, **more):
    command = [sys.executable, "-m", "fractals", *map(str, words)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **more)


def ended(process, seconds=60):
    """Return exit code and stderr of a process."""
    try:
        err = process.communicate(timeout=seconds)[1]
    finally:
        process.kill()
    return process.returncode, err


def test_commands_with_tls(tmp_path, drawn, plain):
    """Keys, a scheduler, a worker and a client, all as processes of their own."""
    keys, file = tmp_path / "keys", tmp_path / "scheduler.json"
    assert ended(fractals_command("cluster-keys", keys))[0] == 0
    assert (keys / "key.pem").stat().st_mode & 0o077 == 0
    code, err = ended(fractals_command("cluster-keys", keys))
    assert (code, "exists already" in err) == (1, True)
    ca, cert, key = (keys / name for name in ("ca.pem", "cert.pem", "key.pem"))
    tls = ["--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", key]
    common = ["--protocol", "tls", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", *common, *tls]
    scheduler = subprocess.Popen(
        [*map(str, command), "--scheduler-file", str(file)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    worker = None
    try:
        until = time.monotonic() + 60
        while not (file.exists() and file.read_text()) and time.monotonic() < until:
            time.sleep(0.1)
        address = re.search(r"tls://[\d.:]+", file.read_text())[0]
        worker = fractals_command("worker", address, "--keys", keys, "--cpu", "--threads", "1")
        (tmp_path / "a.json").write_text(drawn.to_json())
        words = ["compute", tmp_path / "a.json", "-o", tmp_path / "a.fz", "--cpu"]
        code, err = ended(fractals_command(*words, "--cluster", address, "--keys", keys), 120)
        assert code == 0, err
        assert contents(tmp_path / "a.fz") == contents(plain)
        code, err = ended(fractals_command(*words, "--overwrite", "--cluster", address), 120)
        assert code == 2
        assert f"{address} uses TLS: give --keys" in err.splitlines()[-1]
    finally:
        scheduler.terminate()
        scheduler.wait()
        if worker:
            worker.terminate()
            code, err = ended(worker)
            assert f"is ready at {address}: 1 thread, cpu" in err
    assert "Traceback" not in err


SBATCH = """#!/bin/sh
cp "$1" job.sh  # the file is removed once this script ends
sh job.sh >/dev/null 2>&1 &
echo "Submitted batch job $!"
"""
SETTINGS = "jobqueue: {slurm: {cores: 1, memory: 2GiB, walltime: '02:00:00'}}"


def test_jobs_of_slurm(tmp_path, drawn, plain):
    """The commands of Slurm are played by two scripts, which start jobs on this machine."""
    pytest.importorskip("dask_jobqueue")
    for name, text in (("sbatch", SBATCH), ("scancel", "#!/bin/sh\nkill $1\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "jobqueue.yaml").write_text(SETTINGS)
    (tmp_path / "a.json").write_text(drawn.to_json())
    words = ("compute", "a.json", "-o", "a.fz", "--cpu", "--cluster", "slurm:1")
    more = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "DASK_CONFIG": str(tmp_path)}
    root = os.path.dirname(os.path.dirname(fractals.__file__))
    more["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    code, err = ended(fractals_command(*words, cwd=tmp_path, env=os.environ | more), 120)
    assert code == 0, err
    assert contents(tmp_path / "a.fz") == contents(plain)
    job_text = (tmp_path / "job.sh").read_text()
    assert "--lifetime 6900s" in job_text
    assert "--cpus-per-task=1" in job_text
    # It imports nothing from its folder, has no HTTP port, and its keys are gone with the cluster.
    assert re.search(r"python[\d.]* -P -m distributed\.cli\.dask_worker tls://", job_text)
    assert "--worker-class fractals.rendering.cluster.nodes.QuietWorker" in job_text
    keys = re.findall(r"--tls-(?:ca-file|cert|key) (\S+)", job_text)
    assert len(keys) == 3
    assert not any(os.path.exists(key) for key in keys)


@pytest.mark.slow
def test_a_hundred_kills(tmp_path, engine, client, drawn):
    """Random workers at random moments: 100 stores, all of them the same."""
    dice, small = random.Random(19), drawn.replace(size=(320, 240))
    whole = tmp_path / "whole.fz"
    fractals.compute_to(whole, small, device="cpu")
    wait_for_workers(engine, client, 3)
    kills = 0
    for k in range(100):
        path = tmp_path / f"{k}.fz"

        def kill():
            nonlocal kills
            pids = sorted(client.run(os.getpid, on_error="ignore").values())
            os.kill(dice.choice(pids), signal.SIGKILL)
            kills += 1

        compute(path, small, client, progress=after(dice.random() * 0.9, kill))
        assert contents(path) == contents(whole), f"store {k} after {kills} kills"
        wait_for_workers(engine, client, 3)
    assert kills == 100
