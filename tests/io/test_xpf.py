"""The formulas, planes and colors of XaoS, against its own arithmetic, written down here."""

import cmath
import colorsys
import math

import numpy as np
import pytest

import fractals
from fractals.color.palette import srgb_from_linear
from fractals.errors import SceneError
from fractals.io.foreign import xpf
from fractals.io.foreign._xaos_colors import of_seed
from fractals.io.foreign._xaos_formula import translated
from fractals.io.foreign.xpf import FORMULAS
from fractals.io.load import load_scene

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

SIZE = (9, 7)
LIMIT = 20
NINE = " ".join(f'"{37 * k % 256:02x}{91 * k % 256:02x}{153 * k % 256:02x}"' for k in range(9))
ROOT = 1.0199502202048319698


def power(n):
    return lambda z, p, y: z**n + p


def newton(z, p, y):
    return 2 / 3 * z + (z * z).conjugate() / (3 * abs(z) ** 4) + p


def newton4(z, p, y):
    x, y = z.real, z.imag
    n = 1 / abs(z) ** 6
    return complex(x / 4 * (3 + (x * x - 3 * y * y) * n), y / 4 * (3 + (y * y - 3 * x * x) * n)) + p


def phoenix(z, p, y):
    return z * z + p.real + p.imag * y


def magnet(z, p, y):
    return ((z * z + p - 1) / (2 * z + p - 2)) ** 2


def magnet2(z, p, y):
    k = p * p - 3 * p
    return ((z**3 + 3 * z * (p - 1) + k + 2) / (3 * z * z + 3 * z * (p - 2) + k + 3)) ** 2


def mlambda(z, p, y):
    return (z - z * z) * p


def trice(z, p, y):
    return (z * z + z) / 2 + p


def catseye(z, p, y):
    return z / p + p / z


def barnsley(z, p, y):
    return (z + 1 if z.real < 0 else z - 1) * p


def barnsley2(z, p, y):
    return (z + 1 if z.real * p.imag + z.imag * p.real < 0 else z - 1) * p


def barnsley3(z, p, y):
    return z * z - 1 + (p * z.real if z.real <= 0 else 0)


def symbarn(z, p, y):
    x = z.real + 1 if z.real < 0 else z.real - 1
    return complex(x, z.imag + 1 if z.imag < 0 else z.imag - 1) * p


def user(z, p, y):
    return cmath.exp(1.2 * cmath.log(z)) * (1 - p) - 0.25 * y * y


