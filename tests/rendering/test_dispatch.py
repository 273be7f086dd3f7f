"""Parts handed out to workers: executors, and workers that end, lie or are late. No engine runs."""

import json
import os
import re
import sys
import time
import types
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from unittest import mock

import pytest
from support.scenes import scene
from support.stores import contents

import fractals
from fractals import OptionError
from fractals.errors import FractalsError, to_install
from fractals.io import png
from fractals.io.stores import parts as part_files
from fractals.io.stores import store
from fractals.rendering.cluster import dispatch, job, pools, worker
from fractals.rendering.cluster.dispatch import Dispatch
from fractals.rendering.cluster.worker import RefusedError


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Many tiles in a small picture, and no session of another test."""
    monkeypatch.setattr(store, "MIN_SAMPLES", 64)
    monkeypatch.setattr(worker, "_sessions", {})


# Executors


class Polled:
    """A future of an executor that has `done` and `result` only, as those of job systems."""

    def __init__(self, future):
        self._future = future

    def done(self):
        return self._future.done()

    def result(self):
        return self._future.result()

    def cancel(self):
        return self._future.cancel()


class JobSystem:
    """An object with `submit`, and no more."""

    def __init__(self, executor):
        self._executor = executor

    def submit(self, function, *arguments):
        return Polled(self._executor.submit(function, *arguments))


@pytest.mark.parametrize("wrapped", [lambda executor: executor, JobSystem])
def test_an_executor_computes_a_store(tmp_path, wrapped):
    drawn = scene(size=(20, 33))
    fractals.compute_to(tmp_path / "whole.fz", drawn, device="python")
    seen = []
    with ThreadPoolExecutor(2) as executor:
        done = fractals.compute_to(
            tmp_path / "a.fz",
            drawn,
            device="python",
            cluster=wrapped(executor),
            progress=lambda *given: seen.append(given),
        )
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")
    assert seen[-1] == (done.tiles, done.tiles)
    assert done.before == 0


def test_results_come_back_where_no_folder_is_shared(tmp_path, monkeypatch):
    drawn = scene(size=(20, 33))
    fractals.compute_to(tmp_path / "whole.fz", drawn, device="python")
    written = []
    keep = part_files.StoreParts.keep

    def note(self, name, content):
        written.append((self.folder, name))
        keep(self, name, content)

    monkeypatch.setattr(part_files.StoreParts, "keep", note)
    with ThreadPoolExecutor(1) as executor:
        asked = job.Cluster(executor, returns=True)
        fractals.compute_to(tmp_path / "a.fz", drawn, device="python", cluster=asked)
    assert contents(tmp_path / "a.fz") == contents(tmp_path / "whole.fz")
    folders = {folder for folder, name in written if name.endswith(".tile")}
    assert folders == {tmp_path / "a.fz" / "parts"}
    assert {name for folder, name in written if folder not in folders} == {"begun"}


@pytest.mark.parametrize("keys", [{}, {"bits": 16, "compression": "small"}], ids=str)
def test_an_executor_draws_a_poster(tmp_path, monkeypatch, keys):
    monkeypatch.setattr(png, "STRIP", 2**8)
    monkeypatch.setattr(png, "MIN_ROWS", 2)
    drawn = scene(size=(20, 33), **keys)
    fractals.render_to(tmp_path / "whole.png", drawn, device="python")
    with ThreadPoolExecutor(2) as executor:
        fractals.render_to(tmp_path / "a.png", drawn, device="python", cluster=executor)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.png", "whole.png"]


@pytest.mark.parametrize("same", [True, False])
def test_a_finished_poster_leaves_no_strips(tmp_path, monkeypatch, same):
    """A process was killed after the picture got its name; strips of another one are kept."""
    drawn, path = scene(size=(20, 33)), tmp_path / "a.png"
    with ThreadPoolExecutor(1) as executor:
        given = {"device": "python", "cluster": executor}
        with monkeypatch.context() as patch:
            patch.setattr(part_files.StoreParts, "clear", lambda self: None)
            fractals.render_to(path, drawn, **given)
        if not same:
            fractals.render_to(path, drawn, density=2.0, device="python", overwrite=True)
        with pytest.raises(FractalsError, match="exists already"):
            fractals.render_to(path, drawn, **given)
    assert (tmp_path / "a.png.parts").exists() == (not same)


def test_nothing_is_left_where_no_cluster_answers(tmp_path, monkeypatch):
    def refuse(*_):
        raise FractalsError("no scheduler answers")

    monkeypatch.setattr(job, "open_pool", refuse)
    with pytest.raises(FractalsError, match="no scheduler answers"):
        fractals.render_to(tmp_path / "a.png", scene(), device="python", cluster="tcp://a:1")
    assert os.listdir(tmp_path) == []


def test_an_interrupted_poster_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(png, "STRIP", 2**8)
    monkeypatch.setattr(png, "MIN_ROWS", 2)
    drawn, path = scene(size=(20, 33)), tmp_path / "a.png"
    fractals.render_to(tmp_path / "whole.png", drawn, device="python")
    drawn_strips = []
    compress = png.compress

    def stop(done, total):
        if done > 2:
            raise KeyboardInterrupt

    def note(rows, compression="fast"):
        drawn_strips.append(len(rows))
        return compress(rows, compression)

    with ThreadPoolExecutor(1) as executor:
        render = partial(fractals.render_to, path, drawn, device="python", cluster=executor)
        with pytest.raises(KeyboardInterrupt):
            render(progress=stop)
    assert not path.exists()
    there = [name for name in os.listdir(f"{path}.parts") if name.endswith(".strip")]
    monkeypatch.setattr(worker, "_sessions", {})
    monkeypatch.setattr(png, "compress", note)
    with ThreadPoolExecutor(1) as executor:
        fractals.render_to(path, drawn, device="python", cluster=executor)
    assert path.read_bytes() == (tmp_path / "whole.png").read_bytes()
    strips = -(-33 // png.strip_rows((20, 33), 8))
    assert len([rows for rows in drawn_strips if rows < 16]) == strips - len(there)


@pytest.mark.parametrize(
    ("path", "keys", "words"),
    [
        ("a.jpg", {}, "a cluster draws a PNG into a file"),
        ("a.png", {"coloring": "histogram"}, "does not draw colorings of the whole picture"),
    ],
)
def test_pictures_that_no_cluster_draws(tmp_path, path, keys, words):
    with pytest.raises(OptionError, match=words):
        fractals.render_to(tmp_path / path, scene(**keys), device="python", cluster="local:2")


def test_what_is_no_cluster(tmp_path):
    drawn = scene()
    with pytest.raises(OptionError, match="give an address, a Dask client, or an object"):
        fractals.compute_to(tmp_path / "a.fz", drawn, device="python", cluster=3)
    with pytest.raises(OptionError, match="part and cluster exclude each other"):
        fractals.compute_to(tmp_path / "a.fz", drawn, cluster=3, part=(0, 2))


def test_a_worker_keeps_few_sessions(tmp_path):
    """Each holds the programs and tables of a scene."""
    for k in range(worker.MAX_SESSIONS + 2):
        with ThreadPoolExecutor(1) as executor:
            drawn = scene(max_iterations=20 + k)
            fractals.compute_to(tmp_path / f"{k}.fz", drawn, device="python", cluster=executor)
    kept = [each.drawing.plan.max_iterations for each in worker._sessions.values()]
    assert kept == [20 + k for k in range(2, worker.MAX_SESSIONS + 2)]


# Who may join


@pytest.mark.parametrize("name", ["version", "source", "NumPy", "compression"])
def test_another_program_is_refused(tmp_path, monkeypatch, name):
    own = worker.facts_of_this_program()
    monkeypatch.setattr(worker, "facts_of_this_program", lambda: own | {name: "other"})
    told = []
    with ThreadPoolExecutor(1) as executor, pytest.raises(FractalsError) as refused:
        fractals.compute_to(
            tmp_path / "a.fz",
            scene(),
            device="python",
            cluster=executor,
            on_message=told.append,
        )
    assert f"is refused: its {name} is other, and on the machine that asks it is" in told[-1]
    assert told[-1] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_machine_that_computes_other_numbers_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "known_sum", lambda drawing: -1)
    with (
        ThreadPoolExecutor(1) as executor,
        mock.patch.object(job, "known_sum", return_value=1),
        pytest.raises(FractalsError, match="its numbers differ from those of the machine that"),
    ):
        fractals.compute_to(
            tmp_path / "a.fz", scene(), device="python", cluster=executor, on_message=str
        )


def test_a_scene_from_outside_opens_no_file(tmp_path, monkeypatch):
    """The worker takes inline data only, whatever the table says."""
    (tmp_path / "mine.map").write_text("0 0 0\n255 255 255\n")
    given = {
        "work": "0" * 32,
        "program": worker.facts_of_this_program(),
        "header": json.dumps({"scene": {"color": {"palette": str(tmp_path / "mine.map")}}}),
        "device": "python",
        "interior_shortcuts": True,
        "folder": str(tmp_path),
        "token": "none",
        "returns": True,
        "kind": "tiles",
    }
    with pytest.raises(fractals.SceneError, match="palette"):
        worker.compute(given, [0], 1)
    given["header"] = json.dumps({"scene": {"formula": str(tmp_path / "mine.py")}})
    with pytest.raises(FractalsError):
        worker.compute(given, [0], 1)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("tcp://8.8.8.8:8786", "8.8.8.8 is a public address"),
        ("8.8.8.8:8786", "8.8.8.8 is a public address"),
        ("local:0", "give a number of workers, such as local:4"),
        ("local:9999", "give 1024 workers or fewer"),
        ("tls://127.0.0.1:1", "uses TLS: give --keys"),
        ("slurm:x", "give a number of workers, such as slurm:4"),
        ("http://head:8786", "is no address of a scheduler"),
        ("head", "is no address of a scheduler"),
        (":8786", "is no address of a scheduler"),
        ("", "is no address of a scheduler"),
        ("127.0.0.1:99999", "a port is a number from 1 to 65535"),
        ("tls://head:0", "a port is a number from 1 to 65535"),
    ],
)
def test_wrong_addresses_are_one_line(run, monkeypatch, address, words):
    verbs = [["compute", "--cluster"], ["render", "--cluster"], ["worker"]]
    for verb in verbs[: 2 if address[:5] in ("local", "slurm") else 3]:
        code, out, err = run(*verb, address)
        assert (code, out) == (2, b"")
        assert words in err
        assert err.count("\n") == 1
    assert os.listdir() == []


@pytest.mark.parametrize("address", ["local:2", "slurm:3"])
def test_a_worker_joins_no_cluster_that_starts_its_own(run, address):
    assert run("worker", address) == (
        2,
        b"",
        f"fractals: {address} starts workers of its own: give the address of a scheduler\n",
    )


def test_slurm_needs_its_commands(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", types.ModuleType("distributed"))
    monkeypatch.setitem(sys.modules, "dask_jobqueue", types.ModuleType("dask_jobqueue"))
    monkeypatch.setitem(sys.modules, "dask", types.ModuleType("dask"))
    sys.modules["dask"].config = mock.Mock()
    sys.modules["dask_jobqueue"].SLURMCluster = None
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FractalsError, match="slurm:3 needs the command sbatch"):
        pools.open_pool("slurm:3")
    monkeypatch.setitem(sys.modules, "dask_jobqueue", None)
    with pytest.raises(FractalsError, match=re.escape(to_install("cluster", "slurm"))):
        pools.open_pool("slurm:3")


def test_addresses_that_are_allowed():
    for address in ("tcp://127.0.0.1:1", "tcp://10.1.2.3:8786", "[::1]:1", "a.json"):
        pools.check_address(address, False)
    for address in ("tls://8.8.8.8:8786", "tls://[2001:4860:4860::8888]:1"):
        pools.check_address(address, False)
    pools.check_address("tcp://8.8.8.8:8786", True)


def test_the_address_in_a_file_is_checked_too(tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": "tcp://8.8.8.8:8786"}))
    with pytest.raises(OptionError, match=r"8\.8\.8\.8 is a public address"):
        pools.check_address(str(file), False)
    file.write_text(json.dumps({"address": "tls://8.8.8.8:8786"}))
    pools.check_address(str(file), False)


def test_options_that_need_each_other(run):
    for words in (["--keys", "x"], ["--return"], ["--insecure"]):
        assert "need --cluster" in run("compute", *words)[2]
    assert "exclude each other" in run("compute", "--cluster", "local:2", "-o", "a.npz")[2]
    code, _, err = run("compute", "--cluster", "local:2", "--part", "0/2", "-o", "a.fz")
    assert (code, "exclude each other" in err) == (2, True)


@pytest.mark.parametrize("name", ["a.webp", "pngs/"])
def test_films_that_no_cluster_makes(run, name):
    words = ("film", "mandelbrot", "--cycle", "1", "-o", name, "--cluster", "local:2")
    code, out, err = run(*words)
    assert (code, out) == (2, b"")
    assert "a cluster makes videos" in err
    assert err.count("\n") == 1


def test_without_dask_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = run("worker", "tcp://127.0.0.1:1")
    assert code == 1
    assert to_install("cluster") in err
    assert err.count("\n") == 1


def test_dask_is_not_imported_unless_asked_for():
    import subprocess

    script = (
        "import sys, fractals.cli.verbs, fractals.cli.compute, fractals.cli.render\n"
        "import fractals.cli.compute, fractals.rendering.cluster.job\n"
        "assert not {'distributed', 'dask', 'cryptography'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# Workers that fail, seen from the process that asks


class FakePool:
    """Workers whose tasks are done when a test says so."""

    def __init__(self, *addresses):
        self.there = dict.fromkeys(addresses, "")
        self.given = []
        self.asked = 0

    def workers(self):
        self.asked += 1
        assert self.asked < 20_000, "nobody goes on"
        return dict(self.there)

    def share(self, address):
        return 1

    def ahead(self, address):
        return 3

    def submit(self, address, function, *arguments):
        future = Future()
        future.set_running_or_notify_cancel()
        self.given.append((address, function, arguments, future))
        if function is worker.introduce:
            self.introduce(address, future)
        else:
            self.compute(address, arguments[1], future)
        return future

    def introduce(self, address, future):
        future.set_result({"lacks": False})

    def compute(self, address, numbers, future):
        future.set_result([receipt(k, address) for k in numbers])


def receipt(k, machine, sums=(1,), seconds=1.0):
    return {
        "number": k,
        "name": f"{k:06d}.tile",
        "sums": list(sums),
        "machine": machine,
        "content": b"",
        "seconds": seconds,
    }


class AtOnce:
    """An executor that does each task when it is submitted, so that their order is known."""

    def __init__(self, threads):
        pass

    def submit(self, function, *arguments):
        function(*arguments)

    def shutdown(self, **_):
        pass


@pytest.fixture
def dispatched(monkeypatch):
    """Return a function that runs parts on a pool, and returns dispatch and received numbers."""
    monkeypatch.setattr(dispatch, "ThreadPoolExecutor", AtOnce)
    for name, value in (("LOOK", 0.0), ("WAKE", 0.001), ("LEAST_LATE", 0.01), ("LATE", 0.0)):
        monkeypatch.setattr(dispatch, name, value)

    def call(pool, count=20, **more):
        received = []
        made = Dispatch(pool, {}, received.append, dict, **more)
        made.run(range(count))
        return made, sorted(each["number"] for each in received)

    return call


def test_every_part_is_received_once(dispatched):
    pool = FakePool("a", "b")
    made, received = dispatched(pool, 300)
    assert received == list(range(300))
    assert {machine for _, machine in made.results.done.values()} == {"a", "b"}


def test_tasks_join_small_parts_and_are_split_at_the_end(dispatched):
    pool = FakePool("a")
    dispatched(pool, 1000)
    sizes = [len(given[2][1]) for given in pool.given if given[1] is worker.compute]
    assert max(sizes) == round(dispatch.AIM)  # parts take a second each
    assert sizes[-1] == 1
    assert max(sizes) > 1


def test_a_check_that_comes_last_is_awaited(dispatched, monkeypatch):
    """A worker computes wrongly, and the one that repeats a part of it is slow."""
    monkeypatch.setattr(dispatch, "CHECK", 1)
    monkeypatch.setattr(dispatch, "LEAST_LATE", 0.2)

    class Slow(FakePool):
        def workers(self):
            computed = [given for given in self.given if given[1] is worker.compute]
            others = {k for given in computed if given[0] == "a" for k in given[2][1]}
            for address, _, arguments, waiting in computed:
                if others == set(range(6)) and not waiting.done():
                    waiting.set_result([receipt(k, address) for k in arguments[1]])
            return super().workers()

        def compute(self, address, numbers, future):
            if address == "a":
                future.set_result([receipt(k, address, sums=(2,)) for k in numbers])

    with pytest.raises(FractalsError, match="computed twice, with different results"):
        dispatched(Slow("a", "b"), 6)


def test_few_parts_go_to_all_workers(dispatched):
    class Slow(FakePool):
        def workers(self):
            for address, function, arguments, waiting in self.given:
                if function is worker.compute and not waiting.done():
                    waiting.set_result([receipt(k, address) for k in arguments[1]])
            return super().workers()

        def compute(self, address, numbers, future):
            pass

    made, _ = dispatched(Slow("a", "b", "c"), 3)
    assert {machine for _, machine in made.results.done.values()} == {"a", "b", "c"}


def test_at_most_three_tasks_are_submitted_ahead(dispatched):
    class Counting(FakePool):
        most = 0

        def compute(self, address, numbers, future):
            under_way = [each for each in self.given if not each[3].done()]
            self.most = max(self.most, len(under_way))
            if len(under_way) == 3:
                for _, _, arguments, waiting in under_way:
                    waiting.set_result([receipt(k, address) for k in arguments[1]])

        def workers(self):
            for _, function, arguments, waiting in self.given:
                if function is worker.compute and not waiting.done():
                    waiting.set_result([receipt(k, "a") for k in arguments[1]])
            return super().workers()

    pool = Counting("a")
    dispatched(pool, 50)
    assert pool.most == 3


def test_the_tasks_of_a_worker_that_ends_go_to_others(dispatched):
    class Ending(FakePool):
        def compute(self, address, numbers, future):
            if address == "a":
                self.there.pop("a", None)
                self.there["b"] = ""
            else:
                super().compute(address, numbers, future)

    assert dispatched(Ending("a"))[1] == list(range(20))


def test_a_part_that_ends_five_workers_is_an_error(dispatched):
    class Deadly(FakePool):
        def compute(self, address, numbers, future):
            if 7 in numbers:
                self.there.pop(address, None)
                self.there[f"{address}+"] = ""
            else:
                super().compute(address, numbers, future)

    with pytest.raises(
        FractalsError, match=r"part 7 was tried 5 times, the last time: a\+\+\+\+ end"
    ):
        dispatched(Deadly("a"))


def test_a_part_that_ended_a_worker_is_tried_alone(dispatched):
    """Parts of one task are all suspected, and then the one that ends workers is found."""

    class Deadly(FakePool):
        def compute(self, address, numbers, future):
            if 7 in numbers:
                self.there.pop(address, None)
                self.there[f"{address}+"] = ""
            else:
                super().compute(address, numbers, future)

    pool = Deadly("a")
    with pytest.raises(FractalsError, match="part 7 was tried 5 times"):
        dispatched(pool)
    tried = [given[2][1] for given in pool.given if given[1] is worker.compute]
    tried = [list(numbers) for numbers in tried if 7 in numbers]
    assert len(tried[0]) > 1
    assert tried[1:] == [[7]] * 4


def test_a_part_that_fails_on_every_worker_is_an_error(dispatched):
    class Failing(FakePool):
        def compute(self, address, numbers, future):
            if 7 in numbers:
                future.set_exception(MemoryError("no room"))
            else:
                super().compute(address, numbers, future)

    with pytest.raises(FractalsError, match=r"part 7 was tried 5 times, .* MemoryError: no room"):
        dispatched(Failing("a", "b"))


def test_workers_that_fail_leave_a_part_to_one_that_does_not(dispatched, monkeypatch):
    class Poor(FakePool):
        def compute(self, address, numbers, future):
            if 7 in numbers and address != "rich":
                future.set_exception(MemoryError("no room"))
            else:
                super().compute(address, numbers, future)

    pool = Poor("a", "b", "c", "rich")
    monkeypatch.setattr(dispatch, "LEAST_LATE", 60.0)
    assert dispatched(pool)[1] == list(range(20))
    tasks = [given for given in pool.given if given[1] is worker.compute]
    tried = [address for address, _, given, *_ in tasks if 7 in given[1]]
    assert tried[-1] == "rich"
    assert len(set(tried)) == len(tried)  # none twice


def test_a_worker_that_does_nothing_but_fail_is_refused_where_others_compute(dispatched):
    said = []

    class Broken(FakePool):
        def compute(self, address, numbers, future):
            if address == "a":
                future.set_exception(MemoryError("no room"))
            else:
                super().compute(address, numbers, future)

    assert dispatched(Broken("a", "b"), 300, on_message=said.append)[1] == list(range(300))
    assert said == ["a is refused: MemoryError: no room"]


def test_a_worker_that_stands_still_does_not_keep_a_part_that_others_fail_at(dispatched):
    class Frozen(FakePool):
        def compute(self, address, numbers, future):
            if 7 in numbers and address != "still":
                future.set_exception(MemoryError("no room"))
            elif address != "still":
                super().compute(address, numbers, future)

    with pytest.raises(FractalsError, match=r"part 7 was tried 15 times, .* MemoryError: no room"):
        dispatched(Frozen("a", "b", "still"))


def test_a_worker_that_stands_still_holds_nobody_up(dispatched):
    class Frozen(FakePool):
        def compute(self, address, numbers, future):
            if address == "b":
                super().compute(address, numbers, future)

    assert dispatched(Frozen("a", "b"))[1] == list(range(20))


def test_an_idle_worker_takes_what_a_busy_one_has_not_begun(dispatched, monkeypatch):
    """No task is late here: one that runs is not repeated."""
    monkeypatch.setattr(dispatch, "LEAST_LATE", 1e9)

    class Busy(FakePool):
        def workers(self):
            if sum(function is worker.compute for _, function, *_ in self.given) == 3:
                self.there["b"] = ""
            return super().workers()

        def compute(self, address, numbers, future):
            if address == "b":
                super().compute(address, numbers, future)
                if sum(given[0] == "b" for given in self.given) == 3:  # it was introduced first
                    self.given[1][3].set_result([receipt(0, "a")])

    made, received = dispatched(Busy("a"), 3)
    assert received == [0, 1, 2]
    assert [made.results.done[k][1] for k in range(3)] == ["a", "b", "b"]


def test_a_worker_that_lies_is_named_with_the_other(dispatched):
    class Lying(FakePool):
        def compute(self, address, numbers, future):
            sums = (2,) if address == "liar" else (1,)
            future.set_result([receipt(k, address, sums) for k in numbers])

    words = r"by (liar and by honest|honest and by liar)"
    with pytest.raises(FractalsError, match=words):
        dispatched(Lying("honest", "liar"), 1000)


def test_a_disk_that_is_full_ends_the_job(dispatched):
    class Full(FakePool):
        def compute(self, address, numbers, future):
            future.set_exception(FractalsError("'x' can't be written: No space left on device"))

    with pytest.raises(FractalsError, match="No space left on device"):
        dispatched(Full("a", "b"))


def test_refused_workers_get_no_tasks(dispatched):
    class Mixed(FakePool):
        def introduce(self, address, future):
            if address == "old":
                future.set_exception(RefusedError("old is refused: its version is 0"))
            else:
                super().introduce(address, future)

    told = []
    pool = Mixed("old", "new")
    assert dispatched(pool, on_message=told.append)[1] == list(range(20))
    assert told == ["old is refused: its version is 0"]
    assert {address for address, function, *_ in pool.given if function is worker.compute} == {
        "new"
    }
    with pytest.raises(FractalsError, match="no worker can take part: old is refused"):
        dispatched(Mixed("old"))


def test_a_worker_that_cannot_get_ready_is_refused(dispatched):
    class Broken(FakePool):
        tries = 0

        def introduce(self, address, future):
            self.tries += 1
            if self.tries <= self.failures:
                future.set_exception(ImportError("no module named numba"))
            else:
                super().introduce(address, future)

    pool = Broken("a")
    pool.failures = dispatch.MOST_TRIES
    assert dispatched(pool)[1] == list(range(20))
    pool = Broken("a")
    pool.failures = 99
    with pytest.raises(FractalsError, match="no worker can take part: a is refused: ImportError"):
        dispatched(pool, on_message=str)


def test_workers_without_the_orbit_get_it_with_their_task(dispatched):
    """The processes of an executor are not known: each says so when it lacks the orbit."""

    class Apart(FakePool):
        lacking = 3

        def introduce(self, address, future):
            future.set_result({"lacks": len(self.given[-1][2]) < 3})

        def compute(self, address, numbers, future):
            if len(self.given[-1][2]) < 4 and self.lacking:
                self.lacking -= 1
                future.set_result([])
            else:
                super().compute(address, numbers, future)

    pool = Apart("a")
    assert dispatched(pool)[1] == list(range(20))
    assert pool.lacking == 0
    assert sum(given[2][-1] == {} for given in pool.given) == 4


def test_without_workers_it_says_how_to_start_one(dispatched, monkeypatch):
    monkeypatch.setattr(dispatch, "ALONE", 0.0)

    class Later(FakePool):
        looks = 0

        def workers(self):
            self.looks += 1
            return {"a": ""} if self.looks > 3 else {}

    told = []
    assert dispatched(Later(), on_message=told.append)[1] == list(range(20))
    assert told == ["no worker is there yet: start some with 'fractals worker ADDRESS'"]


def test_tasks_are_cancelled_on_an_interrupt(monkeypatch):
    class Waiting(FakePool):
        def compute(self, address, numbers, future):
            pass

    cancelled = []
    monkeypatch.setattr(Future, "cancel", lambda self: cancelled.append(self))
    monkeypatch.setattr(dispatch, "LOOK", 0.0)

    def interrupt(done, total):
        if len(pool.given) > 3:
            raise KeyboardInterrupt

    pool = Waiting("a")
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Dispatch(pool, {}, lambda receipt: None, dict).run(range(9), interrupt)
    assert time.monotonic() - begun < 30
    assert len(cancelled) == 3


WRONG = {
    "none": lambda found: None,
    "text": lambda found: "done",
    "nothing": lambda found: [],
    "no receipts": lambda found: [None for _ in found],
    "a number of another task": lambda found: [{**each, "number": 1000} for each in found],
    "a receipt too few": lambda found: found[1:],
    "a receipt too many": lambda found: [*found, found[0]],
    "a name outside": lambda found: [{**each, "name": "../../x"} for each in found],
    "no content": lambda found: [{**each, "content": "text"} for each in found],
    "no time": lambda found: [{**each, "seconds": "long"} for each in found],
    "NaN": lambda found: [{**each, "seconds": float("nan")} for each in found],
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_worker_that_returns_no_results_is_refused(dispatched, change):
    class Wrong(FakePool):
        def compute(self, address, numbers, future):
            found = [receipt(k, address) for k in numbers]
            future.set_result(change(found) if address == "a" else found)

    told = []
    made, received = dispatched(Wrong("a", "b"), on_message=told.append)
    assert received == list(range(20))
    assert {machine for _, machine in made.results.done.values()} == {"b"}
    assert len(told) == 1
    assert told[0].startswith("a is refused: ")
    with pytest.raises(FractalsError, match="no worker can take part: a is refused: "):
        dispatched(Wrong("a"))


@pytest.mark.parametrize("answer", [None, "ready", {"lacks": 7}, {}, {"lacks": True}], ids=str)
def test_a_worker_that_does_not_say_what_it_lacks_is_refused(dispatched, answer):
    class Odd(FakePool):
        def introduce(self, address, future):
            future.set_result(answer if address == "a" else {"lacks": False})

    told = []
    assert dispatched(Odd("a", "b"), on_message=told.append)[1] == list(range(20))
    assert [line.split(":")[0] for line in told] == ["a is refused"]


def test_parts_that_arrive_damaged_are_computed_again(dispatched, monkeypatch):
    """Two of them; from the third on, who sent them would be refused."""
    damaged = []

    def receive(receipt):
        if receipt["number"] in (3, 11) and receipt["number"] not in damaged:
            damaged.append(receipt["number"])
            raise part_files.DamagedPartError("a part arrived damaged")
        received.append(receipt["number"])

    received = []
    Dispatch(FakePool("a"), {}, receive, dict).run(range(20))
    assert (sorted(received), sorted(damaged)) == (list(range(20)), [3, 11])


SPOILED = {
    "half": lambda arrays, facts: ({"chunk": arrays["chunk"][: len(arrays["chunk"]) // 2]}, facts),
    "another type": lambda arrays, facts: ({"chunk": arrays["chunk"].astype("f8")}, facts),
    "no array": lambda arrays, facts: ({}, facts),
    "no facts": lambda arrays, facts: (arrays, {}),
    "a text": lambda arrays, facts: (arrays, {**facts, "checksum": "x"}),
    "a length": lambda arrays, facts: (arrays, {**facts, "length": 10**12}),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_strips_that_no_picture_can_hold_are_drawn_again(tmp_path, monkeypatch, spoil):
    drawn, calls = scene(size=(20, 33)), []
    fractals.render_to(tmp_path / "whole.png", drawn, device="python")
    encode = part_files.encode

    def first_spoiled(name, work, arrays, facts=None):
        calls.append(name)
        if len(calls) == 1:
            arrays, facts = spoil(arrays, facts)
        return encode(name, work, arrays, facts)

    monkeypatch.setattr(worker, "encode", first_spoiled)
    with ThreadPoolExecutor(1) as executor:
        asked = job.Cluster(executor, returns=True)
        fractals.render_to(tmp_path / "a.png", drawn, device="python", cluster=asked)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "whole.png").read_bytes()
    assert len(calls) == 2
