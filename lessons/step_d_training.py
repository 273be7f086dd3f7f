"""Step D: the network of step B learns a picture, by derivatives, in batches."""

import math

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit
from step_b_neural_picture import on_cpu as network

import fractals

SIZE, WAVES, BATCH, STEPS = (96, 64), 64, 256, 400


# [forward]
def forward(x, y, w, channel, n):  # how a color changes with w[n, 3]
    color, r = network(x, y, w, channel), math.sqrt(x * x + y * y)
    d_wave = math.cos(w[n, 0] * x + w[n, 1] * y + w[n, 2] * r + w[n, 3])
    return 2 * color * (1 - color) * w[n, 4 + channel] * d_wave  # tanh, sum, sin


# [end]
# [backward]
@njit
def backward(x, y, w, goal, scale, gradient):  # how the loss changes with every weight
    for channel in range(3):  # forwards, then backwards; the loss is (color - goal)²
        color, r = network(x, y, w, channel), math.sqrt(x * x + y * y)
        d_total = scale * 2 * (color - goal[channel]) * 2 * color * (1 - color)
        for n in range(w.shape[0]):
            angle = w[n, 0] * x + w[n, 1] * y + w[n, 2] * r + w[n, 3]
            gradient[n, 4 + channel] += d_total * math.sin(angle)
            d_angle = d_total * w[n, 4 + channel] * math.cos(angle)
            for k in range(4):
                gradient[n, k] += d_angle * (x, y, r, 1.0)[k]


# [end]
# [batch]
@cuda.jit
def kernel(points, goals, w, scale, gradients):  # a thread for each sample of the batch
    for i in range(cuda.grid(1), points.shape[0], cuda.gridsize(1)):
        backward(points[i, 0], points[i, 1], w, goals[i], scale, gradients[i])


def gradients_of(points, goals, w, scale, on_device=on_gpu):
    found, scale = np.zeros((len(points), *w.shape), np.float32), scale / goals.size  # the mean
    if on_device:
        points, goals, w, found = map(cuda.to_device, (points, goals, w, found))
        kernel[-(-points.shape[0] // 64), 64](points, goals, w, scale, found)
        return found.copy_to_host()
    for i, (x, y) in enumerate(points):
        backward(x, y, w, goals[i], scale, found[i])
    return found


# [end]
# [train]
def train(points, goals, number, scale):
    random = np.random.default_rng(7)
    mean, square, w = 0, 0, random.normal(0, (9, 9, 9, 3, 0.1, 0.1, 0.1), (WAVES, 7))
    for step, batch in enumerate(random.integers(0, len(points), (STEPS, BATCH))):
        short = w.astype(number).astype(np.float32)  # w: master weights, float64
        found = gradients_of(points[batch], goals[batch], short, scale).astype(number)
        gradient = found.sum(0, dtype=np.float32) / scale
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        w = w - 0.05 * (1 - step / STEPS) * mean / (np.sqrt(square) + 1e-8)  # Adam
        yield w, np.mean(found == 0)


# [end]
def paint(points, w):
    return np.array([[[network(x, y, w, k) for k in range(3)] for x, y in row] for row in points])


if __name__ == "__main__":
    picture = fractals.render("mandelbrot", size=SIZE, supersampling=3, device="cpu").pixels / 255
    points = (2 * np.indices(SIZE).T - SIZE) / SIZE[0]  # x and y of each pixel
    samples = points.reshape(-1, 2), picture.reshape(-1, 3)
    for number, scale in (np.float32, 1), (np.float16, 1), (np.float16, 4096):
        weights, zeros = zip(*train(*samples, number, scale), strict=True)
        loss = np.mean((paint(points, weights[-1]) - picture) ** 2)
        print(f"{number.__name__} x {scale}: loss {loss:.4f}, gradients of 0: {np.mean(zeros):.1%}")
    seconds = median_seconds(lambda: gradients_of(*samples, weights[-1], 1), 3)
    strip = np.uint8(255 * np.hstack([picture, *(paint(points, weights[k]) for k in (19, 99, -1))]))
    report("d", seconds, points.size // 2, "samples/s", device if on_gpu else "CPU", strip)
