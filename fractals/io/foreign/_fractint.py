"""The orbits, first views, parameters and escape tests of Fractint's types.

After the source of Fractint 20 and Iterated Dynamics: the table of types, the functions that take a
step, and those that begin a pixel.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from fractals.errors import SceneError
from fractals.formulas.language.syntax import HOLOMORPHIC, ROUNDED
from fractals.io.foreign._view import CONVERGED, FormulaMatch, power_of

# How a function is written here.
FUNCTIONS = {
    **{name: name + "({})" for name in (*HOLOMORPHIC, *ROUNDED, "conj", "flip")},
    "abs": "absx(absy({}))",
    "cabs": "abs({})",
    "cosxx": "conj(cos({}))",
    "cotan": "(1/tan({}))",
    "cotanh": "(1/tanh({}))",
    "ident": "({})",
    "one": "1",
    "recip": "(1/({}))",
    "sqr": "({})^2",
    "zero": "0",
}
USUAL = ("sin", "sqr", "sinh", "cosh")  # functions, where an entry names none
HOME, SMALL = ("-0.5", "0", "3"), ("0", "0", "3")
MEDIUM, LARGE = ("0", "0", "6"), ("0", "0", "12")
# Types whose points are those of an attractor here: its name, the names of its parameters in the
# order of the type's, their values where an entry names none, and the corners of the first view.
ATTRACTORS = {
    "henon": ("henon", "a b", "1.4/0.3", "-1.4/1.4/-0.5/0.5"),
    "icons": ("symmetric_icon", "l a b g w symmetry", "-2.34/2/0.2/0.1/0/3", "-2/2/-1.5/1.5"),
    "latoocarfian": (
        *("fractal_dream", "a b c d"),
        *("-0.966918/2.879879/0.765145/0.744728", "-2/2/-1.5/1.5"),
    ),
}
# Types that no orbit of a sample draws.
SCATTERED = (
    "icons3d lorenz lorenz3d lorenz3d1 lorenz3d3 lorenz3d4 rossler3d pickover gingerbreadman "
    "hopalong martin chip quadruptwo threeply kamtorus kamtorus3d popcorn dynamic mandelcloud ifs "
    "ifs3d"
)
OTHERS = {
    **dict.fromkeys(
        SCATTERED.split(),
        f"draws the points of one orbit, and of such types {', '.join(ATTRACTORS)} are read",
    ),
    "lsystem": "draws lines by rewriting text, which this program does not draw",
    "plasma": "draws random clouds, which this program does not draw",
    "diffusion": "draws particles that stick to each other, which this program does not draw",
    "ant": "draws the path of an ant, which this program does not draw",
    "julibrot": "draws a solid of Julia sets, which is not read",
}


@dataclass(frozen=True)
class EntryParameters:
    """The parameters of an entry as decimal text, its functions, and the square of its bailout."""

    params: list[str]
    functions: list[str]  # keys of `FUNCTIONS`
    bailout: float = 4.0
    test: str = "mod"  # the name of the test that ``bailoutest`` sets

    def whole(self, place: int, least: int, most: int) -> int | None:
        """Return a parameter that is a whole number in a range, or None."""
        value = Decimal(self.params[place])
        return int(value) if least <= value <= most and value == int(value) else None

    def integer(self, place: int) -> int:
        """Return a parameter without its decimals, from -64 to 64."""
        return max(-64, min(int(Decimal(self.params[place])), 64))

    def pair(self, place: int) -> str:
        """Return two parameters as a complex number of an expression."""
        return f"({self.params[place]} + {self.params[place + 1]}*i)"

    def of(self, place: int, argument: str = "z") -> str:
        """Return a function of an argument, as an expression."""
        return FUNCTIONS[self.functions[place]].format(argument)

    def zero(self, *places: int) -> bool:
        """Tell whether these parameters are 0."""
        return not any(Decimal(self.params[place]) for place in places)


Text = Callable[[EntryParameters], str]
Match = Callable[[EntryParameters], FormulaMatch | None]


def _nothing(given: EntryParameters) -> str:
    return ""


@dataclass(frozen=True)
class FractintType:
    """A type of Fractint."""

    step: Text  # ``step(given)`` returns an expression in z and c, or statements
    params: str = "0/0"  # its parameters, where an entry names none
    view: tuple[str, str, str] = SMALL  # the center and the height of its first view
    # What the first two parameters are: "z", added to where an orbit begins, or "c" of a Julia set;
    # "" for neither
    role: str = "z"
    bailout: float = 4.0  # the square of the escape radius
    start: str = "c"  # where orbits begin, in c; "c" is the pixel
    more: Text = _nothing  # ``more(given)`` returns statements that begin other variables
    # ``test(given)`` returns a condition under which an orbit goes on; "" where that is |z|
    test: Text = _nothing
    # ``named(given)`` returns a formula of this program that counts the same, or None
    named: Match | None = None
    # ``julia(given)`` returns the c of the Julia set that `named` draws
    julia: Callable[[EntryParameters], tuple[str, str]] | None = None
    ahead: int = 0  # 1 where a test comes before the step: colors are then those of counts 1 higher
    late: int = 0  # by how much counts of `named` exceed those that Fractint colors
    functions: tuple[str, ...] = USUAL  # where an entry names none
    lost: str = ""  # how the scene differs


@dataclass(frozen=True)
class Drawn:
    """What draws a type: a formula, the c of a Julia set, and the escape radius if that decides."""

    kin: FormulaMatch
    julia: tuple[str, str] | None = None
    radius: float | None = None
    ahead: int = 0
    lost: tuple[str, ...] = field(default=())


def drawn(own: FractintType, given: EntryParameters, inversion: tuple[str, ...] = ()) -> Drawn:
    """Return what draws a type.

    `inversion`: radius and center, as decimal text, of a circle at which the plane is inverted; ()
    without. `SceneError`: these parameters are unsupported.
    """
    step, test = own.step(given), own.test(given)
    if not step:
        raise SceneError("unsupported")
    if not test and (given.test != "mod" or given.bailout < 4):
        test = bounded(given)
    moved = own.role == "z" and not given.zero(0, 1)
    radius = None if test else min(math.sqrt(given.bailout), 1e9)
    lost = (own.lost,) if own.lost else ()
    statements = re.match(r"\w+ = ", step) is not None
    plain = not (inversion or moved or test)
    c = given.params[0], given.params[1]
    if plain and own.named and (kin := own.named(given)):
        julia = own.julia(given) if own.julia else c if own.role == "c" else None
        return Drawn(kin, julia, radius, own.ahead - own.late, lost)
    if plain and not statements and not own.more(given):
        table = {"name": "expression", "step": step, "start": own.start}
        return Drawn(FormulaMatch(table), c if own.role == "c" else None, radius, own.ahead, lost)
    start, pixel = [], "c"
    if inversion:
        center = f"({inversion[1]} + {inversion[2]}*i)"
        start, pixel = [f"at = {center} + {inversion[0]}/conj(c - {center})"], "at"
    begin = _of_pixel(own.start, pixel) + (f" + {given.pair(0)}" if moved else "")
    start += [f"z = {begin}", *filter(None, [_of_pixel(own.more(given), pixel)])]
    step = _of_pixel(step, given.pair(0) if own.role == "c" else pixel)
    table = {
        "name": "program",
        "start": "; ".join(start),
        "step": step if statements else f"z = {step}",
        "test": test,
    }
    return Drawn(FormulaMatch({k: v for k, v in table.items() if v}), None, radius, own.ahead, lost)


def _of_pixel(text: str, pixel: str) -> str:
    """Return text with c, the pixel, replaced."""
    return re.sub(r"\bc\b", pixel, text)


TESTS: dict[str, str] = {
    "mod": "norm({z}) < {b}",
    "real": "re({z})^2 < {b}",
    "imag": "im({z})^2 < {b}",
    "or": "re({z})^2 < {b} && im({z})^2 < {b}",
    "and": "(re({z})^2 < {b} || im({z})^2 < {b})",
    "manh": "(abs(re({z})) + abs(im({z})))^2 < {b}",
    "manr": "(re({z}) + im({z}))^2 < {b}",
}


def bounded(given: EntryParameters, z: str = "z") -> str:
    """Return the condition under which an orbit at z has not escaped."""
    return TESTS[given.test].format(z=z, b=repr(given.bailout))


def _named(name: str) -> Match:
    return lambda given: FormulaMatch(name)


def _own(step: str) -> Text:
    return lambda given: step


def _power(given: EntryParameters) -> str:
    if not given.zero(3) or given.whole(2, -64, 64) is None:
        return f"z^{given.pair(2)} + c"
    return f"z^({given.integer(2)}) + c"


def _power_match(given: EntryParameters) -> FormulaMatch | None:
    power = given.whole(2, 2, 8)
    return power_of(power) if power and given.zero(3) else None


def _ship(given: EntryParameters) -> str:
    power = given.integer(2)
    return f"conj(absx(absy(z)))^{power} + c" if power > 1 else ""


def _ship_match(given: EntryParameters) -> FormulaMatch | None:
    """Return x² - y² - 2i|xy| + c, the Burning Ship at the conjugate of c."""
    if given.integer(2) != 2:
        return None
    return FormulaMatch("burning_ship", same=False, conjugate=True)


def _degree(given: EntryParameters) -> int:
    return given.integer(0) if given.integer(0) >= 2 else 3


def _newton(given: EntryParameters) -> str:
    n = _degree(given)
    return f"({n - 1}*z^{n} + 1)/({n}*z^{n - 1})"


def _newton_test(given: EntryParameters) -> str:
    n = _degree(given)
    return f"norm(z^{n} - 1) >= {0.3 * math.pi / n!r}"


def _basin(given: EntryParameters) -> FormulaMatch | None:
    return (
        FormulaMatch({"name": "newton", "power": _degree(given)}) if _degree(given) < 13 else None
    )


def _complex_newton(given: EntryParameters) -> str:
    n, root = given.pair(0), given.pair(2)
    return f"(({n} - 1)*z^{n} + {root})/({n}*z^({n} - 1))"


def _halley(given: EntryParameters) -> str:
    """Return the step for the roots of z^(n + 1) - z."""
    n, relaxation = max(given.integer(0), 2), f"({given.params[1]} + {given.params[3]}*i)"
    return (
        f"old = z; f = z^{n + 1} - z; d = {n + 1}*z^{n} - 1; "
        f"z = z - {relaxation}*f/(d - {(n + 1) * n}*z^{n - 1}*f/(2*d))"
    )


def _phoenix(c: Text, q: Text, place: int) -> Text:
    """Return the step from z, c and q times the z before; a parameter is its degree."""

    def step(given: EntryParameters) -> str:
        degree, p = given.integer(place), c(given)
        if degree >= 2:
            own = f"z^{degree - 1}*(z + {p})"
        elif degree <= -3:
            own = f"z^{-degree - 2}*(z^2 + {p})"
        else:
            own = f"z^2 + {p}"
        return f"old = z; z = {own} + {q(given)}*y; y = old"

    return step


def _phoenix_match(place: int, degree: int, *zeros: int) -> Match:
    def match(given: EntryParameters) -> FormulaMatch | None:
        memory = Decimal(given.params[place])
        if not (-2 <= memory <= 2 and -3 < given.integer(degree) < 2 and given.zero(*zeros)):
            return None
        return FormulaMatch({"name": "phoenix", "memory": float(memory)})

    return match


def _marks(k: str) -> Text:
    """Return k to a power, times z², plus c."""

    def step(given: EntryParameters) -> str:
        power = given.integer(2) - 1
        return f"{k}^{power}*z^2 + c" if power > 0 else "z^2 + c"

    return step


def _magnet_test(given: EntryParameters) -> str:
    """Return the condition that z has not escaped, and is not near 1, where orbits end, too."""
    return f"{bounded(given)} && norm(z - 1) >= {1 / 32768!r}"


def _factor(given: EntryParameters) -> str:
    return f"c*{given.of(0)}"


def _factor_test(given: EntryParameters) -> str:
    """Return the condition of one part of z, by the function."""
    name, r = given.functions[0], math.sqrt(given.bailout)
    if name in ("sin", "cos", "cosxx"):
        return f"abs(im(z)) < {r!r}"
    if name in ("sinh", "cosh"):
        return f"abs(re(z)) < {r!r}"
    if name == "exp":
        return "abs(re(z)) < 8 && abs(im(z)) < 1000" + (
            f" && (re(z) < {given.bailout!r} || cos(im(z)) < 0)" if given.bailout < 8 else ""
        )
    return f"abs(re(z)) < {r!r} && abs(im(z)) < {r!r}"


def _either(template: str) -> Text:
    """Return the step of types with one function where |z|² is below a parameter, and another."""
    return lambda given: template.format(
        f"if(norm(z) < {given.params[2]}, {given.of(0)}, {given.of(1)})"
    )


def _popcorn(given: EntryParameters) -> str:
    h, k = given.pair(0), given.pair(2)
    s = given.of(0, f"(y + {given.of(1, f'({k}*y)')})")
    t = given.of(2, f"(x + {given.of(3, f'({k}*x)')})")
    return (
        f"x = re(z); y = im(z); s = {h}*{s}; t = {h}*{t}; "
        "z = x - re(s) - im(t) + i*(y - re(t) - im(s))"
    )


def _popcorn_test(given: EntryParameters) -> str:
    r = repr(math.sqrt(given.bailout))
    return f"norm(z) < {given.bailout!r} && abs(re(z)) <= {r} && abs(im(z)) <= {r}"


def _volterra(given: EntryParameters) -> str:
    h, p = given.params[0], given.params[1]
    return (
        f"x = re(z); y = im(z); u = x - x*y; w = x*y - y; a = x + {p}*u; b = y + {p}*w; "
        f"z = x + {h}/2*(u + a - a*b) + i*(y + {h}/2*(w - b + a*b))"
    )


def _froth(given: EntryParameters) -> str:
    once = f"z^2 + conj(z*(-1 + {given.params[2]}*i))"
    return f"z = {once}; z = {once}" if given.integer(0) == 2 else once


def _froth_test(given: EntryParameters) -> str:
    """Return the condition that z is near none of three lines on which orbits end."""
    a = float(given.params[2])
    xs = [0.5]
    for _ in range(4):
        xs.append(xs[-1] ** 2 - xs[-1] - 3 * a * a / 4)
    few = abs(a) > 1.028713768218725
    root, y = math.sqrt(3), a / 2
    ends = []
    for line, turned, upward in (
        (f"{y!r} - im(z)", xs[1:], True),
        (f"{root!r}*re(z) - {a!r} - im(z)", [-x / 2 + y * root / 2 for x in xs[1:]], False),
        (f"-{root!r}*re(z) - {a!r} - im(z)", [-x / 2 - y * root / 2 for x in xs[1:]], False),
    ):
        low, high = (turned[0], turned[1]) if upward else (turned[1], turned[0])
        within = f"re(z) >= {low!r} && re(z) <= {high!r}"
        if not few:
            first, second = ("<=", ">=") if upward else (">=", "<=")
            within += f" && (re(z) {first} {turned[2]!r} || re(z) {second} {turned[3]!r})"
        ends.append(f"abs({line}) < 1e-6 && {within}")
    found = " || ".join(f"({end})" for end in ends)
    return f"norm(z) < {max(given.bailout, 7.0)!r} && ({found}) == 0"


BARNSLEY = {
    "1": "c*(z - if(re(z) >= 0, 1, -1))",
    "2": "c*(z - if(im(c*z) >= 0, 1, -1))",
    "3": "z^2 - 1 + if(re(z) > 0, 0, c*re(z))",
}
MAGNET1 = "((z^2 + c - 1)/(2*z + c - 2))^2"
MAGNET2 = "((z^3 + 3*(c - 1)*z + (c - 1)*(c - 2))/(3*z^2 + 3*(c - 2)*z + (c - 1)*(c - 2) + 1))^2"
QUATERNION = "old = z; z = z^2 - norm(w) + c; w = 2*re(old)*w + {}"
INVERSE = "how it was drawn, by inverse iteration: samples outside have colors here"
FROTH = "the colors of the attractors"
TWICE = "w = z^2; z = w^2 + c"
TYPES = {
    **{f"barnsleym{kind}": FractintType(_own(step)) for kind, step in BARNSLEY.items()},
    **{
        f"barnsleyj{kind}": FractintType(
            _own(step), "0.1/0.36" if kind == "3" else "0.6/1.1", role="c"
        )
        for kind, step in BARNSLEY.items()
    },
    # Fractint begins with z = c; and its loop for Julia sets does not count their first step.
    "mandel": FractintType(_own("z^2 + c"), view=HOME, named=_named("mandelbrot"), late=1),
    "julia": FractintType(_own("z^2 + c"), "0.3/0.6", role="c", named=_named("mandelbrot"), late=1),
    "julia_inverse": FractintType(
        _own("z^2 + c"), "-0.11/0.6557", role="c", named=_named("mandelbrot"), lost=INVERSE
    ),
    # The square is tested, too, before it is squared.
    **{
        name: FractintType(
            _own(TWICE),
            params,
            role=role,
            test=lambda given: f"{bounded(given, 'w')} && {bounded(given)}",
        )
        for name, params, role in (("mandel4", "0/0", "z"), ("julia4", "0.6/0.55", "c"))
    },
    "manzpower": FractintType(_power, "0/0/2/0", named=_power_match, late=1),
    "julzpower": FractintType(_power, "0.3/0.6/2/0", role="c", named=_power_match),
    "manzzpwr": FractintType(lambda given: f"z^({given.integer(2)}) + z^z + c", "0/0/2/0", HOME),
    "julzzpwr": FractintType(
        lambda given: f"z^({given.integer(2)}) + z^z + c", "-0.3/0.3/2/0", role="c"
    ),
    "burning-ship": FractintType(_ship, "0/0/2", ("-0.5", "0.3", "3"), named=_ship_match, late=1),
    "mandellambda": FractintType(
        _own("c*z*(1 - z)"), view=("1", "0", "6"), start="0.5", named=_named("logistic")
    ),
    "lambda": FractintType(
        _own("c*z*(1 - z)"), "0.85/0.6", ("0.5", "0", "3"), "c", named=_named("logistic")
    ),
    "phoenix": FractintType(
        _phoenix(lambda g: g.params[0], lambda g: g.params[1], 2),
        "0.56667/-0.5/0",
        role="",
        more=_own("y = 0"),
        named=_phoenix_match(1, 2),
        julia=lambda given: (given.params[0], "0"),
    ),
    "mandphoenix": FractintType(
        _phoenix(_own("re(c)"), _own("im(c)"), 2), "0/0/0", HOME, more=_own("y = 0")
    ),
    "phoenixcplx": FractintType(
        _phoenix(_own("c"), lambda g: g.pair(2), 4),
        "0.2/0/0.3/0/0",
        role="c",
        more=_own("y = 0"),
        named=_phoenix_match(2, 4, 3),
    ),
    "mandphoenixclx": FractintType(
        _phoenix(_own("c"), lambda g: g.pair(2), 4),
        "0/0/0.5/0/0",
        HOME,
        more=_own("y = 0"),
        named=_phoenix_match(2, 4, 3),
        late=1,
    ),
    "newton": FractintType(_newton, "3", role="", test=_newton_test, ahead=1),
    "newtbasin": FractintType(_newton, "3/0", role="", named=_basin, lost=CONVERGED),
    "complexnewton": FractintType(
        _complex_newton,
        "3/0/1/0",
        role="",
        test=lambda given: f"norm(z^{given.pair(0)} - {given.pair(2)}) >= 0.001",
        ahead=1,
    ),
    "halley": FractintType(
        _halley,
        "6/1/0.0001/0",
        role="",
        test=lambda given: f"abs(norm(z) - norm(old)) >= {given.params[2]}",
    ),
    "magnet1m": FractintType(_own(MAGNET1), view=MEDIUM, bailout=100, start="0", test=_magnet_test),
    "magnet1j": FractintType(_own(MAGNET1), "0/0", LARGE, "c", 100, test=_magnet_test),
    "magnet2m": FractintType(
        _own(MAGNET2), view=("1.1", "0", "3.9"), bailout=100, start="0", test=_magnet_test
    ),
    "magnet2j": FractintType(_own(MAGNET2), "0/0", LARGE, "c", 100, test=_magnet_test),
    "mandelfn": FractintType(_factor, view=LARGE, bailout=64, test=_factor_test, ahead=1),
    "lambdafn": FractintType(_factor, "1/0.4", MEDIUM, "c", 64, test=_factor_test, ahead=1),
    **{
        name: FractintType(lambda given: f"{given.of(0)} + z^2 + c", params, view, role)
        for name, params, view, role in (
            ("manfn+zsqrd", "0/0", HOME, "z"),
            ("julfn+zsqrd", "-0.5/0.5", SMALL, "c"),
        )
    },
    **{
        name: FractintType(lambda given: f"{given.of(0)} + exp(z) + c", "0/0", view, role)
        for name, view, role in (("manfn+exp", LARGE, "z"), ("julfn+exp", MEDIUM, "c"))
    },
    "fn(z*z)": FractintType(lambda given: given.of(0, "z^2"), "", MEDIUM, ""),
    "sqr(fn)": FractintType(lambda given: f"({given.of(0)})^2", "", MEDIUM, "", 64),
    "sqr(1/fn)": FractintType(lambda given: f"1/({given.of(0)})^2", "", MEDIUM, "", 64),
    "fn*fn": FractintType(lambda given: f"{given.of(0)}*{given.of(1)}", "", MEDIUM, "", 64),
    "fn+fn": FractintType(
        lambda given: f"{given.pair(0)}*{given.of(0)} + {given.pair(2)}*{given.of(1)}",
        "1/0/1/0",
        MEDIUM,
        "",
        64,
    ),
    "fn*z+z": FractintType(
        lambda given: f"{given.pair(0)}*{given.of(0)}*z + {given.pair(2)}*z",
        "1/0/1/0",
        MEDIUM,
        "",
        64,
    ),
    "lambda(fn||fn)": FractintType(_either("c*{}"), "1/0.1/1", MEDIUM, "c", 64),
    "manlam(fn||fn)": FractintType(_either("c*{}"), "0/0/10", MEDIUM, "z", 64),
    "julia(fn||fn)": FractintType(_either("{} + c"), "0/0/8", MEDIUM, "c", 64),
    "mandel(fn||fn)": FractintType(_either("{} + c"), "0/0/0.5", MEDIUM, "z", 64),
    "spider": FractintType(
        _own("z = z^2 + w; w = w/2 + z"),
        view=HOME,
        more=_own("w = c"),
        named=_named("spider"),
    ),
    "manowar": FractintType(
        _own("old = z; z = z^2 + y + c; y = old"), view=HOME, more=_own("y = c")
    ),
    "manowarj": FractintType(
        _own("old = z; z = z^2 + y + c; y = old"), "0/0", HOME, "c", more=_own("y = c")
    ),
    "marksmandel": FractintType(_marks("k"), "0/0/1", more=lambda given: f"k = {_begun(given)}"),
    "marksjulia": FractintType(_marks("c"), "0.1/0.9/1", role="c"),
    "cmplxmarksmand": FractintType(lambda given: f"c^({given.pair(2)} - 1)*z^2 + c", "0/0/1/0"),
    "cmplxmarksjul": FractintType(
        lambda given: f"c^({given.pair(2)} - 1)*z^2 + c", "0.3/0.6/1/0", role="c"
    ),
    "marksmandelpwr": FractintType(
        lambda given: f"k*{given.of(0)} + c",
        view=HOME,
        more=lambda given: f"k = {_begun(given)}^({_begun(given)} - 1)",
    ),
    "tim's_error": FractintType(
        lambda given: (
            f"w = {given.of(0)}; x = re(w)*re(k) - im(w)*im(k); "
            "z = x + i*(x*im(k) - im(w)*re(k)) + c"
        ),
        view=("0.7", "0", "5.4"),
        more=lambda given: f"k = {_begun(given)}^({_begun(given)} - 1)",
    ),
    "tetrate": FractintType(_own("c^z")),
    "fn(z)+fn(pix)": FractintType(
        lambda given: f"{given.of(0)} + {given.pair(2)}*{given.of(1, 'c')}",
        "0/0/1/0",
        ("0", "0", "5.4"),
        "z",
        64,
    ),
    "popcornjul": FractintType(
        _popcorn,
        "0.05/0/3/0",
        ("0", "0", "4.5"),
        "",
        test=_popcorn_test,
        functions=("sin", "tan", "sin", "tan"),
    ),
    "sierpinski": FractintType(
        _own("2*z - if(im(z) > 0.5, i, if(re(z) > 0.5, 1, 0))"),
        "",
        ("0.4", "0.4", "2.6"),
        "",
        127,
    ),
    "quat": FractintType(
        lambda given: QUATERNION.format(given.pair(2)),
        "0/0/0/0",
        role="",
        bailout=64,
        start="0",
        more=_own("w = 0"),
        test=lambda given: f"norm(z) + norm(w) <= {given.bailout!r}",
        ahead=1,
    ),
    "quatjul": FractintType(
        lambda given: QUATERNION.format(given.pair(2)),
        "-0.745/0/0.113/0.05/0/0",
        role="c",
        bailout=64,
        more=lambda given: f"w = {given.pair(4)}",
        test=lambda given: f"norm(z) + norm(w) <= {given.bailout!r}",
        ahead=1,
    ),
    "volterra-lotka": FractintType(_volterra, "0.739/0.739", ("3", "2.25", "4.5"), "", 256),
    "frothybasin": FractintType(
        _froth,
        "1/0/1.028713768218725",
        ("0", "-0.255", "4.2"),
        "",
        7,
        test=_froth_test,
        lost=FROTH,
    ),
}


def _begun(given: EntryParameters) -> str:
    """Return where the orbit of a pixel begins, as an expression."""
    return "c" if given.zero(0, 1) else f"(c + {given.pair(0)})"


def letters_of(order: int) -> str:
    """Return the sequence of `lyapunov` that a number stands for; A is the real part here.

    >>> letters_of(0), letters_of(2), letters_of(5)
    ('BA', 'BBAA', 'BBABA')
    """
    bits = f"{order & 0xFFFFFFFF:b}" if order else ""
    return "B" + "".join("B" if bit == "1" else "A" for bit in bits) + "A"
