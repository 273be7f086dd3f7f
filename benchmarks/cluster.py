#!/usr/bin/env python3
"""Time what a cluster adds to the work of its machines.

    python benchmarks/cluster.py                       # some twenty minutes, on idle cores
    python benchmarks/cluster.py --json > benchmarks/cluster-<processor>.json
    python benchmarks/cluster.py --only overhead,first
    python benchmarks/cluster.py --read FILE.json      # its tables

overhead: 16 simulated workers, which sleep 2 s for each task; time beyond that of the sleep.
scheduler: 1000 simulated workers with tasks of 20 s; CPU time of the scheduler and of the client in
a minute. The simulated workers share one process, and run Dask's own worker.
processes: a store by two workers of one thread, against one process of two threads; in turns. All
of it, between its first tile and its last, and in CPU seconds.
first: seconds from the start of `fractals worker`, with compiled programs in the cache, until the
first tile is there.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import dask
import psutil
from distributed import Client, Worker

import fractals
from fractals.rendering.cluster import dispatch, worker
from fractals.rendering.cluster.pools import DaskPool
from fractals.tools import bench_report

FEW, SHORT, TASKS = 16, 2.0, 20  # workers, seconds of a task, and tasks of each worker
MANY, LONG, WINDOW = 1000, 20.0, 60.0
TURNS, LARGE_TURNS = 3, 2
LARGE = {"size": (2400, 1350), "max_iterations": 100_000}  # more than a minute of CPU time
VIEW = {
    "center": ["-0.743643887037151", "0.131825904205330"],
    "width": "3e-8",  # by perturbation, as the view of the figures before, 3e-6 wide, was
    "size": (1280, 720),
    "max_iterations": 5_000,
}


Figures = dict[str, float]


def scene_of() -> fractals.Scene:
    """Return the scene of the stores."""
    return fractals.load_scene("mandelbrot").replace(**VIEW)


@contextmanager
def scheduler() -> Iterator[tuple[str, psutil.Process]]:
    """Start a scheduler, and yield its address and process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scheduler.json")
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
        command += ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started = subprocess.Popen(command, **quiet)
        try:
            while not file.exists() or not (text := file.read_text()):
                time.sleep(0.05)
            (address,) = re.findall(r"tcp://[\d.:]+", text)[:1]
            yield address, psutil.Process(started.pid)
        finally:
            started.terminate()
            started.wait()


@contextmanager
def simulated(address: str, count: int) -> Iterator[None]:
    """Start a process with many workers."""
    command = [sys.executable, __file__, "--serve", address, str(count)]
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        started.kill()
        started.wait()


# A worker looks at itself 50 times a second. A thousand of them in a process need all of a core for
# that, so the simulated ones do not; what they send to the scheduler is as usual.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1h",
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.worker.http.routes": [],
    "distributed.diagnostics.nvml": False,
}


async def serve(address: str, count: int) -> None:
    """Run many workers in this process."""
    dask.config.set(QUIET)
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, count, 20):
            settings = {"nthreads": 1, "memory_limit": 0, "local_directory": folder}
            group = [
                Worker(address, name=f"w{k}", dashboard=False, **settings)
                for k in range(first, min(count, first + 20))
            ]
            await asyncio.gather(*group)
        await asyncio.Event().wait()


async def ready() -> dict[str, Any]:
    """Answer as a worker that can take part."""
    return {"lacks": False}


async def sleep(numbers: Sequence[int], seconds: float) -> list[dict[str, Any]]:
    """Take as long as parts would take, without a thread, and return their receipts."""
    await asyncio.sleep(seconds * len(numbers))
    facts = {"name": "", "sums": [0], "machine": "", "content": b"", "seconds": seconds}
    return [{"number": number, **facts} for number in numbers]


