"""The types of Fractint, against its own arithmetic, written down here from its source."""

import cmath
import math

import pytest
from support.fractint import differing, mod, norm, read, run

from fractals.io.foreign._fractint import OTHERS, TYPES


def absolute(z):  # Fractint's abs, of both parts
    return complex(abs(z.real), abs(z.imag))


def over(a, b):
    return a / b if b else complex(math.inf)


def power(a, b):
    return cmath.exp(b * cmath.log(a)) if a else 0


FN = {
    "sin": cmath.sin,
    "cos": cmath.cos,
    "cosxx": lambda z: cmath.cos(z).conjugate(),
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "exp": cmath.exp,
    "log": cmath.log,
    "sqr": lambda z: z * z,
    "recip": lambda z: 1 / z,
    "ident": lambda z: z,
    "tan": cmath.tan,
    "cotan": lambda z: 1 / cmath.tan(z),
    "conj": lambda z: complex(z).conjugate(),
    "flip": lambda z: complex(z.imag, z.real),
    "abs": absolute,
    "cabs": lambda z: complex(abs(z)),
    "acos": cmath.acos,
    "trunc": lambda z: complex(math.trunc(z.real), math.trunc(z.imag)),
    "zero": lambda z: 0j,
}


def parts(real, imag):
    return lambda z, *more: abs(z.real) >= real or abs(z.imag) >= imag


def plain(step, limit=4, start=None, moved=0):
    """Return the count of a pixel for a type without other variables; c is the pixel."""
    return lambda p: run(p, lambda z: step(z, p), mod(limit), p + moved if start is None else start)


def barnsley(kind, z, c):
    if kind == 1:
        return (z - 1) * c if z.real >= 0 else (z + 1) * c
    if kind == 2:
        return (z - 1) * c if z.real * c.imag + c.real * z.imag >= 0 else (z + 1) * c
    return z * z - 1 if z.real > 0 else z * z - 1 + c * z.real


def frozen(z, *more):
    """Magnets end near 1, too."""
    return norm(z) >= 100 or norm(z - 1) < 1 / 32768


def magnet(kind, z, c):
    if kind == 1:
        return over(z * z + c - 1, 2 * z + c - 2) ** 2
    k = (c - 1) * (c - 2)
    return over(z**3 + 3 * (c - 1) * z + k, 3 * z * z + 3 * (c - 2) * z + k + 1) ** 2


def fourth(c, p):
    def ends(z, square):
        return norm(square) >= 4 or norm(z) >= 4

    return run(p, lambda z, square: ((z * z) ** 2 + c, z * z), ends, more=(0,))


def phoenix(p, c, q, degree=0, start=None):
    def step(z, y):
        if degree >= 2:
            return z ** (degree - 1) * (z + c) + q * y, z
        if degree <= -3:
            return z ** (-degree - 2) * (z * z + c) + q * y, z
        return z * z + c + q * y, z

    return run(p, step, mod(4), start, more=(0,))


def newton(n, p):
    def ends(z):
        return norm(z**n - 1) < 0.3 * math.pi / n

    return run(p, lambda z: over((n - 1) * z**n + 1, n * z ** (n - 1)), ends)


def complex_newton(d, root, p):
    def ends(z):
        return norm(power(z, d) - root) < 0.001

    return run(p, lambda z: over((d - 1) * power(z, d) + root, d * power(z, d - 1)), ends)


def halley(a, relax, epsilon, p):
    def step(z, old):
        f, d, dd = z ** (a + 1) - z, (a + 1) * z**a - 1, (a + 1) * a * z ** (a - 1)
        return z - relax * over(f, d - dd * f / (2 * d)), z

    return run(p, step, lambda z, old: abs(norm(z) - norm(old)) < epsilon, more=(0,))


def either(one, two, shift):  # |z|² against the shift value itself
    return lambda z: FN[one](z) if norm(z) < shift else FN[two](z)


