# The picture is overwritten while other threads still read it.
import numpy as np
from gpu import cuda


@cuda.jit
def smooth(picture, out):
    column, row = cuda.grid(2)
    height, width = picture.shape
    if row < height and column < width:
        total = np.float32(0)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                y = min(max(row + dy, 0), height - 1)
                x = min(max(column + dx, 0), width - 1)
                total += picture[y, x]
        out[row, column] = total / np.float32(9)


def run(picture):
    """Return the smoothed picture, an array of float32."""
    out = cuda.to_device(picture)
    smooth[(-(-picture.shape[1] // 8), -(-picture.shape[0] // 8)), (8, 8)](out, out)
    return out.copy_to_host()
