"""Scenes of Fraktaler-3, rust-fractal, XaoS and Fractint, and what no file may do to a parser."""

import cmath
import contextlib
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import gradients

import fractals
from fractals import Scene, catalog
from fractals.errors import SceneError
from fractals.io.foreign import first_of
from fractals.io.foreign._par_colors import colors_of
from fractals.io.foreign._view import FOLDS
from fractals.io.load import load_scene

NAMES = ("flame", "fraktaler3", "frm", "ifs", "kfr", "par", "rust_fractal", "ufm", "upr", "xpf")
flame, fraktaler3, frm, ifs, kfr, par, rust_fractal, ufm, upr, xpf = map(gradients.format_of, NAMES)


def read(form, text, entry=""):
    """Return the scene of a text, and what was lost."""
    imported = form.read(text.encode(), entry)
    return load_scene(imported.table), imported.lost


def corners(scene):
    """Return the top left, bottom left and bottom right corner of a view."""
    across, down = scene.image.size
    width = float(scene.view.width)
    half = complex(width, width * down / across) / 2
    turn = cmath.exp(1j * math.radians(scene.view.rotation))
    center = complex(*map(float, scene.view.center))
    return [
        center + turn * move for move in (complex(-half.real, half.imag), -half, half.conjugate())
    ]


FOLDING = {
    "absx": lambda z: complex(abs(z.real), z.imag),
    "absy": lambda z: complex(z.real, abs(z.imag)),
    "negx": lambda z: complex(-z.real, z.imag),
    "negy": lambda z: complex(z.real, -z.imag),
}


@pytest.mark.parametrize(("before", "after"), FOLDS)
def test_folds_are_our_formulas(before, after):
    """Signs are taken away first; at c, or at its conjugate, the picture is ours."""
    kin = FOLDS[before, after]
    formula = Scene().replace(formula=kin.formula).make_formula()
    for z in (0.3 + 0.8j, -0.9 + 0.4j, -0.2 - 0.7j, 1.1 - 0.5j):
        w, c = z, 0.2 - 0.6j
        for name in sorted(before):
            w = FOLDING[name](w)
        w = w * w
        for name in sorted(after):
            w = FOLDING[name](w)
        w += c
        x, y = formula.step(z.real, z.imag, c.real, c.imag)
        assert not kin.same or abs(complex(x, y) - w) < 1e-14
        x, y = formula.step(z.real, -z.imag, c.real, -c.imag)
        assert not kin.conjugate or abs(complex(x, -y) - w) < 1e-14


# Fraktaler-3


def test_fraktaler_defaults():
    scene, lost = read(fraktaler3, 'program = "fraktaler-3"')
    assert scene.make_formula().name == "mandelbrot"
    assert (scene.view.center, scene.image.size) == (("0", "0"), (1024, 576))
    assert float(scene.view.width) == pytest.approx(4 * 1024 / 576)
    assert (scene.iteration.max_iterations, scene.iteration.escape_radius) == (1024, 625)
    assert lost == ()


def test_fraktaler_view():
    text = (
        'location.real = "-1.75"\nlocation.imag = "0.03"\nlocation.zoom = "1.5e300"\n'
        "bailout.iterations = 5000\ntransform.rotate = 30.0\nimage.width = 90\nimage.height = 90\n"
    )
    scene, lost = read(fraktaler3, text)
    assert scene.view.center == ("-1.75", "0.03")
    assert Decimal(scene.view.width) == Decimal("2.666666666666666666666667E-300")
    assert (scene.view.rotation, scene.iteration.max_iterations, lost) == (30, 5000, ())
    scene, lost = read(fraktaler3, text + "transform.reflect = true\n")
    assert (scene.view.center, scene.view.rotation, lost) == (("-1.75", "-0.03"), 30, ())
    _, lost = read(fraktaler3, text + "transform.stretch_amount = 1e4\n[colour]\nshader='x'\n")
    assert lost == ("the stretched view (transform.stretch_amount = 10000)", "'colour'")


