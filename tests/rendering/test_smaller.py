"""Tiles that do not fit into the memory of a device."""

import gc
from functools import partial

import numpy as np
import pytest

import fractals
from fractals.errors import DeviceMemoryError
from fractals.rendering.sampling import Room, smaller
from fractals.rendering.tiles import Tile


@pytest.mark.parametrize("most", [1, 7, 64, 1000])
def test_parts_cover_a_tile_once(most):
    covered = np.zeros((40, 50), int)
    parts = smaller(Tile(3, 5, 31, 17), most)
    for part in parts:
        assert part.width * part.height <= most
        covered[part.window()] += 1
    assert covered[5:22, 3:34].all()
    assert covered.sum() == 31 * 17


def test_a_part_lies_within_its_tile():
    rows, columns = Tile(5, 9, 2, 3).within(Tile(4, 6, 8, 8), 2)
    assert (rows, columns) == (slice(6, 12), slice(2, 6))


class Device:
    """Takes tiles of at most some pixels, and notes them."""

    def __init__(self, most):
        self.most, self.tried, self.done = most, [], np.zeros((16, 32), int)

    def take(self, tile, stop):
        self.tried.append(tile.width * tile.height)
        if self.tried[-1] > self.most:
            raise DeviceMemoryError("full")
        self.done[tile.window()] += 1
        return {"iterate": 1.0}


def test_a_tile_is_taken_in_parts_that_fit_and_so_are_those_after_it():
    device, said = Device(100), []
    room = Room(said.append)
    take = partial(room.take, device.take)
    room.tell()
    assert take(Tile(0, 0, 32, 8), lambda: False) == {"iterate": 4.0}
    assert device.tried == [256, 128, 64, 64, 64, 64]
    take(Tile(0, 8, 32, 8), lambda: False)
    assert device.tried[6:] == [64] * 4, "what does not fit is not tried again"
    assert (device.done == 1).all()
    room.tell()
    room.tell()
    (line,) = said
    assert "parts of 64 pixels" in line


def test_a_pixel_that_does_not_fit_is_an_error():
    device = Device(0)
    with pytest.raises(DeviceMemoryError):
        Room().take(device.take, Tile(0, 0, 32, 8), lambda: False)
    assert device.tried == [256, 128, 64, 32, 16, 8, 4, 2, 1]


def test_a_picture_is_freed_when_nobody_refers_to_it():
    """Memory in a cycle of references waits for the collector, and the next picture takes other."""
    raw = fractals.compute(size=(16, 9), device="cpu", on_message=str)
    options = {"device": "cpu", "on_message": str}
    for draw in (
        lambda: fractals.recolor(raw, **options),
        lambda: fractals.compute(raw.scene, **options),
    ):
        draw()
        draw()  # the second picture of a process may compile the loop over tiles
        gc.collect()
        draw()
        assert gc.collect() == 0
