"""Attractors: the same bits from every player, their equations, symmetries and options."""

import math
from itertools import product

import numpy as np
import pytest
from support.scattered import SIZE, by_kernel, by_machine
from support.scenes import slow_but

import fractals
from fractals import catalog
from fractals.backends.devices import choose, open_backend
from fractals.cli.verbs import run_verb as main
from fractals.scatter.game import Game

NAMES = catalog.names("attractor")
FLOWS = ("aizawa", "halvorsen", "lorenz", "roessler", "thomas")


def made(name, **parameters):
    return fractals.load_scene({"formula": {"name": name, **parameters}}).make_any_formula()


def view_of(formula):
    return *map(float, formula.center), 40 / float(formula.width)


# Often maps and flows that other tests compile anyway, and one with a loop.
OFTEN = [(name, "cpu") for name in ("aizawa", "clifford", "henon", "lorenz", "symmetric_icon")]
OFTEN += [("thomas", "cpu"), ("henon", "simulator"), ("lorenz", "simulator")]


@pytest.mark.parametrize(
    ("name", "player"),
    slow_but([*OFTEN, *product(NAMES, ["cpu"])], list(product(NAMES, ["cpu", "simulator"]))),
)
def test_every_player_gives_the_same_bits(name, player):
    formula, game = made(name), Game(0, 30, 12, 123, 45)
    view = view_of(formula)
    sums, hits = by_kernel("python", formula, "float32", game, 12, view)
    assert hits > 100
    pools = ((12, 1), (4, 1), (1024, 3)) if player == "cpu" else ()
    found = [by_machine(formula, "float32", game, 12, *pool, view) for pool in pools]
    for other in found or [by_kernel(player, formula, "float32", game, 12, view)]:
        assert np.array_equal(other[0], sums)
        assert other[1] == hits


@pytest.mark.parametrize("name", slow_but(["clifford"], ["clifford", "fractal_dream"]))
def test_float64_has_the_same_bits_everywhere(name):
    formula, game = made(name), Game(3, 30, 12, 1, 2)
    view = view_of(formula)
    sums, _ = by_kernel("python", formula, "float64", game, 8, view)
    assert np.array_equal(by_machine(formula, "float64", game, 8, 8, 1, view)[0], sums)
    single, _ = by_kernel("python", formula, "float32", game, 8, view)
    assert not np.array_equal(single, sums)


def test_lost_points_start_again_on_every_player():
    """With a = 2 most points of Hénon's map leave for ever."""
    formula, game = made("henon", a=2.0), Game(0, 40, 0, 7, 8)
    sums, hits = by_kernel("python", formula, "float32", game, 16)
    assert 16 < hits < 600
    assert np.array_equal(by_machine(formula, "float32", game, 16, 16)[0], sums)
    assert np.array_equal(by_kernel("simulator", formula, "float32", game, 16)[0], sums)


# The equations in other words, with the functions of the mathematical library.
sin, cos = math.sin, math.cos


def icon(x, y, p):
    z, (growth, radial, rising, conjugate, turn, n) = complex(x, y), p
    factor = growth + radial * abs(z) ** 2 + rising * (z**n).real + 1j * turn
    w = factor * z + conjugate * z.conjugate() ** (n - 1)
    return w.real, w.imag


def mira(x, y, p):
    def f(x):
        return p[2] * x + 2 * (1 - p[2]) * x * x / (1 + x * x)

    u = y + p[0] * y * (1 - p[1] * y * y) + f(x)
    return u, -x + f(u)


def light(x, y, p):
    z = complex(x, y)
    angle = 0.4 - 6 / (1 + abs(z) ** 2)
    w = 1 + p[0] * z * complex(cos(angle), sin(angle))
    return w.real, w.imag


MAPS = {
    "bedhead": lambda x, y, p: (sin(x * y / p[1]) * y + cos(p[0] * x - y), x + sin(y) / p[1]),
    "clifford": lambda x, y, p: (
        sin(p[0] * y) + p[2] * cos(p[0] * x),
        sin(p[1] * x) + p[3] * cos(p[1] * y),
    ),
    "de_jong": lambda x, y, p: (
        sin(p[0] * y) - cos(p[1] * x),
        sin(p[2] * x) - cos(p[3] * y),
    ),
    "fractal_dream": lambda x, y, p: (
        sin(y * p[1]) + p[2] * sin(x * p[1]),
        sin(x * p[0]) + p[3] * sin(y * p[0]),
    ),
    "gumowski_mira": mira,
    "henon": lambda x, y, p: (1 - p[0] * x * x + y, p[1] * x),
    "hopalong": lambda x, y, p: (
        y - math.copysign(1, x) * math.sqrt(abs(p[1] * x - p[2])),
        p[0] - x,
    ),
    "ikeda": light,
    "svensson": lambda x, y, p: (
        p[3] * sin(p[0] * x) - sin(p[1] * y),
        p[2] * cos(p[0] * x) + cos(p[1] * y),
    ),
    "symmetric_icon": icon,
    "tinkerbell": lambda x, y, p: (
        x * x - y * y + p[0] * x + p[1] * y,
        2 * x * y + p[2] * x + p[3] * y,
    ),
}
VELOCITIES = {
    "aizawa": lambda x, y, z, a, b, c, d, e, f: (
        (z - b) * x - d * y,
        d * x + (z - b) * y,
        c + a * z - z**3 / 3 - (x * x + y * y) * (1 + e * z) + f * z * x**3,
    ),
    "halvorsen": lambda x, y, z, a: (
        -a * x - 4 * y - 4 * z - y * y,
        -a * y - 4 * z - 4 * x - z * z,
        -a * z - 4 * x - 4 * y - x * x,
    ),
    "lorenz": lambda x, y, z, s, r, b: (s * (y - x), x * (r - z) - y, x * y - b * z),
    "roessler": lambda x, y, z, a, b, c: (-y - z, x + a * y, b + z * (x - c)),
    "thomas": lambda x, y, z, b: (sin(y) - b * x, sin(z) - b * y, sin(x) - b * z),
}


