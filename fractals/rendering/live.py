"""A web page that draws: what it needs of a scene to draw other places by itself.

The programs of a page are made for WebAssembly by a process of its own,
``python -m fractals.rendering.live``, because what a program is compiled for is settled when Numba
is first imported.
"""

import json
import math
import os
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from fractals.errors import FractalsError, first_line
from fractals.io.image import Image
from fractals.rendering.number_types import BITS, DOUBLED, MIN_SPARE_BITS
from fractals.rendering.options import RenderOptions
from fractals.rendering.plan import DEEP, SHALLOW, Plan, make_plan
from fractals.rendering.resume_data import ResumeData
from fractals.rendering.tiles import Tile
from fractals.scene.geometry import home_width_of, limit_by_zoom, matrix
from fractals.scene.model import Scene, validate

SIDE = 64  # pixels of a tile
REFUSED = 3  # code of a process that says why on stderr
# Stand for the limit and the offset while a tile is recorded: the page sets its own.
LIMIT, OFFSET = 3_141_593, 1_234_567.125
# Of a deep view: how many times as wide the views may be, and how many times narrower, that its
# page draws; and the most bytes of its tables
AROUND, NEARER = 64, 2**24
MOST = 2**24
CELL = 8  # bytes of a number among the arguments of a call
WIDEST, NARROWEST = 4, 52  # octaves: from 2**4 times the home width to 2**-52
PLACE = "0.111111111", "0.222222222", "0.333333333"  # stands for x, y and width in a scene
COLORS = 0.444444444, 0.555555555  # for the density and the offset of its lowest layer


def why_still(scene: Scene) -> str:
    """Return why a page can't draw other places of a scene, in words; or nothing."""
    if scene.family != "escape":
        return "pages draw images of escape time only"
    own = scene.develop
    if own.bloom or scene.image.hdr:
        return "pages draw no glow and no HDR"
    if scene.image.gamut != "srgb":
        return "pages draw in sRGB only"
    if scene.view.projection != "plane":
        return "pages draw no exponential maps"
    plan = make_plan(_in_64_bits(scene))
    if plan.layers.whole or plan.layers.masks:
        return "pages draw no colors that depend on the whole picture"
    return ""


def _in_64_bits(scene: Scene) -> Scene:
    """Return a scene whose numbers are float64, or double-double where float64 is not enough."""
    return scene.replace(precision="float64") if scene.iteration.precision == "float32" else scene


def asked(image: Image) -> bytes:
    """Return what a page needs, made by a process of its own.

    FractalsError: the page can show the still picture only.
    """
    scene = image.scene
    if reason := why_still(scene):
        raise FractalsError(reason)
    from fractals.backends.wasm import ENVIRONMENT

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
    said = "".join(found.stderr.decode(errors="replace").strip().splitlines()[-1:])
    if found.returncode == REFUSED:
        raise FractalsError(said)
    if found.returncode:
        raise FractalsError(f"its programs can't be made for browsers ({said})")
    return found.stdout


