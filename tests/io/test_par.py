"""The types of Fractint, against its own orbits, written down here from its documentation."""

import cmath

import pytest

import fractals
from fractals.errors import SceneError
from fractals.io.foreign import par
from fractals.io.foreign._fractint import TYPES
from fractals.io.load import load_scene

SIZE = (12, 9)
LIMIT = 20


def newton(power):
    return lambda z, c, y: ((power - 1) * z**power + 1) / (power * z ** (power - 1))


def halley(z, c, y):  # of z**4 - z, relaxed by 0.8
    f, d, dd = z**4 - z, 4 * z**3 - 1, 12 * z**2
    return z - 0.8 * f / (d - dd * f / (2 * d))


def magnet1(z, c, y):
    return ((z * z + c - 1) / (2 * z + c - 2)) ** 2


def magnet2(z, c, y):
    k = (c - 1) * (c - 2)
    return ((z**3 + 3 * (c - 1) * z + k) / (3 * z * z + 3 * (c - 2) * z + k + 1)) ** 2


def ship(z, c, y):
    return complex(z.real**2 - z.imag**2, -2 * abs(z.real * z.imag)) + c


def logistic(z, c, y):
    return c * z * (1 - z)


def barnsley1(z, c, y):
    return (z - 1) * c if z.real >= 0 else (z + 1) * c


def barnsley2(z, c, y):
    return (z - 1) * c if z.real * c.imag + c.real * z.imag >= 0 else (z + 1) * c


def barnsley3(z, c, y):
    return z * z - 1 if z.real > 0 else z * z - 1 + c * z.real


def spider(z, c, y):  # c of the step before: z - y²
    return z * z + (c if y == 0 else (z - y * y) / 2 + z)