# The commands, the step from z, p and the z before (0 at first), and where an orbit begins and
# what p is, each a number or the pixel if None; then the square of the escape radius: 0 where an
# orbit ends when a step is below 1e-3.
ORBITS = [
    ("mandel", power(2), None, None, 4),
    ("mandel)(bailout 100", power(2), None, None, 100),
    ("mandel)(julia #t)(juliaseed -0.7 0.3", power(2), None, -0.7 + 0.3j, 4),
    ("mandel3", power(3), None, None, 4),
    ("mandel4", power(4), None, None, 4),
    ("mandel5", power(5), None, None, 4),
    ("mandel6", power(6), None, None, 4),
    ("mandel9", power(9), None, None, 4),
    ("mbar", lambda z, p, y: z.conjugate() ** 2 + p, None, None, 4),
    ("trice", trice, None, None, 4),
    ("trice)(julia #t)(juliaseed 0.2 0.9)(bailout 9", trice, None, 0.2 + 0.9j, 9),
    ("catseye", catseye, None, None, 4 + 1e-8),
    ("catseye)(julia #t)(juliaseed 0.4 0.3", catseye, None, 0.4 + 0.3j, 4 + 1e-8),
    ("newton", newton, None, 0, 0),
    ("newton)(perturbation 0.3 -0.01", newton, None, 0.3 - 0.01j, 0),
    ("newton)(julia #t", newton, ROOT, None, 0),
    ("newton)(julia #t)(juliaseed -1 0.2", newton, -1 + 0.2j, None, 0),
    ("newton4", newton4, None, 0, 0),
    ("newton4)(julia #t", newton4, ROOT, None, 0),
    ("phoenix", phoenix, None, 0.56667 - 0.5j, 4),
    ("phoenix)(juliaseed 0.3 0.4)(bailout 16", phoenix, None, 0.3 + 0.4j, 16),
    ("phoenix)(juliaseed 0.1 2.5", phoenix, None, 0.1 + 2.5j, 4),
    ("magnet", magnet, 0, None, 1e4),
    ("magnet)(julia #t)(juliaseed 1.6 0.9", magnet, None, 1.6 + 0.9j, 1e4),
    ("magnet2", magnet2, 0, None, 1e4),
    ("mlambda", mlambda, 0.5, None, 4),
    ("mlambda)(juliaseed 0.4 0.1", mlambda, 0.4 + 0.1j, None, 4),
    ("mlambda)(julia #f", mlambda, None, None, 4),
    ("barnsley", barnsley, None, -0.6 + 1.1j, 4),
    ("barnsley)(julia #f)(perturbation 1.7 0", barnsley, 1.7, None, 4),
    ("barnsley2", barnsley2, None, -0.6 + 1.1j, 4),
    ("barnsley2)(julia #f)(perturbation 0.2 0.1", barnsley2, 0.2 + 0.1j, None, 4),
    ("barnsley3)(view 0.01 0.02 3 3", barnsley3, None, 0.4j, 4),
    ("barnsley3)(julia #f)(bailout 9", barnsley3, 0, None, 9),
    ("symbarn)(view 0 0 4 4", symbarn, None, 1.3 + 1.3j, 16),
    (
        'user)(usrform "(z^5)+((0.8+0.4i)*(z^4))+z',
        lambda z, p, y: z**5 + (0.8 + 0.4j) * z**4 + z, None, None, 4,
    ),
    ('user)(usrform "C*Sin(z) + .5i")(julia #t)(juliaseed 1 0.3',
     lambda z, p, y: p * cmath.sin(z) + 0.5j, None, 1 + 0.3j, 4),
    ('user)(usrform "z^2 + c', power(2), None, None, 4),
    ('user)(bailout 120)(usrform "POWI(RABS(Z)+I*RABS(IM(Z));2)+C',
     lambda z, p, y: complex(abs(z.real), abs(z.imag)) ** 2 + p, None, None, 120),
    ('user)(bailout 25)(usrform "z^2 + c")(usrformInit "0.1 + 2.5e-1i',
     power(2), 0.1 + 0.25j, None, 25),
    ('user)(usrform "POWD(Z;1.2)(1-C)-.25P^2', user, None, None, 4),
]  # fmt: skip
PLANES = {
    1: lambda q: 1 / q,
    2: lambda q: 1 / q + 0.25,
    3: lambda q: q / 2 - q * q / 4,
    4: lambda q: 1 / q / 2 - (1 / q) ** 2 / 4,
    5: lambda q: (1 / q + 1) / 2 - (1 / q + 1) ** 2 / 4,
    6: lambda q: 1 / q - 1.40115,
}


def read(commands):
    end = '"' if commands.count('"') % 2 else ""
    text = f"(initstate)(formula '{commands}{end})(maxiter {LIMIT})"
    imported = xpf.read(text.encode(), "")
    return load_scene(imported.table), imported.lost


def count(step, z, p, radius2):
    """Return the steps of an orbit; one that begins outside takes none."""
    before, n = 0j, 0
    if radius2 and abs(z) ** 2 >= radius2:
        return 0
    while n < LIMIT:
        try:
            z, before = step(z, p, before), z
        except (OverflowError, ZeroDivisionError):
            return n + 1
        n += 1
        if not abs(z) ** 2 < radius2 if radius2 else abs(z - before) ** 2 <= 1e-6:
            return n
    return LIMIT


