"""A server in a thread, and a client that speaks the protocol of the explorer."""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import websockets

import fractals
from fractals.explorer import answers, packing
from fractals.explorer.application import Explorer
from fractals.explorer.options import ExploreOptions
from fractals.explorer.server import Running

SIZE = (96, 64)
KEYS = (
    *("kind", "form", "layer", "frame", "x", "y", "w", "h"),
    *("step", "_", "paint", "low", "high", "bytes"),
)
PATIENCE = 240  # seconds: programs may have to be compiled
DEVICE = os.environ.get("EXPLORER_DEVICE", "cpu")  # "cuda": the same tests on a GPU


class Client:
    """A client in a coroutine: sends messages, and keeps everything that arrives."""

    def __init__(self, socket, size):
        self.socket, self.size = socket, size
        self.texts, self.tiles = [], []
        self.pixels = np.zeros((size[1], size[0], 3), np.uint8)

    async def say(self, kind, **keys):
        await self.socket.send(json.dumps({"t": kind, **keys}))

    async def receive(self):
        """Return the next message; tiles of exact passes are put into `pixels`."""
        message = await asyncio.wait_for(self.socket.recv(), PATIENCE)
        if isinstance(message, str):
            self.texts.append(json.loads(message))
            check_declared(self.texts[-1])
            return self.texts[-1]
        head, payload = packing.unpack(message)
        keys = [
            "kind",
            "form",
            "layer",
            "frame",
            "x",
            "y",
            "w",
            "h",
            "step",
            "_",
            "paint",
            "low",
            "high",
            "bytes",
        ]
        tile = SimpleNamespace(**dict(zip(keys, head, strict=True)), payload=payload)
        self.tiles.append(tile)
        if tile.kind == packing.PIXELS and tile.step == 1:
            rows = pixels_of(tile)
            self.pixels[tile.y : tile.y + tile.h, tile.x : tile.x + tile.w] = rows
        return tile

    async def until(self, kind, **keys):
        """Receive until a text message of this kind, with these keys; errors end the test."""
        while True:
            found = await self.receive()
            if not isinstance(found, dict):
                continue
            if found["t"] == kind and keys.items() <= found.items():
                return found
            assert found["t"] not in ("error", "failed"), found

    async def refused(self):
        """Receive until a message about an error, and return its text."""
        while True:
            found = await self.receive()
            if isinstance(found, dict) and found["t"] == "error":
                return found["message"]

    async def exact(self, frame, **keys):
        return await self.until("drawn", frame=frame, **{"pass": "exact"}, **keys)

    async def ask(self, kind, answer, **keys):
        await self.say(kind, **keys)
        return await self.until(answer)


def check_declared(message):
    """Raise an error unless a message is as `fractals/explorer/answers.py` declares it."""
    keys = {"pass_" if key == "pass" else key: value for key, value in message.items()}
    answers.SAID[message["t"]].checked(keys)


def pixels_of(tile):
    rows = np.frombuffer(tile.payload, np.uint8).reshape(tile.h, -1)
    if tile.form == packing.DEFLATE:
        rows = np.cumsum(rows, axis=0, dtype=np.uint8)
    return rows.reshape(tile.h, tile.w, 3)


class Server:
    """A server that listens, with shortcuts for clients."""

    def __init__(self, running):
        self.running = running
        self.explorer, self.gate = running.explorer, running.explorer.gate
        self.port, self.url = running.port, running.url
        self.token = self.gate.token

    def connect(self, sock=None, **headers):
        headers = {"Authorization": f"Bearer {self.token}", **headers}
        address = self.url.replace("http", "ws", 1) + "/ws"
        return websockets.connect(
            address, additional_headers=headers, max_size=None, close_timeout=1, sock=sock
        )

    def run(self, talk, size=SIZE, values=True, link="local"):
        """Run ``talk(client)`` after hello, and return its result."""

        async def whole():
            async with self.connect() as socket:
                client = Client(socket, size)
                await client.say("hello", v=1, size=list(size), values=values, link=link)
                await client.until("welcome")
                return await talk(client)

        with ThreadPoolExecutor(1) as pool:  # this thread may have the event loop of a browser
            return pool.submit(asyncio.run, whole()).result()


def file_of(server, told):
    """Return the path of a file that a server has made, from the message that tells its address."""
    return server.explorer.jobs.files[told["url"].split("/")[2]].path


def start(tmp_path, **options):
    scene, options = fractals.load_scene("seahorse"), ExploreOptions(device=DEVICE, **options)
    running = Running.listen(Explorer(scene, options, tmp_path / "bookmarks"))
    thread = threading.Thread(target=running.serve, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not (running.server and running.server.started):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return Server(running), thread


@contextlib.contextmanager
def process(tmp_path, *arguments, descriptors=None):
    """Run `fractals explore` as a process, and give it, the URL of its page and its messages.

    `descriptors`: the limit of its open files.
    """
    messages = tmp_path / "messages"
    limit = f"ulimit -n {descriptors}; " if descriptors else ""
    options = ["--no-browser", "--cpu", *map(str, arguments)]
    with messages.open("wb") as err:
        command = [sys.executable, "-m", "fractals", "explore", *options]
        made = subprocess.Popen(["sh", "-c", f'{limit}exec "$@"', "sh", *command], stderr=err)
    try:
        deadline = time.monotonic() + 60
        while not (found := re.search(r"exploring at (\S+)", messages.read_text())):
            assert made.poll() is None, messages.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield made, found[1], messages
    finally:
        made.terminate()
        made.wait(20)
