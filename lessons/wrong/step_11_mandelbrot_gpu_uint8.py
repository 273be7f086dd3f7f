# Counts are still kept in uint8, which ends at 255.
import numpy as np
from gpu import cuda


@cuda.jit(device=True)
def escape(cx, cy, iterations):
    x = y = 0.0
    for n in range(iterations):
        if x * x + y * y > 4.0:
            return n
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
    return iterations


@cuda.jit
def kernel(pixel, iterations, image):
    column, row = cuda.grid(2)
    if row < image.shape[0] and column < image.shape[1]:
        image[row, column] = escape(column * pixel - 2.0, 1.0 - row * pixel, iterations)


def counts(width, height, iterations):
    """Return the counts of [-2, 1] x [1 - 3 height / width, 1], an array (height, width)."""
    image = cuda.to_device(np.zeros((height, width), dtype=np.uint8))
    kernel[(-(-width // 16), -(-height // 8)), (16, 8)](3.0 / width, iterations, image)
    return image.copy_to_host()
