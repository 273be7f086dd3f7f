#!/usr/bin/env python3
"""Time the explorer from a client's side: input to coarse picture, first tile and whole picture.

    python benchmarks/explore.py                        # four scenes: about two minutes
    python benchmarks/explore.py seahorse --json > benchmarks/explore-<processor>.json
    python benchmarks/explore.py --read FILE.json       # its table
    python benchmarks/explore.py --against OTHER        # this checkout over another one, in turns

A client in the same process sends moves as a wheel does, one after the other, each a quarter octave
about a point beside the middle. Views have 1280x720 pixels. The first views of each scene warm up
and are left out. `burst` sends 20 moves 40 ms apart, and tells when the last has all its values.
`values MB` and `exact MB` are sent over a slow line for one settled view of 1920x1080 pixels: what
a browser recolors without asking, and then the exact pixels. `julia` is a preview of 256x256
pixels. Memory is what the process grew by for each of some clients more, with settled views of
1920x1080 pixels. `--against` runs each scene in turns, each time in a process of its own, whose CPU
seconds count the start, too; figures are those of this checkout divided by those of the other. Each
checkout runs its own program, so memory is compared only where both measure what is used now.
"""

import argparse
import asyncio
import contextlib
import json
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import websockets

import fractals
from fractals.explorer import packing
from fractals.explorer.application import Explorer
from fractals.explorer.options import ExploreOptions
from fractals.explorer.server import Running
from fractals.tools import bench_report

SCENES = ("seahorse", "heirloom", "wheels", "pinwheel")
SIZE, LARGE = (1280, 720), (1920, 1080)
CLIENTS = 4  # for the memory
PREVIEWS = 20  # of Julia sets
RESIDENT = "resident now"  # what `resident` measures; older programs: the most so far
WARM = 3  # views that load, or compile, what the others use
AT = (9000, 5000)  # of the moves' fixed point, in sixteenths of a pixel


