"""Solution D: forwards once for each sample, then backwards by the chain rule."""

import numpy as np


def gradient(xs, goals, w):
    """Return how the mean loss of a batch changes with each weight: an array shaped as w."""
    total = np.zeros_like(w)
    for x, goal in zip(xs, goals, strict=True):
        wave = np.tanh(w[:, 0] * x + w[:, 1])
        d_result = 2 * (np.sum(w[:, 2] * wave) - goal)
        d_angle = d_result * w[:, 2] * (1 - wave * wave)
        total += np.stack([d_angle * x, d_angle, d_result * wave], axis=1)
    return total / len(xs)
