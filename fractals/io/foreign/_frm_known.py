"""Formulas that entries of Fractint often name, for where the file that holds them is not here.

Each is a text that `_frm` reads, and a formula of this program that counts the same where the entry
has no parameters, or None.
"""

from fractals.io.foreign._view import FormulaMatch


def _added(step: str) -> str:
    return f"z = pixel: z = {step} + pixel + p1, |z| < 4"


def _expression(step: str) -> FormulaMatch:
    return FormulaMatch({"name": "expression", "step": step})


SQUARE, CUBE = "real(z*z)", "real(z*z*z)"
FOLDED = "(abs(real(z)) + flip(imag(z)))"  # |x| + iy
# By the letters and digits of their names, in lower case.
KNOWN: dict[str, tuple[str, FormulaMatch | None]] = {
    "mandelbrot": (_added("z*z"), FormulaMatch("mandelbrot")),
    "burningship": (
        _added("conj(sqr(abs(z)))"),
        FormulaMatch("burning_ship", same=False, conjugate=True),
    ),
    "burningshipmandelbrot": (
        _added("conj(sqr(abs(z)))"),
        FormulaMatch("burning_ship", same=False, conjugate=True),
    ),
    "mandelbar": (_added("sqr(conj(z))"), FormulaMatch("tricorn")),
    "tricorn": (_added("sqr(conj(z))"), FormulaMatch("tricorn")),
    "perpmandelbrot": (_added("sqr(conj(" + FOLDED + "))"), _expression("conj(absx(z))^2 + c")),
    "perpburningship": (
        _added("sqr(real(z) - flip(abs(imag(z))))"),
        _expression("conj(absy(z))^2 + c"),
    ),
    "heartmandelbrot": (_added(f"sqr({FOLDED})"), FormulaMatch("heart")),
    "heart": (_added(f"sqr({FOLDED})"), FormulaMatch("heart")),
    "celticmandelbrot": (_added(f"abs({SQUARE}) + flip(imag(z*z))"), FormulaMatch("celtic")),
    "celtic": (_added(f"abs({SQUARE}) + flip(imag(z*z))"), FormulaMatch("celtic")),
    "celticmandelbar": (
        _added(f"abs({SQUARE}) - flip(imag(z*z))"),
        _expression("absx(conj(z)^2) + c"),
    ),
    "perpceltic": (
        _added(f"abs({SQUARE}) - flip(imag(sqr({FOLDED})))"),
        _expression("absx(conj(absx(z))^2) + c"),
    ),
    "celticheart": (
        _added(f"abs({SQUARE}) + flip(imag(sqr({FOLDED})))"),
        FormulaMatch("celtic_heart"),
    ),
    "buffalo": (_added("conj(abs(z*z))"), FormulaMatch("buffalo", same=False, conjugate=True)),
    "perpbuffalo": (
        _added(f"abs({SQUARE}) - flip(2*real(z)*abs(imag(z)))"),
        _expression("absx(conj(absy(z))^2) + c"),
    ),
    "cubicmandelbrorth": (_added("flip(imag(z*z*z)) - real(z*z*z)"), _expression("-conj(z)^3 + c")),
    "cubicmandelbrdiag": (_added("conj(z*z*z)"), _expression("conj(z)^3 + c")),
    "cubicburningship": (_added("abs(z)*abs(z)*abs(z)"), None),
    "cubicbuffalo": (_added("abs(z*z*z)"), None),
    "cubicquasiheart": (
        _added(f"real({FOLDED}^3) + flip(abs(3*real(z)^2 - imag(z)^2)*imag(z))"),
        None,
    ),
    "cubicquasiperp": (
        _added(f"real({FOLDED}^3) - flip(abs(3*real(z)^2 - imag(z)^2)*imag(z))"),
        None,
    ),
    "cubicquasiburnshp": (_added(f"real({FOLDED}^3) - flip(abs(imag(z*z*z)))"), None),
    "partcubbuffreal": (_added(f"abs({CUBE}) + flip(imag(z*z*z))"), None),
    "partcubbuffimag": (_added(f"{CUBE} + flip(abs(imag(z*z*z)))"), None),
    "partcubbsreal": (_added(f"real({FOLDED}^3) + flip(imag(z*z*z))"), None),
    "partcubbsimag": (
        _added(f"{CUBE} + flip((3*real(z)^2 - imag(z)^2)*abs(imag(z)))"),
        None,
    ),
    "wineglass": (
        "c = z = pixel: z = z*z + c, c = real(c)*(1 + flip(imag(c)))/2 + z, |z| <= 4",
        None,
    ),
    "leemandel1": ("z = pixel: z = sqr(z + sqr(pixel)/z), |z| < 4", None),
    "leemandel2": ("z = pixel: z = sqr((z + sqr(pixel)/z)*pixel), |z| < 4", None),
    "leemandel3": (
        "z = pixel, c = pixel - sqr(z): c = pixel + c/z, z = c - z*pixel, |z| < 4",
        None,
    ),
    "richard1": ("z = pixel: s = z*z, z = s*sin(s) + s + pixel, |z| <= 50", None),
    "shifter01": (
        "z = c = pixel, n = 1: z = z*z*(n <= p1) + z*z*z*(p1 < n) + c, n = n + 1, |z| < 4 + p2",
        None,
    ),
    "newtonreal": (
        "z = pixel: x = real(z), y = imag(z), d = 9*x*y + 4, e1 = 6*x*y + 2,"
        "z = (x*e1 - (y*y*y - 3*y - 2)/x + flip(y*e1 + (x*x*x - 3*x + 2)/y))/d,"
        "(|real(z)| >= p1) || (|imag(z) + 1| >= p1)",
        None,
    ),
    "g303m": (
        "z = pixel: x = real(z), y = imag(z), z = x - p1*fn1(y*y + round(p2*fn2(y)))"
        " + flip(y - p1*fn1(x*x + round(p2*fn2(x)))), |z| <= 4",
        None,
    ),
    "tilemandel": (
        "m = real(p2)*(p2 > 0) + (p2 <= 0)/3,"
        "w = (imag(p2)*(flip(p2) > 0) + 3*(flip(p2) <= 0))*2*pi/3,"
        "z = c = (asin(sin(w*real(pixel))) + flip(asin(sin(w*imag(pixel)))))/m + p1:"
        "z = z*z + c, |z| <= 4",
        None,
    ),
    "tilejulia": (
        "m = real(p2)*(p2 > 0) + (p2 <= 0)/3,"
        "w = (imag(p2)*(flip(p2) > 0) + 3*(flip(p2) <= 0))*2*pi/3,"
        "z = (asin(sin(w*real(pixel))) + flip(asin(sin(w*imag(pixel)))))/m + p1:"
        "z = z*z + p3, |z| <= 4",
        None,
    ),
    "fivemandels": (
        "c = z = pixel, n = 0:"
        "a = n == real(p1), b = n == imag(p1), d = n == real(p2), f = n == imag(p2),"
        "k = 1 - (a||b||d||f), s = pixel*(1.5*a + 2.25*b + 3.375*d + 5.0625*f),"
        "z = z*k + s, c = c*k + s, z = z*z + c, n = n + 1, |z| <= 16",
        None,
    ),
    "spider": ("c = z = pixel: z = z*z + c, c = c/2 + z, |z| <= 4", FormulaMatch("spider")),
}
