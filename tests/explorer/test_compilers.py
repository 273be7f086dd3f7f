"""Visitors' own formulas are compiled in processes: others are drawn for meanwhile."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import event
from support.explorer import SIZE, Client, start

import fractals
from fractals.backends.cpu import backend
from fractals.errors import DeviceLostError, OptionError
from fractals.explorer import jobs
from fractals.explorer.jobs import Compilers, own_label
from fractals.explorer.scheduler import VIEW, DrawingTask
from fractals.explorer.view import ClientView
from fractals.explorer.work import NO_MEMORY, compile_programs

SEAHORSE = {"view": {"center": ["-0.7453", "0.1127"], "width": "0.0065"}}
SCENE = fractals.load_scene(size=(8, 6))


def new_formula():
    """Return a formula that no test has compiled."""
    return f"z^2 + c + {time.time_ns() % 10**12 + 1}e-30*z"


@contextlib.contextmanager
def listening():
    """Yield the threads of this process that compile meanwhile."""
    threads = []

    class Listener(event.Listener):
        def on_start(self, event):
            threads.append(threading.current_thread())

        def on_end(self, event):
            pass

    listener = Listener()
    event.register("numba:compile", listener)
    yield threads
    event.unregister("numba:compile", listener)


@pytest.fixture
def compiling():
    """Return the threads of this process that compile during a test."""
    with listening() as threads:
        yield threads


@pytest.fixture
def held(monkeypatch):
    """Have processes wait for an event, and compile nothing; keep their orders."""
    state = SimpleNamespace(go_on=threading.Event(), orders=[])

    def wait(order):
        state.orders.append(order)
        while not (state.go_on.is_set() or order.killed):
            time.sleep(0.01)
        return ""

    monkeypatch.setattr(jobs, "_run", wait)
    yield state
    state.go_on.set()


@pytest.fixture(scope="module")
def own_formula(tmp_path_factory):
    """Return what a client saw of a new formula with a parameter, which is compiled once.

    The client opens it at several values of the parameter, and moves the last picture.
    """
    formula = {"name": "expression", "step": f"{new_formula()} + k*c"}
    scenes = [
        fractals.load_scene(formula=formula | {"k": k}, max_iterations=100, size=SIZE)
        for k in (0.3, -0.5, 1, "0.25")
    ]
    found = SimpleNamespace(scenes=scenes, pixels=[], counts=[], orders=[])
    order = Compilers.order

    def counted(*given):
        found.orders.append(given)
        return order(*given)

    async def talk(client):
        for frame, scene in enumerate(scenes, 1):
            await client.say("open", frame=frame, scene=scene.to_table())
            await client.exact(frame)
            found.pixels.append(client.pixels.copy())
            found.counts.append(len(found.orders))
        last = len(scenes) + 1
        await client.say("view", frame=last, base=last - 1, scale=9)
        await client.exact(last)
        found.texts = client.texts

    found.server, thread = start(tmp_path_factory.mktemp("explorer"))
    with listening() as found.threads, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compilers, "order", counted)
        found.server.run(talk)
    yield found
    found.server.running.close()
    thread.join(20)


def test_an_own_formula_is_compiled_elsewhere(own_formula):
    assert own_formula.server.explorer.engine.thread not in own_formula.threads
    pixels = fractals.render(own_formula.scenes[0], device="cpu").pixels
    assert np.array_equal(own_formula.pixels[0], pixels)


def test_compiling_is_told_before_the_first_picture(own_formula):
    """Here each time, because the expression is a new one."""
    kinds = ("status", "drawn")
    told = [(m["t"], m.get("what"), m["frame"]) for m in own_formula.texts if m["t"] in kinds]
    assert told.index(("status", "compiling", 1)) < told.index(("drawn", None, 1))
    compiling = {frame for _, what, frame in told if what == "compiling"}
    assert compiling == {1}  # the others are drawn by the same programs


def test_another_value_of_a_parameter_compiles_nothing(own_formula):
    """A slider moves a parameter: a process compiles for the first value, and each is exact."""
    counts, found = own_formula.counts, own_formula.pixels
    assert counts[0] > 0
    assert counts == counts[:1] * len(own_formula.scenes)
    for scene, pixels in zip(own_formula.scenes, found, strict=True):
        assert np.array_equal(pixels, fractals.render(scene, device="cpu").pixels)
    assert not np.array_equal(found[0], found[1])


@pytest.mark.slow
def test_previews_and_questions_are_compiled_elsewhere(own_server, compiling):
    async def talk(client):
        await client.say("open", frame=1, formula=new_formula())
        await client.exact(1)
        await client.ask("pick", "picked", frame=1, at=[0, 0], full=True)
        await client.say("julia", seq=1, frame=1, at=[700, 500], size=32)
        while not any(tile.kind == 5 for tile in client.tiles):
            await client.receive()

    server = own_server()
    server.run(talk, values=False)
    assert server.explorer.engine.thread not in compiling


def test_others_are_drawn_for_while_a_formula_is_compiled(own_server, held, monkeypatch):
    monkeypatch.setattr(backend, "FUSED", False)  # plain loops, which compile sooner
    server = own_server()

    async def both():
        async with server.connect() as one, server.connect() as two:
            slow, quick = Client(one, SIZE), Client(two, SIZE)
            for client in (slow, quick):
                await client.say("hello", v=1, size=list(SIZE))
                await client.until("welcome")
            held.go_on.set()
            await quick.say("open", frame=1, scene=SEAHORSE)
            await quick.exact(1)
            held.go_on.clear()
            await slow.say("open", frame=1, formula=new_formula())
            await slow.until("status", what="compiling")
            for frame in range(2, 5):
                await quick.say("view", frame=frame, base=frame - 1, by=[16, 0])
                await quick.exact(frame)
            assert not any(text["t"] == "drawn" for text in slow.texts)
            held.go_on.set()
            await slow.exact(1)

    asyncio.run(both())


def test_a_newer_view_ends_the_process(own_server, held):
    async def talk(client):
        await client.say("open", frame=1, formula=new_formula())
        await client.until("status", what="compiling")
        while not held.orders:
            await asyncio.sleep(0.01)
        await client.say("open", frame=2, scene=SEAHORSE)
        await client.exact(2)

    own_server().run(talk)
    assert [order.killed for order in held.orders] == [True]


def test_a_process_that_hangs_ends_with_its_order(monkeypatch):
    hangs = [sys.executable, "-c", "import time; time.sleep(20)"]
    monkeypatch.setattr(jobs, "work_command", lambda: (hangs, dict(os.environ)))
    done = threading.Event()
    order = Compilers(lambda: "cpu", done.set).order(object(), SCENE, "values")
    while not order.made:
        time.sleep(0.01)
    order.kill()
    done.wait()
    assert order.made.returncode != 0


def test_many_formulas_of_one_client_leave_them_to_others(own_server, held, monkeypatch):
    monkeypatch.setattr(backend, "FUSED", False)  # plain loops, which compile sooner
    server = own_server()

    async def both():
        async with server.connect() as one, server.connect() as two:
            greedy, other = Client(one, SIZE), Client(two, SIZE)
            for client in (greedy, other):
                await client.say("hello", v=1, size=list(SIZE))
                await client.until("welcome")
            for k in range(1, 101):
                await greedy.say("open", frame=k, formula=f"z^2+c+{k}e-9*z")
            assert "wait a moment" in await greedy.refused()
            held.go_on.set()
            await other.say("open", frame=1, formula=new_formula())
            await other.exact(1)

    asyncio.run(both())
    labels = {json.loads(order.line)["scene"]["formula"] for order in held.orders}
    assert len(labels) <= jobs.MAX_A_MINUTE + 1


def test_processes_take_turns(held):
    made = Compilers(lambda: "cpu", lambda: None)
    clients = [object.__new__(Client) for _ in range(3)]
    orders = [made.order(clients[k], SCENE, "values") for k in (0, 0, 1, 2)]
    while len(held.orders) < jobs.MAX_RUNNING:
        time.sleep(0.01)
    assert set(held.orders) == {orders[0], orders[2]}  # one for each client
    orders[1].kill()
    held.go_on.set()
    while not orders[3].done:
        time.sleep(0.01)
    assert orders[1] not in held.orders


def test_what_is_compiled_is_counted_for_each_client(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(jobs, "monotonic", lambda: now[0])
    made = Compilers(lambda: "cpu", lambda: None)
    one, two = (object.__new__(Client) for _ in range(2))
    for k in range(jobs.MAX_A_MINUTE):
        made.count(one, f"formula {k}")
    made.count(one, "formula 0")  # again: another program of the same
    made.count(two, "formula 7")
    with pytest.raises(OptionError, match="6 formulas of your own are compiled in a minute"):
        made.count(one, "formula 8")
    now[0] = jobs.MINUTE
    made.count(one, "formula 8")
    assert made._compiled == {one: {"formula 8": jobs.MINUTE}}


def test_the_pages_of_a_visitor_are_one_client():
    made, orders = Compilers(lambda: "cpu", lambda: None), []
    made.order = lambda owner, *_: orders.append(owner) or SimpleNamespace(kill=None, done=True)
    step = "z**2 + c + 1e-9"

    def ask(visitor, formula):
        owner = SimpleNamespace(visitor=visitor)
        work = DrawingTask((owner, "view"), lambda task: iter(()), VIEW)
        scene = fractals.load_scene(formula={"name": "expression", "step": formula})
        next(made.compiled(work, scene, "values"))

    for k in range(jobs.MAX_A_MINUTE):
        ask("one", f"{step}*{k}")
    ask("two", step)
    with pytest.raises(OptionError, match="formulas of your own"):
        ask("one", step)
    assert orders == ["one"] * jobs.MAX_A_MINUTE + ["two"]


def test_labels_tell_own_formulas_and_statistics():
    assert own_label(fractals.load_scene("seahorse")) == ""
    assert own_label(fractals.load_scene(formula="burning_ship", coloring="smooth")) == ""
    labels = [
        own_label(fractals.load_scene(formula="z^2+c+1")),
        own_label(fractals.load_scene(formula="z^2+c+2")),
        own_label(fractals.load_scene(coloring={"name": "stripe_average", "density": 4})),
    ]
    assert len(set(labels) - {""}) == 3


@contextlib.contextmanager
def process(code):
    """Start the process of a search with other functions in it."""
    table = {"do": "find", "what": "period", "fraction": 0.5, "scene": SCENE.to_table()}
    command, environment = jobs.work_command()
    command = [*command[:-2], "-c", f"from fractals.explorer import work\n{code}\nwork.main()"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as made:
        made.stdin.write(json.dumps(table) + "\n")
        made.stdin.flush()
        yield made


def run_process(code):
    """Run such a process, and return its last line."""
    with process(code) as made:
        return json.loads(made.stdout.read().splitlines()[-1])


def test_a_search_ends_with_its_server():
    code = """
