"""Check of exercise 11, in the simulator."""

import gpu  # noqa: F401 - `from numba import cuda` is the simulator, too
import numpy as np


def escape(cx, cy, iterations):
    x = y = 0.0
    for n in range(iterations):
        if x * x + y * y > 4.0:
            return n
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
    return iterations


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    for width, height, iterations in ((32, 16, 20), (37, 23, 300)):
        work = f"{width}x{height}, {iterations} iterations"
        try:
            found = np.asarray(answer.counts(width, height, iterations))
        except OverflowError:
            raise AssertionError(
                f"{work}: a count does not fit the type of the image; a GPU would wrap it"
            ) from None
        except IndexError as error:
            raise AssertionError(f"{work}: an index is outside the image: {error}") from None
        assert found.shape == (height, width), f"{work}: the shape is {found.shape}"
        pixel = 3.0 / width
        for row in range(height):
            for column in range(width):
                count = escape(column * pixel - 2.0, 1.0 - row * pixel, iterations)
                assert found[row, column] == count, (
                    f"{work}: the count in row {row}, column {column} is {found[row, column]}, "
                    f"not {count}"
                )
