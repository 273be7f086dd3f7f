"""Programs of a site: WebAssembly that iterates the samples of a formula, or colors them.

They are made by a process of its own, ``python -m fractals.explorer.site.kernels``, because what a
program is compiled for is settled when Numba is first imported. It reads lines of JSON, and writes
a file for each.
"""

import base64
import functools
import json
import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from fractals.backends.wasm import HAS_RELAXED, STACK, CallRecorder, Recording
from fractals.backends.wasm_vectors import ABREAST, MOST_ABREAST
from fractals.errors import FractalsError, first_line
from fractals.explorer.site import deep
from fractals.kernels import blend, shade
from fractals.kernels.layout import ColoringInputs, EscapeTile
from fractals.kernels.shade import PlaceOptions, ValueOptions
from fractals.rendering.drawing import make_source
from fractals.rendering.plan import make_plan
from fractals.rendering.resume_data import ResumeData
from fractals.rendering.tiles import Tile
from fractals.scene.model import validate
from fractals.scene.paint import Blend

SIDE = 64  # samples of a tile's side
LIMIT = 3_141_593  # stands for the limit while a tile is recorded
TRANSFERS = "linear", "sqrt", "cbrt", "log", "atan"
USUAL = "value smooth escaped", "place log cyclic "  # programs that color most views
SAMPLES = 1, 2, 3  # a pixel, a side, whose programs differ; that of 3 paints any number


def packed(facts: dict[str, Any], module: bytes) -> bytes:
    """Return the length of a JSON text, in 4 bytes; the text; and a module: compressed (zlib)."""
    text = json.dumps(facts, separators=(",", ":")).encode()
    return zlib.compress(struct.pack("<I", len(text)) + text + module, 9)


def formula_programs(variants: dict[str, dict[str, Any]]) -> bytes:
    """Return the programs that iterate scenes of one formula.

    `variants` has the table of a scene for each name of a program.
    """
    recorder = CallRecorder("float64")
    found = {name: _iterated(recorder, table) for name, table in variants.items()}
    facts: dict[str, Any] = {}
    module = b""
    for name, (calls, arrays) in found.items():
        recording = recorder.recording(calls, (LIMIT,), HAS_RELAXED)
        module = recording.module
        facts[name] = _facts(recorder, recording, arrays)
    return packed({"side": SIDE, "programs": facts}, module)


