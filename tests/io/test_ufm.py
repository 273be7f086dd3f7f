"""Formulas of Ultra Fractal: counts are those of plain loops, and what can't be drawn is told."""

import cmath
import math

import numpy as np
import pytest
from support.deadline import deadline

import fractals
from fractals.errors import SceneError
from fractals.explorer.pages import uploaded
from fractals.io.foreign import formats, frm, ultra_fractal

pytestmark = pytest.mark.filterwarnings("ignore:lost", "ignore:.*the first of")

# Made up for these tests.
MANY = r"""
comment { "free text }
; between formulas: { is no bracket here
Plain(XAXIS) {
init:
  z = @start
loop:
  z = z^@power + #pixel
bailout:
  |z| <= @bailout
default:
  title = "A plain one; with {brackets}"
  center = (-0.5, 0)
  magn = 2
  maxiter = 77
  param start
    caption = "Where it begins"
    default = (0,0)
  endparam
  param power
    caption = "Power"
    default = (2,0)
    hint = "a text that \
            goes on; and on"
  endparam
  float param bailout
    default = 1 + 3*5
    min = 4
    max = 1000
  endparam
switch:
  type = "PlainJulia"
  seed = #pixel
}
Modes {
global:
  float half = 1/2
  complex powers[3]
  int k = 0
  while k < 3
    powers[k] = (k + 1i)/16
    k = k + 1
  endwhile
init:
  z = #pixel, complex old = 0
  int turn = 0
loop:
  complex kept = z
  if @mode == "Even steps"
    turn = (turn + 1) % 2
    if turn == 0
      z = z*z + #pixel
    elseif !(real(z) > 0.25) && imag(z) != 0
      z = conj(z)^3 + half*#pixel
    else
      z = (abs(real(z)), -imag(z))*(1.1 + 0.2i) + #pixel
    endif
  elseif @mode == 1
    int place = 3
    repeat
      place = place - 1
      z = z + powers[place]
    until place == 0
  else
    z = random(3)
  endif
  if @folded
    real(z) = |real(z)|, imag(z) = imag(z)/2
  endif
  z = z + @again*old
  old = kept
bailout:
  @test(z) < 9 && |old| < 100
default:
  param mode
    enum = "Even steps" "Sums" "Chance"
  endparam
  bool param folded
    default = false
  endparam
  complex param again
    default = 0.125
  endparam
  float func test
    default = cmag()
  endfunc
}
Steps {
init:
  float a = 0.5, bool late = false
loop:
  int n = #numiter*0.7
  late = #numiter >= 3
  if late || n == 1
    a = z - a
  endif
  z = z*z + #pixel + a*(0.25,-0.125)
bailout:
  cabs(z) < 3
}
Words {
$define TWICE
global:
  float func half(float x, const int n)
    float y = x
    if n == 2
      y = y/2
    endif
    return y + 0i
  endfunc
  complex func turned(complex z)
    z = z*exp(1i*#pi/4)
    return z*half(1, 2)
  endfunc
init:
  e = exp(1i*#pi/4), i = recip(2)
loop:
$ifdef twice
  z = sqr(z) + turned(#pixel) + 0*e*i
  if z == conj(z) || @start == (1,0)
    z = (0,2)*#pixel
  endif
$else
  z = rand
$endif
$ifdef VER50
  c = z - #pixel/8
$endif
bailout:
  |c| < 4 && isNaN(z) == false && z != (0,2)*#pixel
}
Old { z = c = pixel: z = fn1(z) + p1*c, |z| < 9 }
"""


@pytest.fixture
def many(tmp_path):
    path = tmp_path / "many.ufm"
    path.write_text(MANY)
    return path


def entry(body, default=""):
    return f"A {{\ninit:\nz = 0\nloop:\n{body}\nbailout:\n|z| < 4\ndefault:\n{default}\n}}".encode()


def told(body, default=""):
    with pytest.raises(SceneError) as caught, deadline():
        ultra_fractal.read_ufm(entry(body, default), "")
    assert len(str(caught.value).split("\n")) == 1
    return str(caught.value)


def plain(c):
    z, count = 0j, 0
    while count < 40 and (count == 0 or abs(z) ** 2 <= 16):
        z, count = z * z + c, count + 1
    return count


def modes(c, folded=False, again=0.125):
    z, old, turn, count = c, 0j, 0, 0
    while count < 40 and (count == 0 or (abs(z) ** 2 < 9 and abs(old) ** 2 < 100)):
        kept, turn = z, (turn + 1) % 2
        if turn == 0:
            z = z * z + c
        elif not z.real > 0.25 and z.imag != 0:
            z = z.conjugate() ** 3 + 0.5 * c
        else:
            z = complex(abs(z.real), -z.imag) * (1.1 + 0.2j) + c
        if folded:
            z = complex(z.real**2, z.imag / 2)
        z, old, count = z + again * old, kept, count + 1
    return count