def points(scene, commands):
    """Return the points of a picture's pixels: its rows go down the imaginary axis."""
    view = xpf.FORMULAS.get(commands.partition(")")[0])
    text = (view.view if view else "-0.75 0 2.5 2.5").split()
    if "(view" in commands:
        text = commands.partition("(view ")[2].partition(")")[0].split()
    x, y, across, down = map(float, text)
    spacing = max(across / SIZE[0], down / SIZE[1])
    assert float(scene.view.width) == pytest.approx(spacing * SIZE[0])
    return [
        complex(x + (i + 0.5 - SIZE[0] / 2) * spacing, y + (j + 0.5 - SIZE[1] / 2) * spacing)
        for j in range(SIZE[1])
        for i in range(SIZE[0])
    ]


def compare(commands, counted, least=40):
    """Compare the counts of a picture with `counted(pixel)`, where a small move changes nothing."""
    scene, _ = read(commands)
    scene = scene.replace(size=SIZE, supersampling=1)
    formula = scene.make_formula()
    raw = fractals.compute(scene, device="python")
    compared = 0
    for pixel, found, z in zip(
        points(scene, commands), raw.count.ravel(), raw.z.ravel(), strict=True
    ):
        wanted = {counted(pixel + move, formula) for move in (0, 1e-8, -1e-8, 1e-8j)}
        if formula.name.startswith("magnet") and abs(z) <= 100:
            found = LIMIT  # converged
        if len(wanted) == 1:
            compared += 1
            assert int(found) in wanted, (pixel, found, wanted)
    assert compared > least


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Z^2+C", "mandelbrot"),
        ("c + z*z", "mandelbrot"),
        ("powi(z;2)+c", "mandelbrot"),
        ("powd(z,5) + c", "multibrot,power=5"),
        ("POWI(RABS(Z)+I*RABS(IM(Z));2)+C", "burning_ship"),
        ("(abs(re(z))+abs(im(z))*i)^2+c", "expression"),
    ],
)
def test_what_users_write_may_be_a_formula_of_ours(text, label):
    scene, lost = read(f'user)(usrform "{text}")(view 0 0 1e-30 1e-30')
    assert scene.make_formula().label.startswith(label)
    assert lost == ()
    started, _ = read(f'user)(usrform "{text}")(usrformInit "0.1")(perturbation 0 0')
    assert started.make_formula().name == "expression"


def test_a_formula_sets_the_first_values_of_its_view():
    """XaoS 4: set_formula in fractal.cpp."""
    before = "(view 0.1 0.2 0.3 0.3)(angle 30)(julia #t)(juliaseed 0.5 0.5)(maxiter 300)"
    (imported, plain) = (
        xpf.read(f"(initstate){more}(formula 'mandel3)".encode(), "") for more in (before, "")
    )
    assert imported.table["view"] == plain.table["view"]
    assert "julia" not in imported.table
    assert imported.table["iteration"]["max_iterations"] == 301  # orbits begin a step earlier here


@pytest.mark.parametrize("word", ["t", "true", "1"])
def test_a_truth_is_no_other_word(word):
    with pytest.raises(SceneError, match=f"julia: '{word}' is neither #t nor #f"):
        read(f"mandel)(julia {word}")


def test_every_formula_is_tried():
    names = {row[0].partition(")")[0] for row in ORBITS}
    assert names == {*FORMULAS, "user"} - {"octo", "octal", "spider"}  # see below


