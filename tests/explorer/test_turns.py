"""Clients take turns: a view that takes long leaves the drawing thread to others."""

import itertools
import threading
import time
from functools import partial
from itertools import product
from types import SimpleNamespace

import pytest
from support.scenes import slow_but

import fractals
from fractals.backends.base import Stages
from fractals.errors import OptionError
from fractals.explorer import scheduler
from fractals.explorer.scheduler import (
    PENALTY,
    SMALL,
    STARVING,
    VIEW,
    DrawingTask,
    Engine,
    Stale,
    smaller,
)
from fractals.explorer.shown import RefinedView
from fractals.explorer.view import ClientView, tile_side
from fractals.rendering.drawing import Sink, _find_orbit
from fractals.rendering.perturb import find_orbits
from fractals.rendering.plan import make_plan
from fractals.rendering.sampling import Room
from fractals.rendering.tiles import Tile
from fractals.threads import run_tiles

SCENE = fractals.load_scene("seahorse", size=(8, 6))


class Owner:
    """A client."""

    def __init__(self, visitor=""):
        self.visitor = visitor


@pytest.fixture
def engine():
    made = Engine("cpu", 1)
    yield made
    made.end()
    made.thread.join(20)


@pytest.mark.parametrize(
    ("coloring", "who"),
    slow_but(
        [("smooth", "another client"), ("picture_trap", "a newer view of the same client")],
        product(["smooth", "picture_trap"], ["another client", "a newer view of the same client"]),
    ),
)  # packs, and the plain loop
def test_a_tile_of_samples_without_end_is_left(engine, coloring, who, monkeypatch):
    """Its samples take 2e9 steps each, and it was begun while nobody else was there."""
    monkeypatch.setattr(scheduler, "PATIENCE", 0.05)
    begun, drawn, sent, said, one = threading.Event(), threading.Event(), [], [], Owner()

    def noted(*arguments):
        begun.set()
        return run_tiles(*arguments)

    def quick(work):
        drawn.set()
        yield None

    monkeypatch.setattr(scheduler, "run_tiles", noted)
    keys = {"formula": "phoenix", "center": ("0", "0"), "width": "0.01"}
    inside = SCENE.replace(**keys, max_iterations=2 * 10**9, layers=[{"coloring": coloring}])
    view = ClientView(
        (one, "view"),
        ClientView.passes,
        VIEW,
        engine=engine,
        scene=inside,
        frame=1,
        paint=0,
        failed=said.append,
        put=lambda *message: sent.append(message),
    )
    engine.submit(view)
    assert begun.wait(240)  # programs are compiled
    time.sleep(0.3)  # the threads have begun their tiles
    other = who == "another client"
    engine.submit(DrawingTask((Owner() if other else one, "view"), quick, VIEW))
    assert drawn.wait(60)
    assert sent == []
    assert said == ([STARVING] if other else [])


def endless(work):
    while True:
        work.check()


def test_work_that_takes_long_ends_if_others_wait(engine, monkeypatch):
    monkeypatch.setattr(scheduler, "PATIENCE", 0.05)
    said, drawn, one, two = [], threading.Event(), Owner(), Owner()

    def quick(work):
        drawn.set()
        yield None

    engine.submit(DrawingTask((one, "view"), endless, VIEW, failed=said.append))
    assert not drawn.wait(0.3)  # alone, it may take as long as it likes
    assert said == []
    engine.submit(DrawingTask((two, "view"), quick, VIEW))
    assert drawn.wait(60)
    assert said == [STARVING]
    again = DrawingTask((one, "view"), endless, VIEW)
    engine.submit(again)
    assert again.not_before > scheduler.monotonic() + PENALTY / 2


def test_a_person_waits_for_an_own_second_view(engine, monkeypatch):
    monkeypatch.setattr(scheduler, "PATIENCE", 0.05)
    said, drawn = [], threading.Event()
    first = DrawingTask((Owner("someone"), "view"), endless, VIEW, failed=said.append)
    engine.submit(first)
    engine.submit(DrawingTask((Owner("someone"), "view"), lambda work: iter([drawn.set()]), VIEW))
    assert not drawn.wait(0.3)
    assert said == []
    engine.cancel(first.key)
    assert drawn.wait(60)