class Sleeping(DaskPool):
    """A pool whose workers sleep."""

    seconds = SHORT

    def submit(self, address: str, function: Any, *arguments: Any) -> Any:
        """Submit a task that sleeps."""
        if function is worker.introduce:
            return super().submit(address, ready)
        return super().submit(address, sleep, arguments[1], self.seconds)

    def share(self, address: str) -> int:
        """Return 1: nothing is computed."""
        return 1


class EnoughError(Exception):
    """The window is over."""


def run(address: str, workers: int, parts: int, seconds: float, progress: Any) -> None:
    """Hand out parts that sleep."""
    dispatch.AIM = seconds  # a part is a task
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=1200)
        pool = Sleeping(client)
        pool.seconds = seconds
        plan = dispatch.PartForecast(lambda number: seconds)
        made = dispatch.Dispatch(pool, {}, lambda receipt: None, dict, plan)
        made.run(range(parts), progress)


def overhead() -> dict[str, Any]:
    """Return the time that handing out short tasks takes."""
    with scheduler() as (address, process), simulated(address, FEW):
        begun: list[float] = []

        def note(done: int, total: int) -> None:
            if not begun:
                begun.extend([time.perf_counter(), time.process_time(), cpu_of(process)])

        run(address, FEW, FEW * TASKS, SHORT, note)
        wall = time.perf_counter() - begun[0]
        client, engine = time.process_time() - begun[1], cpu_of(process) - begun[2]
    ideal = TASKS * SHORT
    return {
        "workers": FEW,
        "task_seconds": SHORT,
        "tasks": FEW * TASKS,
        "seconds": wall,
        "ideal_seconds": ideal,
        "overhead": wall / ideal - 1,
        "client_cpu_seconds_a_task": client / (FEW * TASKS),
        "scheduler_cpu_seconds_a_task": engine / (FEW * TASKS),
        "goal_overhead": 0.02,
    }


def load(many: int = MANY) -> dict[str, Any]:
    """Return the cores that the scheduler and the client take with many workers."""
    with scheduler() as (address, process), simulated(address, many):
        begun: list[float] = []
        since = time.perf_counter()

        def note(done: int, total: int) -> None:
            now = time.perf_counter()
            if not begun and done >= many:  # every worker has had its first task
                begun.extend([now, time.process_time(), cpu_of(process), float(done)])
            if begun and now - begun[0] > WINDOW:
                begun.append(float(done))
                raise EnoughError
            if now - since > 1500:
                raise TimeoutError("the simulated workers are too slow for this machine")

        with suppress(EnoughError):
            run(address, many, 20 * many, LONG, note)
        seconds = time.perf_counter() - begun[0]
        client, engine = time.process_time() - begun[1], cpu_of(process) - begun[2]
    return {
        "workers": many,
        "task_seconds": LONG,
        "seconds": seconds,
        "tasks": begun[4] - begun[3],
        "scheduler_cores": engine / seconds,
        "client_cores": client / seconds,
        "goal_scheduler_cores": 0.5,
    }


