#!/usr/bin/env python3
"""Measure how sharp and how new the explorer's pictures are while a view zooms.

    python benchmarks/motion.py                        # three scenes, two sizes: some minutes
    python benchmarks/motion.py seahorse --sizes 640x480

Of another checkout: copy this file into its folder benchmarks/, and run it there.

A page without a graphics card holds the key Z on a server with two cores: for 3 s, 2 octaves a
second. The server's work is done by the explorer's own views. Time is not that of the clock: it is
counted from the CPU time of each view, half of that which both cores share, and PAGE_MS for the
page. So other programs change little. What the page shows is put together as `client/stage.js`
does, and compared to the exact picture of that very moment, every 300 ms:

error   mean difference of a channel, in steps of 8 bits
detail  mean difference of neighboring pixels, divided by that of the exact picture; (a picture of
        one sample a pixel: error and detail)
new/s   pictures with new content a second; of how many samples, as a share of the pixels
age     ms since the key had moved the view to where the newest picture lies
CPU ms  of the server, for each picture
"""

import argparse
import json
import re
import statistics
import sys
import time
from decimal import Decimal, getcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this checkout, installed or not

import numpy as np
from PIL import Image

import fractals
from fractals.explorer import packing
from fractals.explorer.scheduler import IDLE, Engine
from fractals.explorer.view import ClientView

getcontext().prec = 60
SCENES = {  # center, width, other keys
    "seahorse": (("-0.7453", "0.1127"), "0.0065", {}),
    "mandelbrot": (("-0.743643887", "0.131825904"), "0.004", {}),
    "julia": (("0.4", "0.1"), "1.5", {"julia": ["-0.8", "0.156"]}),
}
CLIENT = Path(fractals.__file__).parent / "explorer" / "client" / "explorer.js"
# Seconds between two views of the page
BETWEEN = int(re.search(r"const BETWEEN = (\d+)", CLIENT.read_text("utf-8"))[1]) / 1e3
CORES, OCTAVES, SECONDS, TICK, LOOK = 2, 2.0, 3.0, 1 / 60, 0.3
PAGE_MS = {1366: 8.0, 640: 3.0}  # that the page takes for a picture (measured in Chromium)


class Zoom:
    """A zoom about a point beside the middle, and views of it."""

    def __init__(self, name: str, size: tuple[int, int]) -> None:
        self.size, (center, width, keys) = size, SCENES[name]
        self.center, self.width = tuple(map(Decimal, center)), Decimal(width)
        image = {"size": list(size), "supersampling": 2}
        self.scene = fractals.load_scene().replace(image=image, **keys)

    def scene_at(self, seconds: float, **image: Any) -> Any:
        """Return the scene after some seconds."""
        scale, (width, height) = Decimal(2 ** (-OCTAVES * seconds)), self.size
        pixel = self.width / width
        off = Decimal(0.1 * width) * pixel, Decimal(0.1 * height) * pixel
        center = [str(c + o * (1 - scale)) for c, o in zip(self.center, off, strict=True)]
        view = {"center": center, "width": str(self.width * scale)}
        table = {**self.scene.to_table()["image"], **image}
        return self.scene.replace(view=view, image=table)

    def map_between(self, one: float, other: float) -> tuple[float, float, float]:
        """Return scale and shift from the pixels at one moment to those at another."""
        scale = 2 ** (OCTAVES * (other - one))
        fixed = 0.6 * self.size[0], 0.4 * self.size[1]
        return scale, fixed[0] * (1 - scale), fixed[1] * (1 - scale)


def composed(zoom: Zoom, pictures: list[tuple[float, int, Any]], now: float) -> Any:
    """Return what the page shows: the newest picture, and older ones where they are finer."""

    def placed(picture: tuple[float, int, Any]) -> tuple[float, Any]:
        at, step, pixels = picture
        scale, x, y = zoom.map_between(at, now)
        shown = Image.fromarray(pixels).convert("RGBA")
        k = 1 / scale / step
        bounds = (k, 0, -x * k, 0, k, -y * k)
        if step * scale == 1:
            return 1.0, shown
        moved = shown.transform(
            zoom.size, Image.Transform.AFFINE, bounds, Image.Resampling.BILINEAR
        )
        return max(1.0, step * scale), moved

    grain, canvas = placed(pictures[-1])
    if pictures[-1][1] > 1:
        finer = [each for each in map(placed, pictures[:-1]) if each[0] < grain]
        for _, image in sorted(finer, key=lambda each: -each[0]):
            canvas = Image.alpha_composite(canvas, image)
    return np.asarray(canvas.convert("RGB"))


