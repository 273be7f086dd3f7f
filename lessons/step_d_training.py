"""Step D: the network of step B learns a picture, by derivatives, in batches."""

import math

import numpy as np
from gpu import cuda, device, on_gpu
from ladder import median_seconds, report
from numba import njit
from step_b_neural_picture import on_cpu as network

import fractals

SIZE, WAVES, BATCH, STEPS = (96, 64), 64, 512, 400


# [forward]
@njit
def forward(x, y, w, channel, n):  # how a color changes with w[n, 3]
    color, r = network(x, y, w, channel), math.sqrt(x * x + y * y)
    d_wave = math.cos(w[n, 0] * x + w[n, 1] * y + w[n, 2] * r + w[n, 3])
    return 2 * color * (1 - color) * w[n, 4 + channel] * d_wave  # tanh, sum, sin


# [end]
# [backward]
@njit
def backward(x, y, w, goal, scale, gradient):  # how the loss changes with every weight
    r = math.sqrt(x * x + y * y)
    for channel in range(3):
        color = network(x, y, w, channel)  # forwards; the loss is (color - goal)²
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
    i = cuda.grid(1)
    if i < points.shape[0]:
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
    w = random.normal(0, (9, 9, 9, 3, 0.1, 0.1, 0.1), (WAVES, 7))  # master weights, float64
    mean = square = np.zeros_like(w)
    for step in range(1, STEPS + 1):
        batch = random.integers(0, len(points), BATCH)
        short = w.astype(number).astype(np.float32)
        found = gradients_of(points[batch], goals[batch], short, scale)
        gradient = found.astype(number).sum(0, dtype=np.float32) / scale
        mean, square = 0.9 * mean + 0.1 * gradient, 0.99 * square + 0.01 * gradient**2
        change = mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        w = w - 0.05 * (1 - step / STEPS) * change  # Adam: steps of about 0.05, then smaller
        yield w


# [end]
def paint(points, w):
    return np.array([[network(x, y, w, channel) for channel in range(3)] for x, y in points])


if __name__ == "__main__":
    picture = fractals.render("mandelbrot", size=SIZE, supersampling=3, device="cpu").pixels / 255
    goals = picture.reshape(-1, 3)
    points = (2 * np.indices(SIZE).T - SIZE).reshape(-1, 2) / SIZE[0]  # x and y of each pixel
    for number, scale in (np.float32, 1), (np.float16, 4096):
        weights = list(train(points, goals, number, scale))
        loss = np.mean((paint(points, weights[-1]) - goals) ** 2)
        batch = points[::12].copy(), goals[::12].copy(), weights[-1]
        zeros = [f"{np.mean(gradients_of(*batch, k).astype(number) == 0):.1%}" for k in (1, 4096)]
        print(f"{number.__name__}: loss {loss:.4f}, gradients that are 0 (times 1, 4096): {zeros}")
    seconds = median_seconds(lambda: gradients_of(*batch, 1))
    strip = [picture, *(paint(points, weights[k]).reshape(picture.shape) for k in (19, 99, -1))]
    strip = (255 * np.hstack(strip)).astype(np.uint8)
    report("d", seconds, len(batch[0]), "samples/s", device if on_gpu else "CPU", strip)
