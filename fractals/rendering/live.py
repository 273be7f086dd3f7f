"""A web page that draws: what it needs of a scene to draw other places by itself.

The programs of a page are made for WebAssembly by a process of its own,
``python -m fractals.rendering.live``, because what a program is compiled for is settled when Numba
is first imported.
"""

import json
import os
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fractals.errors import FractalsError
from fractals.io.image import Image
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import DEEP, SHALLOW, Plan, Tile, make_plan
from fractals.rendering.resume_data import ResumeData
from fractals.scene.geometry import home_width_of, limit_by_zoom, matrix
from fractals.scene.model import Scene, validate

SIDE = 64  # pixels of a tile
# Stand for the limit and the offset while a tile is recorded: the page sets its own.
LIMIT, OFFSET = 3_141_593, 1_234_567.125
WIDEST, NARROWEST = 4, 52  # octaves: from 2**4 times the home width to 2**-52
PLACE = "0.111111111", "0.222222222", "0.333333333"  # stands for x, y and width in a scene


def why_still(scene: Scene) -> str:
    """Return why a page can't draw other places of a scene, in words; or nothing."""
    if scene.family != "escape":
        return "pages draw images of escape time only"
    own = scene.develop
    if own.bloom or own.vignette or own.grain or scene.image.hdr:
        return "pages draw no glow, vignette, grain or HDR"
    if scene.image.gamut != "srgb":
        return "pages draw in sRGB only"
    if scene.view.projection != "plane":
        return "pages draw no exponential maps"
    plan = make_plan(scene.replace(precision="float64"))
    if plan.deep:
        return "pages draw no deep views"
    if plan.layers.whole or plan.layers.masks:
        return "pages draw no colors that depend on the whole picture"
    return ""


def asked(image: Image) -> bytes:
    """Return what a page needs, made by a process of its own.

    FractalsError: the page can show the still picture only.
    """
    scene = image.scene
    if reason := why_still(scene):
        raise FractalsError(reason)
    from fractals.backends.wasm.module import ENVIRONMENT

    summary = image.summary
    asked = {
        "scene": scene.to_table(),
        "limit": summary.max_iterations if summary else None,
        "offset": summary.count_offset if summary else 0.0,
    }
    found = subprocess.run(
        [sys.executable, "-P", "-m", "fractals.rendering.live"],
        input=json.dumps(asked).encode(),
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    if found.returncode:
        line = found.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise FractalsError(f"its programs can't be made for browsers ({''.join(line)})")
    return found.stdout


def packed(scene: Scene, limit: int | None, offset: float) -> bytes:
    """Return what a page needs to draw a scene, compressed (zlib).

    First the length of a JSON text, in 4 bytes; then the text, and the bytes that it tells of.
    """
    from fractals.backends.wasm.recorder import CallRecorder
    from fractals.rendering.drawing import open_drawing

    auto = scene.iteration.max_iterations == "auto"
    small = scene.replace(
        size=(SIDE, SIDE), supersampling=1, antialias="grid", bits=8, precision="float64"
    )
    recorder = CallRecorder("float64")
    plans = make_plan(scene), make_plan(small)
    plans = plans[0], replace(plans[1], width=plans[0].width)

    def recorded(plan: Plan) -> tuple[Any, dict[str, int]]:
        """Return the recording of a tile of a plan, and the addresses of arrays."""
        options, known = RenderOptions(device="cpu"), ResumeData(LIMIT, OFFSET)
        drawing = open_drawing(plan, recorder, options, known=known)
        assert drawing.painter
        recorder.calls.clear()
        tile, source = Tile(0, 0, SIDE, SIDE), drawing.source
        shape, columns, rows = source.grid.of_tile(tile)  # type: ignore[attr-defined]
        begun = source._begin(shape, columns, rows, LIMIT)  # type: ignore[attr-defined]
        rgb = drawing.painter.paint(tile, begun.tile, LIMIT, OFFSET)
        made = recorder.recording(list(recorder.calls), (LIMIT, OFFSET))
        arrays = {"columns": columns, "rows": rows, "rgb": rgb, "count": begun.tile.count}
        return made, {name: recorder.address(array) for name, array in arrays.items()}

    made, places = recorded(plans[1])
    wider, _ = recorded(replace(plans[1], width=2 * plans[1].width))
    given = {places["columns"], places["rows"]}
    home, width = home_width_of(scene, plans[0].formula), plans[0].width
    facts = {
        **places,
        "side": SIDE,
        "module": len(made.module),
        "stack": made.stack,
        "memory": made.size,
        "data": [(at, len(content)) for at, content in made.data if at not in given],
        "calls": made.calls,
        "limitAt": made.marks[0],
        "offsetAt": made.marks[1],
        "scaled": _scaled(made.data, wider.data, given),
        "size": scene.image.size,
        "supersampling": scene.image.supersampling,
        "center": [float(part) for part in plans[0].center],
        "width": float(width),
        "axes": [float(part) for part in matrix(scene.view)],
        "home": float(home),
        "limit": limit or plans[0].max_iterations,
        "limits": _limits(plans[0], home) if auto else None,
        "offset": offset,
        "depths": [SHALLOW, DEEP],
        "place": PLACE,
        "toml": scene.replace(center=PLACE[:2], width=PLACE[2]).to_toml(),
    }
    text = json.dumps(facts).encode()
    content = b"".join(content for at, content in made.data if at not in given)
    return zlib.compress(struct.pack("<I", len(text)) + text + made.module + content, 9)


def _limits(plan: Plan, home: Fraction) -> list[int]:
    """Return the limits by the zoom, for widths from 2**WIDEST times `home`, an octave apart."""
    octaves = range(WIDEST, -NARROWEST - 1, -1)
    return [limit_by_zoom(plan.formula, home * Fraction(2) ** k) for k in octaves]


def _scaled(
    data: list[tuple[int, bytes]], wider: list[tuple[int, bytes]], given: set[int]
) -> list[tuple[int, float, float]]:
    """Return the addresses of numbers that depend on the width of a view, and their values.

    Last the power of the width to which each is proportional. `wider`: of a view twice as wide.
    """
    found = []
    for (at, one), (_, two) in zip(data, wider, strict=True):
        if one == two or at in given:
            continue
        values = (np.frombuffer(part, np.float64) for part in (one, two))
        for k, (a, b) in enumerate(zip(*values, strict=True)):
            if a != b and a == a:
                found.append((at + 8 * k, float(a), float(np.log2(b / a))))
    return found


def main() -> None:
    """Answer the question that `asked` asks on stdin."""
    asked = json.loads(sys.stdin.buffer.read())
    made = packed(validate(asked["scene"]), asked["limit"], asked["offset"])
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