def difference(one: Any, other: Any) -> float:
    """Return the mean difference of two pictures."""
    return float(np.abs(one.astype(np.int16) - other).mean())


def detail(pixels: Any) -> float:
    """Return the mean difference of neighbors."""
    return difference(pixels[:, 1:], pixels[:, :-1]) + difference(pixels[1:], pixels[:-1])


class Server:
    """Draws views, and tells what they cost."""

    def __init__(self, zoom: Zoom) -> None:
        self.zoom, self.engine = zoom, Engine("cpu", CORES)
        self.before: ClientView | None = None
        self.shared = 0.0
        batches = self.engine.batches

        def counted(*given: Any) -> Any:
            for spent in batches(*given):
                self.shared += CORES * spent
                yield spent

        self.engine.batches = counted  # type: ignore[method-assign]

    def draw(self, at: float, exact: bool = False) -> tuple[int, Any, float, float]:
        """Return step and pixels of a view, its CPU seconds, and its seconds on all cores."""
        sent: list[bytes] = []
        width, height = self.zoom.size
        view = ClientView(
            ("",),
            ClientView.passes,
            IDLE,
            engine=self.engine,
            scene=self.zoom.scene_at(at),
            frame=int(1e6 * at) + 2,
            paint=0,
            shader=False,
            moving=not exact,
            before=self.before,
            focus=(0.6 * width, 0.4 * height),
            put=lambda message, frame, paint: sent.append(message),
        )
        begun, self.shared = time.process_time(), 0.0
        pixels, step = np.zeros((height, width, 3), np.uint8), 1
        for _ in view.passes():
            if sent and not exact:
                break
        spent = time.process_time() - begun
        for message in sent:
            head, payload = packing.unpack(message)
            x, y, w, h, step = head[4:9]
            if exact and step > 1:
                continue
            part = np.frombuffer(payload, np.uint8).reshape(h, w, 3)
            if exact:
                pixels[y : y + h, x : x + w] = part
            else:
                pixels = part
        self.before = view
        return step, pixels, spent, spent - self.shared * (1 - 1 / CORES)


def measure(name: str, size: tuple[int, int]) -> dict[str, Any]:
    """Return the figures of a scene."""
    zoom = Zoom(name, size)
    server = Server(zoom)
    server.draw(0.0, exact=True)  # compiles
    step, pixels, *_ = server.draw(0.0, exact=True)
    server.draw(0.001), server.draw(0.002)  # what a look compiles
    server.before = None
    server.draw(0.0, exact=True)
    pictures, coming = [(0.0, 1, pixels)], []
    sent, now, look, rows, costs = -1.0, 0.0, LOOK, [], []
    while now < SECONDS:
        now += TICK
        while coming and coming[0][0] <= now:
            _, *picture = coming.pop(0)
            pictures.append(tuple(picture))
        if now - sent > BETWEEN - 1e-6 and not coming:
            sent = now
            step, pixels, spent, seconds = server.draw(now)
            page = PAGE_MS[size[0]] / 1e3
            coming.append((now + seconds + page, now, step, pixels))
            costs.append(1e3 * spent)
        if now >= look:
            look += LOOK
            seen = composed(zoom, pictures, now)
            exact = fractals.render(zoom.scene_at(now), device="cpu").pixels
            whole = fractals.render(zoom.scene_at(now, supersampling=1), device="cpu").pixels
            rows.append(
                {
                    "error": difference(seen, exact),
                    "detail": detail(seen) / detail(exact),
                    "whole_error": difference(whole, exact),
                    "whole_detail": detail(whole) / detail(exact),
                    "age": 1e3 * (now - pictures[-1][0]),
                }
            )
    found = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
    samples = statistics.median(1 / step**2 for _, step, _ in pictures[1:])
    more = {"new/s": (len(pictures) - 1) / SECONDS, "samples": samples}
    more["CPU ms"] = statistics.median(costs)
    return {"scene": name, "size": f"{size[0]}x{size[1]}", **found, **more}


def main() -> None:
    """Measure, and print a line for each scene and size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenes", nargs="*", default=list(SCENES))
    parser.add_argument("--sizes", default="1366x768,640x480")
    options = parser.parse_args()
    for text in options.sizes.split(","):
        across, down = map(int, text.split("x"))
        for name in options.scenes:
            made = measure(name, (across, down))
            rounded = {k: round(v, 2) if isinstance(v, float) else v for k, v in made.items()}
            print(json.dumps(rounded), flush=True)


if __name__ == "__main__":
    main()