@pytest.mark.parametrize("reflect", ["false", "true"])
@pytest.mark.parametrize(("amount", "along"), [(0, 0), (70, 0), (70, 35), (-50, 20)])
@pytest.mark.parametrize("ship", [False, True])
def test_the_view_of_fraktaler_is_its_matrix(reflect, amount, along, ship):
    """Its matrix.h: ``R T S T' G``, R by the sign of G times `rotate`; y points up."""
    text = (
        'location.real = "-0.4"\nlocation.imag = "0.3"\nlocation.zoom = "2.5"\n'
        f"bailout.iterations = 50\ntransform.rotate = 25\ntransform.reflect = {reflect}\n"
        f"transform.stretch_amount = {amount}\ntransform.stretch_angle = {along}\n"
        "image.width = 16\nimage.height = 12\n[[formula]]\n"
    ) + "abs_x = true\nabs_y = true\n" * ship
    scene, lost = read(fraktaler3, text)
    own, again = scene.to_table(), read(fraktaler3, fraktaler3.write(scene.to_table())[0].decode())
    assert lost == ()
    assert again[0].to_table()["view"] == own["view"]
    sign = -1 if reflect == "true" else 1
    factor, turned = 2 ** (amount / 100), sign * math.radians(25)
    a = math.radians(along)

    def turn(by):
        return np.array([[math.cos(by), -math.sin(by)], [math.sin(by), math.cos(by)]])

    matrix = turn(turned) @ turn(a) @ np.diag([factor, 1 / factor]) @ turn(a).T
    matrix = matrix @ np.diag([1, sign])
    raw = fractals.compute(scene.replace(supersampling=1), device="python")
    different = 0
    for j in range(12):
        for i in range(16):
            spacing = 4 / 2.5 / 12
            x, y = matrix @ [(i + 0.5 - 8) * spacing, (6 - j - 0.5) * spacing]
            c, z, n = complex(-0.4 + x, 0.3 + y), 0j, 0
            while n < 50 and abs(z) <= 625:
                z = (complex(abs(z.real), abs(z.imag)) if ship else z) ** 2 + c
                n += 1
            different += n != raw.count[j, i] and n < 40
    assert different <= 2


@pytest.mark.parametrize(
    ("opcodes", "label"),
    [
        ("sqr add", "mandelbrot"),
        ("store sqr mul add", "multibrot,power=3"),
        ("store sqr mul sqr mul add", "multibrot,power=7"),
        ("sqr sqr sqr add", "multibrot,power=8"),
        ("absx absy sqr add", "burning_ship"),
        ("absy sqr add", "perpendicular_burning_ship"),
        ("negy sqr add", "tricorn"),
        ("sqr absx add", "celtic"),
        ("sqr absx absy add", "buffalo"),
    ],
)
def test_opcodes_are_formulas(opcodes, label):
    scene, _ = read(fraktaler3, f'[[formula]]\nopcodes = "{opcodes}"')
    assert scene.make_formula().label == label


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("[[formula]]\nabs_x = true\nneg_x = true\n", "(-conj(absx(z)))^2 + c"),
        ("[[formula]]\nabs_y = true\npower = 3\n", "absy(z)^3 + c"),
        ("[[formula]]\n[[formula]]\nabs_x = true\npower = 4\n", "z^2 + c; absx(z)^4 + c"),
    ],
)
def test_steps_in_turn_are_expressions_and_are_written_back(text, step):
    scene, _ = read(fraktaler3, text)
    assert scene.make_formula().parameters["step"] == step
    written, _ = fraktaler3.write(scene.replace(max_iterations=99).to_table())
    assert load_scene(fraktaler3.read(written, "").table).formula == scene.formula


