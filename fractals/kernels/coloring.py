"""The contract of a coloring: a sample's escape data -> one number, looked up in a palette.

A coloring's file, ``fractals/color/colorings/<name>.py``, holds ``make()``, which returns a
`Coloring`. Its two functions are `Coloring.make_value`, whose result is compiled for each device,
and `Coloring.constants`, which runs once a picture. What the compiled function may use is what a
formula may use (`fractals.kernels.formula`).

Examples
--------
A coloring by the escaped point's distance from 0, in escape radii:

>>> from fractals.kernels.primitives import fma, sqrt
>>> def make_value(target):
...     def value(n, x, y, p, q, constants):
...         return sqrt(fma(x, x, y * y)) * constants[2]
...     return value
>>> def constants(formula, escape_radius, width):
...     return (1 / escape_radius,)
>>> def make():
...     return Coloring("overshoot", "distance from 0", make_value, constants, transfer="linear")
>>> make().make_value(None)(7, 3.0, 4.0, 1.0, 0.0, (1.0, 0.0, 0.5))
2.5
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from fractals.kernels.elementary import angle_in_turns, make_log2
from fractals.kernels.formula import ByRecipe, Formula
from fractals.kernels.primitives import fma, number, select, split, sqrt, two_to

Setting = int | float | str
MAX_SETTING = 40  # characters of a setting in a name; of a longer one the name holds a checksum


class Option(NamedTuple):
    """What a scene may set of a coloring."""

    default: Setting  # its type is the option's type
    # least, most: the range of a number; both are allowed. Not read where the option is text.
    least: float
    most: float
    meaning: str  # with its unit; shown by ``fractals list colorings``
    # What a change of the option changes: "color", only the coloring of escape data, which need not
    # be computed again; "statistic", the constants of the orbit statistic; "code", the statistic's
    # compiled program
    part: Literal["color", "statistic", "code"] = "color"
    choices: tuple[str, ...] = ()  # the words that a text may be; () for any text


def no_constants(*_facts: Any, **_settings: Any) -> tuple[float, ...]:
    """Return the constants of a coloring, or of a statistic, that has none."""
    return ()


@dataclass(frozen=True)
class OrbitStatistic:
    """Some numbers that travel along an orbit with z, and are updated at every step.

    ``make(target, formula, base, **settings)``, with the settings of part "code", returns
    ``(start, update)``:

    - ``start(x, y)`` returns the numbers at z_0 = x + iy, as a tuple;
    - ``update(w, x, y, u, v, a, b, point)`` returns the numbers after a step from u + iv to
      x + iy, with c = a + ib, where w is the tuple before the step. The k-th constant is
      ``number(point[base + k], x)``.

    Both also run on packs of samples (`fractals.backends.cpu.simd.pack`), as a formula does.
    Statistics need every step, so deep views are drawn without skipping.
    """

    name: str  # colorings whose statistics have the same name and settings share the numbers
    names: tuple[str, ...]  # a name for each number
    make: Callable[..., Any]
    # ``constants(**settings)``, with the settings of part "statistic", returns the constants. Their
    # number must not depend on the settings.
    constants: Callable[..., tuple[float, ...]] = field(default_factory=lambda: no_constants)
    # Takes the place of `make` in deep views. Its ``update(w, x, y, u, v, a, b, point, exact)``
    # also gets what float64 loses there: ``exact`` is ``(after, before, move)``, the two points
    # x + iy and u + iv as numbers (x, y, e) of `fractals.kernels.floatexp`, whose exponents are 0
    # unless the view needs them, and with `moves` their difference.
    make_deep: Callable[..., Any] | None = None
    moves: bool = False  # whether `make_deep` reads ``move``, for which reference orbits keep more


@dataclass(frozen=True)
class Coloring(ByRecipe):
    """How a sample's escape data become a position in the palette.

    The value goes through the curve `transfer`, times the palette's density, plus its offset; one
    unit is once round the palette.

    Attributes
    ----------
    name : str
        As scenes name it.
    title : str
        One line for lists.
    make_value : callable
        ``make_value(target)`` returns ``value(n, x, y, p, q, constants)``, where n is the count,
        z = x + iy and dz = p + iq (1 without `derivative`). ``constants`` holds palette density
        and offset, then the coloring's own constants, from ``constants[2]`` on. With a statistic
        it returns ``value(n, x, y, p, q, w, constants)``, where w is the tuple of the statistic's
        numbers. NaN says that an inside sample has no value; it gets the inside color.
    constants : callable
        ``constants(formula, escape_radius, width, **settings)`` returns these constants for a
        picture, by default none; ``width`` is that of the view, in plane units (1 in deep views,
        whose dz is per width); the settings are the options and their values.
    derivative : bool
        Whether dz must be computed.
    transfer : str
        The curve between value and palette, unless a scene names another: "linear", "sqrt",
        "cbrt", "log" or "atan".
    palette, blend : str
        The palette, and how the coloring is blended over other layers, unless a scene names others.
    side : str
        The samples that have a value: "escaped", "inside" or "both".
    options : mapping
        What a scene may set.
    statistic : OrbitStatistic, optional
    rank_table : callable, optional
        ``rank_table(values)``, of all samples of the picture, returns the table that replaces a
        value by its rank (`fractals.kernels.ranks.make_rank`).
    make_palette : callable, optional
        ``make_palette(**settings)`` returns the palette, in place of the one that `palette` names.
    settings : mapping
        The options' values, as `choose` has set them.
    counted : bool
        Whether the value is a number of steps, from which the transfer "auto" subtracts the
        picture's count offset.
    ends : str
        The orbits that have a value: "escaping", "converging" or "any".
    converging : str
        Name of the coloring that takes its place where a formula's orbits converge; "" for none.
    memoryless : bool
        Whether the value supposes that the next z depends on z and c alone.
    powers : bool
        Whether the value supposes a map z**d + c in the parameter plane.
    gradient : str
        What the value reads, if nothing but the gradient of the set's potential: "length", the
        estimate ``|z| log|z| / |dz|``, or "direction", that of ``z / dz``. Films then keep fewer
        numbers.
    unit : str
        Of the numbers of `numbers`: "steps", "turns" or "widths", which are lengths in widths of
        the view; "" where the value has no unit.
    numbers : callable, optional
        ``numbers(values)``, of an array, returns what the values stand for, where they are turns of
        the palette or thousandths of something. By default the values are numbers themselves.
    """

    name: str
    title: str
    make_value: Callable[[Any], Any]
    constants: Callable[..., tuple[float, ...]] = field(default_factory=lambda: no_constants)
    derivative: bool = field(default=False, kw_only=True)
    transfer: str = "log"
    palette: str = "lagoon"
    blend: str = "normal"
    side: Literal["escaped", "inside", "both"] = "escaped"
    options: Mapping[str, Option] = field(default_factory=dict)
    statistic: OrbitStatistic | None = None
    rank_table: Callable[..., Any] | None = None
    make_palette: Callable[..., Any] | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    counted: bool = field(default=False, kw_only=True)
    ends: Literal["escaping", "converging", "any"] = "escaping"
    converging: str = ""
    memoryless: bool = field(default=False, kw_only=True)
    powers: bool = field(default=False, kw_only=True)
    gradient: Literal["", "length", "direction"] = ""
    unit: Literal["", "steps", "turns", "widths"] = field(default="", kw_only=True)
    numbers: Callable[[Any], Any] | None = field(default=None, kw_only=True)

    @property
    def label(self) -> str:
        """Return the name."""
        return self.name

    @property
    def statistic_label(self) -> str:
        """Return the statistic's name and settings, such as "stripes,density=5"."""
        assert self.statistic
        settings = {**self.compiled_settings(), **self._settings("statistic")}
        return ",".join([self.statistic.name, *(f"{k}={short(v)}" for k, v in settings.items())])

    def choose(self, given: Mapping[str, Setting]) -> "Coloring":
        """Return the coloring with these options, the others at their defaults.

        Raises `ValueError` for an unknown option, or a value out of its range.
        """
        settings = {name: option.default for name, option in self.options.items()}
        for name, value in given.items():
            if name not in self.options:
                raise ValueError(f"{self.name} has no option '{name:.40}'{_near(name, settings)}")
            settings[name] = _checked(f"{self.name}: {name}", value, self.options[name])
        return replace(self, settings=settings)

    def compiled_settings(self) -> dict[str, Setting]:
        """Return the settings that the statistic is compiled with."""
        return self._settings("code")

    def statistic_constants(self) -> tuple[float, ...]:
        """Return the constants of the statistic."""
        return self.statistic.constants(**self._settings("statistic")) if self.statistic else ()

    def for_statistic(self) -> "Coloring":
        """Return a copy without settings that do not affect the compiled statistic."""
        return self.choose(self.compiled_settings())

    def for_coloring(self) -> "Coloring":
        """Return a copy without settings that do not affect the compiled coloring."""
        return replace(self, settings={}, statistic=None)

    def _settings(self, part: str) -> dict[str, Setting]:
        return {
            name: value for name, value in self.settings.items() if self.options[name].part == part
        }


