"""The contract of a coloring: raw numbers of a sample -> one number, looked up in a palette."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

Setting = int | float | str
LONGEST = 40  # characters of a setting in a name


class Option(NamedTuple):
    """What a scene may set of a coloring.

    Attributes
    ----------
    default, least, most : number
        A whole number if the default is one, and text if that is.
    meaning : str
        With its unit; shown by ``fractals list colorings``.
    part : str
        What it changes: "color", only how raw numbers are colored; "watch", what is watched;
        "code", the watching program itself.
    choices : tuple of str
        The words it may be instead of a number.
    """

    default: Setting
    least: float
    most: float
    meaning: str
    part: Literal["color", "watch", "code"] = "color"
    choices: tuple[str, ...] = ()


def no_constants() -> tuple[float, ...]:
    """Return the constants of a watcher that has none."""
    return ()


@dataclass(frozen=True)
class Watcher:
    """What a coloring keeps of an orbit on its way: some numbers that travel with z.

    Attributes
    ----------
    name : str
        Colorings whose watchers have the same name and settings share its numbers.
    names : tuple of str
        A name for each number.
    make : callable
        ``make(target, formula, base, **settings)``, the settings being those of "code", returns
        ``(start, watch)``. ``start(x, y)`` returns the numbers at z_0 = x + iy, as a tuple.
        ``watch(w, x, y, u, v, a, b, point)`` returns them after a step from u + iv to x + iy, with
        c = a + ib; ``number(point[base + k], x)`` is the k-th constant. Both run on packs of
        samples too (`fractals.backends.cpu.simd.pack`), as a formula does.
    constants : callable
        ``constants(**settings)``, the settings being those of "watch", returns these numbers.
    """

    name: str
    names: tuple[str, ...]
    make: Callable[..., Any]
    constants: Callable[..., tuple[float, ...]] = no_constants


@dataclass(frozen=True)
class Coloring:
    """How a sample's raw numbers become a position in the palette.

    Attributes
    ----------
    make_value : callable
        ``make_value(target)`` returns ``value(n, x, y, p, q, constants)``, where n is the count,
        z = x + iy and dz = p + iq; its own constants begin at ``constants[2]``. With a watcher it
        returns ``value(n, x, y, p, q, w, constants)``, where w is the tuple of what was watched.
    constants : callable
        ``constants(formula, escape_radius, width, **settings)`` returns these numbers for a
        picture; the settings are the options and their values.
    derivative : bool
        Whether dz must be computed.
    transfer, palette, blend : str
        The curve between value and palette, the palette, and how it is blended over other layers,
        unless a scene names others.
    side : str
        The samples that have a value: "escaped", "inside" or "both".
    options : mapping
        What a scene may set.
    knots : callable, optional
        ``knots(values)`` of the whole picture's samples returns the table by which a value's
        place among them takes its place (`fractals.kernels.ranking.make_rank`).
    make_palette : callable, optional
        ``make_palette(**settings)`` returns the palette, instead of one of the name `palette`.
    settings : mapping
        The options' values, as `choose` has set them.
    ends : str
        Of which orbits it speaks: "escaping", "converging" or "any".
    converging : str
        Name of the coloring that takes its place where a formula's orbits converge.
    memoryless : bool
        Whether it supposes that what follows depends on z alone.
    powers : bool
        Whether it is of z**d + c alone, in the parameter plane.
    """

    name: str
    title: str
    make_value: Callable[[Any], Any]
    constants: Callable[..., tuple[float, ...]]
    derivative: bool = False
    transfer: str = "log"
    palette: str = "lagoon"
    blend: str = "normal"
    side: Literal["escaped", "inside", "both"] = "escaped"
    options: Mapping[str, Option] = field(default_factory=dict)
    watcher: Watcher | None = None
    knots: Callable[..., Any] | None = None
    make_palette: Callable[..., Any] | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    ends: Literal["escaping", "converging", "any"] = "escaping"
    converging: str = ""
    memoryless: bool = False
    powers: bool = False

    @property
    def label(self) -> str:
        """Return the name."""
        return self.name

    @property
    def watch_label(self) -> str:
        """Return what tells what it watches from what others do, such as "stripes,density=5"."""
        assert self.watcher
        settings = {**self.compiled_settings(), **self._settings("watch")}
        return ",".join([self.watcher.name, *(f"{k}={short(v)}" for k, v in settings.items())])

    def choose(self, given: Mapping[str, Setting]) -> "Coloring":
        """Return the coloring with these options set, and the others at their defaults.

        Raises
        ------
        ValueError
            An option is unknown, or a value out of its range.
        """
        settings = {name: option.default for name, option in self.options.items()}
        for name, value in given.items():
            if name not in self.options:
                raise ValueError(f"{self.name} has no option '{name:.40}'{_near(name, settings)}")
            settings[name] = _checked(f"{self.name}: {name}", value, self.options[name])
        return replace(self, settings=settings)

    def compiled_settings(self) -> dict[str, Setting]:
        """Return the settings that the watching program is compiled with."""
        return self._settings("code")

    def watch_constants(self) -> tuple[float, ...]:
        """Return the numbers that the watching program is given."""
        return self.watcher.constants(**self._settings("watch")) if self.watcher else ()

    def for_watching(self) -> "Coloring":
        """Return it without what changes nothing in the watching program."""
        return self.choose(self.compiled_settings())

    def for_coloring(self) -> "Coloring":
        """Return it without what changes nothing in the program that colors."""
        return replace(self, settings={}, watcher=None)

    def _settings(self, part: str) -> dict[str, Setting]:
        return {
            name: value for name, value in self.settings.items() if self.options[name].part == part
        }


def short(value: Setting) -> str:
    """Return a setting as a part of a name: what is long by its checksum."""
    text = str(value)
    return text if len(text) <= LONGEST else f"{zlib.crc32(text.encode()):08x}"


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
