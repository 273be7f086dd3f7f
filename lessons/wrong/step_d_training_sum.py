# The sum of the batch in place of its mean.
import numpy as np


def gradient(xs, goals, w):
    total = np.zeros_like(w)
    for x, goal in zip(xs, goals, strict=True):
        wave = np.tanh(w[:, 0] * x + w[:, 1])
        d_result = 2 * (np.sum(w[:, 2] * wave) - goal)
        d_angle = d_result * w[:, 2] * (1 - wave * wave)
        total += np.stack([d_angle * x, d_angle, d_result * wave], axis=1)
    return total
