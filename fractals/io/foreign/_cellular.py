"""The type `cellular` of Fractint: rows of cells, each made of the row above it, as a picture.

A cell of the next row follows from the sum of a cell and its neighbors; the rule has a digit for
each sum. Fractint draws a cell for each pixel of the screen; here they are of one picture.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fractals.color import trap_image
from fractals.color.palette import parse_color
from fractals.errors import SceneError

WIDTH, HEIGHT = 576, 432  # cells: 4:3, as many as a picture in a scene may have pixels
STRING = 16  # cells of the first row that are given
TYPES = (21, 22, 23, 24, 25, 26, 27, 31, 32, 33, 41, 42, 51, 61)  # states, then neighbors a side
COLORS = ("#000000", "#aa0000", "#288d28", "#343075", "#f2ea49", "#aa5500")  # of states
MAX_START = 10_000  # rows before the first that is drawn
SEED = 1  # of the first row, where it is random


def digits_of(value: float, most: int, states: int, what: str) -> list[int]:
    """Return the digits of a whole number, each the number of a state."""
    text = f"{value:.0f}"
    if value < 0 or len(text) > most or any(int(digit) >= states for digit in text):
        raise SceneError(f"{what} {text[:40]} is not up to {most} digits below {states}")
    return [int(digit) for digit in text]


def checked(params: list[float]) -> tuple[NDArray[np.uint8], list[int]]:
    """Return the next state for each sum, and the digits of the first row; [] if it is random.

    `params`: the digits of the first row, in the middle, 0: random; the digits of the rule, the
    last for the sum 0; the type, such as 41: four states, and one neighbor on each side; the first
    row that is drawn.
    """
    first, rule, kind, begin = params[:4]
    if kind not in TYPES:
        raise SceneError(f"the type of cells {kind:g} is none of {', '.join(map(str, TYPES))}")
    if not 0 <= begin <= MAX_START:
        raise SceneError(f"the first row {begin:g} is not from 0 to {MAX_START}")
    if not rule:
        raise SceneError("the rule 0 is random")
    states, side = divmod(int(kind), 10)
    sums = (2 * side + 1) * (states - 1) + 1
    table = np.zeros(sums, np.uint8)
    found = digits_of(rule, sums, states, "the rule")
    table[: len(found)] = found[::-1]
    random = first in (0, -1)
    return table, [] if random else digits_of(first, STRING, states, "the first row")


def cells_of(params: list[float]) -> NDArray[np.uint8]:
    """Return the states of cells (HEIGHT, WIDTH), row below row, of parameters as of `checked`."""
    table, given = checked(params)
    states, side = divmod(int(params[2]), 10)
    begin = int(params[3])
    row = np.zeros(WIDTH, np.uint8)
    dice = np.random.default_rng(SEED)
    if given:
        at = (WIDTH - 1 - STRING) // 2 + (STRING - len(given)) // 2
        row[at : at + len(given)] = given
    else:
        row[:] = dice.integers(states, size=WIDTH)
    rows = []
    for k in range(begin + HEIGHT):
        if k >= begin:
            rows.append(row)
        total = np.convolve(row, np.ones(2 * side + 1, int), "same")
        row = table[total]
        border = 0 if given else dice.integers(states, size=2 * side + 1)
        # The last cells are a border one wider than the first ones.
        row[np.r_[0:side, WIDTH - 1 - side : WIDTH]] = border
    return np.array(rows)


def table_of(params: list[float], colors: list[str]) -> dict[str, Any]:
    """Return the scene of cells; `colors` are those of states, from 0 on, or []."""
    cells = cells_of(params)
    given = [*colors, *COLORS[len(colors) :]][: max(len(COLORS), 1)]
    shades = np.array([[*(round(255 * part) for part in parse_color(c)), 255] for c in given])
    picture = trap_image.encode(shades[np.minimum(cells, len(given) - 1)].astype(np.uint8))
    return {
        "formula": {"name": "expression", "step": "z", "start": "c"},
        "view": {"center": ["0", "0"], "width": str(1.5 * 16 / 9)},
        "iteration": {"max_iterations": 2},
        "color": {"coloring": {"name": "picture_trap", "picture": picture, "size": 2.0}},
    }
