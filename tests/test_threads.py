"""Tiles on threads: all are done once, errors and Ctrl-C end the work, progress is heard."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from unittest import mock

import numpy as np
import pytest
from support.threads import end_by_themselves, in_a_thread

from fractals import threads
from fractals.threads import Queue, core_count, run_loops, run_tiles, share

threads_of_all_kinds = pytest.mark.parametrize("threads", [0, 1, 2, 7])


def book(tile):
    return {"iterate": float(tile), "color": 1.0}


@threads_of_all_kinds
@pytest.mark.parametrize("count", [1, 2, 50])
def test_every_tile_is_done_once(threads, count):
    done = []

    def work(tile):
        done.append(tile)
        return book(tile)

    spent = run_tiles(range(count), work, threads)
    assert sorted(done) == list(range(count))
    assert spent == {"iterate": sum(range(count)), "color": count}


@threads_of_all_kinds
def test_no_tiles(threads):
    assert run_tiles([], book, threads) == {}


def test_where_the_work_is_done():
    """A GPU's context belongs to a thread: with 0 threads it is the calling one."""
    seen = set()

    def work(tile):
        seen.add(threading.get_ident())
        time.sleep(0.01)
        return book(tile)

    run_tiles(range(5), work, 0)
    assert seen == {threading.get_ident()}
    seen.clear()
    run_tiles(range(20), work, 3)
    assert len(seen) == 3
    assert threading.get_ident() not in seen


@threads_of_all_kinds
@pytest.mark.parametrize("pause", [0, 0.02])
def test_progress(threads, pause):
    """It is told in the calling thread, never goes back, and ends with all tiles done."""
    told = []

    def progress(done, total):
        assert total == 9
        told.append((done, threading.get_ident()))

    def work(tile):
        time.sleep(pause)
        return book(tile)

    run_tiles(range(9), work, threads, progress)
    assert {thread for _, thread in told} == {threading.get_ident()}
    counts = [done for done, _ in told]
    assert counts == sorted(counts)
    assert counts[-1] == 9


@threads_of_all_kinds
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_ends_all_work(threads, error):
    begun = []

    def work(tile):
        begun.append(tile)
        if tile == 3:
            raise error("tile 3")
        time.sleep(0.001)
        return book(tile)

    with pytest.raises(error, match="tile 3"):
        run_tiles(range(500), work, threads)
    time.sleep(0.02)
    assert len(begun) < 100


@threads_of_all_kinds
def test_an_interrupt_is_heard_while_tiles_are_slow(threads):
    begun = []

    def work(tile):
        begun.append(tile)
        time.sleep(0.2)
        return book(tile)

    def interrupt(done, total):
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_tiles(range(100), work, threads, interrupt)
    assert time.monotonic() - started < 3
    many = len(begun)
    time.sleep(0.5)
    assert len(begun) == many  # no worker takes another tile


def test_works_under_way_learn_of_an_error():
    """Otherwise the other threads would finish tiles that nobody needs."""
    queue, heard = Queue(2), []
    meeting = threading.Barrier(2, timeout=10)

    def work(tile):
        meeting.wait()
        if tile == 0:
            raise ValueError
        end = time.monotonic() + 10
        while not queue.stopped and time.monotonic() < end:
            time.sleep(0.001)
        heard.append(queue.stopped)
        return book(tile)

    with pytest.raises(ValueError):  # noqa: PT011
        run_tiles(range(2), work, 2, queue=queue)
    assert heard == [True]


def test_loops_share_a_queue():
    queue, taken = Queue(60), []

    def loop():
        for k in queue.numbers():
            taken.append(k)
            time.sleep(0.0005)
        return {"iterate": 1.0}

    told = []
    spent = run_loops(queue, [loop] * 3, lambda done, total: told.append((done, total)))
    assert sorted(taken) == list(range(60))
    assert spent == {"iterate": 3.0}
    assert told[-1] == (60, 60)