def sums(c):
    z, old, count = c, 0j, 0
    while count < 40 and (count == 0 or (abs(z) ** 2 < 9 and abs(old) ** 2 < 100)):
        kept = z
        z = z + (3 + 3j) / 16 + 0.125 * old  # 2 + i, 1 + i and i, over 16
        old, count = kept, count + 1
    return count


def steps(c):
    z, a, count = 0j, 0.5, 0
    while count < 40 and (count == 0 or abs(z) < 3):
        if count >= 3 or int(count * 0.7) == 1:
            a = z.real - a
        z, count = z * z + c + a * (0.25 - 0.125j), count + 1
    return count


def words(c):
    z, count, e = 0j, 0, cmath.exp(1j * math.pi / 4)
    while count < 40 and (count == 0 or (abs(z - c / 8) ** 2 < 4 and z != 2j * c)):
        z, count = z * z + e * 0.5 * c, count + 1
        if z == z.conjugate():
            z = 2j * c
    return count


def old(c):
    z, count = c, 0
    while count < 40 and (count == 0 or abs(z) ** 2 < 9):
        z, count = cmath.sin(z) + (1.5 - 0.5j) * c, count + 1
    return count


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("Words start=1", lambda c: 1),
        ("Plain bailout=16", plain),
        ("Modes", modes),
        ("Modes folded=yes again=-0.25,0.5", lambda c: modes(c, True, -0.25 + 0.5j)),
        ("Modes mode=sums", sums),
        ("Steps", steps),
        ("Words", words),
        ("Old p1=1.5,-0.5", old),
    ],
)
def test_counts_are_those_of_a_plain_loop(many, name, counted):
    scene = fractals.load_scene(f"{many}#{name}")
    scene = scene.replace(size=(12, 9), supersampling=1, coloring="count", max_iterations=40)
    scene = scene.replace(center=(-0.21, 0.12), width=3.7)
    found = fractals.compute(scene, device="python").count
    pixel = 3.7 / 12
    for row, column in np.ndindex(9, 12):
        c = complex(-0.21 + (column - 5.5) * pixel, 0.12 + (4 - row) * pixel)
        assert found[row, column] == counted(c), (row, column)
    assert len(np.unique(found)) > 2 or name.endswith("=1")


def test_a_known_formula_is_drawn_as_such(many):
    scene = fractals.load_scene(f"{many}#plain")
    assert scene.make_formula().name == "mandelbrot"
    assert scene.title == "A plain one; with {brackets}"
    assert scene.view.center == ("-0.5", "0")
    assert scene.view.frame == ("0", "1.5")
    assert (scene.iteration.max_iterations, scene.iteration.escape_radius) == (77, 4.0)
    cubic = fractals.load_scene(f"{many}#plain power=3 bailout=100")
    assert cubic.formula.name == "multibrot"
    assert cubic.iteration.escape_radius == 10.0
    moved = fractals.load_scene(f"{many}#plain start=0.5,1")
    assert moved.formula.name == "expression"
    julia = entry("z = @seed + z*z").replace(b"z = 0\n", b"z = #pixel\n")
    table = ultra_fractal.read_ufm(julia, "A seed=0.25,-0.5").table
    assert (table["formula"], table["julia"]) == ("mandelbrot", ["0.25", "-0.5"])
    assert "julia" not in ultra_fractal.read_ufm(entry("z = @seed + z*z"), "A seed=0.25,-0.5").table
    never = "if @start == 1\nw = 2\nendif\nz = z*z + #pixel + w"  # w is 0
    assert ultra_fractal.read_ufm(entry(never), "").table["formula"] == "mandelbrot"