class Client:
    """Sends messages, and waits for what answers them."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.frame = socket, 0

    async def say(self, kind: str, **keys: Any) -> None:
        """Send a message."""
        await self.socket.send(json.dumps({"t": kind, **keys}))

    async def move(self, base: int) -> int:
        """Send a move by a quarter octave, and return its frame."""
        self.frame += 1
        await self.say("view", frame=self.frame, base=base, at=AT, scale=16, focus=AT)
        return self.frame

    async def preview(self, k: int) -> float:
        """Return the milliseconds until the Julia set of another point is there."""
        begun = time.perf_counter()
        point = (AT[0] + 160 * k, AT[1])
        await self.say("julia", seq=k, frame=self.frame, at=point)
        while True:
            message = await self.socket.recv()
            if isinstance(message, str) and json.loads(message)["t"] == "error":
                sys.exit(message)
            if isinstance(message, bytes):
                head = packing.HEADER.unpack_from(message)
                if head[0] == packing.PREVIEW and head[3] == k:
                    return 1e3 * (time.perf_counter() - begun)

    async def times(self, frame: int, begun: float) -> dict[str, float]:
        """Return the milliseconds until each stage of a frame, and its bytes."""
        found: dict[str, float] = {"values_bytes": 0, "exact_bytes": 0}
        while "exact" not in found:
            message = await self.socket.recv()
            now = 1e3 * (time.perf_counter() - begun)
            if isinstance(message, bytes):
                head = packing.HEADER.unpack_from(message)
                if head[3] == frame and head[0] in (packing.VALUES, packing.PIXELS):
                    of = "values" if head[0] == packing.VALUES else "exact"
                    found[f"{of}_bytes"] += len(message)
                    found.setdefault("coarse" if head[8] > 1 else "tile", now)
                continue
            text = json.loads(message)
            if text["t"] == "placed" and text["frame"] == frame:
                found["placed"] = now
            elif text["t"] == "drawn" and text["frame"] == frame and text["pass"] != "coarse":
                found[text["pass"]] = now
            elif text["t"] in ("error", "paused"):
                sys.exit(str(text))
        return found


def connect(running: Running) -> Any:
    """Return a connection to a server."""
    address = running.url.replace("http", "ws", 1) + "/ws"
    bearer = {"Authorization": f"Bearer {running.explorer.gate.token}"}
    return websockets.connect(address, additional_headers=bearer, max_size=None)


@asynccontextmanager
async def settled(
    running: Running, name: str, size: tuple[int, int]
) -> AsyncIterator[dict[str, float]]:
    """Keep a client that shows a scene, and give the times and bytes of its view."""
    async with connect(running) as socket:
        client = Client(socket)
        await client.say("hello", v=1, size=size, link="remote")
        await client.say("open", frame=1, gallery=name)
        yield await client.times(1, time.perf_counter())


async def memory_a_client(running: Running, name: str) -> float:
    """Return the MiB that the process grows by for each client more."""
    async with AsyncExitStack() as clients:
        for _ in range(2):  # what all of them share
            await clients.enter_async_context(settled(running, name, LARGE))
        before = resident()
        for _ in range(CLIENTS):
            await clients.enter_async_context(settled(running, name, LARGE))
        return (resident() - before) / CLIENTS


def resident() -> float:
    """Return the MiB of memory that this process uses; without /proc, the most so far.

    The most so far hides what clients hold, if a view before them has needed more for a moment.
    """
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


async def measure(running: Running, name: str, steps: int) -> dict[str, Any]:
    """Return the times of a scene."""
    scene = fractals.load_scene(name)
    async with connect(running) as socket:
        client = Client(socket)
        await client.say("hello", v=1, size=SIZE, link="remote")
        client.frame = 1
        await client.say("open", frame=1, gallery=name)
        await client.times(1, time.perf_counter())
        rows = []
        for _ in range(steps + WARM):
            begun = time.perf_counter()
            rows.append(await client.times(await client.move(client.frame), begun))
        begun = time.perf_counter()
        for _ in range(20):
            await client.move(client.frame)
            await asyncio.sleep(0.04)
        burst = await client.times(client.frame, begun)
        previews = PREVIEWS if scene.julia is None else 0
        julia = [await client.preview(k + 1) for k in range(previews)]
    async with settled(running, name, LARGE) as large:
        pass
    rows = rows[WARM:]
    stages = ("placed", "coarse", "tile", "values", "exact")
    found = {stage: spread(each) for stage in stages for each in [[row[stage] for row in rows]]}
    return {
        "scene": name,
        "width": scene.view.width or f"zoom {scene.view.zoom}",
        "steps": steps,
        "ms": found,
        "values_bytes": large["values_bytes"],
        "exact_bytes": large["exact_bytes"],
        "julia_ms": spread(julia) if julia else None,
        "burst_values_ms": burst["values"],
    }


def spread(times: list[float]) -> dict[str, float]:
    """Return the median, and what 95 % of the times stay below."""
    return {"p50": statistics.median(times), "p95": sorted(times)[int(0.95 * len(times))]}


def tables(made: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield bench_report.hardware_line(made)
    times = ("placed", "coarse", "first tile", "values", "exact")
    rows = [["scene", "width", *times, "burst", "julia", "values MB", "exact MB"]]
    for row in made["results"]:
        shown = [f"{each['p50']:.0f}/{each['p95']:.0f}" for each in row["ms"].values()]
        previews = row["julia_ms"]
        shown.append(f"{row['burst_values_ms']:.0f}")
        shown.append(f"{previews['p50']:.0f}/{previews['p95']:.0f}" if previews else "-")
        sizes = [f"{row[key] / 1e6:.2f}" for key in ("values_bytes", "exact_bytes")]
        rows.append([row["scene"], row["width"], *shown, *sizes])
    yield from bench_report.align(iter(rows))
    yield f"memory for each client: {made['client_mib']:.0f} MiB"


def run_apart(checkout: Path, name: str, options: argparse.Namespace) -> dict[str, float]:
    """Return the figures of a checkout's own program for one scene."""
    program = [sys.executable, checkout / "benchmarks" / "explore.py", name, "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = ["--steps", str(options.steps), "--device", options.device]
    done = subprocess.run([*program, *given], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{checkout}: {done.stderr or done.stdout}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = json.loads(done.stdout)
    (row,) = made["results"]
    figures = {stage: each["p50"] for stage, each in row["ms"].items()}
    if row["julia_ms"]:
        figures["julia"] = row["julia_ms"]["p50"]
    figures["burst"] = row["burst_values_ms"]
    figures["CPU s"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if made.get("memory") == RESIDENT:
        figures["MiB"] = made["client_mib"]
    return figures


def compare(other: Path, options: argparse.Namespace) -> Iterator[str]:
    """Yield a line of ratios for each scene: the median, and the least and the most of the runs."""
    here = Path(__file__).resolve().parents[1]
    for name in options.scenes:
        ratios: dict[str, list[float]] = {}
        for _ in range(options.runs):
            theirs, ours = run_apart(other.resolve(), name, options), run_apart(here, name, options)
            for key in ours.keys() & theirs.keys():
                ratios.setdefault(key, []).append(ours[key] / max(theirs[key], 1e-9))
        found = (
            f"{key} {statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f})"
            for key, each in sorted(ratios.items())
        )
        yield f"{name}: {', '.join(found)}"


def main() -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path)
    parser.add_argument("--against", type=Path, help="another checkout, in turns")
    parser.add_argument("--runs", type=int, default=3, help="of each checkout, with --against")
    options = parser.parse_args()
    if options.against:
        for line in compare(options.against, options):
            print(line, flush=True)
        return
    if options.read:
        made = json.loads(options.read.read_text())
    else:
        given = ExploreOptions(device=options.device)
        running = Running.listen(Explorer(fractals.load_scene(), given))
        threading.Thread(target=running.serve, daemon=True).start()
        while not (running.server and running.server.started):
            time.sleep(0.01)
        results = [asyncio.run(measure(running, name, options.steps)) for name in options.scenes]
        memory = asyncio.run(memory_a_client(running, options.scenes[0]))
        running.close()
        made = {**bench_report.make_report([]), "client_mib": round(memory, 1), "results": results}
        made["memory"] = RESIDENT
    print(json.dumps(made, indent=1) if options.json else "\n".join(tables(made)))


if __name__ == "__main__":
    main()
