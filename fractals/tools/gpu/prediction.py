"""Predicted time of a picture on a GPU, from counted instructions, cores and clock.

The prediction is the time to issue the iterations' instructions on every core in every cycle. A
launch, the copy to the host, colors, and whatever keeps cores waiting come on top.
"""

from typing import Any, Literal, NamedTuple

from fractals.catalog import did_you_mean
from fractals.errors import OptionError, shown
from fractals.tools.gpu.divergence import WARP

Precision = Literal["float32", "float64"]


class Card(NamedTuple):
    """A GPU, by its maker's public figures.

    Attributes
    ----------
    title : str
    cores : int
        float32 lanes ("CUDA cores") of all multiprocessors together.
    clock : float
        Boost clock in GHz.
    double : float
        float64 operations per float32 operation.
    """

    title: str
    cores: int
    clock: float
    double: float


CARDS = {
    "t4": Card("Tesla T4 (Colab)", 2560, 1.59, 1 / 32),
    "v100": Card("Tesla V100 SXM2", 5120, 1.53, 1 / 2),
    "a100": Card("A100 SXM", 6912, 1.41, 1 / 2),
    "h100": Card("H100 SXM", 16896, 1.98, 1 / 2),
    "h200": Card("H200", 16896, 1.98, 1 / 2),
    "gtx1080ti": Card("GeForce GTX 1080 Ti", 3584, 1.582, 1 / 32),
    "rtx2080ti": Card("GeForce RTX 2080 Ti", 4352, 1.545, 1 / 32),
    "rtx3060": Card("GeForce RTX 3060", 3584, 1.777, 1 / 64),
    "rtx3090": Card("GeForce RTX 3090", 10496, 1.695, 1 / 64),
    "rtx4060": Card("GeForce RTX 4060", 3072, 2.46, 1 / 64),
    "rtx4090": Card("GeForce RTX 4090", 16384, 2.52, 1 / 64),
    "rtx5090": Card("GeForce RTX 5090", 21760, 2.407, 1 / 64),
}

# Machine instructions an iteration on compute capability 9.0, at most, the test at a block's end
# included: in float32, in float64, and in both with dz. `scripts/ptx` counts them again.
INSTRUCTIONS = {
    "buffalo": (5.9, 6.0, 24.0, 32.0),
    "burning_ship": (4.9, 5.0, 20.0, 24.0),
    "celtic_heart": (5.9, 6.0, 21.75, 27.75),
    "heart": (4.9, 5.0, 18.0, 20.25),
    "celtic": (5.9, 6.0, 20.25, 24.25),
    "mandelbrot": (4.9, 5.0, 11.0, 11.25),
    "multibrot2": (4.9, 5.0, 11.0, 11.25),
    "multibrot3": (9.0, 9.0, 20.0, 20.25),
    "multibrot4": (9.0, 9.0, 24.0, 24.0),
    "multibrot5": (13.0, 13.0, 32.0, 32.0),
    "multibrot6": (13.0, 13.0, 36.5, 36.5),
    "multibrot7": (17.0, 17.0, 45.0, 45.0),
    "multibrot8": (17.0, 17.0, 49.0, 49.0),
    "perpendicular_burning_ship": (4.9, 5.0, 19.0, 23.25),
    "shark_fin": (4.9, 5.0, 16.0, 16.25),
    "tricorn": (4.9, 5.0, 16.0, 16.25),
}
# Of those in float64, per iteration: copies and jumps at a block's end, the rest is arithmetic.
NOT_DOUBLE = 0.7


class Prediction(NamedTuple):
    """The time that a card needs at least, and what it was computed from."""

    card: Card
    seconds: float
    iterations_per_second: float  # of all lanes, the waiting ones included

    def to_table(self) -> dict[str, Any]:
        """Return the facts for JSON."""
        return {
            **self.card._asdict(),
            "seconds": self.seconds,
            "iterations_per_second": self.iterations_per_second,
        }


def card(name: str) -> Card:
    """Return a card of the table.

    Raises
    ------
    OptionError
        The table has no such card.
    """
    key = name.lower().replace(" ", "").replace("-", "")
    if key not in CARDS:
        hint = did_you_mean(key[:50], CARDS) or f"; choose {', '.join(CARDS)}"
        raise OptionError(f"unknown card '{shown(name, 40)}'{hint}, or give --cores and --clock")
    return CARDS[key]


def instructions_per_iteration(formula: str, precision: Precision) -> float:
    """Return the counted machine instructions an iteration of a formula, without dz.

    Raises
    ------
    OptionError
        The instructions of this formula were not counted.
    """
    if formula not in INSTRUCTIONS:
        raise OptionError(
            f"the instructions of '{shown(formula, 40)}' are not counted: give --instructions, "
            f"or choose {', '.join(INSTRUCTIONS)}"
        )
    return INSTRUCTIONS[formula][precision == "float64"]


def doubles(formula: str, precision: Precision) -> float:
    """Return how many of a formula's counted instructions are float64 arithmetic."""
    return (
        instructions_per_iteration(formula, precision) - NOT_DOUBLE
        if precision == "float64"
        else 0.0
    )


def predict(warp_steps: int, instructions: float, on: Card, doubles: float = 0.0) -> Prediction:
    """Return the shortest time in which a card can execute the steps of all warps.

    It is bounded by the rate at which the card issues instructions, and by that of its float64
    arithmetic.

    Parameters
    ----------
    warp_steps : int
        Steps of all warps together, as `fractals.tools.gpu.divergence.measure` counts them.
    instructions : float
        Machine instructions of a step.
    on : Card
    doubles : float
        Of these, float64 arithmetic.

    Returns
    -------
    Prediction

    Examples
    --------
    >>> f"{predict(10**9, 4.9, CARDS['h200']).seconds:.5f} s"
    '0.00469 s'
    """
    rate = on.cores * on.clock * 1e9 / max(instructions, doubles / on.double)
    return Prediction(on, WARP * warp_steps / rate, rate)
