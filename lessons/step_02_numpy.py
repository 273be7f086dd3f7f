"""Step 2: whole arrays. NumPy's loops are compiled; Python only says what comes after what."""

import numpy as np
from ladder import median_seconds, report
from step_01_python import HEIGHT, LIMIT, WIDTH, coordinates


# [draw]
def draw(width, height, limit):
    """Return the counts of all pixels, as an array."""
    xs, ys = (np.array(values) for values in coordinates(width, height))
    c = xs + 1j * ys[:, np.newaxis]  # shape (height, width)
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, np.int32)
    for _ in range(limit):
        staying = np.abs(z) <= 2
        counts += staying
        z = np.where(staying, z * z + c, z)  # an escaped z stays where it is
    return counts


# [end]
# [traffic]
def traffic(width, height, limit):
    """Return how many bytes the loop reads and writes: 16 for a complex number, 4 for a count."""
    reads = 16 + 8 + (1 + 4) + 16 + 2 * 16 + (1 + 16 + 16)  # abs, <=, +=, *, +, where
    writes = 8 + 1 + 4 + 16 + 16 + 16  # abs, <=, +=, *, +, where
    return limit * width * height * (reads + writes)


# [end]
def main():
    counts = draw(WIDTH, HEIGHT, LIMIT)
    seconds = median_seconds(lambda: draw(WIDTH, HEIGHT, LIMIT))
    moved = traffic(WIDTH, HEIGHT, LIMIT)
    print(f"{moved / 1e9:.1f} GB move between memory and cores: {moved / seconds / 1e9:.0f} GB/s")
    print(f"{moved / counts.sum():.0f} bytes move for each iteration that counts")
    report(2, seconds, counts.sum(), picture=counts)


if __name__ == "__main__":
    main()
