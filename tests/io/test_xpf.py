"""The formulas of XaoS, against its own orbits, written down here as its formulas say."""

import cmath

import pytest

import fractals
from fractals.io.foreign import xpf
from fractals.io.foreign.xpf import FORMULAS
from fractals.io.load import load_scene

SIZE = (12, 9)
LIMIT = 20
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


# The commands, the step from z, p and the z before (0 at first), and where an orbit begins and
# what p is, each the pixel if None; then the square of the escape radius, if it is not ours: 0
# where it ends when a step's length is below 1e-3.
ORBITS = [
    ("mandel", power(2), None, None, None),
    ("mandel)(julia #t)(juliaseed -0.7 0.3", power(2), None, -0.7 + 0.3j, None),
    ("mandel3", power(3), None, None, None),
    ("mandel4", power(4), None, None, None),
    ("mandel5", power(5), None, None, None),
    ("mandel6", power(6), None, None, None),
    ("mandel9", power(9), None, None, None),
    ("mbar", lambda z, p, y: z.conjugate() ** 2 + p, None, None, None),
    ("trice", trice, None, None, 4),
    ("trice)(julia #t)(juliaseed 0.2 0.9)(bailout 9", trice, None, 0.2 + 0.9j, 9),
    ("newton", newton, None, 0, 0),
    ("newton)(julia #t", newton, ROOT, None, 0),
    ("newton)(julia #t)(juliaseed -1 0.2", newton, -1 + 0.2j, None, 0),
    ("newton4", newton4, None, 0, 0),
    ("newton4)(julia #t", newton4, ROOT, None, 0),
    ("phoenix", phoenix, None, 0.56667 - 0.5j, 4),
    ("phoenix)(juliaseed 0.3 0.4)(bailout 16", phoenix, None, 0.3 + 0.4j, 16),
    ("magnet", magnet, 0, None, 1e4),
    ("magnet)(julia #t)(juliaseed 1.6 0.9", magnet, None, 1.6 + 0.9j, 1e4),
    ("magnet2", magnet2, 0, None, 1e4),
    ("mlambda", mlambda, 0.5, None, 4),
    ("mlambda)(juliaseed 0.4 0.1", mlambda, 0.4 + 0.1j, None, 4),
    ("mlambda)(julia #f", mlambda, None, None, 4),
    (
        'user)(usrform "(z^5)+((0.8+0.4i)*(z^4))+z',
        lambda z, p, y: z**5 + (0.8 + 0.4j) * z**4 + z, None, None, 4,
    ),
    ('user)(usrform "C*Sin(z) + .5i")(julia #t)(juliaseed 1 0.3',
     lambda z, p, y: p * cmath.sin(z) + 0.5j, None, 1 + 0.3j, 4),
    ('user)(bailout 25)(usrform "z^2 + c")(usrformInit "0.1 + 2.5e-1i',
     power(2), 0.1 + 0.25j, None, 25),
]  # fmt: skip


def read(commands):
    end = '"' if commands.count('"') % 2 else ""
    text = f"(initstate)(formula '{commands}{end})(maxiter {LIMIT})"
    imported = xpf.read(text.encode(), "")
    return load_scene(imported.table), imported.lost


def count(step, z, p, radius2):
    before = 0j
    for n in range(1, LIMIT):
        try:
            z, before = step(z, p, before), z
        except (OverflowError, ZeroDivisionError):
            return n
        if not abs(z) ** 2 <= radius2 if radius2 else abs(z - before) ** 2 <= 1e-6:
            return n
    return LIMIT


def test_every_formula_is_tried():
    assert {row[0].partition(")")[0] for row in ORBITS} == {*FORMULAS, "user"}


@pytest.mark.filterwarnings("ignore:the formula .* has no degree")
@pytest.mark.parametrize(
    ("commands", "step", "begin", "p", "radius2"), ORBITS, ids=[row[0] for row in ORBITS]
)
def test_the_picture_is_its_picture(commands, step, begin, p, radius2):
    """The rows of its pictures go down the imaginary axis."""
    scene, lost = read(commands)
    scene = scene.replace(size=SIZE, supersampling=1)
    formula = scene.make_formula()
    assert bool(lost) == (formula.name in ("newton", "magnet1", "magnet2"))
    raw = fractals.compute(scene, device="python")
    view = xpf.FORMULAS.get(commands.partition(")")[0])
    x, y, across, down = map(float, (view.view if view else "-0.75 0 2.5 2.5").split())
    spacing = max(down, across * 9 / 16) / SIZE[1]
    if "(view" not in commands:
        assert float(scene.view.width) == pytest.approx(spacing * SIZE[1] * 16 / 9)
    spacing = float(scene.view.width) / SIZE[0]
    own = scene.iteration.escape_radius**2 if radius2 is None else radius2
    # Where theirs begins at the pixel, ours of f(z) + c begins a step before, at 0.
    earlier = begin is None and p is None and formula.begin(False, 0.3, 0.4) != (0.3, 0.4)
    late = 1 if formula.name == "newton" else 0  # 1e-6 is a step or two after 1e-3
    compared = different = 0
    for j in range(SIZE[1]):
        for i in range(SIZE[0]):
            pixel = complex(
                x + (i + 0.5 - SIZE[0] / 2) * spacing, y + (j + 0.5 - SIZE[1] / 2) * spacing
            )
            wanted = set()
            for move in (0, 1e-8, -1e-8, 1e-8j):
                at = pixel + move
                z, c = at if begin is None else complex(begin), at if p is None else complex(p)
                wanted.add(min(count(step, z, c, own) + earlier, LIMIT))
            found = int(raw.count[j, i])
            if formula.name.startswith("magnet") and abs(raw.z[j, i]) <= 100:
                found = LIMIT  # converged
            if late:
                wanted |= {min(n + k, LIMIT) for n in tuple(wanted) for k in (1, 2)}
            elif len(wanted) > 1:
                continue
            compared += 1
            different += found not in wanted
    assert compared > 70
    assert different == 0


@pytest.mark.filterwarnings("ignore:the formula .* has no degree")
@pytest.mark.parametrize("name", ["magnet", "parjulia1", "phoenix1"])
def test_samples_are_not_blank(data, name):
    path = next((data / "formats" / "xpf").glob(f"*__{name}.xpf"))
    scene = load_scene(path, {"image": {"size": [16, 9], "supersampling": 1}})
    raw = fractals.compute(scene.replace(max_iterations=100), device="python")
    assert len(set(raw.count.ravel().tolist())) > 4