@pytest.mark.unwatched
@pytest.mark.filterwarnings("ignore:the formula .* has no degree")
@pytest.mark.parametrize(
    ("commands", "step", "begin", "p", "radius2"), ORBITS, ids=[row[0] for row in ORBITS]
)
def test_the_picture_is_its_picture(commands, step, begin, p, radius2):
    lost = read(commands)[1]
    assert bool(lost) == commands.startswith("magnet")

    def counted(at, formula):
        z, c = at if begin is None else complex(begin), at if p is None else complex(p)
        # Where theirs begins at the pixel, ours of f(z) + c begins a step before, at 0.
        early = begin is None and p is None and formula.begin(False, 0.3, 0.4) == (0, 0)
        return max(count(step, z, c, radius2) + early, 1)

    compare(commands, counted)


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize(
    ("commands", "step", "begin", "p", "radius2"),
    [
        ("mandel", power(2), None, None, 4),
        ("mandel3)(julia #t)(juliaseed 0.4 -0.6", power(3), None, 0.4 - 0.6j, 4),
        ("barnsley", barnsley, None, -0.6 + 1.1j, 4),
        ("newton)(julia #t)(juliaseed -1 0.2", newton, -1 + 0.2j, None, 0),
    ],
    ids=["mandel", "julia", "barnsley", "newton"],
)
@pytest.mark.filterwarnings("ignore:the formula .* has no degree")
def test_a_plane_is_a_function_of_the_pixel(plane, commands, step, begin, p, radius2):
    def counted(at, formula):
        q = PLANES[plane](at)
        z, c = q if begin is None else begin, q if p is None else p
        return min(max(count(step, z, c, radius2), 1), LIMIT)

    compare(f"{commands})(plane {plane})(view 0.31 0.17 3 3", counted)


def test_a_perturbation_moves_the_start():
    def counted(at, formula):
        return min(max(count(power(2), at + 0.3 - 0.1j, at, 4), 1), LIMIT)

    compare("mandel)(perturbation 0.3 -0.1", counted)


@pytest.mark.parametrize(
    ("commands", "start", "p"),
    [
        ("octo", None, 0j),
        ("octal)(perturbation 0 0.0375", None, 0.0375j),
        ("octo)(julia #t)(juliaseed 0.01 0.86", 0.01 + 0.86j, None),
    ],
)
def test_octo_escapes_by_its_second_variable(commands, start, p):
    """Of the pair z, w it is w that escapes; ours begins at the w of the first step."""

    def counted(at, formula):
        z, c, w = at if start is None else start, at if p is None else p, 0j
        for n in range(1, LIMIT + 1):
            z, w = z**3 + w, z + c
            if abs(w) ** 2 >= 4:
                return max(n - 1, 1)
        return LIMIT - 1  # inside

    compare(f"{commands})(view 0 0 1.6 1.6", counted)


@pytest.mark.parametrize("commands", ["spider", "spider)(julia #t)(juliaseed -0.5 0.3"])
def test_spider(commands):
    def counted(at, formula):
        z, c = at, -0.5 + 0.3j if "julia" in commands else at
        for n in range(1, LIMIT + 1):
            z = z * z + c
            c = c / 2 + z
            if abs(z) ** 2 >= 4:
                return n
        return LIMIT

    compare(f"{commands})(view -0.3 0 2.5 2.5", counted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("COSH(Z^3+C)SINH(Z^1.2)+C", lambda z, c: cmath.cosh(z**3 + c) * cmath.sinh(z**1.2) + c),
        ("POWI(RABS(Z)+I*RABS(IM(Z));2)",
         lambda z, c: complex(abs(z.real), abs(z.imag)) ** 2),
        ("powi(z,2) + c", lambda z, c: z * z + c),
        ("powd(z;2.5)2c", lambda z, c: 2 * c * z**2.5),
        ("LOGN(5;Z^2)+C", lambda z, c: cmath.log(z * z) / math.log(5) + c),
        ("log10(z) + log2(c)", lambda z, c: (cmath.log10(z) + cmath.log(c) / math.log(2))),
        ("RTNI(Z;12;5)(1-Z)+C",
         lambda z, c: abs(z) ** (1 / 12) * cmath.exp(1j * (cmath.phase(z) + 10 * math.pi) / 12)
         * (1 - z) + c),
        ("z^c", lambda z, c: cmath.exp(c * cmath.log(z))),
        ("z^2^3", lambda z, c: z**6),
        ("2z^2c/3c", lambda z, c: 2 * z * z * c / 3 * c),
        ("-z^2+[0.5;-1]z", lambda z, c: -(z * z) + (0.5 - 1j) * z),
        ("inv(z)-cot(c)+pi2 e pi_2", lambda z, c: 1 / z - 1 / cmath.tan(c) + math.pi**2 * math.e),
        ("z/2i", lambda z, c: z / 2 * 1j),
    ],
)  # fmt: skip
def test_what_users_write_has_its_value(text, wanted):
    table = {"formula": {"name": "expression", "step": translated(text, "z c p", "usrform")}}
    formula = load_scene(table).make_formula()
    for z, c in ((0.3 + 0.8j, -0.9 + 0.4j), (-0.2 - 0.7j, 1.1 - 0.5j)):
        assert abs(complex(*formula.step(z.real, z.imag, c.real, c.imag)) - wanted(z, c)) < 1e-13


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ("(formula 'beryl)", "line 1: the formula 'beryl' is unsupported"),
        ("(formula 'spider)(plane 1)", "line 1: the formula 'spider', so drawn, is unsupported"),
        ("(formula 'phoenix)(julia #f)", "'phoenix', so drawn, is unsupported"),
        ("\n(plane 7)", "line 2: (plane 7) is unsupported"),
        ('(formula \'user)(usrform "z^n")', "'n' in (usrform ...) is unsupported"),
        ('(formula \'user)(usrform "sqr(z)")', "'sqr' in (usrform ...) is unsupported"),
        ('(formula \'user)(usrform "z")(usrformInit "z")', "'z' in (usrformInit ...)"),
        ('(formula \'user)(usrform "z=3")', "usrform: 'z=3', column 2: unknown character '='"),
    ],
)
def test_the_rest_is_refused_by_name(commands, words):
    with pytest.raises(SceneError) as caught:
        xpf.read(f"(initstate){commands}".encode(), "")
    assert words in str(caught.value)