def test_preparing_goes_on_in_a_process_if_others_wait(engine, monkeypatch):
    monkeypatch.setattr(scheduler, "PATIENCE", 0.05)
    asked, done, one, two = [], threading.Event(), Owner(), Owner()
    engine.forbids = lambda scene: True

    def elsewhere(work, scene, what):
        asked.append(what)
        yield None

    engine.elsewhere = elsewhere

    def prepare():
        if not asked:  # a long reference orbit, say
            endless(first)
        return 7

    def steps(work):
        found = yield from engine.prepared(work, SCENE, "values", prepare)
        assert found == 7
        done.set()

    first = DrawingTask((one, "view"), steps, VIEW)
    engine.submit(first)
    engine.submit(DrawingTask((two, "view"), lambda work: iter([None]), VIEW))
    assert done.wait(60)
    assert asked == ["values"]


def test_replaced_work_is_not_prepared_elsewhere(engine):
    engine.forbids = lambda scene: True
    engine.elsewhere = lambda work, scene, what: pytest.fail("nobody waits for it")
    work = DrawingTask((Owner(), "view"), endless, VIEW)
    work.replace()
    with pytest.raises(Stale):
        next(engine.prepared(work, SCENE, "values", work.check))


def batches(crowded, limit=1000, supersampling=1, method="direct"):
    """Return a function that runs tiles, and gives these as they were drawn."""
    engine = SimpleNamespace(crowded=lambda: crowded, spent=scheduler.monotonic)
    drawing = SimpleNamespace(
        source=SimpleNamespace(max_iterations=limit),
        plan=SimpleNamespace(supersampling=supersampling, method=method),
        backend=SimpleNamespace(threads=0),
        room=Room(),
        stages=Stages(),
    )
    work = DrawingTask((Owner(), "view"), endless, VIEW)

    def run(tiles):
        drawn = []

        def take(tile, stop):
            drawn.append(tile)
            return {}

        for _ in Engine.batches(engine, work, drawing, tiles, Sink(take)):
            pass
        return drawn

    return run


def test_a_view_that_takes_long_pauses_until_its_user_goes_on():
    said = []
    engine = SimpleNamespace(batches=lambda *_: iter([2.0, 2.0, 2.0]))
    options = {"engine": engine, "scene": SCENE, "frame": 1, "paint": 0}
    view = ClientView(
        ("",), ClientView.passes, VIEW, **options, say=lambda kind, **_: said.append(kind)
    )
    view.allowed = 3.0
    view.drawing = SimpleNamespace(plan=SimpleNamespace(size=(8, 6), supersampling=1))
    view.single = None
    steps = view.draw_tiles(view.drawing, Sink(lambda tile, stop: {}), 8)
    assert next(steps) is None
    assert min(next(steps), next(steps)) > scheduler.monotonic()
    view.go_on()
    assert list(steps) == [None, None]
    assert said == ["paused"]


def test_the_steps_of_a_long_reference_orbit_are_told(monkeypatch):
    monkeypatch.setattr("fractals.explorer.view.STATUS_SECONDS", 0)
    steps, said = 40_000, []
    keys = {"formula": "burning_ship", "center": ("-1.9", "0"), "width": "1e-30"}  # it goes on
    chaotic = SCENE.replace(**keys, max_iterations=steps)
    view = ClientView(
        ("",),
        ClientView.passes,
        VIEW,
        engine=None,
        scene=chaotic,
        frame=7,
        paint=0,
        say=lambda kind, **keys: said.append((kind, keys)),
    )
    plan, options = make_plan(chaotic, "cpu"), view._options().replace(cache=False)
    find_orbits(plan, steps, partial(_find_orbit, plan, options))
    done = [keys.pop("done") for _, keys in said]
    assert 0 < done[0] <= done[-1] <= steps
    assert done == sorted(done)
    assert said == [("status", {"frame": 7, "what": "reference", "of": steps})] * len(done)
    view.replace()
    with pytest.raises(Stale):
        find_orbits(plan, steps, partial(_find_orbit, plan, options))