def cpu_of(process: psutil.Process) -> float:
    """Return the CPU seconds of a process so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def processes() -> dict[str, Any]:
    """Return the speed of two processes against that of two threads."""
    from distributed import LocalCluster

    small, drawn = scene_of(), scene_of().replace(**LARGE)
    settings = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": None}
    times: list[tuple[Figures, Figures]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, silence_logs=50, **settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        pids = [os.getpid(), *client.run(os.getpid).values()]
        everyone = [psutil.Process(pid) for pid in pids]
        for scene in (small, *[drawn] * LARGE_TURNS):  # the first one compiles
            times.append(
                (
                    timed(Path(folder, "threads.fz"), scene, everyone, threads=2),
                    timed(Path(folder, "processes.fz"), scene, everyone, cluster=client),
                )
            )

    def ratio(key: str) -> float:
        return statistics.median(threads[key] / two[key] for threads, two in times[1:])

    return {
        "size": list(drawn.image.size),
        "threads": [threads for threads, _ in times[1:]],
        "processes": [two for _, two in times[1:]],
        "speed_of_processes": ratio("seconds"),
        "speed_from_first_to_last_tile": ratio("seconds_from_first_to_last_tile"),
        "speed_by_cpu_seconds": ratio("cpu_seconds"),
        "goal_speed_of_processes": 0.95,
    }


def timed(
    path: Path, scene: fractals.Scene, everyone: Sequence[psutil.Process], **more: Any
) -> Figures:
    """Compute a store, remove it, and return seconds, those between the tiles, and CPU seconds."""
    tiles: list[float] = []
    begun, cpu = time.perf_counter(), sum(map(cpu_of, everyone))

    def note(done: int, total: int) -> None:
        if done:
            tiles.append(time.perf_counter())

    fractals.compute_to(path, scene, device="cpu", on_message=str, progress=note, **more)
    found = {
        "seconds": time.perf_counter() - begun,
        "seconds_from_first_to_last_tile": tiles[-1] - tiles[0],
        "cpu_seconds": sum(map(cpu_of, everyone)) - cpu,
    }
    shutil.rmtree(path)
    return found


def first() -> dict[str, Any]:
    """Return the seconds until a worker that starts has computed its first tile."""
    drawn, times = scene_of(), []
    with tempfile.TemporaryDirectory() as folder, scheduler() as (address, _):
        for turn in range(TURNS + 1):  # the first one compiles
            command = [sys.executable, "-m", "fractals", "worker", address, "--cpu"]
            started: list[Any] = []

            def note(done: int, total: int, started: Any = started, command: Any = command) -> None:
                if not started:
                    quiet = {"stderr": subprocess.DEVNULL, "cwd": Path(__file__).parents[1]}
                    started.extend([time.perf_counter(), subprocess.Popen(command, **quiet)])
                if done and len(started) < 3:
                    cpu = cpu_of(psutil.Process(started[1].pid))
                    started.append((time.perf_counter() - started[0], cpu))

            path = Path(folder, f"{turn}.fz")
            fractals.compute_to(
                path, drawn, device="cpu", cluster=address, progress=note, on_message=str
            )
            started[1].terminate()
            started[1].wait()
            time.sleep(2)  # until the scheduler knows
            times.append(started[2])
    seconds, cpu = (statistics.median(column) for column in zip(*times[1:], strict=True))
    return {"seconds": seconds, "cpu_seconds_of_the_worker": cpu, "goal_seconds": 5.0}


KINDS = {"overhead": overhead, "scheduler": load, "processes": processes, "first": first}


def measure(names: Sequence[str], many: int = MANY, note: str = "") -> dict[str, Any]:
    """Return all figures."""
    KINDS["scheduler"] = lambda: load(many)
    made = bench_report.make_report([])
    made["results"] = [{name: KINDS[name]() for name in names}]
    if note:
        made["note"] = note
    return made


def lines(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures as text."""
    yield bench_report.hardware_line(dict(made))
    if made.get("note"):
        yield made["note"]
    for result in made["results"]:
        for name, figures in result.items():
            yield f"{name}:"
            for key, value in figures.items():
                shown = f"{value:,.4f}" if isinstance(value, float) else value
                yield f"  {key.replace('_', ' ')}: {shown}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", metavar="KIND,...", default=",".join(KINDS))
    parser.add_argument("--workers", type=int, default=MANY, help="of the kind scheduler")
    parser.add_argument("--note", default="", help="what else ran on the machine")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", metavar="FILE.json")
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        asyncio.run(serve(given.serve[0], int(given.serve[1])))
        return
    made = (
        bench_report.read_report(given.read)
        if given.read
        else measure(given.only.split(","), given.workers, given.note)
    )
    print(json.dumps(made, indent=1) if given.json else "\n".join(lines(made)))


if __name__ == "__main__":
    main()