def test_opcodes_after_a_higher_power_are_expressions():
    scene, _ = read(fraktaler3, '[[formula]]\nopcodes = "absy store sqr mul absx add"')
    assert scene.make_formula().parameters["step"] == "absx(absy(z)^3) + c"
    with pytest.raises(SceneError, match="has no formula"):
        fraktaler3.write(scene.replace(max_iterations=99).to_table())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[formula]]\n" * 9, "9 steps in turn, and 8 are the most"),
        ("[[formula]]\npower = 1\n", "formula.power: 1 is not from 2 to 64"),
        ('[[formula]]\nopcodes = "sqr"\n', "formula.opcodes: 'sqr' is unsupported"),
        ('[[formula]]\nopcodes = "sqr add sqr add"\n', "'sqr add sqr add' is unsupported"),
        ("formula = 3\n", "formula: a list of tables was expected"),
        ("location.zoom = -1\n", "location.zoom: '-1' is not greater than 0"),
        ("image.width = 0\n", "image: 0x576 is no size"),
        ("transform.exponential_map = true\n", "that projection is unsupported"),
        ("transform.reflect = 0\n", "transform.reflect: '0' is neither true nor false"),
        ("[[formula]]\nabs_x = 1\n", "formula.abs_x: '1' is neither true nor false"),
        ("location.real = [1]\n", "location.real: [1], a list, is not a finite real number"),
        ("a = 1\nb =\n", "line 2"),
    ],
)
def test_fraktaler_files_are_refused(text, words):
    with pytest.raises(SceneError) as caught:
        read(fraktaler3, text)
    assert words in str(caught.value)


# rust-fractal


def test_rust_fractal():
    text = 'real = "-0.5"\nimag = "0.25"\nzoom = "2.0E3"\niterations = 77\nrotate = -50.0\n'
    scene, lost = read(
        rust_fractal, text + "image_width = 80\nimage_height = 40\nlighting = true\n"
    )
    assert scene.view.center == ("-0.5", "0.25")
    assert (float(scene.view.width), scene.view.rotation) == (0.004, -50)
    assert (scene.iteration.max_iterations, scene.image.size, scene.view.mirror) == (
        77,
        (80, 40),
        True,
    )
    assert [line.partition(",")[0] for line in lost] == [
        "the formula",
        "'lighting = True'",
    ]


# XaoS


def test_xaos():
    text = """;A comment (view 1 2 3 4)
(initstate) (maxiter 9)
(initstate)
(formula 'mandel3)(view -0.25 0.5
 0.9 0.1) (angle 400) (maxiter 500)
(outcoloring 0) (text "a ; (b)")
"""
    scene, lost = read(xpf, text)
    assert scene.make_formula().label == "multibrot,power=3"
    assert (scene.view.center, scene.view.width) == (("-0.25", "-0.5"), "0.9")
    assert scene.view.rotation == 40
    assert scene.iteration.max_iterations == 501  # an orbit begins a step earlier here
    assert lost == ("(text ...), which is not known",)
    high, _ = read(xpf, "(view 0 0 0.1 0.9)")  # all of it is shown
    assert float(high.view.width) == pytest.approx(1.6)


def test_xaos_julia_sets_are_conjugate_too():
    text = "(formula 'mandel)(juliaseed 0.1 -0.7){}(view 0.5 0.25 3 3)"
    assert read(xpf, text.format("(julia #t)"))[0].julia == ("0.1", "0.7")
    assert read(xpf, text.format("(julia #t)"))[0].view.center == ("0.5", "-0.25")
    assert read(xpf, text.format(""))[0].julia is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(view 0 0 1 1)\n(plane 9)", "line 2: (plane 9) is unsupported"),
        ("(view 0 0 1 1)(perturbation 0.1)", "(perturbation ...) has 2 arguments"),
        ("(formula 'koch)", "line 1: the formula 'koch' is unsupported"),
        ('\n(formula \'user)(usrform "z^2 + n")', "line 2: 'n' in (usrform ...) is unsupported"),
        ('(formula \'user)(usrform "z*(")', "line 1: usrform: 'z*(', column 4: a number, z,"),
        ("(formula 'phoenix)(julia #f)", "line 1: the formula 'phoenix', so drawn, is unsupported"),
        ("(view 0 0 1)", "line 1: (view ...) has 4 arguments"),
        ("(view 0 x 1 1)", "line 1: view: 'x' is not a decimal number"),
        ("(view 0 0 0 1)", "line 1: view: '0' is not greater than 0"),
        ("(view 0 0 1 1", "line 1: a bracket is never closed"),
        ("((view 0 0 1 1))", "line 1: a list in a list"),
        ("(view 0 0 1 1)\n)", "line 2: ')' is out of place"),
        ('(view 0 0 1 1)(text "open)', "'\"' is out of place"),
        ("()", "line 1: an empty command"),
        ("(hello)", "no command of XaoS"),
        ("(a)" * 10_001, "at most 10000 commands"),
    ],
)
def test_xaos_files_are_refused(text, words):
    with pytest.raises(SceneError) as caught:
        read(xpf, text)
    assert words in str(caught.value)