def _iterated(recorder: CallRecorder, table: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the calls that iterate a tile of a scene, and their arrays by name."""
    scene = validate(table).replace(size=(SIDE, SIDE), supersampling=1, antialias="grid")
    plan = replace(make_plan(scene.replace(precision="float64")), tiles=(Tile(0, 0, SIDE, SIDE),))
    source: Any = make_source(recorder, plan, known=ResumeData(LIMIT, 0.0, ()))
    recorder.calls.clear()
    shape, grid = source.grid.of_tile(plan.tiles[0])
    tile = source._begin(shape, grid, LIMIT).tile
    arrays = {**grid._asdict(), "point": source.point, "count": tile.count}
    arrays |= {"x": tile.x, "y": tile.y}
    if plan.layers.derivative:
        arrays |= {"dx": tile.dx, "dy": tile.dy}
    if plan.layers.statistics.planes:
        arrays["statistics"] = tile.statistics
    return list(recorder.calls), arrays


def _facts(recorder: CallRecorder, recording: Recording, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return what the page needs to replay the calls of a tile."""
    places = {name: recorder.address(array) for name, array in arrays.items()}
    given = {places[name] for name in ("columns", "rows", "point")}
    data = [
        (at, base64.b64encode(content).decode())
        for at, content in recording.data
        if at not in given and any(content)
    ]
    planes = arrays["statistics"].shape[0] if "statistics" in arrays else 0
    return {
        "stack": recording.stack,
        "memory": recording.size,
        "data": data,
        "calls": recording.calls,
        "limitAt": recording.marks[0],
        "places": places,
        "planes": planes,
    }


def color_programs(colorings: dict[str, tuple[str, str]]) -> bytes:
    """Return the programs that color samples.

    `colorings`: of each name of a program the name of a coloring, and the samples that have a value
    ("escaped", "inside" or "both").
    """
    recorder = CallRecorder("float64", ordered=True)
    numbers = {}

    def add(name: str, make_body: Any, options: tuple[Any, ...], *arguments: Any) -> None:
        recorder.abreast = MOST_ABREAST if name in USUAL else ABREAST
        run: Any = recorder.compile(make_body, *options)
        run(*arguments)
        numbers[name] = recorder.calls[-1][0]

    real, single = np.zeros((1, 1)), np.zeros((1, 1), np.float32)
    count, planes = np.zeros((1, 1), np.int32), np.zeros((1, 1, 1))
    tile = EscapeTile(count, real, real, real, real, planes)
    zero = np.float64(0)
    inputs = ColoringInputs(np.int32(0), np.zeros(1), np.int32(0), zero, zero, zero)
    light, rgb = np.zeros((1, 1, 3), np.float32), np.zeros((1, 1, 3), np.uint8)
    table, levels = np.zeros((3, 3), np.float32), np.zeros(1, np.uint8)
    values, place = real.copy(), single.copy()
    for name, (coloring, side) in colorings.items():
        made = validate({"color": {"coloring": coloring}}).color.coloring.make()
        own = len(made.statistic.names) if made.statistic else 0
        options = ValueOptions(made.for_coloring(), side, own)
        add(f"value {name}", shade.make_value_body, (options,), values, tile, inputs)
    for transfer in TRANSFERS:
        for cyclic in (False, True):
            for ranged in (False, True):
                name = " ".join(["place", transfer, "cyclic" * cyclic, "ranged" * ranged])
                placed = PlaceOptions(transfer, cyclic, ranged)
                add(name, shade.make_valued_body, (placed,), place, values, inputs)
    share = np.float32(1)
    for n in SAMPLES:
        add(f"paint {n}", shade.make_body, (), rgb, place, table, levels, np.int32(n), share)
    for mode in ("first", *(mode for mode in get_args(Blend) if mode != "auto")):
        add(f"blend {mode}", blend.make_layer_body, (mode,), light, place, table, share)
    decode = np.zeros(1, np.float32)
    for n in SAMPLES:
        add(f"mean {n}", blend.make_mean_body, (), rgb, light, decode, levels, np.int32(n), share)
    matrix, arms = np.zeros(4), np.zeros((2, 1))
    turned = real.copy(), real.copy(), real, real, real, real, matrix, arms
    add("turn", shade.make_turned_body, (False,), *turned)
    recording = recorder.recording([], (), HAS_RELAXED)
    # The page has them work in the memory of those that iterate
    assert recording.stack == STACK, "programs that color have no constants in memory"
    return packed({"programs": numbers}, recording.module)


def deep_programs(variants: dict[str, dict[str, Any]], extended: bool = False) -> bytes:
    """Return the programs that draw deep views of a formula.

    `variants`: as of `formula_programs`. `extended`: with an exponent for each difference.
    """
    recorder = CallRecorder("float64")
    facts = deep.record(recorder, variants, extended, SIDE)
    recording = recorder.recording([], (), HAS_RELAXED)
    return packed(facts | {"stack": recording.stack}, recording.module)


MAKERS: dict[str, Callable[[Any], bytes]] = {
    "variants": formula_programs,
    "deep": deep_programs,
    "extended": functools.partial(deep_programs, extended=True),
    "colorings": color_programs,
}


def main() -> None:
    """Make what each line of stdin asks for, and print its name, and why it can't be made."""
    for line in sys.stdin:
        asked = json.loads(line)
        (kind,) = asked.keys() & MAKERS.keys()
        problem = ""
        try:
            content = MAKERS[kind](asked[kind])
            (Path(asked["folder"]) / f"{asked['name']}.bin").write_bytes(content)
        except FractalsError as error:  # such as a formula that calls what browsers lack
            problem = first_line(error)
        except OSError as error:  # such as a full disk: the site can't be made
            raise SystemExit(error.strerror or str(error)) from None
        sys.stdout.write(f"{json.dumps([asked['name'], problem])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