def short(value: Setting) -> str:
    """Return a setting as text for a name; long text as its checksum."""
    text = str(value)
    return text if len(text) <= MAX_SETTING else f"{zlib.crc32(text.encode()):08x}"


def _near(name: str, known: Mapping[str, Any]) -> str:
    import difflib

    if close := difflib.get_close_matches(name, list(known), n=1):
        return f"; did you mean '{close[0]}'?"
    return f"; it has {', '.join(known)}" if known else "; it has none"


def _checked(where: str, value: Any, option: Option) -> Setting:
    if option.choices:
        if value not in option.choices:
            raise ValueError(f"{where} is one of {', '.join(option.choices)}, not {value!r:.40}")
        return str(value)
    if isinstance(option.default, str):
        if not isinstance(value, str):
            raise ValueError(f"{where} is text, not {value!r:.40}")
        return value
    whole = isinstance(option.default, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{where} is {kind}, not {value!r:.40}")
    if not option.least <= value <= option.most:
        raise ValueError(
            f"{where} is from {option.least:g} to {option.most:g}, not {str(value)[:40]}"
        )
    return int(value) if whole else float(value)


def in_widths(values: Any) -> Any:
    """Return lengths in widths of the view, from thousandths of it."""
    return values / 1000


# --- Functions that several colorings use, with the same bits on every target


def make_cbrt(target: Any) -> Any:
    """Return ``cbrt(v)``: the cube root, 0 where v <= 0.

    The relative error is below 1e-9 in float64.

    A parabola approximates the root of the mantissa; a step of Halley's method cubes its error;
    a third of the exponent scales the result.
    """
    real, int64 = target.real, target.int64
    zero, two = real(0), real(2)
    a, b, c = real(0.6257), real(0.4336), real(-0.0584)  # off by at most 9e-4 on [1, 2]
    roots = real(1), real(2 ** (1 / 3)), real(2 ** (2 / 3))

    def cbrt(v: Any) -> Any:
        m, exponent = split(v)
        third = (int64(exponent) + 1200) // 3 - 400
        rest = int64(exponent) - 3 * third
        y = fma(m, fma(m, c, b), a)
        cube = y * y * y
        y = y * (fma(two, m, cube) / fma(two, cube, m))
        y = y * select(rest == 0, roots[0], select(rest == 1, roots[1], roots[2]))
        return select(v > zero, y * two_to(third, v), zero)

    return target.jit(cbrt)


def make_polar(target: Any) -> Any:
    """Return ``polar(x, y)``: the length of x + iy, and its direction as two more numbers.

    Squares of long or short vectors would over- or underflow, so the larger part scales both. The
    length and direction of vectors whose parts are below 1e-300 (1e-36 in float32) are 0.
    """

    def polar(x: Any, y: Any) -> Any:
        zero, one = number(0, x), number(1, x)
        p, q = abs(x), abs(y)
        large = select(p > q, p, q)
        double = one + number(2.0**-30, x) > one
        known = large > select(double, number(1e-300, x), number(1e-36, x))
        scale = select(known, large, one)
        s, t = select(known, x, zero) / scale, select(known, y, zero) / scale
        length = sqrt(fma(s, s, t * t))
        unit = select(known, length, one)
        # A bare product could become one fma with a sum that takes it.
        return fma(length, scale, zero), s / unit, t / unit

    return target.jit(polar)


def make_fraction(target: Any) -> Any:
    """Return ``fraction(x, y, start, scale)``: the place of z within its band of counts.

    `Formula.fraction_constants` returns `start` and `scale`.

    The place of the escaped point z = x + iy is from 0, where the orbit nearly escaped a step
    before, to 1, where it passed the escape radius only just. The smooth count is the count plus
    this number.
    """
    log2, zero, one = make_log2(target), target.real(0), target.real(1)

    def fraction(x: Any, y: Any, start: Any, scale: Any) -> Any:
        beyond = log2(log2(fma(x, x, y * y))) - start
        rest = fma(-beyond, scale, one)
        return select(rest > zero, select(rest < one, rest, one), zero)

    return target.jit(fraction)


def make_mean_value(target: Any) -> Any:
    """Return ``value`` of a coloring: a number's mean over the orbit.

    The coloring's statistic is (sum, last) of the number. The value goes from the mean without the
    last step to the mean with it as `make_fraction` goes from 0 to 1, so it is continuous where
    counts change (Härkönen, *On Smooth Fractal Coloring Techniques*, 2007).
    """
    real, fraction, one = target.real, make_fraction(target), target.real(1)

    def value(n, x, y, p, q, w, constants):
        terms = real(n)
        before = (w[0] - w[1]) / select(terms > one, terms - one, one)
        mean = w[0] / terms
        before = select(terms > one, before, mean)
        part = fraction(x, y, constants[2], constants[3])
        return fma(part, mean - before, before)

    return value


def mean_constants(
    formula: Formula, escape_radius: float, width: float, **settings: object
) -> tuple[float, ...]:
    """Return the constants of `make_mean_value`."""
    return formula.fraction_constants(escape_radius)


def make_lines(target: Any) -> Any:
    """Return ``lines(x, y, start, scale, count, weight, border, share)``: how near lines are.

    ``lines`` returns two numbers, for field lines and for borders between bands of counts. Each
    goes from 0 on a line to 1 beyond the line's weight. Its arguments:

    x, y : real
        The escaped point.
    start, scale : real
        Constants of `make_fraction`.
    count : real
        Field lines in a turn.
    weight : real
        Width of a field line, as a share of half the distance between lines.
    border : real
        Width of a border, in half the height of a band.
    share : real
        1 / degree. A step multiplies angles by the degree, so across a band lines grow thinner by
        this factor: the weight goes with the fraction, without a jump at the next band.
    """
    fraction, angle_of, int32 = make_fraction(target), target.jit(angle_in_turns), target.int32
    real = target.real
    zero, one, two, three = (real(k) for k in range(4))

    def smooth(t: Any) -> Any:
        t = select(t > zero, select(t < one, t, one), zero)
        return t * t * fma(-two, t, three)

    smooth = target.jit(smooth)

    def nearest(t: Any) -> Any:
        """Return the distance from a whole number, in halves."""
        t = t - real(int32(t))
        return two * select(t < one - t, t, one - t)

    nearest = target.jit(nearest)

    def lines(x, y, start, scale, count, weight, border, share):
        place = fraction(x, y, start, scale)
        thinner = fma(place, share - one, one) * weight
        return smooth(nearest(angle_of(x, y) * count) / thinner), smooth(nearest(place) / border)

    return target.jit(lines)
