#!/usr/bin/env python3
"""Time the explorer from a client's side: input to coarse picture, first tile and whole picture.

    python benchmarks/explore.py                        # four scenes: about two minutes
    python benchmarks/explore.py seahorse --json > benchmarks/explore-<processor>.json
    python benchmarks/explore.py --read FILE.json       # its table

A client in the same process sends moves as a wheel does, one after the other, each a quarter
octave about a point beside the middle. Views have 1280x720 pixels. The first views of each scene
warm up and are left out. `burst` sends 20 moves 40 ms apart, and tells when the last is whole and
how many views were given up. `bytes` are those of one settled view over a slow line.
"""

import argparse
import asyncio
import json
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import websockets

import fractals
from fractals.explorer import protocol
from fractals.explorer.application import Explorer
from fractals.explorer.server import Address, Running
from fractals.explorer.session import Terms
from fractals.tools.bench import report

SCENES = ("seahorse", "heirloom", "wheels", "pinwheel")
SIZE = (1280, 720)
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

    async def times(self, frame: int, begun: float) -> dict[str, float]:
        """Return the milliseconds until each stage of a frame, and its bytes."""
        found: dict[str, float] = {"bytes": 0}
        while "exact" not in found:
            message = await self.socket.recv()
            now = 1e3 * (time.perf_counter() - begun)
            if isinstance(message, bytes):
                head = protocol.HEADER.unpack_from(message)
                if head[3] == frame and head[0] in (protocol.VALUES, protocol.PIXELS):
                    found["bytes"] += len(message)
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


async def measure(running: Running, name: str, steps: int) -> dict[str, Any]:
    """Return the times of a scene."""
    address = running.url.replace("http", "ws", 1) + "/ws"
    bearer = {"Authorization": f"Bearer {running.explorer.gate.token}"}
    async with websockets.connect(address, additional_headers=bearer, max_size=None) as socket:
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
    rows = rows[WARM:]
    stages = ("placed", "coarse", "tile", "values", "exact", "bytes")
    found = {
        stage: {"p50": statistics.median(each), "p95": sorted(each)[int(0.95 * len(each))]}
        for stage in stages
        for each in [[row[stage] for row in rows]]
    }
    scene = fractals.load_scene(name)
    return {
        "scene": name,
        "width": scene.view.width or f"zoom {scene.view.zoom}",
        "steps": steps,
        "ms": {stage: found[stage] for stage in stages[:-1]},
        "bytes": found["bytes"]["p50"],
        "burst_values_ms": burst["values"],
    }


def tables(made: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield report.hardware_line(made)
    rows = [["scene", "width", "placed", "coarse", "first tile", "values", "exact", "MB", "burst"]]
    for row in made["results"]:
        times = [f"{each['p50']:.0f}/{each['p95']:.0f}" for each in row["ms"].values()]
        size = f"{row['bytes'] / 1e6:.2f}"
        rows.append([row["scene"], row["width"], *times, size, f"{row['burst_values_ms']:.0f}"])
    yield from report.align(iter(rows))


def main() -> None:
    """Measure, or read figures, and print them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenes", nargs="*", default=SCENES)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path)
    options = parser.parse_args()
    if options.read:
        made = json.loads(options.read.read_text())
    else:
        explorer = Explorer(Terms(fractals.load_scene()), options.device)
        running = Running.listen(explorer, Address())
        threading.Thread(target=running.serve, daemon=True).start()
        while not (running.server and running.server.started):
            time.sleep(0.01)
        results = [asyncio.run(measure(running, name, options.steps)) for name in options.scenes]
        running.close()
        made = {**report.make_report([]), "results": results}
    print(json.dumps(made, indent=1) if options.json else "\n".join(tables(made)))


if __name__ == "__main__":
    main()
