"""Check of exercise F: distances beside those to all balls nearby."""

import itertools
import math
import random


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    random.seed(5)
    points = [(1.0, 0.0, 0.0), (-0.9, 0.2, 0.1), (0.1, 0.2, -0.3), (41.0, 7.0, 3.0)]
    points += [tuple(random.uniform(-9, 9) for _ in range(3)) for _ in range(500)]
    for point in points:
        near = itertools.product(*((2 * math.floor(v / 2), 2 * math.ceil(v / 2)) for v in point))
        expected = min(math.dist(point, ball) for ball in near) - 0.5
        found = answer.distance(*point)
        at = "({:.3g}, {:.3g}, {:.3g})".format(*point)
        assert found < expected + 1e-9, (
            f"at {at} distance returns {found:.6g}, expected {expected:.6g}: a ray may walk "
            "through a ball"
        )
        assert found > expected - 1e-9, (
            f"at {at} distance returns {found:.6g}, expected {expected:.6g}: a ray stops too "
            "early, or takes more steps"
        )