def test_work_does_not_pass_while_other_programs_have_the_cores(engine):
    before = engine.spent()
    time.sleep(0.4)
    assert engine.spent() - before < 0.2
    before, until = time.thread_time(), engine.spent() + 0.05
    while engine.spent() < until:
        pass
    assert time.thread_time() - before > 0.02


class Sleeping:
    """A refinement whose steps take long, of which the CPU does nothing."""

    kept, share, prepare, free = 0, 0.0, staticmethod(lambda: None), staticmethod(lambda: None)

    def pictures(self):
        for _ in range(3):
            time.sleep(0.2)
            yield None


def test_a_busy_machine_pauses_no_view(engine):
    said = []
    options = {"engine": engine, "scene": SCENE, "frame": 1, "paint": 0}
    view = RefinedView(
        ("",), RefinedView.passes, VIEW, **options, say=lambda kind, **_: said.append(kind)
    )
    view.open = lambda: setattr(view, "refinement", Sleeping())
    view.allowed = 0.3
    assert list(itertools.islice(view.passes(), 9)) == [None, None, None]
    assert "paused" not in said


TILES = [Tile(0, 0, 256, 256), Tile(256, 0, 44, 256)]


def test_tiles_are_small_where_each_sample_may_take_long():
    assert batches(False, 10**9)(TILES) == TILES
    assert batches(True, 1000)(TILES) == TILES
    assert batches(True, 10**7, method="perturbation")(TILES) == TILES
    for limit, supersampling in ((10**6, 1), (10**7, 2)):
        found = batches(True, limit, supersampling)(TILES)
        most = scheduler.MAX_STEPS // (limit * supersampling**2)
        assert max(tile.width * tile.height for tile in found) <= most
        points = [(x, y) for t in found for x, y in pixels(t)]
        assert sorted(points) == sorted(point for t in TILES for point in pixels(t))
    with pytest.raises(OptionError, match="others are connected: lower max_iterations"):
        batches(True, 10**9)(TILES)


def test_tiles_of_replaced_work_are_skipped():
    work = DrawingTask((Owner(), "view"), endless, VIEW)
    drawing = SimpleNamespace(
        source=SimpleNamespace(max_iterations=1000),
        plan=SimpleNamespace(supersampling=1, method="direct"),
        backend=SimpleNamespace(threads=0),
        room=Room(),
        stages=Stages(),
    )
    drawn = []

    def take(tile, stop):
        drawn.append(tile)
        work.replace()
        assert stop()
        return {}

    engine = SimpleNamespace(crowded=lambda: False, spent=scheduler.monotonic)
    with pytest.raises(Stale):
        next(Engine.batches(engine, work, drawing, TILES, Sink(take)))
    assert drawn == TILES[:1]


def pixels(tile):
    return [
        (x, y)
        for x in range(tile.x, tile.x + tile.width)
        for y in range(tile.y, tile.y + tile.height)
    ]


def test_sides_of_tiles():
    assert smaller(Tile(3, 4, 1, 1), 0) == [Tile(3, 4, 1, 1)]
    assert tile_side(1e9, 1) == 256
    assert tile_side(60_000, 1) == 32
    assert tile_side(5_000, 1) == 32  # 0.2 s; smaller ones iterate more slowly
    assert tile_side(1_100, 1) == 16
    assert tile_side(10, 4) == 4


def test_every_second_step_is_the_leaders_of_a_class(engine):
    steps, ready, done = [], threading.Event(), threading.Event()

    def drawing(name, count):
        def make(work):
            for _ in range(count):
                steps.append(name)
                yield None
            if name == "guest 0":
                done.set()

        return make

    def waits(work):
        ready.wait(60)
        yield None

    engine.submit(DrawingTask((Owner(), "view"), waits, SMALL))
    tasks = [(f"guest {k}", False, 6) for k in range(4)] + [("leader", True, 3)]
    for name, leads, count in tasks:
        made = drawing(name, count)
        engine.submit(DrawingTask((Owner(), "view"), made, VIEW, leads=leads))
    ready.set()
    assert done.wait(60)
    assert steps[:6:2] == ["leader"] * 3
    assert steps[1:6:2] == ["guest 0", "guest 1", "guest 2"]
    assert steps[6:10] == ["guest 3", "guest 0", "guest 1", "guest 2"]
