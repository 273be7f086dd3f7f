"""Every solid: its map beside the oracle's, its distances beside the nearest point, its options."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from oracle import solids as oracle

import fractals
from fractals import catalog
from fractals.backends.devices import choose, open_backend
from fractals.space import march
from fractals.space.solids import hybrids

GROUPS = ("kleinian", "quasi_fuchsian")  # whose orbits end where no step magnifies
ENDLESS = ("pseudo_kleinian", *GROUPS)  # cut by a sphere
NAMES = catalog.names("solid")
TURNS = {"turn": 23.0, "tilt": -31.0, "roll": 12.0}
# Options beside the usual ones, where they lead to other code or other numbers.
CASES = [
    ("amazing_surf", {**TURNS, "scale": 1.7, "cx": 0.3, "cy": -0.4, "cz": 0.2}),
    ("bicomplex", {"w": 0.1}),
    ("bicomplex", {"julia": 1, "w": -0.2}),
    ("boxbulb", {}),
    ("boxbulb", {"power": 2, "scale": 2.0, "theta": 90.0, "phi": 180.0}),
    ("boxbulb", {"power": 3, "scale": 1.4, "fold": 1.2, "inner": 0.3, "outer": 0.8}),
    ("bristorbrot", {}),
    ("burning_bulb", {}),
    ("burning_bulb", {"power": 3, "theta": 20.0}),
    ("icosahedral", {}),
    ("icosahedral", {**TURNS, "corner": 3, "scale": 1.8}),
    ("icosahedral", {**TURNS, "corner": 2, "scale": 2.5}),
    ("juliabulb", {}),
    ("juliabulb", {"power": 5, "cx": -0.2, "theta": 11.0, "phi": -40.0}),
    ("kalibox", {}),
    ("kalibox", {**TURNS, "scale": -1.8, "cx": 0.3, "cy": -0.4, "cz": 0.2}),
    ("kleinian", {}),
    ("kleinian", {"real": 1.75, "imaginary": -0.35, "depth": 0.7}),
    ("mandelbox", {}),
    ("mandelbox", {"scale": 2.0, "fold": 1.1, "inner": 0.3, "outer": 1.2}),
    ("mandelbox", {**TURNS, "scale": -2.2}),
    *(("mandelbulb", {"power": power}) for power in range(2, 17)),
    ("mandelbulb", {"theta": 30.0, "phi": -75.0}),
    ("menger", {}),
    ("menger", {"scale": 2.2, "turn": 34.0, "tilt": -17.0}),
    ("menger_ball", {}),
    ("menger_ball", {**TURNS, "scale": 2.2, "inner": 0.4}),
    ("octahedral", {}),
    ("octahedral", {**TURNS, "corner": 3, "scale": 1.8}),
    ("octahedral", {**TURNS, "corner": 2, "scale": 1.7}),
    ("pseudo_kleinian", {}),
    ("pseudo_kleinian", {"size": 1.2, "cz": 0.1}),
    ("quasi_fuchsian", {}),
    ("quasi_fuchsian", {"second": -0.3, "third": 0.25}),
    ("quaternion", {}),
    ("quaternion", {"k0": -0.6, "k3": -0.5, "w": 0.15}),
    ("sierpinski", {}),
    ("sierpinski", {**TURNS, "scale": 1.9}),
]


@functools.cache
def backend():
    return open_backend(choose("python").device, "float64")


def made(name, **options):
    return catalog.load("solid", name)(**options)


def field_of(solid, steps=None):
    """Return the distance estimate and the trap at a point, in plain Python."""
    field = march.make_field(backend().target, solid.walk)
    space = march.space_of(solid, steps or solid.steps, np.float64)

    def found(point):
        distance, trap = field(*map(float, point), space)
        return distance / solid.shortness, trap

    return found


def points(solid, count, seed=1):
    """Return points within and around a solid."""
    dice = np.random.default_rng(seed)
    return dice.uniform(-1.1, 1.1, (count, 3)) * min(solid.bound, 3.0)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_distances_are_the_oracles(name, options):
    solid = made(name, **options)
    # An orbit that does not end is chaos: it doubles errors in each step, so these are few.
    steps = 200 if name in GROUPS else min(solid.steps, 10)
    field, parameters, checked = field_of(solid, steps), {**made(name).parameters}, 0
    parameters |= solid.parameters
    for point in points(solid, 45):
        p, d, _ = oracle.orbit(name, point, parameters, steps, solid.bail)
        if name in oracle.DISTANCES:
            theirs = solid.factor * oracle.DISTANCES[name](p, **parameters) / d
        else:
            theirs = oracle.distance(p, d, solid.distance, solid.body, solid.factor, solid.bail)
        ours, _ = field(point)
        assert ours == pytest.approx(float(theirs), rel=1e-5, abs=1e-9), point
        checked += theirs > 0
    assert checked > 10


@pytest.mark.parametrize("power", [2, 3, 6, 7, 8])
@pytest.mark.parametrize("name", ["mandelbulb", "juliabulb", "burning_bulb"])
def test_a_step_without_a_turn_has_the_bits_of_one_that_turns_by_nothing(name, power):
    solid = made(name, power=power)
    assert solid.step is not solid.generally().step
    assert solid.generally().step is made(name, power=power, phi=1.0).step
    plain, general = field_of(solid), field_of(solid.generally())
    found = [plain(point) for point in points(solid, 20)]
    assert found == [general(point) for point in points(solid, 20)]
    assert sum(distance > 0 for distance, _ in found) > 5


def test_statements_with_other_numbers_beside_them_have_one_program():
    step = "x = 2*abs(x) - 1.2; y = 2*abs(y) - 1.1; z = 2*abs(z) - 1.3"
    one, other = (made("solid_expression", step=step, factor=factor) for factor in (1.0, 0.75))
    assert one.walk == other.walk


@pytest.mark.parametrize("key", ["mandelbox_turn", "mandelbulb_phi"])
@pytest.mark.parametrize("formulas", ["mandelbox+mandelbulb", "mandelbulb+mandelbox"])
def test_a_hybrid_whose_part_turns_has_one_program(formulas, key):
    walks = [
        made("solid_hybrid", formulas=formulas, **{key: angle}).generally().walk
        for angle in (0.0, 1.0)
    ]
    assert walks[0] == walks[1]


@pytest.mark.parametrize("scale", [-1.5, 2.0])
def test_a_box_without_a_turn_has_the_bits_of_one_that_turns_by_nothing(scale):
    """A film that turns from 0 on has moments of both in its first frame."""
    solid, turned = made("mandelbox", scale=scale), made("mandelbox", scale=scale, turn=1.0)
    assert solid.walk != turned.walk == solid.generally().walk
    plain, general = field_of(solid), field_of(solid.generally())
    assert [plain(point) for point in points(solid, 20)] == [
        general(point) for point in points(solid, 20)
    ]


def test_every_solid_has_an_oracle_and_says_who_found_it():
    own = {"solid_expression", "solid_hybrid"}
    assert set(NAMES) == set(oracle.MAPS) | own
    assert {name for name, _ in CASES} == set(oracle.MAPS)
    for name in set(NAMES) - own:
        solid = made(name)
        assert solid.name == name
        assert solid.source
        assert solid.knobs.keys() >= solid.parameters.keys()
        for key, (least, most, meaning) in solid.knobs.items():
            assert least <= solid.parameters[key] <= most
            assert len(meaning) > 5
        distance = math.dist(solid.position, (0, 0, 0))
        if name in ("amazing_surf", *ENDLESS):  # seen from within the sphere
            assert field_of(solid)(solid.position)[0] > 0.01
            continue
        assert solid.bound < distance < 6 * solid.bound, "a camera that sees the whole solid"


def test_a_solid_is_within_its_bound():
    """No point outside the sphere is on the surface or in the solid."""
    dice = np.random.default_rng(4)
    for name, options in CASES:
        solid = made(name, **options)
        if name in ENDLESS:  # the sphere is where it is cut
            continue
        field = field_of(solid)
        ways = dice.normal(size=(12, 3))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        for way in ways:
            distance, _ = field(way * solid.bound * dice.uniform(1.02, 1.6))
            assert distance > 0.004 * solid.bound, (name, options)


def at_poles():
    special = (0.0, -0.0, 1.0, -1.0, 1e-20, 0.5)
    return [(x, y, z) for x in special for y in special for z in special]


@pytest.mark.parametrize("number", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_poles_and_zeros_have_distances(name, number):
    solid = made(name)
    field = march.make_field(open_backend(choose("python").device, number).target, solid.walk)
    single = number == "float32"
    real = np.float32 if single else float
    space = march.space_of(solid, min(solid.steps, 12), number)
    with np.errstate(all="ignore"):
        for point in at_poles():
            distance, trap = field(*map(real, point), space)
            assert math.isfinite(distance), point
            assert math.isfinite(trap), point
            assert isinstance(distance, np.float32) is isinstance(trap, np.float32) is single


# Distances beside the nearest point, which is found by brute force


def nearest_of_images(point, corners, scale, level):
    """Return how far the nearest point of a set is, which its images about its corners make up.

    Each image is within a ball around the point that the map leaves alone, and holds that point:
    so images farther than the nearest known point are dropped.
    """
    radius = max(np.linalg.norm(corner) for corner in corners)
    centers, least = np.zeros((1, 3)), math.inf
    for k in range(1, level + 1):
        moves = np.array(corners) * (scale - 1) / scale**k
        centers = (centers[:, None] + moves).reshape(-1, 3)
        far = np.linalg.norm(centers - point, axis=1)
        size = radius / scale**k
        corner = centers[:, None] + np.array(corners) * size / radius
        least = min(least, np.linalg.norm(corner - point, axis=2).min())
        centers = centers[far - size <= least]
    return least


def sponge():
    """Return the twenty corners and edges from which the maps of a Menger sponge magnify."""
    grid = np.array([(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    return grid[(grid == 0).sum(1) <= 1].astype(float)


BODIES = {
    "sierpinski": (oracle.corners_of("sierpinski"), 2),
    "octahedral": (oracle.corners_of("octahedral"), 2),
    "icosahedral": (oracle.corners_of("icosahedral"), 2),
    "menger": (sponge(), 3),
}


@pytest.mark.parametrize("name", BODIES)
def test_distances_to_similar_images_never_exceed_the_nearest_point(name):
    solid, (corners, scale) = made(name), BODIES[name]
    field, close = field_of(solid), 0
    for point in points(solid, 60, seed=7):
        true = nearest_of_images(point, corners, scale, 12 if scale == 2 else 6)
        distance, _ = field(point)
        assert distance <= true * (1 + 1e-9) + 1e-12, point
        close += distance > 0.8 * true
    assert close > 30, "distances are not far too short"


@pytest.mark.parametrize("name", BODIES)
def test_orbits_of_mirrors_end_where_distances_are_a_little_too_short(name):
    solid = made(name)
    field, longer = field_of(solid), field_of(replace(solid, bail=1e6 * solid.bail))
    ratios = []
    for point in points(solid, 60, seed=5):
        distance, whole = field(point)[0], longer(point)[0]
        if whole > 1e-3:
            ratios.append(distance / whole)
    assert len(ratios) > 40
    assert 0.94 < min(ratios) < 0.99, "orbits take no more steps than distances need"
    assert max(ratios) < 1 + 1e-9


def test_distances_of_a_ball_and_a_cube_are_exact():
    from fractals.kernels.primitives import number, select
    from fractals.space.solid import Solid

    def step(x, y, z, d, a, b, c, options):
        two = number(2, x)
        return x * two, y * two, z * two, d * two

    def box(x, y, z, d, options):
        side = options[0] * d
        x, y, z = abs(x) - side, abs(y) - side, abs(z) - side
        y = select(x > y, x, y)
        return select(y > z, y, z) / d

    ball = Solid("ball", "Ball", step, distance="linear", body=1.0, steps=1, bound=1.0)
    cube = Solid("cube", "Cube", step, distance=box, options=(0.5,), steps=1, bound=1.0)
    for point in points(ball, 100):
        assert field_of(ball)(point)[0] == pytest.approx(np.linalg.norm(point) - 0.5)
        assert field_of(cube)(point)[0] <= np.linalg.norm(
            np.maximum(abs(point) - 0.5, 0)
        ) + 1e-12 or (abs(point).max() < 0.5)


def inside(solid, count, seed, middle=0.0, size=1.0):
    """Return points of a set of powers or boxes: their orbits stay for twice the usual steps.

    middle: height of the cube that they are in; size: of the cube, in bounds.
    """
    p = np.random.default_rng(seed).uniform(-size, size, (3, count)) * solid.bound
    p[2] += middle
    x, y, z = p
    constants = p if solid.constants is None else np.array(solid.constants)[:, None] + 0 * p
    d, stays = np.ones(count), np.ones(count, bool)
    with np.errstate(all="ignore"):
        for _ in range(2 * solid.steps):
            x, y, z, d = solid.step(x, y, z, d, *constants, solid.options)
            stays &= x * x + y * y + z * z < solid.bail
    return p.T[stays]


@pytest.mark.parametrize(
    ("name", "options", "known"),
    [
        ("mandelbulb", {}, 2.0),
        ("mandelbulb", {"power": 2}, 2.0),
        ("mandelbulb", {"power": 3}, 2.0),
        ("juliabulb", {}, 2.0),
        ("burning_bulb", {}, 2.0),
        ("bristorbrot", {}, 1.0),
        ("mandelbox", {"scale": 2.0}, 1.2),
    ],
)
def test_distances_stay_within_a_known_factor(name, options, known):
    solid = made(name, **options)
    field, some = field_of(solid), inside(solid, 60_000, 2)
    assert len(some) > 100
    for point in points(solid, 100, seed=3):
        nearest = np.linalg.norm(some - point, axis=1).min()
        assert field(point)[0] <= known * nearest, point


def moved(dice, points, moves):
    """Return points, each after sixty of some moves by chance."""
    for _ in range(60):
        which = dice.integers(0, len(moves), points.shape[1])
        points = np.choose(which, [move(points) for move in moves])
    return points[:, np.isfinite(points).all(0)]


def points_of_kleinian(dice, real, imaginary, depth):
    """Return points of the planes z = 0 and z = real, and of their images."""

    def turned(p):
        return np.array([[-imaginary], [0], [real]]) - p

    def back(p):
        """Take w = 1/z + i t to z, which is 1 / (w - i t)."""
        x, y, z = p[0] + imaginary, p[1], p[2] - real
        return np.stack([x, -y, -z]) / (x * x + y * y + z * z)

    points = np.stack([*dice.uniform(-2, 2, (2, 100_000)), np.zeros(100_000)])
    steps = [np.array([[2 * k], [2 * depth * m], [0]]) for k, m in ((1, 0), (-1, 0), (0, 1))]
    return moved(dice, points, [turned, back, back, *(functools.partial(np.add, s) for s in steps)])


def points_of_quasi_fuchsian(dice, second, third):
    """Return images of the points where three faces of the body meet."""
    planes, balls = oracle.faces_of(second, third)

    def mirror(p, normal):
        n = np.array(normal, float)
        return p - 2 * (n @ p + 1 / 3) * n[:, None]

    def inversion(p, middle, radius):
        away = p - np.array(middle, float)[:, None]
        return np.array(middle, float)[:, None] + away * float(radius) ** 2 / (away * away).sum(0)

    cusps = np.array([place for place, _ in oracle.cusps_of(second, third)], float).T
    points = cusps[:, dice.integers(0, 7, 100_000)]
    moves = [functools.partial(mirror, normal=normal) for normal, _ in planes]
    moves += [functools.partial(inversion, middle=m, radius=r) for m, r in balls]
    return moved(dice, points, moves)


@pytest.mark.parametrize(
    ("name", "options", "points_of"),
    [
        ("kleinian", {"real": 1.8, "imaginary": 0.2, "depth": 0.8}, points_of_kleinian),
        ("kleinian", {"real": 1.9, "imaginary": 0.1, "depth": 1.0}, points_of_kleinian),
        ("quasi_fuchsian", {"second": 0.45, "third": 0.2}, points_of_quasi_fuchsian),
        ("quasi_fuchsian", {"second": -0.3, "third": 0.25}, points_of_quasi_fuchsian),
    ],
)
def test_no_point_of_a_groups_solid_is_nearer_than_the_estimate(name, options, points_of):
    solid, dice = made(name, **options), np.random.default_rng(8)
    field, some, shares = field_of(solid, 200), points_of(dice, **options), []
    for point in dice.uniform(-0.9, 0.9, (150, 3)) + np.array([0, 0, 0.8]):
        distance = field(point)[0]
        if distance > 0.02:
            away = some - point[:, None]
            shares.append(distance / np.sqrt(np.einsum("ij,ij->j", away, away).min()))
    assert len(shares) > 40
    assert max(shares) < 1
    assert np.median(shares) > 0.25, "estimates are not far too short"


def test_balls_of_a_body_that_meet_its_sides_are_refused():
    with pytest.raises(ValueError, match=r"second, third: 0\.6 and -0\.3 are too far apart"):
        made("quasi_fuchsian", second=0.6, third=-0.3)


# The user's own, and hybrids


TEXTS = {
    "bristorbrot": "u = x*x - y*y - z*z + a; v = y*(2*x - z) + b; z = z*(2*x + y) + c;x = u; y = v",
    "sierpinski": "u = if(x + y < 0, -y, x); y = if(x + y < 0, -x, y); x = u;"
    "u = if(x + z < 0, -z, x); z = if(x + z < 0, -x, z); x = u;"
    "v = if(y + z < 0, -z, y); z = if(y + z < 0, -y, z); y = v;"
    "x = 2*x - 1; y = 2*y - 1; z = 2*z - 1",
    "mandelbulb": "r = abs(x + i*y); n = abs(r + i*z);"
    "p = (z + i*r)^8; q = ((x + i*y)/r)^8; x = im(p)*re(q) + a; y = im(p)*im(q) + b; z = re(p) + c",
}


@pytest.mark.parametrize("name", ["bristorbrot", "sierpinski", "mandelbulb"])
def test_a_solid_as_text_is_the_same(name):
    solid = made(name)
    text = made("solid_expression", step=TEXTS[name], body=solid.body, bound=solid.bound)
    assert text.degree == solid.degree
    for point in points(solid, 20):
        ours = text.step(*point, 1.5, *point, ())
        theirs = solid.step(*point, 1.5, *point, solid.options)
        assert ours[:3] == pytest.approx(theirs[:3], rel=1e-9)
        if name != "mandelbulb":  # whose bound is that along r, and not across
            assert ours[3] == pytest.approx(theirs[3], rel=1e-9)
        else:
            assert ours[3] >= theirs[3] * (1 - 1e-9)


def test_a_bound_is_the_most_that_a_matrix_stretches():
    from fractals.kernels.space import stretch

    dice = np.random.default_rng(9)
    matrices = [*dice.normal(size=(300, 3, 3)), np.eye(3), np.zeros((3, 3)), np.diag([2.0, 2, 1])]
    for matrix in matrices:
        own = float(np.linalg.norm(matrix, 2))
        columns = [tuple(map(float, column)) for column in matrix.T]
        assert stretch(*columns) == pytest.approx(own, rel=1e-7, abs=1e-300)


@pytest.mark.parametrize(("power", "theta"), [(8, 0.0), (6, 0.0), (8, 20.0)])
def test_rays_pass_no_fin_at_the_poles_of_a_juliabulb(power, theta):
    solid = made("juliabulb", power=power, theta=theta)
    field, some = field_of(solid), inside(solid, 60_000, 2, middle=0.95, size=0.3)
    assert len(some) > 1000
    dice = np.random.default_rng(5)
    for point in dice.uniform(-0.3, 0.3, (100, 3)) + np.array([0, 0, 1]):
        found = field(point)[0]
        assert found < 0.03 or found <= np.linalg.norm(some - point, axis=1).min(), point


@pytest.mark.parametrize(
    "formulas",
    [
        *("mandelbox+mandelbulb", "menger+juliabulb", "quaternion+mandelbox"),
        *("amazing_surf+octahedral", "mandelbulb+juliabulb"),
    ],
)
def test_a_hybrid_is_its_parts_in_turn(formulas):
    hybrid = made("solid_hybrid", formulas=formulas)
    advance = march.make_advance(backend().target, hybrid.walk)
    for point in points(hybrid, 20):
        point = tuple(map(float, point))
        x, y, z, d, w = *point, 1.0, 0.0
        for part in hybrid.sequence:
            c = part.constants or point
            if part.fourth is not None:
                x, y, z, w, d = part.step(x, y, z, w, d, *c, part.options)
            else:
                x, y, z, d = part.step(x, y, z, d, *c, part.options)
        state = (*point, 1.0, 0.0, 1e30, 0.0)
        found = advance(state, *point, 1e4, hybrid.options)
        assert found[:4] == (x, y, z, d)
        assert found[6] == w


def test_a_hybrid_of_two_solids_of_four_coordinates_has_one_fourth():
    both = {"formulas": "mandelbox+quaternion+bicomplex", "quaternion_w": 0.5}
    with pytest.raises(ValueError, match="give quaternion_w and bicomplex_w one value"):
        made("solid_hybrid", **both)
    assert made("solid_hybrid", **both, bicomplex_w=0.5).fourth == 0.5


@pytest.mark.parametrize("second", hybrids.PARTS)
def test_any_two_solids_are_a_hybrid_whose_distances_float32_holds(second):
    for first in hybrids.PARTS:
        hybrid = made("solid_hybrid", formulas=f"{first}+{second}")
        if hybrid.degree == 64:  # of bulbs: the largest powers, too
            hybrid = made(
                "solid_hybrid",
                formulas=f"{first}+{second}",
                **{f"{first}_power": 16, f"{second}_power": 16},
            )
        target = open_backend(choose("python").device, "float32").target
        field = march.make_field(target, hybrid.walk)
        space = march.space_of(hybrid, hybrid.steps, np.float32)
        with np.errstate(all="ignore"):
            for point in points(hybrid, 3):
                assert np.isfinite(field(*np.float32(point), space)).all()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mandelbulb", {"power": 17}, "power: 17 is not from 2 to 16"),
        ("mandelbulb", {"power": 2.5}, "power is a whole number from 2 to 16"),
        ("mandelbulb", {"phi": "x"}, "phi is a number from -180 to 180"),
        ("mandelbulb", {"theta": math.nan}, "theta: nan is not from -180 to 180"),
        ("mandelbox", {"scale": 0.5}, "scale: 0.5 is between -1.05 and 1.05"),
        ("mandelbox", {"inner": 2.0}, "inner: 2 is more than outer, 1"),
        ("amazing_surf", {"inner": 2.0}, "inner: 2 is more than outer, 1"),
        ("boxbulb", {"inner": 1.2}, "inner: 1.2 is more than outer, 1"),
        ("boxbulb", {"power": 9}, "power: 9 is not from 2 to 8"),
        ("icosahedral", {"corner": 4}, "corner is 2, 3 or 5"),
        ("menger", {"scale": math.inf}, "scale: inf is not from 1.2 to 4"),
        (
            "solid_hybrid",
            {"formulas": "menger+cube"},
            "formulas: 'cube' is not one of amazing_surf",
        ),
        ("solid_hybrid", {"formulas": "+".join(["mandelbulb"] * 3)}, "together of degree 512"),
        ("solid_hybrid", {"formulas": 3}, "formulas is a list of 1 to 6 names of solids"),
        ("solid_hybrid", {"mandelbox_scale": 9}, "mandelbox_scale: 9 is not from -3 to 3"),
        ("solid_hybrid", {"mandelbox_size": 9}, "unknown option 'mandelbox_size'; there are"),
        ("solid_expression", {"step": "x = q"}, "step: 'q' has no value where it is read"),
        ("solid_expression", {"step": "u = 1"}, "step gives x, y or z no value"),
        ("solid_expression", {"step": "x = y+"}, "column 7: "),
        ("solid_expression", {"step": "x = 2; a = 3"}, "step: 'a' is of the point"),
        ("solid_expression", {"step": "x = 2*x", "steps": 900}, "steps: 900 is not from 1 to 200"),
        (
            "solid_expression",
            {
                "step": ";".join(
                    f"{v} = " + "*".join(f"tan({v}*{n})" for n in range(2, 40)) for v in "xyz"
                )
            },
            "are the most",
        ),
    ],
)
def test_wrong_options_are_one_line(name, options, message):
    with pytest.raises(ValueError, match=r"\w") as caught:
        made(name, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# Names, texts and files


def test_solids_are_listed_with_their_options(capsys):
    from fractals.cli.verbs import run_verb

    assert run_verb(["list", "solids"]) == 0
    lines = capsys.readouterr().out.splitlines()
    starts = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert starts == list(NAMES)
    assert any(
        "scale=3.0: by which a step magnifies; 3 for the sponge (1.2 to 4)" in s for s in lines
    )


def test_statements_are_a_solid_wherever_a_formula_is_given():
    from fractals.cli.values import parse_formula

    text = "u = if(x > 1, 2, x); y = 2*y; x = u"
    table = {"name": "solid_expression", "step": text}
    assert parse_formula(text) == table
    assert parse_formula(f"{text},steps=9, bound=1.5") == {**table, "steps": 9, "bound": 1.5}
    assert parse_formula("z**2 + c") == {"name": "expression", "step": "z**2 + c"}
    scene = fractals.load_scene({"formula": text})
    assert scene.make_any_formula().family == "solid"
    assert scene.to_table()["formula"] == text
    assert fractals.load_scene(scene.to_table()) == scene


FILE = """
from fractals.kernels.primitives import number
from fractals.space.solid import Solid


def step(x, y, z, d, a, b, c, options):
    two = {two}
    return x * two, y * two, z * two, d * two


def make(body=1.0):
    return Solid("ball", "Ball", step, distance="linear", body=body, steps=1, bound=1.0)
"""


def test_a_solid_in_a_file_of_the_user(tmp_path):
    path = tmp_path / "ball.py"
    path.write_text(FILE.format(two="number(2, x)"))
    ball = fractals.load_formula(path, body=1.5)
    assert field_of(ball)((2.0, 0.0, 0.0))[0] == pytest.approx(1.25)
    path.write_text(FILE.format(two="2.0"))
    with pytest.raises(fractals.FractalsError, match=r"line 7: the constant 2\.0 in 'step'"):
        fractals.load_formula(path)
