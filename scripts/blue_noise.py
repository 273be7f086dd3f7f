"""Make fractals/blue_noise.npy, the shifts of jittered samples: `python scripts/blue_noise.py`.

A sample's cell is divided into as many places as the table has cells, and each is used once. So
the shifts are as even as can be, and nothing is left of the grid's frequency. Which cell has which
place is found by exchanging those of two cells wherever that takes samples farther apart, for a
minute or two. The samples have hardly any power at low frequencies then: blue noise (Ulichney 1988,
who made his by void and cluster; exchanges are those of Georgiev and Fajardo 2016).
"""

from pathlib import Path

import numba
import numpy as np

PERIOD = 128  # cells
PER_CELL = 10_000  # attempts
FAR = 2.0  # the square of the distance from which samples don't matter to each other, in cells
PATH = Path(__file__).parents[1] / "fractals" / "rendering" / "blue_noise.npy"


@numba.njit
def crowding(table, j, i):
    """Return how near a sample is to those around it."""
    total = 0.0
    for a in range(-2, 3):
        for b in range(-2, 3):
            if a or b:
                v, u = (j + a) % PERIOD, (i + b) % PERIOD
                right = b + (table[0, v, u] - table[0, j, i]) / PERIOD
                down = a + (table[1, v, u] - table[1, j, i]) / PERIOD
                square = right * right + down * down
                if square < FAR:
                    total += (FAR - square) ** 2 / (square + 0.05)
    return total


@numba.njit
def spread(table, chance):
    """Exchange the places of two cells, again and again, where that makes both less crowded."""
    for _ in range(PER_CELL * PERIOD * PERIOD):
        j, i = chance.integers(0, PERIOD), chance.integers(0, PERIOD)
        v, u = chance.integers(0, PERIOD), chance.integers(0, PERIOD)
        before = crowding(table, j, i) + crowding(table, v, u)
        mine, other = table[:, j, i].copy(), table[:, v, u].copy()
        table[:, j, i], table[:, v, u] = other, mine
        if crowding(table, j, i) + crowding(table, v, u) >= before:
            table[:, j, i], table[:, v, u] = mine, other


def main():
    chance = np.random.default_rng(1988)
    places = chance.permutation(PERIOD * PERIOD)
    table = np.stack(np.divmod(places, PERIOD)).reshape(2, PERIOD, PERIOD)
    spread(table, chance)
    np.save(PATH, table.astype(np.uint8))


if __name__ == "__main__":
    main()