def lambda_of(one, two, shift):
    own = either(one, two, shift)
    return plain(lambda z, c: (0.7 + 0.3j) * own(z), 64)


def popcorn(h, k, p):
    def step(z):
        x, y = z.real, z.imag
        return complex(x - h * math.sin(y + math.tan(k * y)), y - h * math.sin(x + math.tan(k * x)))

    return run(p, step, lambda z: norm(z) >= 4 or abs(z.real) > 2 or abs(z.imag) > 2)


def volterra(h, q, p):
    def step(z):
        x, y = z.real, z.imag
        u, w = x - x * y, -y + x * y
        a, b = x + q * u, y + q * w
        return complex(x + h / 2 * (u + a - a * b), y + h / 2 * (w - b + a * b))

    return run(p, step, mod(256))


def quaternion(p, c, k, w=0, start=None):
    def step(z, w):
        return z * z - norm(complex(w)) + c, 2 * z.real * w + k

    return run(p, step, lambda z, w: norm(z) + norm(complex(w)) > 64, start, more=(w,))


def froth(p):
    a, root = 1.028713768218725, math.sqrt(3)
    xs = [0.5]
    for _ in range(4):
        xs.append(xs[-1] ** 2 - xs[-1] - 3 * a * a / 4)
    left, right = ([-x / 2 + s * a / 2 * root / 2 for x in xs] for s in (-1, 1))

    def ends(z):
        x, y = z.real, z.imag
        near = abs(a / 2 - y) < 1e-6 and xs[1] <= x <= xs[2] and (x <= xs[3] or x >= xs[4])
        for line, t in ((root * x - a - y, right), (-root * x - a - y, left)):
            near |= abs(line) < 1e-6 and t[2] <= x <= t[1] and (x >= t[3] or x <= t[4])
        return norm(z) >= 7 or near

    return run(p, lambda z: z * z + (z * complex(-1, a)).conjugate(), ends)


def tims(p):
    k = power(p, p - 1)

    def step(z):
        w = cmath.sin(z)
        x = w.real * k.real - w.imag * k.imag
        return complex(x, x * k.imag - w.imag * k.real) + p

    return run(p, step, mod(4))


def inverted(radius, center, p):
    move = p - center
    return center + radius * move / norm(move)


