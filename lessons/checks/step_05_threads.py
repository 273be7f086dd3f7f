"""Checks that tiles cover each pixel once."""

import numpy as np


def check(answer):
    for width, height, size in ((64, 64, 16), (37, 23, 8), (23, 37, 8), (5, 3, 64), (1, 1, 1)):
        what = f"{width}x{height} pixels, tiles of {size}x{size}"
        taken = np.zeros((height, width), int)
        for rows, columns in answer.tiles(width, height, size):
            part = taken[rows, columns]
            assert part.size, f"{what}: the tile {rows}, {columns} is empty"
            assert max(part.shape) <= size, f"{what}: a tile has the shape {part.shape}"
            assert rows.stop <= height, f"{what}: a tile ends at row {rows.stop}"
            assert columns.stop <= width, f"{what}: a tile ends at column {columns.stop}"
            part += 1
        missing, twice = int((taken == 0).sum()), int((taken > 1).sum())
        assert not missing, f"{what}: {missing} pixels belong to no tile"
        assert not twice, f"{what}: {twice} pixels belong to several tiles"
