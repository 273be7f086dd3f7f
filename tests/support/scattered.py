"""Every player of trajectories, for tests: kernels, and the machine of the CPU."""

import math

import numpy as np

from fractals.backends.devices import choose, open_backend
from fractals.scatter.cpu_game import Machine
from fractals.scatter.game import Window

SIZE = 48, 40  # of a picture


def window_of(formula, real, view=None):
    """Return a window on the plane; `view`: center x and y, and buckets a unit."""
    width, height = SIZE
    x, y, scale = view or (0.1, -0.1, 12)
    shear = 0 if view else 1
    numbers = [x, y, scale, shear, shear, -scale, width / 2, height / 2, width, height, 1, 0]
    palette = np.linspace(0, 1, 768).reshape(-1, 3)
    return Window(np.array(numbers, real), width, 0, formula.colors(palette))


def by_kernel(device, formula, number, game, count, view=None):
    """Return the sums and the hits of some trajectories, a thread each."""
    backend = open_backend(choose(device).device, number)

    def moved(part):
        if isinstance(part, tuple):
            return part._make(map(moved, part))
        return backend.to_device(part) if isinstance(part, np.ndarray) else part

    run = backend.compile(*formula.kernel)
    hits, sums = np.zeros((2, count // 2), np.int32), np.zeros(4 * math.prod(SIZE), np.int64)
    on_device, added = backend.to_device(hits), backend.to_device(sums)
    window = moved(window_of(formula, backend.real, view))
    run(on_device, moved(formula.data(backend.real)), game, window, added)
    backend.to_host(on_device, hits)
    backend.to_host(added, sums)
    return sums.reshape(*SIZE[::-1], 4), int(hits.sum())


def by_machine(formula, number, game, count, pool, players=1, view=None):
    """Return the same, played in pools, by one player or several in turn."""
    real = np.dtype(number).type
    machine = Machine(number, formula, SIZE[::-1], pool=pool)
    data, window = formula.data(real), window_of(formula, real, view)
    several = [machine.player() for _ in range(players)]
    share = count // players
    for k, player in enumerate(several):
        part = game._replace(first=game.first + k * share)
        machine.play(player, data, part, window, share)
    for player in several:
        machine.play(player, data, game, window, 0)
    return machine.sums(), sum(int(bins.tally[0]) for _, bins in several)