def test_a_queue_ends_at_its_limit_and_where_it_is_stopped():
    queue = Queue(9)
    queue.allow(2)
    assert list(queue.numbers()) == [0, 1]
    queue.allow(9)
    numbers = queue.numbers()
    assert next(numbers) == 2
    queue.stop()
    assert list(numbers) == []
    assert queue.left == 0
    queue.allow(9)  # by who had not heard of it yet
    assert (queue.waiting, list(queue.numbers())) == (0, [])


def test_threads_run_at_the_same_time():
    meeting = threading.Barrier(4, timeout=10)

    def work(tile):
        meeting.wait()
        return book(tile)

    assert run_tiles(range(4), work, 4)["color"] == 4


@threads_of_all_kinds
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_every_short_work_is_done_once(threads, count):
    done = []
    share(range(count), done.append, threads)
    assert sorted(done) == list(range(count))


def test_short_works_begin_in_the_calling_thread_and_are_waited_for():
    seen, ended = [], []

    def work(tile):
        seen.append(threading.get_ident())
        time.sleep(0.02 * (tile + 1))
        ended.append(tile)

    share(range(6), work, 3)
    assert seen.count(threading.get_ident()) >= 1
    assert len(set(seen)) == 3
    assert sorted(ended) == list(range(6))
    seen.clear()
    share(range(3), work, 0)
    assert set(seen) == {threading.get_ident()}


@threads_of_all_kinds
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_ends_short_works(threads, error):
    begun = []

    def work(tile):
        begun.append(tile)
        if tile == 3:
            raise error
        time.sleep(0.001)

    with pytest.raises(error):
        share(range(1000), work, threads)
    time.sleep(0.01)
    assert 4 <= len(begun) < 30


def test_a_check_ends_short_works():
    def check():
        if begun:
            raise TimeoutError

    begun = []
    with threads.checking(check), pytest.raises(TimeoutError):
        share(range(1000), begun.append, 1)
    assert begun == [0]


def cores_seen(threads):
    """Return the cores that each thread may use while it works."""
    meeting, seen = threading.Barrier(threads, timeout=10), {}

    def work(tile):
        meeting.wait()
        seen[threading.get_ident()] = os.sched_getaffinity(0)
        meeting.wait()
        return book(tile)

    run_tiles(range(threads), work, threads)
    return seen


on_linux = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no cores to choose")
several_cores = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2, reason="one core"
)


@pytest.fixture
def alone(monkeypatch):
    """Let no other process on this machine claim the cores."""
    monkeypatch.setattr(threads, "CLAIM", f"fractals-test-{os.getpid()}")


@on_linux
def test_a_thread_a_core(alone):
    """Only where there is one for each, or a busy core would slow the work down."""
    cores = os.sched_getaffinity(0)
    several = len(cores) > 1
    expected = [{core} for core in sorted(cores)] if several else [cores]
    assert sorted(cores_seen(len(cores)).values(), key=min) == expected
    assert list(cores_seen(len(cores) + 1).values()) == [cores] * (len(cores) + 1)
    if several:
        assert list(cores_seen(1).values()) == [cores]
    assert os.sched_getaffinity(0) == cores


@several_cores
def test_cores_that_were_taken_away(alone):
    """As a container's may be: threads go on without, and others keep to what is left."""
    cores = os.sched_getaffinity(0)
    with mock.patch.object(os, "sched_setaffinity", side_effect=OSError("no such core")):
        assert list(in_a_thread(cores_seen, len(cores)).values()) == [cores] * len(cores)
    before = cores_seen(len(cores))
    try:
        os.sched_setaffinity(0, {min(cores)})
        assert list(cores_seen(1).values()) == [{min(cores)}]
        assert not before.keys() & cores_seen(1).keys()
    finally:
        os.sched_setaffinity(0, cores)
    assert cores_seen(len(cores)) == before