sin, cos, exp = cmath.sin, cmath.cos, cmath.exp
PIXEL, HALF, ZERO = "pixel", 0.5, 0
# What the entry says, where an orbit begins, the next z of z, c and the z before (0 at first), the
# square of the escape radius (None: its own test, or of converging), and c, if not the pixel.
ORBITS = [
    ("mandel", PIXEL, lambda z, c, y: z * z + c, 4, None),
    ("julia", PIXEL, lambda z, c, y: z * z + c, 4, 0.3 + 0.6j),
    ("julia params=-0.8/0.156", PIXEL, lambda z, c, y: z * z + c, 4, -0.8 + 0.156j),
    ("barnsleym1", PIXEL, barnsley1, 4, None),
    ("barnsleyj1", PIXEL, barnsley1, 4, 0.6 + 1.1j),
    ("barnsleym2", PIXEL, barnsley2, 4, None),
    ("barnsleyj2 params=0.7/0.9", PIXEL, barnsley2, 4, 0.7 + 0.9j),
    ("barnsleym3", PIXEL, barnsley3, 4, None),
    ("barnsleyj3", PIXEL, barnsley3, 4, 0.1 + 0.36j),
    ("mandel4", PIXEL, lambda z, c, y: z**4 + c, 4, None),
    ("julia4", PIXEL, lambda z, c, y: z**4 + c, 4, 0.6 + 0.55j),
    ("manzpower params=0/0/3", PIXEL, lambda z, c, y: z**3 + c, 4, None),
    ("julzpower params=0.1/0.2/5", PIXEL, lambda z, c, y: z**5 + c, 4, 0.1 + 0.2j),
    ("burning-ship", PIXEL, ship, 4, None),
    ("mandellambda", HALF, logistic, 4, None),
    ("lambda", PIXEL, logistic, 4, 0.85 + 0.6j),
    ("lambdafp params=0.9/0.2 bailout=16", PIXEL, logistic, 16, 0.9 + 0.2j),
    ("phoenix", PIXEL, lambda z, c, y: z * z + 0.56667 - 0.5 * y, 4, 0),
    ("phoenix params=0.3/-0.7", PIXEL, lambda z, c, y: z * z + 0.3 - 0.7 * y, 4, 0),
    ("phoenixcplx", PIXEL, lambda z, c, y: z * z + 0.2 + 0.3 * y, 4, 0),
    ("phoenixcplx params=0.1/0.5/-0.4", PIXEL, lambda z, c, y: z * z + c - 0.4 * y, 4, 0.1 + 0.5j),
    ("mandphoenixclx", PIXEL, lambda z, c, y: z * z + c + 0.5 * y, 4, None),
    ("newton", PIXEL, newton(3), None, None),
    ("newtbasin params=5", PIXEL, newton(5), None, None),
    ("halley params=3/0.8", PIXEL, halley, None, None),
    ("magnet1m", ZERO, magnet1, 100, None),
    ("magnet1j params=1.6/0.9", PIXEL, magnet1, 100, 1.6 + 0.9j),
    ("magnet2m", ZERO, magnet2, 100, None),
    ("magnet2j params=1.4/0.4", PIXEL, magnet2, 100, 1.4 + 0.4j),
    ("mandelfn", PIXEL, lambda z, c, y: c * sin(z), None, None),
    ("mandelfn function=exp", PIXEL, lambda z, c, y: c * exp(z), None, None),
    ("lambdafn", PIXEL, lambda z, c, y: c * sin(z), None, 1 + 0.4j),
    ("lambdafn function=cosxx", PIXEL, lambda z, c, y: c * cos(z).conjugate(), None, 1 + 0.4j),
    ("lambdafn params=0.2/0.3 function=cosh", PIXEL,
     lambda z, c, y: c * cmath.cosh(z), None, 0.2 + 0.3j),
    ("manfn+zsqrd function=cos", PIXEL, lambda z, c, y: cos(z) + z * z + c, 4, None),
    ("julfn+zsqrd", PIXEL, lambda z, c, y: sin(z) + z * z + c, 4, -0.5 + 0.5j),
    ("manfn+exp", PIXEL, lambda z, c, y: sin(z) + exp(z) + c, 4, None),
    ("julfn+exp function=tan", PIXEL, lambda z, c, y: cmath.tan(z) + exp(z) + c, 4, 0),
    ("fn(z*z)", PIXEL, lambda z, c, y: sin(z * z), 4, None),
    ("sqr(fn) function=log", PIXEL, lambda z, c, y: cmath.log(z) ** 2, 64, None),
    ("sqr(1/fn)", PIXEL, lambda z, c, y: 1 / sin(z) ** 2, 64, None),
    ("fn*fn function=cos/sqr bailout=9", PIXEL, lambda z, c, y: cos(z) * z * z, 9, None),
    ("fn*fn function=cotan", PIXEL, lambda z, c, y: z * z / cmath.tan(z), 64, None),
    ("fn+fn params=0.5/0.2/0.1/-0.3", PIXEL,
     lambda z, c, y: (0.5 + 0.2j) * sin(z) + (0.1 - 0.3j) * z * z, 64, None),
    ("fn*z+z params=0.4/-0.2/-1 function=recip", PIXEL,
     lambda z, c, y: (0.4 - 0.2j) / z * z - z, 64, None),
    ("fn*z+z function=conj", PIXEL, lambda z, c, y: z.conjugate() * z + z, 64, None),
    ("lambda(fn||fn)", PIXEL, lambda z, c, y: c * (sin(z) if abs(z) < 1 else z * z), 64, 1 + 0.1j),
    ("lambda(fn||fn) params=0.7/0.3/2 function=cosh/conj", PIXEL,
     lambda z, c, y: c * (cmath.cosh(z) if abs(z) < 2 else z.conjugate()), 64, 0.7 + 0.3j),
    ("manlam(fn||fn) params=0/0/1.5", PIXEL,
     lambda z, c, y: c * (sin(z) if abs(z) < 1.5 else z * z), 64, None),
    ("julia(fn||fn) params=0.2/0.1/1", PIXEL,
     lambda z, c, y: (sin(z) if abs(z) < 1 else z * z) + c, 64, 0.2 + 0.1j),
    ("mandel(fn||fn)", PIXEL, lambda z, c, y: (sin(z) if abs(z) < 0.5 else z * z) + c, 64, None),
    ("spider", PIXEL, spider, 4, None),
    ("fn(z)+fn(pix) params=0/0/0.5/0.1 function=ident/sinh", PIXEL,
     lambda z, c, y: z + (0.5 + 0.1j) * cmath.sinh(c), 64, None),
]  # fmt: skip


def read(text):
    imported = par.read(f"a {{ type={text} maxiter={LIMIT} }}".encode(), "")
    return load_scene(imported.table), imported.lost


def orbit(start, step, pixel, c):
    """Yield z_1, z_2, ... until it is no longer a number."""
    c = pixel if c is None else c
    z, before = (pixel if start == PIXEL else complex(start)), 0j
    try:
        while True:
            z, before = step(z, c, before), z
            yield z
    except (OverflowError, ZeroDivisionError, ValueError):
        return


def count(points, radius2):
    n = 0
    for n, z in zip(range(1, LIMIT + 1), points, strict=False):
        if not abs(z) ** 2 <= radius2:
            return n
    return LIMIT if n == LIMIT else n + 1


def pixels(scene):
    """Yield row, column and place of every sample."""
    width = float(scene.view.width)
    spacing, center = width / SIZE[0], complex(*map(float, scene.view.center))
    for j in range(SIZE[1]):
        for i in range(SIZE[0]):
            move = complex(i + 0.5 - SIZE[0] / 2, SIZE[1] / 2 - j - 0.5)
            yield j, i, center + spacing * (move.conjugate() if scene.view.mirror else move)


def test_every_type_is_tried():
    assert {entry.split()[0].removesuffix("fp") for entry, *_ in ORBITS} == set(TYPES)


