"""Check of exercise D: the gradient is that of differences."""

import numpy as np


def loss(xs, goals, w):
    """Return the mean loss of a batch."""
    waves = np.tanh(np.outer(xs, w[:, 0]) + w[:, 1])
    return np.mean((waves @ w[:, 2] - goals) ** 2)


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random = np.random.default_rng(4)
    for samples, waves in ((1, 1), (1, 3), (8, 3)):
        xs, goals, w = (
            random.normal(size=samples),
            random.random(samples),
            random.random((waves, 3)),
        )
        found = np.asarray(answer.gradient(xs.copy(), goals.copy(), w.copy()))
        assert found.shape == w.shape, (
            f"the gradient has the shape {found.shape}, expected {w.shape}"
        )
        right = np.zeros_like(w)
        for place in np.ndindex(w.shape):
            change = np.zeros_like(w)
            change[place] = 1e-5
            right[place] = (loss(xs, goals, w + change) - loss(xs, goals, w - change)) / 2e-5
        wrong = ~np.isclose(found, right, rtol=1e-5, atol=1e-8)
        if wrong.any():
            n, k = np.argwhere(wrong)[0]
            raise AssertionError(
                f"a batch of {samples}, {waves} waves: the derivative by w[{n}, {k}] is "
                f"{found[n, k]:.6g}, expected {right[n, k]:.6g}"
            )