def test_formulas_are_listed_with_what_they_ask_for(many):
    assert [name for name, _ in formats.entries(str(many))] == [
        *("Plain", "Modes", "Steps", "Words", "Old")
    ]
    assert {about for _, about in formats.entries(str(many))} == {"a formula"}
    data = MANY.encode()
    told = uploaded("many.ufm", data, "Plain")["asked"]
    assert told == [
        ("start", "0", (), "Where it begins"),
        ("power", "2", (), "Power"),
        ("bailout", "16", (), ""),
    ]
    asked = uploaded("many.ufm", data, "Modes mode=sums")["asked"]
    assert [value for _, value, *_ in asked] == ["Sums", "false", "0.125", "cmag"]
    assert asked[0][2] == ("Even_steps", "Sums", "Chance")
    assert formats.read(f"{many}#Old p1=2").lost == (
        "the formula asks for 'fn1=sin': 'FILE#NAME fn1=sin' sets one",
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("Plain exponent=2", "'exponent': the formula asks for start, power, bailout"),
        ("Plain power=two", "power: a number, or two for a complex one, as in power=0,1"),
        ("Plain bailout=1,2", "bailout: one number, not '1,2'"),
        ("Plain bailout=3", "bailout: 3 is beyond min 4"),
        ("Plain bailout=1e999", "bailout: 1e999 is too large"),
        ("Modes mode=odd", "mode: 'odd' is none of Even_steps, Sums, Chance"),
        ("Modes mode=chance", "line 65: the formula 'Modes': 'random' is random"),
        ("Modes folded=2", "folded: '2' is none of true, false"),
        ("Modes test=gamma", "test: 'gamma' is none of sin"),
        ("Modes folded", "no entry 'Modes folded'"),
    ],
)
def test_wrong_words_are_told(many, given, words):
    with pytest.raises(SceneError) as caught:
        formats.read(f"{many}#{given}")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("z = z +", "line 5: the formula 'A': an operand, not the end of a line"),
        ("z = z ~ 2", "line 5: the formula 'A': unknown character '~'"),
        ("z = 1\nz = foo(z)", "line 6: the formula 'A': 'foo' is unsupported"),
        ("z = #random", "line 5: the formula 'A': '#random' is random"),
        ("z = #dpixel", "'#dpixel' depends on the screen"),
        ("z = #nothing", "'#nothing' is unsupported"),
        ("@start = 3", "'@start' is set, and can only be read"),
        ("color c = rgb(1, 0, 0)", "'color' is unsupported"),
        ("func f(float x)\nx = 1\nendfunc\nz = f(1)", "line 7: the formula 'A': 'endfunc' is uns"),
        ("func f()\nreturn f()\nendfunc\nz = f()", "nested deeper than 40"),
        ("func f(x)\nreturn x\nendfunc", "the type of an argument of 'f' is expected"),
        ("func f(float x)\nreturn x\nendfunc\nz = f(1, 2)", "'f' takes 1 value"),
        ("func f()\nif |z| < 1\nreturn 1\nendif\nreturn 0\nendfunc\nz = f()", "'return' is uns"),
        ("func f()", "'endfunc' is missing"),
        ("while |z| < 2\nz = z + 1\nendwhile", "line 5: the formula 'A': the number of turns of"),
        ("while true\nendwhile", "it takes more than 3000 statements: a loop may be endless"),
        ("repeat\nn = 1\nuntil false", "a loop may be endless"),
        ("if false\nz = 1", "'endif' is missing"),
        ("if z\nz = 1", "line 8: the formula 'A': the end is not expected"),
        ("endwhile", "'endwhile' is not expected"),
        ("float a[3]\na[3] = 1", "the array 'a' has no element [3]"),
        ("float a[9999]\nz = 1", "more than 1000 elements"),
        ("float a[2]\nz = a[z]", "the index of an array depends on the sample"),
        ('z = @mode == "x"', "the text 'x' is compared with no parameter"),
        ("z = " + "(" * 100 + "1" + ")" * 100, "nested deeper than 40"),
        ("z = " + "1e999", "1e999 is too large"),
        ("$endif", "line 5: '$endif' is not expected"),
        ("$ifdef x", "line 1: a $ifdef without $endif"),
        ("z = z + sin(z)\n" * 60, "nested deeper than 100"),
        ("z = z^z + z^(z + 1)\n" * 20, "the expression and its derivatives have"),
    ],
)
def test_what_can_not_be_drawn_is_told_with_its_line(body, words):
    assert words in told(body)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 % 3 + (-7) % 3", "0"),
        ("2^3^2", "64"),  # from left to right
        ("-2^2", "4"),  # signs bind before powers
        ("2*-3 + +1", "-5"),
        ("(1+2i)*2i", "-4,2"),
        ("(1/2, sqr(2) - 1)", "0.5,3"),
        ("abs((-3,-4))", "3,4"),
        ("cabs((-3,-4)) + |(1,1)|", "7"),
        ("flip((3,4)) + conj((0,1)) + ident(recip(2))", "4.5,2"),
        ("trunc(-2.7) + floor(-2.5) + ceil(1.2) + round(2.6)", "0"),
        ("cmag((3,4)) + real2((3,4)) - imag2((3,4))", "18"),
        ("manhattan((-3,4)) + manhattanish((-3,4))", "8"),
        ("max2((3,-4)) - min2((3,-4))", "7"),
        ("atan2((0,-2))/#pi + (|#e - exp(1)| < 1e-9)", "0.5"),
        ("isNaN(3) + 2*isNaN((0,1))", "0"),
        ("(3 == 3) + ((1,2) != (1,3)) + ((1,2) == (2,2)) + !true", "2"),
        ("(true && 2 > 1) + (false || 1 >= 2) + (3 <= 2 || true)", "2"),
    ],
)
def test_expressions_have_the_values_of_the_language(text, value):
    default = f"param x\n default = {text}\n endparam"
    (asked,) = ultra_fractal.read_ufm(entry("z = z*z + @x*#pixel", default), "").asked
    assert asked.value == value