@several_cores
@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt])
def test_threads_are_on_a_core_only_while_they_work(alone, error):
    cores, seen = os.sched_getaffinity(0), []

    def work(tile):
        seen.append(threading.get_native_id())
        time.sleep(0.01)
        if error and tile == 1:
            raise error
        return book(tile)

    with pytest.raises(error) if error else contextlib.nullcontext():
        run_tiles(range(8), work, len(cores))
    assert len(set(seen)) >= 1
    assert [os.sched_getaffinity(thread) for thread in set(seen)] == [cores] * len(set(seen))
    assert not threads._pinned


@several_cores
def test_short_works_leave_threads_on_all_cores():
    cores = os.sched_getaffinity(0)
    seen, moved = set(), []

    def work(tile):
        time.sleep(0.01)
        seen.add(threading.get_native_id())
        moved.append((threading.get_native_id(), os.sched_getaffinity(0)))

    share(range(8), work, 2)
    (other,) = seen - {threading.get_native_id()}
    assert all(len(own) == len(cores) - (thread == other) for thread, own in moved)
    assert os.sched_getaffinity(other) == cores == os.sched_getaffinity(0)


@several_cores
def test_threads_that_a_worker_starts_may_use_all_cores(alone):
    cores, inner = os.sched_getaffinity(0), []

    def look(tile):
        inner.append(os.sched_getaffinity(0))
        return book(tile)

    def work(tile):
        assert core_count() == len(cores)
        run_tiles(range(2), look, 3)
        return book(tile)

    run_tiles(range(len(cores)), work, len(cores))
    assert inner == [cores] * (2 * len(cores))


HOLD = """
import sys
from fractals import threads
threads.CLAIM = sys.argv[1]
claim = threads._claim_cores()
print("held" if claim else "refused", flush=True)
sys.stdin.readline()
"""


@several_cores
def test_one_process_at_a_time_keeps_its_threads_on_cores(alone):
    cores = os.sched_getaffinity(0)
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, threads.CLAIM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with other:
        assert other.stdout.readline().strip() == "held"
        assert list(cores_seen(len(cores)).values()) == [cores] * len(cores)
        other.kill()  # however it ends, its claim ends
        other.wait()
        assert sorted(cores_seen(len(cores)).values(), key=min) == [{c} for c in sorted(cores)]


def test_threads_are_used_again_until_their_caller_ends():
    def idents():
        meeting, seen = threading.Barrier(2, timeout=10), set()

        def work(tile):
            meeting.wait()
            seen.add(threading.get_ident())
            return book(tile)

        run_tiles(range(2), work, 2)
        return seen

    first, count = idents(), threading.active_count()
    assert idents() == first
    assert in_a_thread(idents).isdisjoint(first)
    assert end_by_themselves(count)


def test_work_within_work():
    """A tile may need tiles of its own: its threads are others than those it is done by."""

    def work(tile):
        return run_tiles(range(3), book, 2)

    assert run_tiles(range(4), work, 2) == {"iterate": 12, "color": 12}