def colors_of(commands, limit=100):
    imported = xpf.read(f"(initstate)(maxiter {limit}){commands}".encode(), "")
    return load_scene(imported.table).color, imported.lost


def test_the_default_palette_has_31_colors_8_counts_apart():
    color, lost = colors_of("(formula 'mandel)")
    stops = color.make_palette().stops
    assert (len(stops), stops[0][1], stops[1][1], stops[30][1]) == (
        31, "#000000", "#7877ee", "#1f2010",
    )  # fmt: skip
    assert (color.coloring.name, color.inside, lost) == ("count", "#000000", ())
    # z = c has count 0 there and 1 here, and the color of entry 1
    assert (1 * color.density + color.offset) * 31 * 8 == pytest.approx(1)
    moved, _ = colors_of("(defaultpalette 34)(shiftpalette 11)(formula 'barnsley)")
    assert (moved.density * 5 + moved.offset) * 31 * 8 == pytest.approx(5 + 1 + 34 + 11)


def test_colors_of_a_file():
    color, lost = colors_of('(defaultpalette 0)(palettecolors "ffffff" "FCE94F" "180719")')
    assert [text for _, text in color.make_palette().stops] == ["#ffffff", "#FCE94F", "#180719"]
    assert (color.density, color.inside, lost) == (1 / 24, "#ffffff", ())
    assert colors_of('(palettecolors "ff")')[1] == (
        "the palette: (palettecolors \"ff\"), which is not known",
    )  # fmt: skip