@pytest.mark.filterwarnings("ignore:the formula .* has no degree")
@pytest.mark.parametrize(
    ("entry", "start", "step", "radius2", "c"), ORBITS, ids=[row[0] for row in ORBITS]
)
def test_the_picture_is_its_picture(entry, start, step, radius2, c):
    """Pixel by pixel: the count where what is inside hangs on it, otherwise where orbits go."""
    scene, lost = read(entry)
    scene = scene.replace(size=SIZE, supersampling=1)
    settles = radius2 is None and entry.startswith(("newt", "halley"))
    assert bool(lost) == (radius2 is None or entry.startswith("magnet"))
    exact = TYPES[entry.split()[0].removesuffix("fp")].bailout
    own = radius2 if exact else scene.iteration.escape_radius**2
    raw = fractals.compute(scene, device="python")
    # Ours begins one step before, at 0 or a critical point, where theirs begins at the pixel.
    formula = scene.make_formula()
    earlier = start == PIXEL and c is None and formula.begin(False, 0.3, 0.4) != (0.3, 0.4)
    compared = different = 0
    for j, i, pixel in pixels(scene):
        at = pixel.conjugate() if scene.view.mirror else pixel
        found = int(raw.count[j, i])
        if settles:
            *_, z = (z for _, z in zip(range(LIMIT), orbit(start, step, pixel, c), strict=False))
            same = abs(complex(raw.z[j, i]) - z) < 1e-3 or found == LIMIT
            compared, different = compared + 1, different + (not same)
            continue
        wanted = {
            min(count(orbit(start, step, at + move, c), own) + earlier, LIMIT)
            for move in (0, 1e-7, -1e-7, 1e-7j)
        }
        if entry.startswith("magnet") and abs(complex(raw.z[j, i])) <= 10:
            found = LIMIT  # converged
        if earlier and abs(pixel) ** 2 > own:
            wanted = {1}  # where theirs begins is not tested there
        compared += len(wanted) == 1
        different += len(wanted) == 1 and found not in wanted
    assert compared > 70
    assert different == 0


def test_the_ship_is_mirrored_in_the_formula():
    scene, _ = read("burning-ship center-mag=-1.75/-0.03/50")
    assert (scene.view.center, scene.view.mirror) == (("-1.75", "0.03"), True)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("newton params=13", "the type 'newton params=13' is unsupported"),
        ("newton params=2.5", "is unsupported"),
        ("phoenix params=0.1/0.2/3", "is unsupported"),
        ("phoenix params=0.1/-3", "is unsupported"),
        ("phoenixcplx params=0.1/0.2/0.3/0.4", "is unsupported"),
        ("halley params=6/1/0.0001/0.5", "is unsupported"),
        ("burning-ship params=0/0/3", "is unsupported"),
        ("lambdafn function=abs", "the type 'lambdafn function=abs' is unsupported"),
        ("lambdafn function=tan", "is unsupported"),
        ("manzpower params=0/0/2.5", "is unsupported"),
        ("mandellambda params=0.1", "orbits that begin elsewhere"),
        ("lambda(fn||fn) params=1/0.1/-1", "is unsupported"),
        ("lambda(fn||fn) function=trunc", "is unsupported"),
        ("bifurcation", "the type 'bifurcation' draws a population over its growth rate"),
        ("biflambda", "this program draws pictures of the plane alone"),
        ("formula formulafile=a.frm formulaname=Moth", "files of formulas (.frm) are unsupported"),
        ("manowar", "the type 'manowar' is unsupported"),
    ],
)
def test_other_types_are_refused(entry, words):
    with pytest.raises(SceneError) as caught:
        read(entry)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("Burning_Ship", "burning_ship"),
        ("Celtic_Mandelbrot", "celtic"),
        ("Buffalo", "buffalo"),
        ("Mandelbar", "tricorn"),
    ],
)
def test_a_formula_of_a_file_by_its_name(name, formula):
    scene, lost = read(f"formula formulafile=deep.frm formulaname={name} center-mag=-1.7/0/2")
    assert scene.make_formula().name == formula
    assert lost == (
        f"the formula '{name}' of 'deep.frm' with its parameters; {formula} has its name",
    )


def test_what_is_lost():
    assert "the test of having converged: a step is shorter than 1e-6 here" in read("newton")[1]
    assert "the colors of the roots" in read("newtbasin")[1]
    assert [line for line in read("magnet1m")[1] if "what converges" in line]
    assert [line for line in read("lambdafn")[1] if "of one part of z" in line]


def test_first_views():
    for entry, height in (("magnet2m", 3.9), ("lambda", 3), ("mandelfn", 12), ("fn+fn", 6)):
        scene, _ = read(entry)
        assert float(scene.view.width) * 9 / 16 == pytest.approx(height)