# Fractint

MANY = """; first of all
comment { nothing = here }
Plain { ; a comment
  reset=1960 type=mandel corners=-2.5/1.5/-1.5/1.5 maxiter=300
}
 Second {type=julia params=-0.8/0.156 center-mag=0.1/-0.2/2\\
   .5/1/30 colors=000zzz<2>0000zz
   float=y}
frm:Some { z = pixel: z = z*z }
"""


def test_fractint_takes_the_first_or_the_named():
    scene, lost = read(par, MANY)
    assert scene.view.center == ("-0.5", "0.0")
    assert float(scene.view.width) == pytest.approx(3 * 16 / 9)
    assert scene.iteration.max_iterations == 300
    assert lost == (first_of(2),)
    scene, lost = read(par, MANY, "second")
    assert (scene.julia, scene.view.center) == (("-0.8", "0.156"), ("0.1", "-0.2"))
    assert float(scene.view.width) == pytest.approx(0.8 * 16 / 9)
    assert scene.view.rotation == -30
    assert lost == ()


def test_fractint_colors():
    scene, _ = read(par, MANY, "Second")
    stops = scene.color.make_palette().stops
    assert [color for _, color in stops] == ["#ffffff", "#aaaaaa", "#555555", "#000000", "#00ffff"]
    # Fractint counts a step less in a Julia set: count 2 has color 1, the first of those that go
    # round.
    assert scene.color.coloring.name == "count"
    for count in (2, 5, 8):
        turns = scene.color.density * count + scene.color.offset
        assert turns % 1 * len(stops) == pytest.approx((count - 2) % len(stops))
    scene, _ = read(par, "a {colors=00000e_`z inside=1 bailout=9 maxiter=5}")
    assert scene.color.inside == "#0000aa"
    assert (scene.iteration.escape_radius, scene.iteration.max_iterations) == (3, 5)
    assert colors_of("0Aa_`z", "") == ["#00289a", "#9296ff"]


@pytest.mark.parametrize("turned", [0, 25, -100])
def test_fractint_corners_are_the_view(turned):
    """Top left, bottom right and bottom left, as the file has them."""
    turn = cmath.exp(1j * math.radians(turned))
    a, b, c = (
        complex(0.3, -0.2) + turn * move
        for move in (complex(-4, 3), complex(4, -3), complex(-4, -3))
    )
    text = f"x {{corners={a.real}/{b.real}/{b.imag}/{a.imag}/{c.real}/{c.imag}}}"
    scene, lost = read(par, text)
    found = corners(scene.replace(size=(400, 300), width=8))
    assert max(abs(p - q) for p, q in zip(found, (a, c, b), strict=True)) < 1e-6
    assert float(scene.view.width) == pytest.approx(6 * 16 / 9)
    assert lost == ()


def test_fractint_deep_corners_keep_their_digits():
    text = "x { corners=0.1{0}1/0.1{0}5/0.2{0}1/0.2{0}4 }".replace("{0}", "0" * 400)
    scene, lost = read(par, text)
    assert scene.view.center == ("0.1" + "0" * 400 + "3", "0.2" + "0" * 400 + "25")
    assert Decimal(scene.view.width).adjusted() == -402
    assert lost == ()