def packed(scene: Scene, limit: int | None, offset: float) -> bytes:
    """Return what a page needs to draw a scene, compressed (zlib).

    First the length of a JSON text, in 4 bytes; then the text, and the bytes that it tells of. In a
    deep view places are distances from its center, in 2**exponent. In double-double numbers, too,
    and the page adds the center to them.
    """
    from fractals.backends.wasm import CallRecorder

    small = scene.replace(size=(SIDE, SIDE), supersampling=1, antialias="grid", bits=8)
    small = small.replace(vignette=0, grain=0)  # of a picture in its frame
    plan = make_plan(_in_64_bits(scene).replace(antialias="grid"))
    limit = limit or plan.max_iterations
    known = ResumeData(LIMIT, OFFSET, _references(plan, limit) if plan.deep else ())
    one = replace(
        plan,
        scene=small,
        size=(SIDE, SIDE),
        supersampling=1,
        tiles=(Tile(0, 0, SIDE, SIDE),),
        reach=AROUND * plan.width,
    )
    recorder = CallRecorder("float64", exact=plan.doubled)
    made, places = _recorded(recorder, one, known)
    wider, _ = _recorded(recorder, replace(one, width=2 * plan.width), known)
    given = {places["columns"], places["rows"]}
    data = [(at, content, made.rows.get(at, CELL)) for at, content in made.data if at not in given]
    unit = Fraction(2) ** plan.exponent if plan.deep else 1
    apart = plan.deep or plan.doubled
    home = home_width_of(scene)
    auto = scene.iteration.max_iterations == "auto"
    facts = {
        **places,
        "side": SIDE,
        "module": len(made.module),
        "stack": made.stack,
        "memory": made.size,
        "data": [(at, len(content), row) for at, content, row in data],
        "calls": made.calls,
        "limitAt": made.marks[0],
        "offsetAt": made.marks[1],
        "scaled": _scaled(made.data, wider.data, given),
        "size": scene.image.size,
        "supersampling": scene.image.supersampling,
        "deep": [f"{part:f}" for part in map(Decimal, scene.view.center or ("0", "0"))]
        if apart
        else None,
        "exponent": plan.exponent if plan.deep else 0,
        "middle": [_parts(part) for part in plan.center] if plan.doubled else None,
        "around": AROUND,
        "nearer": _nearer(plan),
        "center": [0.0, 0.0] if apart else [float(part) for part in plan.center],
        "width": float(plan.width / unit),
        "axes": [float(part) for part in matrix(scene.view)],
        "home": float(home),
        "limit": limit,
        "limits": _limits(plan, home) if auto and not apart else None,
        "offset": offset,
        "depths": [SHALLOW, DEEP],
        "colors": [scene.color.density, scene.color.offset],
        "place": [*PLACE, *map(str, COLORS)],
        "toml": scene.replace(
            center=PLACE[:2], width=PLACE[2], density=COLORS[0], offset=COLORS[1]
        ).to_toml(),
    }
    text = json.dumps(facts).encode()
    content = b"".join(_by_columns(content, row) for _, content, row in data)
    if len(content) > MOST:
        raise FractalsError(
            f"what it would take to draw this deep view has {len(content) / 2**20:.0f} MiB"
        )
    return zlib.compress(struct.pack("<I", len(text)) + text + made.module + content, 9)


def _parts(exact: Fraction) -> list[float]:
    """Return a number as the sum of three float64, the largest first."""
    parts = []
    for _ in range(3):
        parts.append(float(exact))
        exact -= Fraction(parts[-1])
    return parts


def _nearer(plan: Plan) -> float:
    """Return how many times narrower the views of a page may be."""
    if not plan.doubled:
        return NEARER
    far = max(Fraction(1, 10), *map(abs, plan.center))
    least = far / 2 ** (BITS[DOUBLED] - MIN_SPARE_BITS)  # between samples
    return max(1.0, min(NEARER, float(plan.pixel / plan.supersampling / least)))


def _by_columns(content: bytes, row: int) -> bytes:
    """Return bytes with those of each place in a row together; an incomplete row comes last.

    Points of an orbit that returns are nearly those of its turn before: their first bytes are
    equal. Together these are compressed to a tenth (measured).
    """
    end = len(content) - len(content) % row
    whole = np.frombuffer(content[:end], np.uint8).reshape(-1, row)
    return whole.T.tobytes() + content[end:]


def _references(plan: Plan, limit: int) -> list[Any]:
    """Return the reference orbits of a deep view, in the digits of one that is NEARER."""
    from fractals.deep import orbit_cache
    from fractals.rendering.perturb import find_orbits

    finer = replace(plan, bits=plan.bits + math.ceil(math.log2(NEARER)))
    return find_orbits(finer, limit, orbit_cache.compute_orbit)


def _recorded(recorder: Any, plan: Plan, known: ResumeData) -> tuple[Any, dict[str, int]]:
    """Return the recording of the tile of a plan, and the addresses of arrays."""
    from fractals.rendering.drawing import open_drawing

    drawing = open_drawing(plan, recorder, RenderOptions(device="cpu", force=True), known=known)
    assert drawing.painter
    recorder.calls.clear()
    (tile,), source = plan.tiles, drawing.source
    shape, grid = source.grid.of_tile(tile)  # type: ignore[attr-defined]
    begun = source._begin(shape, grid, LIMIT)  # type: ignore[attr-defined]
    rgb = drawing.painter.paint(tile, begun.tile, LIMIT, OFFSET)
    made = recorder.recording(list(recorder.calls), (LIMIT, OFFSET))
    arrays = {**grid._asdict(), "rgb": rgb, "count": begun.tile.count}
    arrays["constants"] = drawing.painter.constants
    return made, {name: recorder.address(array) for name, array in arrays.items()}


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
    try:
        made = packed(validate(asked["scene"]), asked["limit"], asked["offset"])
    except FractalsError as error:
        sys.stderr.write(f"{first_line(error)}\n")
        sys.exit(REFUSED)
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
