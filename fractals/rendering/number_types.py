"""Number types: the bits that views need of them, and which one a picture takes."""

import bisect
import math
from collections.abc import Callable

from fractals.errors import OptionError
from fractals.kernels.formula import Formula
from fractals.scene.model import Scene
from fractals.scene.numbers import power_of_two, scientific

DOUBLED = "double-double"  # two float64 a number (`fractals.kernels.doubled`)
BITS = {"float64": 53, "float32": 24, DOUBLED: 104}
BYTES = {"float64": 8, "float32": 4, DOUBLED: 8}  # of a number that is kept
MIN_SPARE_BITS = 2  # log2 of the fewest steps of the number type between neighbouring samples
# Rounding errors grow along an orbit as the distance of neighbours does, so perturbation begins
# before neighbours meet. float32 has no room for that margin; a scene asks for float32 by name.
SPARE_BITS = {"float64": 14, "float32": MIN_SPARE_BITS}
# Minus log2 of the samples' distance, below which roundings of float64 are not measured: they
# change no count.
LEAST_NOISY_BITS = 28
# Share of samples with wrong counts, below which nothing is said. Measured in 41 zooms to where
# float64 ends: of the wrong counts 1 in 100 lies in a view with less.
MIN_NOISE = 0.01
# Steps of float64 that take as long as one of double-double, in packs of a CPU: of arithmetic alone
# (7 to 12 in ten formulas), and with a sine, an exponential or the like (17 to 19 in six).
DOUBLED_COST, FUNCTION_COST = 11, 18
CHAINS = ": only one f(z) + c of powers, minus signs, conj and at most two absx or absy goes deeper"


def chosen(
    scene: Scene, formula: Formula, bits: float, noise: Callable[[], float]
) -> tuple[str, str]:
    """Return the number type of a picture, and why it is double-double, if it is.

    `bits` distinguish its samples. ``noise()`` returns at most which share of them has wrong counts
    in float64; it is asked for where float64 resolves the samples of a formula without a perturbed
    step. `OptionError`: the scene asks for double-double numbers, which the formula has no form in.
    """
    asked = scene.iteration.precision
    if asked == DOUBLED:
        _check_doubled(formula)
        return DOUBLED, ""
    if asked != "auto" or formula.perturbed is not None:
        return scene.iteration.number_type, ""
    return _resolving(formula, bits, noise)


def _check_doubled(formula: Formula) -> None:
    """Raise an `OptionError` for a formula that has no form in double-double numbers."""
    if problem := _problem_of(formula):
        raise OptionError(
            f"the formula '{formula.name}' has no form in double-double numbers ({problem}): "
            "leave precision= out"
        )


def _resolving(formula: Formula, bits: float, noise: Callable[[], float]) -> tuple[str, str]:
    """Return what `chosen` does, of a formula without a perturbed step."""
    if bits + MIN_SPARE_BITS > BITS["float64"]:
        why = "which float64 does not resolve"
    elif (share := noise()) >= MIN_NOISE:
        why = f"where float64 may miscount up to {100 * share:.2g} % of them"
    else:
        return "float64", ""
    if _problem_of(formula):
        return "float64", ""
    times = doubled_cost(formula)
    return DOUBLED, f"{why}: double-double numbers, whose steps take about {times} times as long"


def doubled_cost(formula: Formula) -> int:
    """Return how many steps of float64 take as long as one in double-double numbers."""
    from fractals.kernels.doubled.orbit import functions_in  # few pictures need it

    return FUNCTION_COST if functions_in(formula) else DOUBLED_COST


def single_type(scene: Scene, usual: str) -> str:
    """Return the number type of an image that has no form in double-double numbers.

    `usual` is the type that "auto" means. Raises `OptionError`: the scene asks for double-double.
    """
    given = scene.iteration.precision
    if given == DOUBLED:
        raise OptionError("double-double numbers are for escape time only: leave precision= out")
    return usual if given == "auto" else given


def _problem_of(formula: Formula) -> str:
    from fractals.kernels.doubled.orbit import problem_of  # few pictures need it

    return problem_of(formula)


def check_resolved(
    formula: Formula, precision: str, bits_of: Callable[[int], float], log2_finest: float
) -> None:
    """Raise an `OptionError` for a view that is too deep for direct iteration in a number type.

    ``bits_of(k)``: the bits of a view that is k octaves wider. The least width is known by its
    logarithm, because the view's may have a million digits.
    """
    lacking = math.ceil(bits_of(0) + MIN_SPARE_BITS - BITS[precision])
    if lacking <= 0:
        return
    enough = BITS[precision] - MIN_SPARE_BITS
    wider = range(max(0, lacking - 4096), lacking)  # not the narrowest, of a million digits
    octaves = wider.start + bisect.bisect_left(wider, True, key=lambda k: bits_of(k) <= enough)
    least = scientific(power_of_two(log2_finest + octaves))
    if precision == "float32":
        raise OptionError(
            f"the view is too deep for float32, which can go down to a width of {least} here: "
            "precision='float64' goes to any depth"
        )
    about = {"code": "too_deep", "name": least}
    hinted = formula.name == "expression"  # how to write one that goes deeper
    raise OptionError(_too_deep(formula, precision, least), **({} if hinted else about))


def _too_deep(formula: Formula, precision: str, least: str) -> str:
    if formula.perturbed is not None:
        return (
            f"the view is too deep for {precision}, which can go down to a width of {least} here: "
            "leave precision= out, which goes to any depth"
        )
    made, hint = formula.step.__module__.replace(".", "/"), ""
    if precision == "float64" and not _problem_of(formula):
        hint = ": leave precision= out, which goes deeper"
    elif formula.name == "expression":
        hint = CHAINS
    elif formula.additive:
        hint = f": add one where it is made ({made}.py)"
    return (
        f"the formula '{formula.name}' has no perturbed step, and without it can go down to a "
        f"width of {least} here{hint}"
    )


def check_range(scene: Scene, formula: Formula, precision: str) -> None:
    """Raise an `OptionError` for an escape radius whose last step overflows the number type."""
    radius, degree = scene.iteration.escape_radius, formula.degree
    largest = 127 if precision == "float32" else 1023  # exponent of two of a number
    if 2 * degree * math.log2(radius + 1) <= largest:
        return
    ways = ["precision='float64'"] if precision == "float32" else []
    if (most := math.floor(2 ** (largest / 2 / degree) - 1)) >= 2:  # the least radius of a scene
        ways.insert(0, f"at most {most}")
    raise OptionError(
        f"escape_radius {radius:g} overflows {precision} here: give {', or '.join(ways)}"
    )