@pytest.mark.parametrize(
    ("keys", "label"),
    [
        ("type=mandelfp", "mandelbrot"),
        ("type=manzpower params=0/0/4", "multibrot,power=4"),
        ("type=manzpower params=0/0/3", "multibrot,power=3"),
        ("type=julzpower params=0.1/0.2/5", "multibrot,power=5"),
    ],
)
def test_fractint_types(keys, label):
    assert read(par, f"a {{ {keys} }}")[0].make_formula().label == label


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("center-mag=0/0/1/0.5/0/89.99999", "the skewed view (line 1: center-mag: 90 degrees)"),
        ("center-mag=0/0/1/1e9", "the stretch of the view (line 1: center-mag: a factor of 1e+09)"),
        ("corners=-1/1/-2/2/0/1e-7", "the skewed view (line 1: corners)"),
        ("center-mag=0/0/1/1e-308/45/10", "the skewed view (line 1: center-mag: 10 degrees)"),
        ("corners=-1e-400/1e-400/-2/2/1e-401/1", "the skewed view (line 1: corners)"),
        ("colors=@blues.map", "the palette in the file 'blues.map'"),
        ("logmap=10", "the curve of colors (logmap=10)"),
        ("inside=foo", "the coloring inside ('inside=foo')"),
        ("frobnicate=yes", "'frobnicate=yes', not known"),
        ("type=lyapunov params=0/0.5/1e7", "1e+07 steps left out: 1000000 are the most"),
    ],
)
def test_fractint_losses_are_listed(keys, words):
    assert [line for line in read(par, f"a {{ {keys} }}")[1] if words in line]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file has no entry"),
        ("a {\n type=unity\n}", "a: line 2: type: the type 'unity' is unsupported"),
        ("a { initorbit=1/0 }", "a: line 1: initorbit: 'initorbit=1/0' is unsupported"),
        ("a { type=burning-ship params=0/0/1 }", "'burning-ship params=0/0/1' is unsupported"),
        ("a { invert=1/0 }", "a: line 1: invert: 2 values, and not 3: others depend on the screen"),
        ("frm:a { z = c", "line 1: the entry 'a' is never closed"),
        ("a { center-mag=0/0 }", "a: line 1: center-mag: 2 values, and 3 are the fewest"),
        ("a { center-mag=0/0/0 }", "a: line 1: center-mag: a magnification of 0 shows nothing"),
        ("a { corners=1/1/0/2 }", "a: line 1: corners: the corners lie on one another"),
        ("a { corners=1/2/3 }", "a: line 1: corners: 3 values, and not 4 or 6"),
        ("a { corners=1/x/3/4 }", "a: line 1: corners: 'x' is not a decimal number"),
        ("a { type=lyapunov params=0/0.5/-9 }", "line 1: params: -9 steps left out"),
        ("a { maxiter=x }", "a: line 1: maxiter: 'x' is not a whole number"),
        *((f"a {{ maxiter={n} }}", "Fractint takes 2 or more") for n in (-3, 0, 1, 1.9)),
        ("a { colors=00!000 }", "a: line 1: colors: '00!000', after 0 colors"),
        ("\nstray words\n", "the file has no entry"),
        ("a { type=mandel", "line 1: the entry 'a' is never closed"),
        ("a {}\n" * 2 + "".join(f"b{k} {{}}\n" for k in range(10_000)), "at most 10000 entries"),
    ],
)
def test_fractint_files_are_refused(text, words):
    with pytest.raises(SceneError) as caught:
        read(par, text)
    assert words in str(caught.value)


@pytest.mark.parametrize("number", ["x2", "50%"])
def test_numbers_of_a_file_are_no_options_of_the_command_line(number):
    with pytest.raises(SceneError, match=f"'{number}' is not a decimal number .*6'$"):
        read(par, f"a {{ corners=1/{number}/3/4 }}")


