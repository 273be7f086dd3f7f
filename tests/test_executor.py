"""Tiles on threads: all are done once, errors and Ctrl-C end the work, progress is heard."""

import threading
import time

import pytest

from fractals.executor import run_tiles

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


def test_threads_run_at_the_same_time():
    meeting = threading.Barrier(4, timeout=10)

    def work(tile):
        meeting.wait()
        return book(tile)

    assert run_tiles(range(4), work, 4)["color"] == 4