@pytest.mark.parametrize(
    ("default", "words"),
    [
        (
            "param x\n default = #pixel\n endparam",
            "line 9: the formula 'A': '#pixel' is not a number",
        ),
        ("magn = 0", "line 1: magn: '0' is not greater than 0"),
        ("func x\n default = gamma()\n endfunc", "x: 'gamma' is none of sin"),
        ('param x\n enum = "a" "b"\n default = 2\n endparam', "x: '2' is none of a, b"),
    ],
)
def test_wrong_defaults_are_told(default, words):
    assert words in told("z = @x(z) + #pixel" if "func" in default else "z = z*z + @x", default)


def test_a_class_and_a_formula_without_an_end_are_told():
    names = dict(
        ultra_fractal.entries_of_ufm(
            b"class A(B) {\nz = 1\n}\nB {\nloop:\nz = 1\n}\nC { builtin: type = 7 }"
        )
    )
    assert "classes are unsupported" in names["class A"]
    assert "it has no section bailout" in names["B"]
    assert "the built-in formula '7' is unknown" in names["C"]


def test_a_newer_formula_in_a_file_of_fractint(tmp_path):
    path = tmp_path / "both.frm"
    path.write_text(MANY[MANY.index("Steps") :])
    assert formats.entries(str(path)) == [(name, "a formula") for name in ("Steps", "Words", "Old")]
    assert fractals.load_scene(f"{path}#Steps").formula.name == "program"


DIALECT = b"""Own {
  init:
    z = pixel
    float unset
  loop:
    real(part) = abs(real(z))
    z = part*z + c + unset + zPrev
  bailout:
    |z| < 9
}
"""


def test_a_variable_that_nothing_sets_is_told():
    """In dialects such a name may be the pixel, or z before the step; here it is 0, as in UF."""
    found = frm.read_frm(DIALECT, "")
    assert found.lost == ("'c' is never set, so it is 0", "'zprev' is never set, so it is 0")


def test_a_section_that_is_not_known_is_told_with_its_line():
    text = DIALECT.replace(b"  init:", b"  parameters:\n    power: complex = (2, 0)\n  init:")
    with pytest.raises(SceneError, match=r"^Own: line 2: the section 'parameters' is not known$"):
        frm.read_frm(text, "")


SCREEN = """Own {
init:
  z = #pixel
  if #whitesq
    z = 0
  endif
loop:
  z = z*z + #pixel + #x/#width/9 + imag(#screenpixel)/#height/9
bailout:
  |z| < 9
default:
  center = (-0.5, 0.25)
  angle = 180
}
"""


def test_the_pixels_of_the_screen_are_those_of_the_first_view():
    """The screen is turned with the view: the first pixel is at the bottom right of the plane."""
    found = ultra_fractal.read_ufm(SCREEN.encode(), "")
    names = "#x, #width, #height, #screenpixel, #whitesq"
    assert found.lost == (
        f"the pixels of the screen ({names}): 640x480 in the formula's first view",
    )
    scene = fractals.load_scene(found.table, size=(16, 12), supersampling=1, max_iterations=40)
    counts = fractals.compute(scene, device="python").count
    assert len(np.unique(counts)) > 6
    for row, column in np.ndindex(12, 16):
        x, y = (column + 0.5) / 4 - 2, 1.5 - (row + 0.5) / 4
        pixel = complex(-0.5 - x, 0.25 - y)
        place = [math.floor((x + 2) * 639 / 4 + 0.5), math.floor((1.5 - y) * 479 / 3 + 0.5)]
        z, count = 0 if sum(place) % 2 else pixel, 0
        while count < 40 and (not count or abs(z) ** 2 < 9):
            z, count = z * z + pixel + place[0] / 640 / 9 + place[1] / 480 / 9, count + 1
        assert counts[row, column] == count
