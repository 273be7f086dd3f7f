"""Step F: rays walk to a solid. Their ways are uneven, so lanes wait; rounds and sorting help."""

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit

SIZE, WARP, LEVELS = (1920, 1280) if on_gpu else (288, 192), 32, 5
CAMERA, FAR, MOST = np.array((1.45, 2.2, 1.6)), 6.0, 200  # longest way and most steps of a ray
PIXEL = 0.5 / SIZE[1]  # half of a pixel, at distance 1


# [distance]
@njit
def distance(x, y, z):  # no part of the sponge is nearer to the point than this
    for _ in range(LEVELS):
        x, y, z = abs(x), abs(y), abs(z)
        x, y = max(x, y), min(x, y)
        x, z = max(x, z), min(x, z)
        y, z = max(y, z), min(y, z)
        x, y, z = 3 * x - 2, 3 * y - 2, abs(3 * z - 1) - 1  # one of its 20 cubes, magnified
    return (max(abs(x), abs(y), abs(z)) - 1) / 3.0**LEVELS


# [end]
# [walk]
@njit
def walk(x, y, z, dx, dy, dz, t, most):  # goes on at length t: steps, length, whether it goes on
    for step in range(most):
        near = distance(x + t * dx, y + t * dy, z + t * dz)
        if near < PIXEL * (1 + t) or t > FAR:
            return step + 1, t, False
        t += near
    return most, t, True


# [end]
# [kernel]
@cuda.jit
def look(order, rays, steps, lengths, under_way, most):  # neighbors in `order` share a warp
    i = cuda.grid(1)
    if i < order.size:
        ray = order[i]
        r, t = rays[ray], lengths[ray]
        more, lengths[ray], under_way[ray] = walk(r[0], r[1], r[2], r[3], r[4], r[5], t, most)
        steps[ray] += more


def see(rays, order, most=MOST):  # after each round, rays that have ended leave the list
    steps, lengths = np.zeros(len(rays), np.int32), np.zeros(len(rays))
    under_way = np.ones(len(rays), np.bool_)
    while order.size and steps.max() < MOST:
        look[-(-order.size // 128), 128](order, rays, steps, lengths, under_way, most)
        order = order[under_way[order]]
    return steps, lengths


# [end]
# [busy]
def busy(steps, order, most=MOST):  # share of the steps of all lanes that rays take
    left, lanes = steps[order], 0
    while left.size:
        warps = np.pad(left, (0, -left.size % WARP)).reshape(-1, WARP)
        lanes += WARP * np.minimum(warps.max(1), most).sum()
        left = left[left > most] - most
    return f"{steps[order].sum() / lanes:.0%} of lanes busy"


# [end]
def normalized(vectors):
    return vectors / (np.linalg.norm(vectors, axis=-1, keepdims=True) + 1e-12)


if __name__ == "__main__":
    shape, forward = SIZE[::-1], normalized((0, 0, -0.25) - CAMERA)
    right = normalized(np.cross(forward, (0, 0, 1)))
    row, column = np.mgrid[: SIZE[1], : SIZE[0]][..., None] * 2 + 1
    rays = forward + (column - SIZE[0]) * PIXEL * right
    rays = normalized(rays + (SIZE[1] - row) * PIXEL * np.cross(right, forward)).reshape(-1, 3)
    rays = np.hstack([np.broadcast_to(CAMERA, rays.shape), rays])
    tiles = np.arange(len(rays)).reshape(shape[0] // 4, 4, -1, 8).swapaxes(1, 2).ravel()
    steps, lengths = see(rays, tiles)
    print(f"from the camera: {busy(steps, tiles)}")
    points = rays[:, :3] + lengths[:, None] * rays[:, 3:]
    down, across = np.gradient(points.reshape(*shape, 3), axis=(0, 1))
    normals = normalized(np.cross(down, across)).reshape(-1, 3)
    random = normalized(np.random.default_rng(1).normal(size=normals.shape))
    bounced = np.hstack([points + 0.01 * normals, normalized(normals + random)])
    hits = tiles[lengths[tiles] < FAR]
    more = see(bounced, hits)[0]
    first = [distance(*(ray[:3] + 0.05 * ray[3:])) for ray in bounced[hits]]
    print(f"after a bounce: {busy(more, hits)}; sorted: {busy(more, hits[np.argsort(first)])}")
    print(f"in rounds of 4 steps: {busy(more, hits, 4)}")
    seconds = median_seconds(lambda: see(bounced, hits, 4), 3 if on_gpu else 1)
    light = (0.25 + 0.75 * np.clip(normals @ (0.18, 0.86, 0.47), 0, 1)) * (1 - steps / MOST)
    light = np.where(lengths < FAR, light, 0.3)[:, None] ** (0.7, 1.0, 1.3)
    both = [light, np.clip(steps / 50, 0, 1)[:, None] ** (0.6, 1.1, 2.2)]
    picture = 255 * np.hstack([part.reshape(*shape, 3) for part in both])
    report("f", seconds, int(more.sum()), "steps/s", device, picture.astype(np.uint8))