import time
def find(*_):
    print("begun", flush=True)
    time.sleep(20)
    return {}
work.find = find
"""
    with process(code) as made:
        assert made.stdout.readline() == "begun\n"
        made.stdin.close()
        assert made.wait() == 1


# Linux keeps limits of a process; elsewhere the process looks at itself.
@pytest.mark.parametrize("kept", [True, False])
def test_a_search_is_bounded_in_time(kept):
    seconds = 1 if kept else 0.6  # Linux counts whole ones
    code = f"""
import time
work.KEEPS_LIMITS = {kept}
def find(*_):
    while time.process_time() < 5:
        pass
    return {{"period": 0}}
work.find, work.LIMITS["find"] = find, (0.2, {seconds}, work.LIMITS["find"][2])
"""
    assert "search a smaller rectangle" in run_process(code)["message"]


@pytest.mark.parametrize("kept", [True, False])
def test_a_search_is_bounded_in_memory(kept):
    # A process inherits how much memory its parent has used at most, so that of now is asked.
    code = f"""
import os, time
from pathlib import Path
import numpy as np
page = os.sysconf("SC_PAGE_SIZE")
work.KEEPS_LIMITS = {kept}
if not {kept}:
    work.most_memory = lambda: page * int(Path("/proc/self/statm").read_text().split()[1])
    work.LIBRARIES = work.most_memory() + 2**26
def find(*_):
    numbers = np.ones(work.LIBRARIES // 4)
    time.sleep(5)
    return {{"period": len(numbers)}}
work.find, work.memory_size = find, lambda: 0
"""
    assert run_process(code)["message"] == NO_MEMORY


def test_a_gpu_that_fails_is_left_to_the_process_that_draws(monkeypatch):
    """It goes on with the CPU, or tells the client; the process that compiles has done its work."""

    def fail(view):
        raise DeviceLostError("the GPU failed")

    monkeypatch.setattr(ClientView, "compile", fail)
    assert compile_programs(SCENE, "values", "cpu") == {}