def test_there_are_eleven_maps_and_five_flows():
    assert set(MAPS) | set(VELOCITIES) == set(NAMES)
    assert len(MAPS) >= 11
    assert sorted(VELOCITIES) == sorted(FLOWS)


@pytest.mark.parametrize("name", MAPS)
def test_a_map_is_its_equation(name):
    formula, dice = made(name), np.random.default_rng(5)
    p = tuple(formula.parameters.values())
    for x, y in dice.uniform(-2, 2, (200, 2)):
        assert np.allclose(formula.step(x, y, p), MAPS[name](x, y, p), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", VELOCITIES)
def test_a_flow_is_its_equation(name):
    formula, dice = made(name), np.random.default_rng(6)
    p = tuple(formula.parameters.values())
    for x, y, z in dice.uniform(-3, 3, (200, 3)):
        theirs = VELOCITIES[name](x, y, z, *p[:-2])
        assert np.allclose(formula.velocity(x, y, z, p), theirs, rtol=1e-12, atol=1e-12)


def test_a_step_of_a_flow_is_of_fourth_order():
    """Half the step has a 16th to a 32nd of the error, beside a thousand small steps."""
    from fractals.scatter import attractor

    backend = open_backend(choose("python").device, "float64")
    formula = made("lorenz")
    move = attractor.make_move(backend.target, formula.mover)
    row = formula.data(np.float64)

    def after(steps):
        own = row.copy()
        own[attractor.TIME] = 0.05 / steps
        point = 1.0, 2.0, 20.0
        for _ in range(steps):
            point = move(*point, own)[:3]
        return np.array(point, float)

    exact = after(1000)
    errors = [np.abs(after(steps) - exact).max() for steps in (1, 2, 4)]
    assert 10 < errors[0] / errors[1] < 40
    assert 10 < errors[1] / errors[2] < 40


def test_the_eye_goes_round_a_flow():
    """Seen from above, turned by a right angle, x and y change places."""
    formula = made("roessler", turn=90.0, tilt=90.0)
    matrix = formula.data(np.float64)[6:12].reshape(2, 3)
    assert np.allclose(matrix @ [1, 2, 3], [-2, 1])
    side = made("roessler", turn=0.0, tilt=0.0).data(np.float64)[6:12].reshape(2, 3)
    assert np.allclose(side @ [1, 2, 3], [1, 3])


def test_the_flow_of_lorenz_is_symmetric():
    """It is the same turned by half a turn about z, so from the side its wings are alike."""
    formula = made("lorenz", turn=0.0)
    sums, _ = by_machine(formula, "float32", Game(0, 200, 600, 1, 0), 4000, 1000, 1, (0, 25, 0.5))
    counts = sums[..., 3].astype(float)
    assert abs(counts[:, :24].sum() / counts.sum() - 0.5) < 0.04
    blocks = counts.reshape(10, 4, 12, 4).sum((1, 3))
    lit = blocks > blocks.mean()
    assert lit.sum() > 10
    assert np.abs(blocks[:, ::-1][lit] / blocks[lit] - 1).max() < 0.5


def test_an_icon_has_the_symmetry_of_its_polygon():
    """Each fifth of the plane, and each half of one, holds as many points."""
    formula = made("symmetric_icon")
    game, view = Game(0, 200, 50, 1, 0), (0, 0, 17)
    sums, hits = by_machine(formula, "float64", game, 4000, 1000, 1, view)
    assert hits == 800_000
    y, x = np.mgrid[: SIZE[1], : SIZE[0]] + 0.5
    angle = np.arctan2(SIZE[1] / 2 - y, x - SIZE[0] / 2) % (2 * math.pi)
    fifths = np.bincount((angle / (2 * math.pi) * 5).astype(int).ravel(), sums[..., 3].ravel())
    assert np.abs(5 * fifths / fifths.sum() - 1).max() < 0.05


def test_the_points_of_float32_do_not_repeat():
    """A hundred thousand short trajectories have the density of float64's."""
    formula, game = made("clifford"), Game(0, 100, 15, 9, 9)
    view = view_of(formula)
    single, _ = by_machine(formula, "float32", game, 20_000, 1000, 1, view)
    double, _ = by_machine(formula, "float64", game, 20_000, 1000, 1, view)
    a, b = (
        sums[..., 3].reshape(10, 4, 12, 4).sum((1, 3)).astype(float) for sums in (single, double)
    )
    lit = b > b.mean() / 10
    assert lit.sum() > 30
    assert np.abs(a[lit] / b[lit] - 1).max() < 0.1


def test_narrow_views_have_points_of_float64():
    """With float32 lines become pearls, because its numbers are far from one another there."""
    place = ("0.6313544", "0.1894063")
    line = fractals.load_scene({"formula": "henon"}).replace(center=place, size=(240, 150))
    assert fractals.plan(line, width="0.05").precision == "float32"
    hit = {}
    for precision in ("auto", "float32"):
        narrow = {"width": "1e-4", "quality": 4000, "supersampling": 1, "precision": precision}
        hit[precision] = (
            (fractals.compute(line, **narrow, device="cpu", on_message=str).sums > 0)
            .any((0, 2))
            .mean()
        )
    assert hit["float32"] < 0.7 * hit["auto"]


def test_a_view_with_few_numbers_of_its_type_is_told():
    """Also before it is drawn; a view of which a line is not a grid has no note."""
    narrow = {"formula": "henon", "center": ("0.6313544", "0.1894063"), "size": (24, 15)}
    for precision, width, more in (
        ("auto", "1e-14", ""),
        ("float32", "1e-6", ", or give precision='float64'"),
    ):
        said, keys = [], {**narrow, "precision": precision, "quality": 1}
        fractals.render(**keys, width=width, device="cpu", on_message=said.append)
        number = "float64" if precision == "auto" else precision
        wanted = (
            f"points lie on a grid, because {number} has few numbers in so narrow a view: draw a "
            f"wider one{more}"
        )
        assert said == [wanted]
        assert fractals.plan(**keys, width=width).to_table()["note"] == wanted
        wider = fractals.plan(**keys, width="0.01").to_table()
        assert wider["note"] == ""


def test_all_moments_of_a_frame_have_the_number_type_of_the_first():
    frame = fractals.load_scene({"formula": "henon"}).replace(size=(240, 150), width="0.02")
    plan = fractals.plan(frame)
    assert (plan.precision, fractals.plan(frame, width="0.005").precision) == ("float32", "float64")
    assert plan.moment(frame.replace(width="0.005")).precision == "float32"
    large = fractals.plan(frame, size=(2400, 1500))  # of which a pilot counts a small picture
    assert large.precision == large.pilot().precision == "float64"


@pytest.mark.parametrize("formula", ["henon", "flame", "lorenz"])
def test_home_views_have_points_of_float32(formula):
    poster = fractals.plan(formula=formula, size=(16_384, 9216), supersampling=2)
    assert poster.precision == "float32"
    assert fractals.plan(formula=formula, center=("1e6", "0")).precision == "float64"


def test_pictures_are_the_same_on_every_device():
    scene = fractals.load_scene({"formula": "henon"}).replace(
        size=(12, 9), steps=8, fuse=4, quality=2.0, estimator_radius=3.0, palette="ember"
    )
    pictures = [fractals.render(scene, device=d) for d in ("python", "cpu", "simulator")]
    assert len(np.unique(pictures[0].pixels)) > 20
    assert pictures[0].method == "trajectories"
    for other in pictures[1:]:
        assert np.array_equal(other.pixels, pictures[0].pixels)


def test_a_picture_is_as_bright_in_any_unit_of_the_plane():
    """Lorenz's numbers are ten times those of Thomas; a zoom is darker, as in flam3."""
    means = {
        name: fractals.render(
            {"formula": name}, size=(64, 48), quality=50.0, supersampling=1, device="cpu"
        ).pixels.mean()
        for name in ("lorenz", "thomas", "clifford")
    }
    assert max(means.values()) < 4 * min(means.values())


def test_bad_options_are_told(tmp_path, capsys):
    for text, words in (
        ("clifford,a=x", "a is a number"),
        ("clifford,a=1e9", "a: 1e+09 is not from -1e+06 to 1e+06"),
        ("lorenz,q=1", "lorenz: unknown option 'q'"),
        ("symmetric_icon,symmetry=2", "symmetry is a whole number from 3 to 24"),
        ("cliford", "did you mean 'clifford'?"),
    ):
        target = str(tmp_path / "x.png")
        assert main(["render", "--formula", text, "-o", target]) in (2, 3)
        assert words in capsys.readouterr().err


def test_attractors_are_listed(capsys):
    assert main(["list", "attractors"]) == 0
    out = capsys.readouterr().out
    assert "Hénon: a parabola folded over itself" in out
    assert "sigma=10: dx/dt = sigma (y - x)\n" in out