J, L = 0.3 + 0.6j, 0.85 + 0.6j
# What the entry says, and the count of a pixel: the first step after which Fractint's test holds.
COUNTS = [
    ("mandel", plain(lambda z, c: z * z + c)),
    ("mandel params=0.1/-0.2", plain(lambda z, c: z * z + c, moved=0.1 - 0.2j)),
    ("mandel bailout=2", plain(lambda z, c: z * z + c, 2)),
    ("julia", plain(lambda z, c: z * z + J)),
    ("julia params=-0.8/0.156", plain(lambda z, c: z * z - 0.8 + 0.156j)),
    ("julia_inverse", plain(lambda z, c: z * z - 0.11 + 0.6557j)),
    *((f"barnsleym{k}", plain(lambda z, c, k=k: barnsley(k, z, c))) for k in (1, 2, 3)),
    ("barnsleym1 params=0.5555/0.7676", plain(
        lambda z, c: barnsley(1, z, c), moved=0.5555 + 0.7676j)),
    ("barnsleyj1", plain(lambda z, c: barnsley(1, z, 0.6 + 1.1j))),
    ("barnsleyj2 params=0.7/0.9", plain(lambda z, c: barnsley(2, z, 0.7 + 0.9j))),
    ("barnsleyj3", plain(lambda z, c: barnsley(3, z, 0.1 + 0.36j))),
    ("mandel4", lambda p: fourth(p, p)),
    ("julia4", lambda p: fourth(0.6 + 0.55j, p)),
    ("manzpower params=0/0/3", plain(lambda z, c: z**3 + c)),
    ("manzpower params=0/0/2.5/0.3", plain(lambda z, c: power(z, 2.5 + 0.3j) + c)),
    ("manzpower params=0/0/-2", plain(lambda z, c: over(1, z * z) + c)),
    ("julzpower params=0.1/0.2/5", plain(lambda z, c: z**5 + 0.1 + 0.2j)),
    ("manzzpwr", plain(lambda z, c: z * z + power(z, z) + c)),
    ("julzzpwr params=-0.3/0.3/3", plain(lambda z, c: z**3 + power(z, z) - 0.3 + 0.3j)),
    ("burning-ship", plain(lambda z, c: absolute(z).conjugate() ** 2 + c)),
    ("burning-ship params=0/0/3", plain(lambda z, c: absolute(z).conjugate() ** 3 + c)),
    ("mandellambda", plain(lambda z, c: c * z * (1 - z), start=0.5)),
    ("mandellambda initorbit=pixel", plain(lambda z, c: c * z * (1 - z))),
    ("mandellambda initorbit=Pixel params=0.1/0", plain(lambda z, c: c * z * (1 - z), moved=0.1)),
    ("mandel initorbit=pixel", plain(lambda z, c: z * z + c)),
    ("mandellambda params=0.1/0.2", plain(lambda z, c: c * z * (1 - z), start=0.6 + 0.2j)),
    ("lambda", plain(lambda z, c: L * z * (1 - z))),
    ("lambdafp params=0.9/0.2 bailout=16", plain(lambda z, c: (0.9 + 0.2j) * z * (1 - z), 16)),
    ("phoenix", lambda p: phoenix(p, 0.56667, -0.5)),
    ("phoenix params=0.3/-3", lambda p: phoenix(p, 0.3, -3)),
    ("phoenix params=1.1/1/3", lambda p: phoenix(p, 1.1, 1, 3)),
    ("phoenix params=1.1/1/-3", lambda p: phoenix(p, 1.1, 1, -3)),
    ("mandphoenix", lambda p: phoenix(p, p.real, p.imag)),
    ("phoenixcplx", lambda p: phoenix(p, 0.2, 0.3)),
    ("phoenixcplx params=0.1/0.5/-0.4/0.2/4", lambda p: phoenix(p, 0.1 + 0.5j, -0.4 + 0.2j, 4)),
    ("mandphoenixclx", lambda p: phoenix(p, p, 0.5)),
    ("mandphoenixclx params=0/0/0.5/1", lambda p: phoenix(p, p, 0.5 + 1j)),
    ("mandphoenixclx params=0.1/0/0.5", lambda p: phoenix(p, p, 0.5, start=p + 0.1)),
    ("newton", lambda p: newton(3, p)),
    ("newton params=6", lambda p: newton(6, p)),
    ("complexnewton params=3.2/0.4/0.9/0.3", lambda p: complex_newton(3.2 + 0.4j, 0.9 + 0.3j, p)),
    ("halley params=3/0.8", lambda p: halley(3, 0.8, 0.0001, p)),
    ("halley params=4/1/0.01/0.5", lambda p: halley(4, 1 + 0.5j, 0.01, p)),
    ("magnet1m", lambda p: run(p, lambda z: magnet(1, z, p), frozen, 0)),
    ("magnet1m initorbit=pixel", lambda p: run(p, lambda z: magnet(1, z, p), frozen)),
    ("magnet1j params=1.6/0.9", lambda p: run(p, lambda z: magnet(1, z, 1.6 + 0.9j), frozen)),
    ("magnet2m", lambda p: run(p, lambda z: magnet(2, z, p), frozen, 0)),
    ("magnet2j params=1.4/0.4", lambda p: run(p, lambda z: magnet(2, z, 1.4 + 0.4j), frozen)),
    *(
        (f"mandelfn function={name}",
         lambda p, name=name, ends=ends: run(p, lambda z: p * FN[name](z), ends))
        for name, ends in (
            ("sin", parts(math.inf, 8)), ("cos", parts(math.inf, 8)), ("cosxx", parts(math.inf, 8)),
            ("sinh", parts(8, math.inf)), ("cosh", parts(8, math.inf)), ("exp", parts(8, 1000)),
            ("sqr", parts(8, 8)), ("ident", parts(8, 8)), ("log", parts(8, 8)),
        )
    ),
    ("lambdafn bailout=30", lambda p: run(
        p, lambda z: (1 + 0.4j) * cmath.sin(z), parts(math.inf, math.sqrt(30)))),
    ("lambdafn params=0.2/0.3 function=cosh", lambda p: run(
        p, lambda z: (0.2 + 0.3j) * cmath.cosh(z), parts(8, math.inf))),
    ("mandelfn params=0.4/0.1", lambda p: run(
        p, lambda z: p * cmath.sin(z), parts(math.inf, 8), p + 0.4 + 0.1j)),
    ("manfn+zsqrd function=cos", plain(lambda z, c: cmath.cos(z) + z * z + c)),
    ("julfn+zsqrd", plain(lambda z, c: cmath.sin(z) + z * z - 0.5 + 0.5j)),
    ("julfn+zsqrd function=cabs", plain(lambda z, c: abs(z) + z * z - 0.5 + 0.5j)),
    ("manfn+exp", plain(lambda z, c: cmath.sin(z) + cmath.exp(z) + c)),
    ("julfn+exp function=tan", plain(lambda z, c: cmath.tan(z) + cmath.exp(z))),
    ("fn(z*z)", plain(lambda z, c: cmath.sin(z * z))),
    ("sqr(fn) function=log", plain(lambda z, c: cmath.log(z) ** 2, 64)),
    ("sqr(1/fn)", plain(lambda z, c: 1 / cmath.sin(z) ** 2, 64)),
    ("fn*fn function=cos/sqr bailout=9", plain(lambda z, c: cmath.cos(z) * z * z, 9)),
    ("fn*fn function=cotan", plain(lambda z, c: z * z / cmath.tan(z), 64)),
    ("fn+fn params=0.5/0.2/0.1/-0.3", plain(
        lambda z, c: (0.5 + 0.2j) * cmath.sin(z) + (0.1 - 0.3j) * z * z, 64)),
    ("fn*z+z params=0.4/-0.2/-1 function=recip", plain(
        lambda z, c: (0.4 - 0.2j) / z * z - z, 64)),
    ("fn*z+z function=conj", plain(lambda z, c: z.conjugate() * z + z, 64)),
    *(
        (f"lambda(fn||fn) params=0.7/0.3/{shift} function={one}/{two}", lambda_of(one, two, shift))
        for shift, one, two in (
            (1, "sin", "sqr"), (2, "cosh", "conj"), (10, "exp", "tan"), (0.1, "sin", "acos"),
            (3, "sin", "trunc"), (5, "flip", "abs"), (-1, "sqr", "sin"),
        )
    ),
    ("manlam(fn||fn)", plain(lambda z, c: c * either("sin", "sqr", 10)(z), 64)),
    ("julia(fn||fn) params=0.2/0.1/1.5", plain(
        lambda z, c: either("sin", "sqr", 1.5)(z) + 0.2 + 0.1j, 64)),
    ("mandel(fn||fn)", plain(lambda z, c: either("sin", "sqr", 0.5)(z) + c, 64)),
    ("spider", lambda p: run(p, lambda z, w: (z * z + w, w / 2 + z * z + w), mod(4), more=(p,))),
    ("manowar", lambda p: run(p, lambda z, y: (z * z + y + p, z), mod(4), more=(p,))),
    ("manowarj params=-0.02/0.02", lambda p: run(
        p, lambda z, y: (z * z + y - 0.02 + 0.02j, z), mod(4), more=(p,))),
    ("marksmandel params=0/0/3", plain(lambda z, c: c * c * z * z + c)),
    ("marksmandel params=0.1/0/2", plain(lambda z, c: (c + 0.1) * z * z + c, moved=0.1)),
    ("marksjulia params=0.1/0.9/3", plain(
        lambda z, c: (0.1 + 0.9j) ** 2 * z * z + 0.1 + 0.9j)),
    ("cmplxmarksmand params=0/0/1.5/0.2", plain(
        lambda z, c: power(c, 0.5 + 0.2j) * z * z + c)),
    ("cmplxmarksjul params=0.3/0.6/2/1", plain(
        lambda z, c: power(J, 1 + 1j) * z * z + J)),
    ("marksmandelpwr", plain(lambda z, c: power(c, c - 1) * cmath.sin(z) + c)),
    ("tim's_error", tims),
    ("tetrate", plain(lambda z, c: power(c, z))),
    ("fn(z)+fn(pix) params=0/0/0.5/0.1 function=ident/sinh", plain(
        lambda z, c: z + (0.5 + 0.1j) * cmath.sinh(c), 64)),
    ("popcornjul", lambda p: popcorn(0.05, 3, p)),
    ("sierpinski", plain(
        lambda z, c: 2 * z - (1j if z.imag > 0.5 else 1 if z.real > 0.5 else 0), 127)),
    ("quat params=0/0/0.2/0.1", lambda p: quaternion(p, p, 0.2 + 0.1j, start=0)),
    ("quatjul params=-0.745/0/0.113/0.05/0.1/0.2", lambda p: quaternion(
        p, -0.745, 0.113 + 0.05j, 0.1 + 0.2j)),
    ("volterra-lotka", lambda p: volterra(0.739, 0.739, p)),
    ("frothybasin", froth),
    *(
        (f"mandel bailoutest={name} bailout=7",
         lambda p, ends=ends: run(p, lambda z: z * z + p, ends))
        for name, ends in (
            ("mod", lambda z: norm(z) >= 7),
            ("real", lambda z: z.real**2 >= 7),
            ("imag", lambda z: z.imag**2 >= 7),
            ("or", lambda z: z.real**2 >= 7 or z.imag**2 >= 7),
            ("and", lambda z: z.real**2 >= 7 and z.imag**2 >= 7),
            ("manh", lambda z: (abs(z.real) + abs(z.imag)) ** 2 >= 7),
            ("manr", lambda z: (z.real + z.imag) ** 2 >= 7),
        )
    ),
    ("barnsleyj2 params=-0.1/-1 bailout=100 bailoutest=manh", lambda p: run(
        p, lambda z: barnsley(2, z, -0.1 - 1j), lambda z: (abs(z.real) + abs(z.imag)) ** 2 >= 100)),
    ("spider invert=0.331101/-0.0974796/0", lambda p: (lambda q: run(
        q, lambda z, w: (z * z + w, w / 2 + z * z + w), mod(4), more=(q,)))(
            inverted(0.331101, -0.0974796, p))),
    ("lambdafn function=cos params=0.7/0.1 invert=0.5/0.2/0.5", lambda p: run(
        inverted(0.5, 0.2 + 0.5j, p), lambda z: (0.7 + 0.1j) * cmath.cos(z), parts(math.inf, 8))),
]  # fmt: skip


def test_every_type_is_tried():
    tried = {entry.split()[0] for entry, _ in COUNTS}
    assert {name if name in TYPES else name.removesuffix("fp") for name in tried} == set(TYPES) - {
        "newtbasin"
    }
    assert not OTHERS.keys() & TYPES.keys()


@pytest.mark.unwatched
@pytest.mark.parametrize(("entry", "count"), COUNTS, ids=[row[0] for row in COUNTS])
def test_counts_are_fractints(entry, count):
    """Pixel by pixel of the first view."""
    different, compared = differing(read(entry)[0], count)
    assert compared > 60
    assert different == 0


@pytest.mark.parametrize("entry", [row[0] for row in COUNTS])
def test_colors_decide_nothing_about_escape(entry):
    bare, colored = (read(f"{entry} {colors}")[0] for colors in ("", "colors=000<254>zzz"))
    assert bare.formula == colored.formula
    assert bare.iteration == colored.iteration
