"""Pictures of a view that moves: rows and columns of the picture before."""

import time

import numpy as np
import pytest
from support.explorer import PATIENCE, SIZE

import fractals
from fractals.explorer import packing
from fractals.explorer.scheduler import VIEW, Engine
from fractals.explorer.shown import MovedPicture, axes, nearest
from fractals.explorer.view import ClientView
from fractals.rendering.plan import make_plan

CENTER, WIDTH, PIXELS = ("-0.7453", "0.1127"), 0.0064, 7
MOST = 1e9  # new samples: as many as are missing


def scene_at(across=0.0, width=WIDTH, rotation=0):
    """Return a scene whose center lies to the right of CENTER, along the picture's axis."""
    turned = np.radians(rotation)
    x, y = float(CENTER[0]) + across * np.cos(turned), float(CENTER[1]) + across * np.sin(turned)
    view = {"center": (str(x), str(y)), "width": str(width), "rotation": rotation}
    return fractals.load_scene("seahorse").replace(size=SIZE, view=view)


def color(columns, rows):
    """Return pixels that tell their places."""
    steps = [np.floor(part / WIDTH * 2**20).astype(np.int64) for part in (columns, rows)]
    red, green = steps[0][None] % 251, steps[1][:, None] % 251
    return np.stack(np.broadcast_arrays(red, green, red ^ green), axis=-1).astype(np.uint8)


def filled(plan, known, most=MOST):
    picture = MovedPicture(plan, known, (70.0, 20.0), most)
    for columns, rows, pixels in picture.parts():
        pixels[:] = color(columns, rows)
    return picture


@pytest.mark.parametrize("octaves", [0.1, -0.1])
def test_each_pixel_is_that_of_its_own_place_however_far_one_zooms(octaves):
    known = None
    for k in range(25):
        plan = make_plan(scene_at(1e-5 * k, WIDTH / 2 ** (octaves * k), 30), "cpu")
        picture = filled(plan, known)
        assert picture.whole() is picture.pixels
        for axis, wanted in zip((picture.columns, picture.rows), axes(plan), strict=True):
            assert (np.diff(axis.positions) > 0).all()
            assert abs(axis.positions - wanted).max() < 1.01 * (wanted[1] - wanted[0])
        places = picture.columns.positions, picture.rows.positions
        assert np.array_equal(picture.pixels, color(*places))
        assert k == 0 or picture.added < 0.4 * np.prod(SIZE)
        known = picture.known("like")


def test_an_axis_narrower_than_float64_tells_takes_no_known_positions():
    """A visitor who had zoomed into nothing was told of a division by 0 in the terminal."""
    with np.errstate(all="raise"):
        assert nearest(np.array([1e6, 2e6]), np.full(4, 1e6)).tolist() == [-1] * 4


def test_a_picture_in_a_hurry_is_whole_and_becomes_finer():
    known, counts = None, []
    plan = make_plan(scene_at(), "cpu")
    while not counts or counts[-1] < np.prod(SIZE):
        picture = filled(plan, known, 600)
        assert picture.whole().shape == (*SIZE[::-1], 3)
        known = picture.known("like")
        counts.append(known.pixels[..., 0].size)
        assert len(counts) < 2 or counts[-1] > counts[-2]
    assert counts[0] <= 600


def test_a_moved_picture_has_pixels_of_the_one_before_and_ends_exact():
    engine, sent, said = Engine("cpu"), [], []
    begun = scene_at(rotation=30)
    after = scene_at(PIXELS * WIDTH / SIZE[0], rotation=30)
    before = None
    for scene in (begun, after):
        sent.clear()
        said.clear()
        before = ClientView(
            (engine, "view"),
            ClientView.passes,
            VIEW,
            engine=engine,
            scene=scene,
            frame=1,
            paint=0,
            shader=False,
            say=lambda kind, **keys: said.append(keys.get("pass")),
            failed=said.append,
            put=lambda message, frame, paint: sent.append(packing.unpack(message)),
            before=before,
        )
        engine.submit(before)
        deadline = time.monotonic() + PATIENCE
        while "exact" not in said:  # other lines: errors
            assert time.monotonic() < deadline, said
            time.sleep(0.01)
        before.rate = MOST  # a busy machine may have measured little
    engine.end()
    engine.thread.join(20)
    shown = []
    for head, payload in sent:
        x, y, width, height, step = head[4:9]
        assert step == 1  # no coarse one follows
        shown.append(np.zeros((*SIZE[::-1], 3), np.uint8) if not shown else shown[-1].copy())
        part = np.frombuffer(payload, np.uint8).reshape(height, width, 3)
        shown[-1][y : y + height, x : x + width] = part
    exact, single = fractals.render(begun).pixels, after.replace(supersampling=1)
    added = fractals.render(single).pixels[:, -PIXELS:]
    moved = np.hstack([exact[:, PIXELS:], added])
    assert (shown[0] != moved).any(axis=-1).mean() < 0.01  # places are rounded
    assert np.array_equal(shown[-1], fractals.render(after).pixels)
