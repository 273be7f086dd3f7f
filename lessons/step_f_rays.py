"""Step F: rays that walk to a surface: why warps wait, and what a list of living rays saves."""

from math import sqrt

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit

WIDTH, HEIGHT = (1024, 640) if on_gpu else (96, 60)
PIXEL = 1.1 / HEIGHT  # at distance 1
EYE, AHEAD, RIGHT, UP = (
    (1.9, -2.6, 1.5),
    (-0.535, 0.732, -0.422),
    (0.807, 0.59, 0.0),
    (0.249, -0.341, -0.907),  # downwards, as rows are counted
)
WARP, FAR, MOST = 32, 6.0, 96
GOES, HITS, MISSES = 0, 1, 2


# [distance]
@njit
def distance(x, y, z):  # to a sponge of side 2: never more than the true distance
    size = 1.0
    for _ in range(5):
        x, y, z = abs(x), abs(y), abs(z)
        x, y = max(x, y), min(x, y)
        x, z = max(x, z), min(x, z)
        y, z = max(y, z), min(y, z)
        x, y, z, size = 3 * x - 2, 3 * y - 2, 3 * z, 3 * size
        z = z - 2 if z > 1 else z
    return (max(abs(x), abs(y), abs(z)) - 1) / size


# [end]
@njit
def near(ray, length):  # how far the surface is from a place of a pixel's ray
    a, b = (ray % WIDTH - WIDTH / 2) * PIXEL, (ray // WIDTH - HEIGHT / 2) * PIXEL
    x = AHEAD[0] + a * RIGHT[0] + b * UP[0]
    y = AHEAD[1] + a * RIGHT[1] + b * UP[1]
    z = AHEAD[2] + a * RIGHT[2] + b * UP[2]
    step = length / sqrt(x * x + y * y + z * z)
    return distance(EYE[0] + step * x, EYE[1] + step * y, EYE[2] + step * z)


# [walk]
@cuda.jit
def walk(rays, length, steps, state, most):  # a thread takes up to `most` steps of a ray
    i = cuda.grid(1)
    if i < rays.size:
        ray = rays[i]
        for _ in range(most):
            h = near(ray, length[ray])
            steps[ray] += 1
            if h < 0.5 * PIXEL * length[ray] or steps[ray] == MOST:
                state[ray] = HITS
                break
            length[ray] += h  # nothing is nearer: the step cannot pass the surface
            if length[ray] > FAR:
                state[ray] = MISSES
                break


# [end]
# [rounds]
def draw(most, rays):
    count = WIDTH * HEIGHT
    length = cuda.to_device(np.zeros(count))
    steps, state = (cuda.to_device(np.zeros(count, np.int32)) for _ in range(2))
    taken, turns = np.zeros(count, np.int32), 0
    while rays.size:
        walk[-(-rays.size // 64), 64](cuda.to_device(rays), length, steps, state, most)
        before, taken = taken, steps.copy_to_host()
        turns += turns_of_warps((taken - before)[rays])
        rays = rays[state.copy_to_host()[rays] == GOES]  # those that have ended leave the list
    return taken, state.copy_to_host(), taken.sum() / turns


# [end]
# [warps]
def turns_of_warps(steps):  # 32 threads are busy until the last of them has ended
    warps = np.append(steps, np.zeros(-len(steps) % WARP, steps.dtype)).reshape(-1, WARP)
    return WARP * warps.max(axis=1).sum()


# [end]
def glow(steps, state):
    light = np.exp(-0.07 * steps)[..., None] * (1.0, 0.86, 0.66)
    sky = np.linspace(0.62, 0.8, HEIGHT)[:, None, None] * (0.86, 0.95, 1.05)
    surface = np.where(state[..., None] == HITS, 1.5 * light, sky)
    heat = np.clip(steps[..., None] / (12.0, 30.0, 80.0), 0, 1)
    return (255 * np.clip(np.hstack([surface, heat]), 0, 1)).astype(np.uint8)


if __name__ == "__main__":
    rays = np.arange(WIDTH * HEIGHT)
    steps, state, busy = draw(MOST, rays)
    print(f"{steps.mean():.1f} steps of a ray on average, {steps.max()} at most")
    print(f"rows of 32 pixels, one launch: threads walk {busy:.0%} of the time")
    tiles = rays.reshape(HEIGHT // 4, 4, WIDTH // 8, 8).swapaxes(1, 2).ravel()
    print(f"tiles of 8 x 4 pixels, one launch: {draw(MOST, tiles)[2]:.0%}")
    again, _, busy = draw(4, tiles)
    print(f"tiles, rounds of 4 steps with a list: {busy:.0%}")
    assert np.array_equal(again, steps)  # whatever shares a warp, a ray is the same
    before = np.roll(steps, WIDTH // 96)  # as if the camera had looked a bit to the left
    print(f"sorted by the picture before, one launch: {draw(MOST, before.argsort())[2]:.0%}")
    seconds = median_seconds(lambda: draw(MOST, tiles), 3 if on_gpu else 1)
    picture = glow(steps.reshape(HEIGHT, WIDTH), state.reshape(HEIGHT, WIDTH))
    report("f", seconds, WIDTH * HEIGHT, "rays/s", device, picture)