@pytest.mark.many
@pytest.mark.parametrize("seed", [1180946604, 7, 1082198693, 427368893])
def test_colors_of_random_numbers(seed):
    """The first numbers of a seed decide the length of segments, those of the next the colors."""
    state = seed

    def number():
        nonlocal state
        state = (state * 1103515245 + 12345) & 0xFFFFFF
        return state

    second = number()
    white = number() % 2
    length = 0
    for _ in range(4):
        length += int(number() / 0xFFFFFF * 89)
    length = max(8, abs(length // 2 - 85 + 3))
    state, colors = second, []
    if white:
        colors.append((255, 255, 255))
    while len(colors) < 6:
        dark = len(colors) % 2 == (1 if white else 0)
        colors.append(tuple(number() % (35 if dark else 256) for _ in range(3)))
    found = of_seed(1, seed, 1000)
    assert found.length == length
    assert found.colors[:6] == [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in colors]
    assert len(found.colors) * length > 1000
    state = second
    middle = "#" + "".join(f"{number() % 256:02x}" for _ in range(3))
    ends = ["#000000", "#ffffff"] if white else ["#ffffff", "#000000"]
    found = of_seed(2, seed, 1000)
    assert found.colors[:3] == [ends[0], middle, ends[1]]
    state = second
    saturation, hue, value = number() % 256, number() % 96 + 58, number() % 128
    found = of_seed(3, seed, 1000)
    assert (found.colors[0], found.colors[3]) == ("#000000", "#ffffff")
    rgb = colorsys.hsv_to_rgb(hue / 256, saturation / 256, value / 255)
    given = bytes.fromhex(found.colors[1][1:])
    assert all(abs(255 * a - b) < 3 for a, b in zip(rgb, given, strict=True))


@pytest.mark.parametrize(
    ("commands", "lines"),
    [
        ("(outcoloring 5)", []),
        ("(outcoloring 6)", []),
        ("(outcoloring 5)(formula 'newton)", []),
        ("(outcoloring 6)(formula 'newton)", ["the coloring outside by the count, downwards"]),
        ("(outcoloring 7)", []),
        (
            "(outcoloring 7)(formula 'newton)",
            ["the coloring outside by the logarithm of |z|² over"],
        ),
        ("(outcoloring 99)", ["the coloring outside by an unknown rule"]),
        ("(incoloring 1)", []),
        ("(incoloring 2)", ["the colors of a quarter of the directions (incoloring 2)"]),
        ("(incoloring 3)(outcoloring 6)", []),
        ("(incoloring 7)", []),
        ("(incoloring 8)(plane 1)", ["the coloring inside by Re z Im z Re c Im c (incoloring 8)"]),
        ("(incoloring 5)(formula 'phoenix)", ["the coloring inside by waves of Re z Im z"]),
        ("(incoloring 4)(formula 'trice)(julia #t)", ["the coloring inside by the distance"]),
        (
            "(incoloring 10)",
            ["the coloring inside by true colors of Re z and Im z (incoloring 10)"],
        ),
        ("(incoloring 1)(formula 'octo)", ["the coloring inside by the size of the last z"]),
        (
            "(incoloring 1)(formula 'magnet)",
            ["the test of having", "the coloring inside by the size"],
        ),
        ("(outcoloring 10)(outtcoloring 3)", ["the coloring outside by true colors"]),
        ("(filter 'edge2 #t)(filter 'anti #t)(filter 'emboss #f)", ["edges drawn as lines"]),
        ("(filter 'odd #t)", ["the filter 'odd', which is not known"]),
        ("(palette 9 1 2)", ["the palette: (palette 9 1 2), which is not known"]),
        ("(bailout 1)", ["the bailout of 1: 4 is the least"]),
        ('(text "two\nlines")', ["(text ...), which is not known"]),
        ("(cycling #t)(cyclingspeed 30)(periodicity #f)(outcoloring 9)", []),
    ],
)
def test_what_a_picture_lacks_is_said(commands, lines):
    lost = colors_of(commands)[1]
    assert len(lost) == len(lines)
    assert all(line.startswith(start) for line, start in zip(lost, lines, strict=True))


def test_the_direction_of_the_last_point_goes_round_the_palette():
    """As its arithmetic: (atan2(x, y) / 2 pi + 3/4) 20000 / 256 counts."""
    for name in ("mandel", "barnsley"):  # the first one is drawn as the conjugate
        color, _ = colors_of(f"(formula '{name})(outcoloring 8)")
        way = -1 if name == "mandel" else 1
        for z in (1 + 2j, -2 + 1j, -1 - 3j):
            wanted = (math.atan2(z.real, z.imag) / math.tau + 0.75) * 20000 / 256 + 1
            turns = cmath.phase(complex(z.real, way * z.imag)) / math.tau % 1
            found = (turns * color.density + color.offset) * 31 * 8
            assert math.cos(math.tau * (found - wanted) / 248) == pytest.approx(1)


@pytest.mark.parametrize(
    ("rule", "parts"),
    [(1, lambda x, y: x), (2, lambda x, y: y), (3, lambda x, y: x / y),
     (4, lambda x, y: x + y + x / y)],
)  # fmt: skip
@pytest.mark.parametrize("name", ["mandel", "barnsley"])
def test_parts_of_the_last_point_are_added_to_counts(name, rule, parts):
    """As its arithmetic: the count, plus parts of z (Jan Hubicka and Thomas Marsh's XaoS)."""
    color, lost = colors_of(f"(formula '{name})(outcoloring {rule})")
    assert not lost
    plain, _ = colors_of(f"(formula '{name})")
    assert (color.density, color.offset) == (plain.density, plain.offset)
    own = color.coloring
    way = -1 if name == "mandel" else 1  # the first one is drawn as the conjugate
    for z in (1 + 2j, -2 + 1.5j, -1.5 - 3j):
        x, y = z.real, way * z.imag
        found = own.real * x + own.imag * y + own.quotient * x / y
        assert found == pytest.approx(parts(z.real, z.imag))


@pytest.mark.parametrize(
    ("rule", "entry"),
    [
        (1, lambda z, c: 2 + abs(z) ** 2 * (LIMIT // 2)),
        (2, lambda z, c: 1 + (math.atan2(z.real, z.imag) / math.tau + 0.75) * 20000 / 256),
        (3, lambda z, c: 1 + 100 / 256 + 10 * z.real / z.imag),
        (
            4,
            lambda z, c: (
                1 + LIMIT / 256 + 64 * (abs(abs(c.imag) - abs(z.real)) + abs(c.imag - abs(z.imag)))
            ),
        ),
        (
            5,
            lambda z, c: (
                1
                + 256
                * (math.cos if int(abs(z) ** 2 * 10) % 2 else math.sin)(
                    z.real * z.imag * c.real * c.imag
                )
            ),
        ),
        (6, lambda z, c: 1 + 256 * abs(z) ** 2 * math.cos(z.real**2)),
        (7, lambda z, c: 1 + 256 * math.sin(z.real**2 - z.imag**2)),
        (8, lambda z, c: 1 + 64 * math.atan(z.real * z.imag * c.real * c.imag)),
        (
            9,
            lambda z, c: (
                1
                + 20000
                / 256
                * (
                    0.75
                    + (
                        math.atan2(z.real, z.imag)
                        if int(abs(z.real) * 40) % 2 != int(abs(z.imag) * 40) % 2
                        else math.atan2(z.imag, z.real)
                    )
                    / math.tau
                )
            ),
        ),
    ],
)
@pytest.mark.parametrize("name", ["mandel", "trice", "mandel)(julia #t)(juliaseed -0.7 0.3"])
def test_colors_inside_by_the_last_point(name, rule, entry):
    """z is that after as many steps as XaoS takes from the pixel, on its plane."""
    size = (16, 12)
    scene, _ = read(f"{name})(palettecolors {NINE})(incoloring {rule})(view -0.3 0.1 2 1.5")
    scene = scene.replace(size=size, supersampling=1)
    raw = fractals.compute(scene, device="python")
    pixels = fractals.recolor(raw, device="python").pixels
    palette = scene.color.make_palette()
    seen = 0
    for j in range(size[1]):
        for i in range(size[0]):
            p = complex(-0.3 + 2 * ((i + 0.5) / 16 - 0.5), 0.1 + 1.5 * ((j + 0.5) / 12 - 0.5))
            z, c = p, -0.7 + 0.3j if "julia" in name else p
            step = trice if name == "trice" else power(2)
            for _ in range(LIMIT):
                z = step(z, c, 0) if abs(z) < 2 else z
            if abs(z) >= 2 or abs(z.imag) < 0.02 or (rule == 2 and z.real > 0 > z.imag):
                continue
            edges = [10 * abs(z) ** 2] if rule == 5 else [40 * z.real, 40 * z.imag] * (rule == 9)
            if any(abs(edge - round(edge)) < 1e-3 for edge in edges):
                continue
            wanted = 255 * srgb_from_linear(palette.linear(np.array([entry(z, c) / 72 % 1]))[0])
            assert np.abs(wanted - pixels[j, i]).max() < 3, (p, z)
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("bailout", [4, 100])
@pytest.mark.parametrize("name", ["mandel", "trice", "mandel)(julia #t)(juliaseed -0.7 0.3"])
def test_the_potential_falls_with_the_count(name, bailout):
    """XaoS: 256 roots of log |z|² over 256 times the count, in counts."""
    given = f"{name})(bailout {bailout})(palettecolors {NINE})(outcoloring 7)(view -0.3 0.1 2 1.5"
    scene, lost = read(given)
    assert not lost
    scene = scene.replace(size=(24, 18), supersampling=1)
    raw = fractals.compute(scene, device="python")
    pixels = fractals.recolor(raw, device="python").pixels
    palette = scene.color.make_palette()
    seen = 0
    for (j, i), found in np.ndenumerate(raw.count):
        p = complex(-0.3 + 2 * ((i + 0.5) / 24 - 0.5), 0.1 + 1.5 * ((j + 0.5) / 18 - 0.5))
        z, c = p, -0.7 + 0.3j if "julia" in name else p
        step = trice if name == "trice" else power(2)
        count = 0
        while abs(z) ** 2 < bailout and count < LIMIT:
            z, count = step(z, c, 0), count + 1
        if LIMIT in (count, found) or count == 0:
            continue
        assert count in (found, found - 1)
        entry = 1 + 256 * math.sqrt(math.log(abs(z) ** 2) / (256 * count))
        wanted = 255 * srgb_from_linear(palette.linear(np.array([entry / 72 % 1]))[0])
        assert np.abs(wanted - pixels[j, i]).max() < 3, (p, z)
        seen += 1
    assert seen > 50


@pytest.mark.parametrize("bailout", [4, 100])
@pytest.mark.parametrize("rule", [5, 6])
@pytest.mark.parametrize("name", ["mandel", "trice", "mandel)(julia #t)(juliaseed -0.7 0.3"])
def test_counts_run_down_in_some_cells(name, rule, bailout):
    """Pixels have the colors of 1 + the count, or of 1 + the limit - the count, in some cells."""
    scene, lost = read(f"{name})(bailout {bailout})(palettecolors {NINE})(outcoloring {rule}")
    assert not lost
    scene = scene.replace(size=(16, 12), supersampling=1)
    raw = fractals.compute(scene, device="python")
    pixels = fractals.recolor(raw, device="python").pixels.reshape(-1, 3)
    palette = scene.color.make_palette()
    early = int(name == "mandel")
    seen = set()
    for count, z, pixel in zip(raw.count.ravel(), raw.z.ravel(), pixels, strict=True):
        if count == LIMIT + early:
            assert pixel.tolist() == [0, 0, 0]  # the first color
            continue
        x, y = z.real, -z.imag if name.startswith("mandel") else z.imag
        down = y > 0 if rule == 5 else min(abs(x), abs(y)) < 2
        seen.add(down)
        entry = 1 + (LIMIT - (count - early) if down else count - early)
        wanted = palette.linear(np.array([entry / 72 % 1]))[0]
        assert np.abs(255 * srgb_from_linear(wanted) - pixel).max() < 2, (count, z)
    assert seen == {True, False} or (rule, bailout) == (6, 4)


@pytest.mark.filterwarnings("ignore:the formula .* has no degree")
@pytest.mark.parametrize("name", ["magnet", "parjulia1", "phoenix1", "edge2", "octo", "dark"])
def test_samples_are_not_blank(data, name):
    path = next((data / "formats" / "xpf").glob(f"*__{name}.xpf"))
    scene = load_scene(path, {"image": {"size": [16, 9], "supersampling": 1}})
    raw = fractals.compute(scene.replace(max_iterations=100), device="python")
    assert len(set(raw.count.ravel().tolist())) > 4