def test_numbers_beyond_those_of_a_scene_are_told():
    text = 'program = "fraktaler-3"\nlocation.zoom = "1"\nbailout.escape_radius = 0.5\n'
    assert "the escape radius of 0.5: 2 is the least" in read(fraktaler3, text)[1]
    text = '<flame oversample="99"><xform weight="1" linear="1" coefs="1 0 0 1 0 0"/></flame>'
    scene, lost = read(flame, text)
    assert (scene.image.supersampling, "oversample 99: 16 is the most" in lost) == (16, True)


@pytest.mark.parametrize("steps", [0, -5])
def test_a_limit_below_1_is_told(steps):
    scene, lost = read(xpf, f"(initstate)(maxiter {steps})")
    assert scene.iteration.max_iterations == 1 + 1
    assert lost == (f"the limit of {steps} iterations: 1 is the least",)


# Whatever is in a file, it is a scene or a `SceneError`.

VALID = {
    kfr: "Re: -1.75\r\nIm: 0.01\r\nZoom: 1E30\r\nIterations: 100\r\nIterDiv: 0.1\r\n"
    "ColorMethod: 1\r\nColors: 1,2,3,4,5,6,\r\nPower: 2\r\nFractalType: 0\r\nSmooth: 1\r\n"
    "RotateAngle: 30\r\nUseHybridFormula: 1\r\n"
    "HybridFormula: 0/1|1,1,0,0,2,1,0;0,0,0,0,0,0,0;0\r\nImageWidth: 9\r\n",
    fraktaler3: 'location.real = "-1.75"\nlocation.zoom = "1e9"\nbailout.iterations = 99\n'
    'transform.rotate = 3.5\nimage.width = 8\n[[formula]]\nopcodes = "absx sqr add"\npower = 2\n',
    rust_fractal: 'real = "0.5"\nimag = "1e-5"\nzoom = "1E50"\niterations = 10\nrotate = 0.5\n',
    xpf: "(initstate)\n(formula 'mandel)(view 0 0.5 1e-3 1)(angle -30.5)(julia #t)\n"
    '(juliaseed 0.1 0.2)(maxiter 500);x\n(usrform "z^2")(plane 0)\n',
    flame: '<flame name="a" size="9 7" center="0 0" scale="3" quality="9"><xform weight="1" '
    'linear="1" coefs="0.5 0 0 0.5 1 0"/><xform weight="0.5" swirl="1" coefs="0 1 1 0 0 0" '
    'chaos="1 0.5"/><palette count="2" format="RGB">000000FFFFFF</palette></flame>',
    ifs: "own { .5 0 0 .5 0 0 .33\n .5 0 0 .5 .5 0 .33\n .5 0 0 .5 .25 .5 .34 }",
    frm: "one(XAXIS) { ; words\n z = c = pixel:\n z = sqr(z) + c\n |z| <= 4\n}\n"
    "Second { z = 0, n = p1:\n if (n < 2)\n z = fn1(z)^p2\n else\n z = |z| + pixel\n endif\n"
    "n = n + 1, |z| <= 4 && n < 9 }\nt { z = pixel: z = fn2(z) + p3, |z| < 4 }",
    par: MANY + "z{type=manzpower params=0/0/3 logmap=yes inside=0 colors=0123<9>abc bailout=9}"
    "t{type=fn+fn function=cos/sqr params=1/0.5}u{type=phoenix params=0.5/-0.5/0}"
    "frm:own(XAXIS) { z = pixel, n = 0:\n if (n < 2)\n z = fn1(z)^p1\n else\n z = |z| + pixel\n"
    "endif\n n = n + 1, |z| <= 4 && n < 9 }w{type=formula formulaname=own params=1.5/0.2}",
    ufm: 'One {\ninit:\n float n = 0, z = #pixel\nloop:\n if @mode == "b"\n z = @fn1(z)^@p\n'
    " else\n z = |z| + #pixel\n endif\n n = n + 1\nbailout:\n |z| <= 4 && n < 9\ndefault:\n"
    'param mode\n enum = "a" "b"\n default = 1\n endparam\n'
    "param p\n default = (2, 0.5)\n endparam\n}",
    upr: "a {\nfractal:\n width=8 height=6 layers=1\nlayer:\n"
    "mapping:\n center=-0.5/0.1 magn=2 angle=9\n"
    'formula:\n maxiter=90 filename="Standard.ufm" entry="Mandelbrot" p_power=3/0 p_bailout=16\n'
    "gradient:\n index=0 color=255 index=130 color=16711680\n}",
}


