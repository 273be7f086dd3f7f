"""Files of a strip's bands: written in any order, checked, and given up on a full disk."""

import os
import resource

import numpy as np
import pytest

from fractals.films.bands import Fixed, make_layout
from fractals.films.texel_files import TexelFiles
from fractals.kernels.strip import CHANNELS

LAYOUT = make_layout(Fixed(8.0, 4.5, 9.2), 1.5, 12.0)
BAND = 3


@pytest.fixture
def files(tmp_path):
    found = TexelFiles(LAYOUT, tmp_path / "bands")
    found.open_temporary()
    return found


@pytest.fixture
def levels():
    """Return random texels of each level of a band."""
    random = np.random.default_rng(1)
    shapes = ((LAYOUT.rows >> k, LAYOUT.columns >> k, CHANNELS) for k in range(LAYOUT.levels))
    return {k: random.integers(0, 65536, shape, np.uint16) for k, shape in enumerate(shapes)}


def write(files, levels, most=2):
    """Write a band, the last rows first."""
    with files.open(BAND) as file:
        for level, numbers in levels.items():
            for row in reversed(range(0, len(numbers), most)):
                file.put(level, row, numbers[row : row + most])


def read(files, levels, wanted):
    """Return the levels that a file holds, or None."""
    into = {level: np.zeros_like(levels[level]) for level in wanted}
    return into if files.read(BAND, into) else None


@pytest.mark.parametrize("wanted", [[0], [1, 3], range(LAYOUT.levels), []], ids=str)
def test_rows_in_any_order_and_some_of_the_levels(files, levels, wanted):
    write(files, levels)
    assert os.listdir(files.folder) == ["000003.npy"]
    found = read(files, levels, wanted)
    assert all(np.array_equal(found[level], levels[level]) for level in wanted)
    whole = np.load(files.folder / "000003.npy")  # a file of NumPy, and a CRC behind it
    assert np.array_equal(whole, np.concatenate([part.ravel() for part in levels.values()]))


def test_a_band_is_bound_to_its_place(files, levels):
    """Its bytes are whole in another place, and of another band or another film."""
    write(files, levels)
    place = files.folder / f"{BAND:06d}.npy"
    content = place.read_bytes()
    for other in (files.folder / "000004.npy", files.folder.with_name("other") / place.name):
        other.parent.mkdir(exist_ok=True)
        other.write_bytes(content)
        there = TexelFiles(LAYOUT, other.parent)
        there.open_temporary()
        into = {level: np.zeros_like(numbers) for level, numbers in levels.items()}
        assert not there.read(int(other.stem), into)
    assert read(files, levels, [0])


def test_without_a_folder_nothing_is_written(levels):
    files = TexelFiles(LAYOUT, None)
    write(files, levels)
    assert read(files, levels, [2]) is None


def test_damaged_files_are_not_read(files, levels):
    write(files, levels)
    path = files.folder / "000003.npy"
    good = path.read_bytes()
    for place in (8, 150, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert read(files, levels, [1]) is None
    for length in (0, 7, len(good) - 5, len(good) - 1):
        path.write_bytes(good[:length])
        assert read(files, levels, [1]) is None
    path.write_bytes(good + b"x")
    assert read(files, levels, [1]) is None
    path.write_bytes(good)
    assert read(files, levels, [1])


def test_a_damaged_header_is_not_read(files, levels):
    """NumPy reads headers as Python's text, and raises what Python does about a damaged one."""
    write(files, levels)
    path = files.folder / "000003.npy"
    good = path.read_bytes()
    header = good[: good.index(b"\n") + 1]
    for place in range(len(header)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1 << place % 8]) + good[place + 1 :])
        assert read(files, levels, [1]) is None, place


@pytest.mark.parametrize("room", [0, 100, 5000, -2])
def test_a_full_disk_leaves_no_file(files, levels, room):
    """The header does not fit, nor rows, nor the CRC."""
    room += 128 + 2 * sum(part.size for part in levels.values()) + 4 if room < 0 else 0
    _, most = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
    try:
        write(files, levels)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(files.folder) == []
    assert read(files, levels, [1]) is None
    write(files, levels)
    assert read(files, levels, [1])


def test_an_error_leaves_no_file(files, levels):
    def interrupted():
        with files.open(BAND) as file:
            file.put(0, 0, levels[0])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(files.folder) == []


def test_what_a_killed_process_left_is_removed(files, levels):
    write(files, levels)
    for name in ("000001.npy", "000002.0badcafe.part", "notes.txt"):
        (files.folder / name).touch()
    files.keep(range(BAND, BAND + 1))
    assert sorted(os.listdir(files.folder)) == ["000003.npy", "notes.txt"]
