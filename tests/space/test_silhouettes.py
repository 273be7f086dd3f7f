"""Solids are where they are said to be: what rays meet, beside members that orbits alone find."""

import numpy as np
import pytest
from oracle import members
from oracle import solids as oracle
from support.shapes import solid_scene, tracing_of
from test_shapes import CASES, ENDLESS, made

from fractals import catalog
from fractals.space import march
from fractals.space.camera import flown, orbited

SIZE, DRAWN, CAMERAS = (48, 30), 40, 10
RADII = np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0])  # in pixels
# Half of the drawn points, nine tenths and nearly all are as near a member, in pixels: of a camera
# that sees the whole solid, of ten cameras, and of these where d grows far more than orbits part.
QUANTILES, WHOLE, ALL = (0.5, 0.9, 0.98), (0.75, 1.0, 1.25), (0.75, 1.5, 2.0)
# Spikes thinner than a pixel stand on quasi_fuchsian.
ROUGH = {
    "bristorbrot": (1.0, 2.5, 4.0),
    "pseudo_kleinian": (1.0, 2.5, 4.0),
    "quasi_fuchsian": (0.75, 1.0, 1.25),
}


@pytest.mark.parametrize(("name", "options"), CASES)
def test_maps_of_members_are_the_oracles(name, options):
    solid, dice = made(name, **options), np.random.default_rng(3)
    parameters = {**made(name).parameters, **solid.parameters}
    fourth = solid.fourth is not None and name not in members.OFF
    p = dice.uniform(-1.1, 1.1, (4 if fourth else 3, 30))
    if fourth:
        p[3] = solid.fourth
    c = members.constant_of(solid, p)
    found = members.MAPS[name](p, c, **parameters)
    for k in range(30):
        own = tuple(map(oracle.mpf, p[:, k]))
        constant, _ = oracle.constant_of(name, own, parameters)
        theirs, _ = oracle.MAPS[name](own, constant, **parameters)
        assert found[:, k] == pytest.approx([float(v) for v in theirs], rel=1e-9, abs=1e-9)


def test_every_solid_has_members():
    assert set(members.MAPS) | {"solid_hybrid"} == set(catalog.names("solid"))


def tracings(name, **options):
    """Yield what traces a solid for each camera: around it, near it, and within its sphere."""
    scene = solid_scene({"name": name, **options}, size=SIZE, precision="float64", lens=0)
    for k in range(CAMERAS):
        turn, up = 360 * k / CAMERAS, 25 * (k % 3 - 1)
        if name in ("amazing_surf", *ENDLESS):
            seen = flown(scene, 0, 0, 0.2 * (k % 2), turn, up / 2)
        else:
            seen = orbited(scene, turn, up, (1, 2, 4)[k % 3])
        yield tracing_of(seen, "cpu")


def looked(tracing, count):
    """Return points where rays end and the size of a pixel there, and where the camera is."""
    camera, found = tracing.shot.camera, np.zeros((SIZE[1], SIZE[0], 2))
    tracing._tracer().first(found, camera, tracing.plan.space(np.float64))
    rows, columns = np.nonzero(found[..., 0] > 0)
    some = np.random.default_rng(5).permutation(len(rows))[:count]
    rows, columns, t = rows[some], columns[some], found[rows[some], columns[some], 0]
    x = (columns + 0.5 - camera[march.HALF]) * camera[march.PIXEL]
    y = (camera[march.HALF + 1] - rows - 0.5) * camera[march.PIXEL]
    d = camera[3:6] + x[:, None] * camera[6:9] + y[:, None] * camera[9:12]
    d /= np.linalg.norm(d, axis=1)[:, None]
    return camera[:3] + t[:, None] * d, camera[march.PIXEL] * t


def beyond(tracing, places):
    """Return by how many pixels rays to places go on behind them; infinity: they meet nothing."""
    camera, tracer = tracing.shot.camera.copy(), tracing._tracer()
    camera[march.HALF : march.HALF + 2], position = 0.5, camera[:3].copy()
    passed, found = [], np.zeros((1, 1, 2))
    for place in places:
        far = np.linalg.norm(place - position)
        camera[march.AHEAD : march.RIGHT] = (place - position) / far
        tracer.first(found, camera, tracing.plan.space(np.float64))
        t = found[0, 0, 0]
        passed.append((t - far) / (camera[march.PIXEL] * far) if t > 0 else np.inf)
    return np.array(passed)


def measured(tracing, count=DRAWN):
    """Return how far drawn points are from members, in pixels, and how far rays pass members."""
    points, pixel = looked(tracing, count)
    solid = tracing.plan.solid
    which, found = members.nearest(solid, points, pixel[:, None] * RADII)
    passed = beyond(tracing, found[which < len(RADII)])
    return np.append(RADII, np.inf)[which], passed


def check(found, near, most=0.0):
    """Compare what was measured: how far points are from members; which rays pass members."""
    away, passed = (np.concatenate(parts) for parts in zip(*found, strict=True))
    assert (np.quantile(away, QUANTILES, method="lower") <= near).all()
    assert (passed > 0.5).mean() <= most


@pytest.mark.parametrize("name", ["mandelbulb", "bicomplex", "menger"])
def test_rays_end_half_a_pixel_before_members(name):
    """No ray to a member goes on behind it, so silhouettes are whole."""
    check([measured(next(tracings(name)))], WHOLE)


def test_a_box_whose_steps_hardly_magnify_is_whole():
    """Orbits of as many steps as usual stay, where there is no member."""
    formula = {"name": "mandelbox", "scale": 1.1}
    scene = solid_scene(formula, size=SIZE, precision="float64", lens=0)
    found = measured(tracing_of(orbited(scene, 0, 0, 1), "cpu"), 12)
    assert len(found[0]) == 12
    check([found], (1.75, 2.25, 2.5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in catalog.names("solid")), ("mandelbox", {"scale": 2.0})],
)
def test_rays_of_ten_cameras_end_half_a_pixel_before_members(name, options):
    found = [measured(tracing) for tracing in tracings(name, **options)]
    assert len(found) == CAMERAS
    assert sum(len(away) > 0 for away, _ in found) >= 6  # some see the sky alone
    check(found, ROUGH.get(name, ALL), 0.02 if name in ROUGH else 0.0)
