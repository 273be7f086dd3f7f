"""Step 6: float64, float32, float16 and fused multiply-adds: where short numbers break."""

import numpy as np
from ladder import median_seconds, report
from numba import njit
from step_01_python import coordinates


# [escape]
def make_fill(fused):
    """Return a compiled function; its numbers have the type of the arrays that it is given."""

    @njit(nogil=True, fastmath={"contract"} if fused else False)  # contract: a * b + c in one step
    def fill(xs, ys, counts, limit):
        four, two = xs.dtype.type(4), xs.dtype.type(2)  # a float64 constant would widen the rest
        for j in range(len(ys)):
            for i in range(len(xs)):
                x = y = xs.dtype.type(0)
                n = 0
                while n < limit and x * x + y * y <= four:
                    x, y = x * x - y * y + xs[i], two * x * y + ys[j]
                    n += 1
                counts[j, i] = n

    return fill


# [end]
separate, fused = make_fill(False), make_fill(True)


# [draw]
def draw(width, height, limit, number=np.float64, fill=separate, zoom=1.0):
    """Return the counts; `zoom` enlarges the middle of a filament of the set."""
    xs, ys = (np.array(values) / zoom for values in coordinates(width, height))
    if zoom > 1:
        xs, ys = xs - 0.743643887037151, ys + 0.131825904205330
    counts = np.empty((height, width), np.int32)
    fill(xs.astype(number), ys.astype(number), counts, limit)
    return counts


# [end]
def main():
    width, height, limit = 384, 256, 1000
    for zoom in (1.0, 1e2, 1e4, 1e5, 1e6):
        exact = draw(width, height, limit, zoom=zoom)
        line = []
        for name, number, fill in (("float32", np.float32, separate), ("fma", np.float64, fused)):
            other = draw(width, height, limit, number, fill, zoom)
            line.append(f"{100 * np.mean(other != exact):5.2f} % with {name}")
        print(f"zoom {zoom:7.0f}: counts that differ: {', '.join(line)}")
    values = np.float16(0.1) * np.arange(4, dtype=np.float16)
    print(f"float16 knows 0.1 as {float(values[1])!r}, and nothing above {np.finfo('f2').max}")
    seconds = median_seconds(lambda: draw(768, 512, limit, np.float32))
    counts = draw(768, 512, limit, np.float32)
    report(6, seconds, counts.sum(), picture=draw(384, 256, limit, np.float32, zoom=1e6), against=4)


if __name__ == "__main__":
    main()
