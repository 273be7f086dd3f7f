"""The formula, first view, parameters and escape test of each type of Fractint.

After the summary of fractal types in the documentation of Fractint and Iterated Dynamics.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from fractals.formulas.language.parser import HOLOMORPHIC
from fractals.io.foreign._view import FormulaMatch, power_of

# How a function is written here. Not abs, which takes the absolute values of both parts there.
FUNCTIONS = {
    **{name: name + "({})" for name in (*HOLOMORPHIC, "conj")},
    "cosxx": "conj(cos({}))",
    "cotan": "(1/tan({}))",
    "cotanh": "(1/tanh({}))",
    "ident": "({})",
    "recip": "(1/({}))",
    "sqr": "({})^2",
}
USUAL = ("sin", "sqr", "sinh", "cosh")  # functions, where an entry names none
CONVERGED = "the test of having converged: a step is shorter than 1e-6 here"
ATTRACTED = "what converges as a part of the inside: it has colors of its own here"
PARTIAL = "the escape test of one part of z: it is of |z| here"
HOME, SMALL = ("-0.5", "0", "3"), ("0", "0", "3")
MEDIUM, LARGE = ("0", "0", "6"), ("0", "0", "12")


# Formulas that files of formulas (.frm) often hold, by their letters in lower case.
NAMED_FORMULAS = {
    "burningship": "burning_ship",
    "burningshipmandelbrot": "burning_ship",
    "mandelbrot": "mandelbrot",
    "celtic": "celtic",
    "celticmandelbrot": "celtic",
    "buffalo": "buffalo",
    "tricorn": "tricorn",
    "mandelbar": "tricorn",
    "perpendicularburningship": "perpendicular_burning_ship",
    "celticheart": "celtic_heart",
    "heart": "heart",
    "sharkfin": "shark_fin",
    "spider": "spider",
}


@dataclass(frozen=True)
class EntryParameters:
    """The parameters of an entry as decimal text, and its functions as keys of `FUNCTIONS`."""

    params: list[str]
    functions: list[str]

    def whole(self, place: int, least: int, most: int) -> int | None:
        """Return a parameter that is a whole number in a range, or None."""
        value = Decimal(self.params[place])
        return int(value) if least <= value <= most and value == int(value) else None

    def pair(self, place: int) -> str:
        """Return two parameters as a complex number of an expression."""
        return f"({self.params[place]} + {self.params[place + 1]}*i)"

    def of(self, place: int, argument: str = "z") -> str:
        """Return a function of an argument, as an expression."""
        return FUNCTIONS[self.functions[place]].format(argument)

    def zero(self, *places: int) -> bool:
        """Tell whether these parameters are 0."""
        return not any(Decimal(self.params[place]) for place in places)


@dataclass(frozen=True)
class FractintType:
    """A type of Fractint.

    Attributes
    ----------
    make : callable
        ``make(given)`` returns the formula, or None if it is unsupported.
    params : str
        Its parameters, where an entry names none.
    view : tuple
        The center and the height of its first view.
    role : str
        What the first two parameters are: "z", added to where an orbit begins, or "c" of a Julia
        set. "p": the first one alone is c.
    bailout : float
        The square of its escape radius, where that tells what is inside; 0 where any does.
    lost : str
        How the scene differs.
    """

    make: Callable[[EntryParameters], FormulaMatch | None]
    params: str = "0/0"
    view: tuple[str, str, str] = SMALL
    role: str = ""
    bailout: float = 0.0
    lost: str = ""


def _named(name: str) -> Callable[[EntryParameters], FormulaMatch | None]:
    return lambda given: FormulaMatch(name)


def _power(given: EntryParameters) -> FormulaMatch | None:
    power = given.whole(2, 2, 8)
    return power_of(power) if power and given.zero(3) else None


def _ship(
    given: EntryParameters,
) -> FormulaMatch | None:  # x² - y² - 2i|xy| + c, the Burning Ship at the conjugate of c
    power = given.whole(2, 2, 2)
    return FormulaMatch("burning_ship", same=False, conjugate=True) if power else None


def _newton(given: EntryParameters) -> FormulaMatch | None:
    power = given.whole(0, 2, 12)
    return FormulaMatch({"name": "newton", "power": power}) if power else None


def _halley(given: EntryParameters) -> FormulaMatch | None:  # of z (z**power - 1)
    power, factor = given.whole(0, 2, 12), float(given.params[1])
    if not power or not 0.01 <= factor <= 1.99 or not given.zero(3):
        return None
    return FormulaMatch(
        {"name": "halley", "polynomial": f"z^{power + 1} - z", "relaxation": factor}
    )


def _phoenix(place: int, *zeros: int) -> Callable[[EntryParameters], FormulaMatch | None]:
    def make(given: EntryParameters) -> FormulaMatch | None:
        memory = Decimal(given.params[place])
        known = -2 <= memory <= 2 and given.zero(*zeros)
        return FormulaMatch({"name": "phoenix", "memory": float(memory)}) if known else None

    return make


def _factor(
    given: EntryParameters,
) -> FormulaMatch | None:  # of functions whose escape tests are alike
    name = given.functions[0]
    if name in ("sin", "exp"):
        return FormulaMatch("sine" if name == "sin" else "exponential")
    return _own(f"c*{given.of(0)}") if name in ("cos", "cosxx", "sinh", "cosh") else None


def _own(step: str) -> FormulaMatch:
    """Return an expression; its orbits begin at the pixel."""
    return FormulaMatch({"name": "expression", "step": step, "start": "c"})


def _sign(value: str) -> str:
    """Return the expression of 1 where a real value is at least 0, and of -1 elsewhere.

    The language has no conditions. The small number decides at 0, where 0/0 has no value.
    """
    return f"(({value} + 1e-30)/abs({value} + 1e-30))"


def _either(
    template: str,
) -> Callable[[EntryParameters], FormulaMatch | None]:
    """Return the maker of types that apply the first function near 0 and the second one farther.

    ``{}`` in the template is the function's value. The third parameter is the radius.
    """

    def make(given: EntryParameters) -> FormulaMatch | None:
        sign = _sign(f"(re(z)^2 + im(z)^2 - ({given.params[2]})^2)")
        value = f"(({given.of(0)})*(1 - {sign}) + ({given.of(1)})*(1 + {sign}))/2"
        return _own(template.format(value)) if float(given.params[2]) >= 0 else None

    return make


def _barnsley(step: str) -> Callable[[EntryParameters], FormulaMatch | None]:
    return lambda given: _own(step)


BARNSLEY = {
    "1": f"c*(z - {_sign('re(z)')})",
    "2": f"c*(z - {_sign('im(c*z)')})",
    "3": f"z^2 - 1 + c*re(z)*(1 + {_sign('(-re(z))')})/2",
}
TYPES = {
    **{
        f"barnsleym{kind}": FractintType(_barnsley(step), role="z", bailout=4)
        for kind, step in BARNSLEY.items()
    },
    **{
        f"barnsleyj{kind}": FractintType(
            _barnsley(step), "0.1/0.36" if kind == "3" else "0.6/1.1", role="c", bailout=4
        )
        for kind, step in BARNSLEY.items()
    },
    "mandel": FractintType(_named("mandelbrot"), view=HOME, role="z"),
    "julia": FractintType(_named("mandelbrot"), "0.3/0.6", role="c"),
    "mandel4": FractintType(lambda given: power_of(4), role="z"),
    "julia4": FractintType(lambda given: power_of(4), "0.6/0.55", role="c"),
    "manzpower": FractintType(_power, "0/0/2/0", HOME, "z"),
    "julzpower": FractintType(_power, "0.3/0.6/2/0", role="c"),
    "burning-ship": FractintType(_ship, "0/0/2", HOME, "z"),
    "mandellambda": FractintType(_named("logistic"), view=("1", "0", "6"), role="z", bailout=4),
    "lambda": FractintType(_named("logistic"), "0.85/0.6", ("0.5", "0", "3"), "c", 4),
    "phoenix": FractintType(_phoenix(1, 2), "0.56667/-0.5/0", role="p", bailout=4),
    "phoenixcplx": FractintType(_phoenix(2, 3, 4), "0.2/0/0.3/0/0", role="c", bailout=4),
    "mandphoenixclx": FractintType(_phoenix(2, 3, 4), "0/0/0.5/0/0", HOME, "z", 4),
    "newton": FractintType(_newton, "3", lost=CONVERGED),
    "newtbasin": FractintType(_newton, "3/0", lost=CONVERGED),
    "halley": FractintType(_halley, "6/1/0.0001/0", ("0", "0", "2.6"), lost=CONVERGED),
    "magnet1m": FractintType(_named("magnet1"), "0/0", MEDIUM, "z", 100, ATTRACTED),
    "magnet1j": FractintType(_named("magnet1"), "0/0", LARGE, "c", 100, ATTRACTED),
    "magnet2m": FractintType(_named("magnet2"), "0/0", ("1.1", "0", "3.9"), "z", 100, ATTRACTED),
    "magnet2j": FractintType(_named("magnet2"), "0/0", LARGE, "c", 100, ATTRACTED),
    "mandelfn": FractintType(_factor, "0/0", LARGE, "z", lost=PARTIAL),
    "lambdafn": FractintType(_factor, "1/0.4", MEDIUM, "c", lost=PARTIAL),
    "manfn+zsqrd": FractintType(
        lambda given: _own(f"{given.of(0)} + z^2 + c"), "0/0", HOME, "z", 4
    ),
    "julfn+zsqrd": FractintType(
        lambda given: _own(f"{given.of(0)} + z^2 + c"), "-0.5/0.5", SMALL, "c", 4
    ),
    "manfn+exp": FractintType(
        lambda given: _own(f"{given.of(0)} + exp(z) + c"), "0/0", LARGE, "z", 4
    ),
    "julfn+exp": FractintType(
        lambda given: _own(f"{given.of(0)} + exp(z) + c"), "0/0", MEDIUM, "c", 4
    ),
    "fn(z*z)": FractintType(lambda given: _own(given.of(0, "z^2")), "", MEDIUM, bailout=4),
    "sqr(fn)": FractintType(lambda given: _own(f"({given.of(0)})^2"), "", MEDIUM, bailout=64),
    "sqr(1/fn)": FractintType(lambda given: _own(f"1/({given.of(0)})^2"), "", MEDIUM, bailout=64),
    "fn*fn": FractintType(
        lambda given: _own(f"{given.of(0)}*{given.of(1)}"), "", MEDIUM, bailout=64
    ),
    "fn+fn": FractintType(
        lambda given: _own(f"{given.pair(0)}*{given.of(0)} + {given.pair(2)}*{given.of(1)}"),
        "1/0/1/0",
        MEDIUM,
        bailout=64,
    ),
    "fn*z+z": FractintType(
        lambda given: _own(f"{given.pair(0)}*{given.of(0)}*z + {given.pair(2)}*z"),
        "1/0/1/0",
        MEDIUM,
        bailout=64,
    ),
    "lambda(fn||fn)": FractintType(_either("c*{}"), "1/0.1/1", MEDIUM, "c", 64),
    "manlam(fn||fn)": FractintType(_either("c*{}"), "0/0/10", MEDIUM, "z", 64),
    "julia(fn||fn)": FractintType(_either("{} + c"), "0/0/8", MEDIUM, "c", 64),
    "mandel(fn||fn)": FractintType(_either("{} + c"), "0/0/0.5", MEDIUM, "z", 64),
    "spider": FractintType(_named("spider"), role="z", bailout=4),
    "fn(z)+fn(pix)": FractintType(
        lambda given: _own(f"{given.of(0)} + {given.pair(2)}*{given.of(1, 'c')}"),
        "0/0/1/0",
        HOME,
        "z",
        64,
    ),
}