def test_what_was_done_is_let_go_of():
    picture = np.zeros(1)
    alive = weakref.ref(picture)
    run_tiles([0], lambda tile, picture=picture: {"iterate": picture[0]}, 2)
    del picture
    gc.collect()
    assert alive() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    run_tiles(range(2), book, 2)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = run_tiles(range(4), book, 2) != {"iterate": 6, "color": 4}
        finally:
            os._exit(int(code))
    until = time.monotonic() + 20
    while (found := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < until:
        time.sleep(0.01)
    if not found[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert found == (child, 0)


@pytest.mark.parametrize(
    ("asked", "usual", "started"), [(None, 0, 4), (None, 1, 1), (1, 4, 1), (3, 1, 3), (1000, 1, 4)]
)
def test_threads_are_those_asked_for_but_at_most_one_a_core(monkeypatch, asked, usual, started):
    monkeypatch.setattr(threads, "core_count", lambda: 4)
    assert threads.threads_for(asked, usual) == started


# --- Limits of containers


def grouped(folder, monkeypatch, own, files):
    """Let this process be in control groups that have these files."""
    (folder / "own").write_text(own)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.setattr(threads, "OWN_GROUPS", str(folder / "own"))
    monkeypatch.setattr(threads, "GROUPS", str(folder))
    monkeypatch.setattr(threads, "allowed_cores", lambda: set(range(64)))
    threads._cores_of_time.cache_clear()


V1 = "9:name=systemd:/\n4:memory:/pods/a\n3:cpu,cpuacct:/pods/a\n"
QUOTA, PERIOD = "cpu.cfs_quota_us", "cpu.cfs_period_us"


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "100000 100000\n"}, 1),  # docker run --cpus=1
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),
        ("0::/\n", {"cpu.max": "1000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 64),
        ("0::/\n", {}, 64),
        (
            "0::/user.slice/a b:c\n",
            {"user.slice/a b:c/cpu.max": "max 100000\n", "user.slice/cpu.max": "400000 100000\n"},
            4,
        ),
        ("0::/../../elsewhere\n", {"cpu.max": "200000 100000\n"}, 2),
        (V1, {f"cpu/pods/a/{QUOTA}": "200000\n", f"cpu/pods/a/{PERIOD}": "100000\n"}, 2),
        (V1, {f"cpu/{QUOTA}": "50000\n", f"cpu/{PERIOD}": "25000\n"}, 2),  # seen from within
        (V1, {f"cpu/{QUOTA}": "-1\n", f"cpu/{PERIOD}": "100000\n"}, 64),
        ("", {}, 64),  # a kernel without groups, as in small virtual machines
        ("\nodd\n0::/\n", {"cpu.max": "100000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": ""}, 64),
        ("0::/\n", {"cpu.max": "max\n"}, 64),
        ("0::/\n", {"cpu.max": "100000\n"}, 64),
        ("0::/\n", {"cpu.max": "1000 0\n"}, 64),
        ("0::/a\0b\n", {"cpu.max": "300000 100000\n"}, 3),
    ],
)
def test_a_container_has_as_many_threads_as_it_has_time_for(
    tmp_path, monkeypatch, own, files, cores
):
    grouped(tmp_path, monkeypatch, own, files)
    try:
        assert threads.core_count() == cores
        assert threads.threads_for(None) == threads.threads_for(100) == cores
    finally:
        threads._cores_of_time.cache_clear()


def test_a_system_without_control_groups_has_its_cores(tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "OWN_GROUPS", str(tmp_path / "none"))
    assert list(threads.group_files("cpu", ["cpu.max"])) == []


GIB = 2**30
STAT = f"anon 5\ninactive_file {GIB // 8}\nactive_file {GIB // 8}\n"


@pytest.mark.parametrize(
    ("own", "files", "free"),
    [
        (
            "0::/\n",
            {"memory.max": f"{GIB}", "memory.current": f"{GIB // 2}", "memory.stat": STAT},
            GIB * 3 // 4,
        ),
        ("0::/\n", {"memory.max": "5", "memory.current": "9", "memory.stat": ""}, 0),
        (
            V1,
            {
                "memory/memory.limit_in_bytes": f"{GIB}",
                "memory/memory.usage_in_bytes": "0",
                "memory/memory.stat": "cache 0\n",
            },
            GIB,
        ),
        ("0::/\n", {"memory.max": "max", "memory.current": "9", "memory.stat": ""}, None),
    ],
)
def test_a_container_has_no_more_memory_than_its_limit(tmp_path, monkeypatch, own, files, free):
    from fractals.backends import probe

    whole = 2**50 * 1024

    def meminfo(self, *arguments):
        return f"MemAvailable: {2**50} kB\n" if str(self) == "/proc/meminfo" else real(self)

    grouped(tmp_path, monkeypatch, own, files)
    real = type(tmp_path).read_text
    monkeypatch.setattr(type(tmp_path), "read_text", meminfo)
    assert probe._memory_size.__wrapped__(0) == (whole if free is None else free)