def test_every_format_has_a_sample_that_the_tests_write():
    """Files of other programs are not in the repository, so a plain checkout needs samples."""
    views = {form.name for form in VALID}
    palettes = set(gradients.VALID) | gradients.SWATCHES
    assert views | palettes == set(catalog.names("format"))
    for form, text in VALID.items():
        assert load_scene(form.read(text.encode(), "").table)


WRITINGS = {
    "a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "a Mac of 1995": lambda text: text.replace("\n", "\r").encode(),
    "DOS": lambda text: text.replace("\n", "\r\n").encode() + b"\r\n\x1a\0\0",
    "tabs": lambda text: text.replace("\n", "\t\n").replace(" ", "\t").encode(),
}


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("form", VALID, ids=lambda form: form.name)
def test_what_an_editor_makes_of_a_file_changes_nothing(form, writing):
    if (form, writing) == (flame, "DOS"):
        pytest.skip("XML has no end but that of its first element")
    text = VALID[form].replace("\r\n", "\n")
    plain = form.read(text.encode(), "")
    again = form.read(WRITINGS[writing](text), "")
    assert (again.table, again.lost) == (plain.table, plain.lost)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (par, "a { type=mandel } NAME { type=mandel }"),
        (upr, VALID[upr].replace("a {", "NAME {", 1)),
        (ifs, VALID[ifs].replace("own", "NAME")),
        (frm, "A { z = 1: z = 2 } NAME { z = pixel: z = z*z + pixel, |z| < 4 }"),
        (flame, VALID[flame].replace('name="a"', 'name="NAME"')),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_names_as_western_windows_writes_them(form, text):
    name = "Fée_d’été"
    data = text.replace("NAME", name).encode("cp1252")
    assert name in dict(form.entries(data))
    assert form.read(data, name).table


PIECES = st.one_of(
    st.text(max_size=8),
    st.sampled_from([*":=/(){}'\";#-.e[]\n\x00\x1a", "[[", "\\\n"]),
    st.sampled_from(["1e999999", "1e-999999", "9" * 30, "nan", "inf", "0", "-1", "1e400", "٣"]),
    st.sampled_from(["true", "1_0", "0x10", "1/0", "2020-01-01", "99999999999999999999", "<999>"]),
)


def settles(form, data, entry=""):
    with contextlib.suppress(SceneError):
        load_scene(form.read(data, entry).table)
    with contextlib.suppress(SceneError):
        if entries := form.entries:
            entries(data)


@pytest.mark.parametrize("form", VALID, ids=lambda form: form.name)
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_changed_files_settle(form, data):
    text = VALID[form]
    edits = data.draw(
        st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, 6), PIECES), max_size=5)
    )
    for at, cut, piece in edits:
        text = text[:at] + piece + text[at + cut :]
    settles(
        form,
        text.encode("utf-8", "surrogatepass"),
        data.draw(st.sampled_from(["", "Second", "t", "u"])),
    )


@pytest.mark.parametrize("form", VALID, ids=lambda form: form.name)
@settings(deadline=None, max_examples=100)
@given(data=st.binary(max_size=300))
def test_any_bytes_settle(form, data):
    settles(form, data)


@pytest.mark.parametrize("form", VALID, ids=lambda form: form.name)
@pytest.mark.parametrize(
    "piece", ["(", "[", "{", "a=[", "'", "a = 1\n", "9", "Re: 1\n", "a{b=1}\n"]
)
def test_long_repetitions_settle(form, piece):
    settles(form, piece.encode() * 20_000)
