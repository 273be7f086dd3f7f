"""Step 1: the Mandelbrot set in plain Python, the specification of all that follows."""

from ladder import median_seconds, report

WIDTH, HEIGHT, LIMIT = 1536, 1024, 20  # the picture of the article


# [coordinates]
def coordinates(width, height):
    """Return x of each column and y of each row, at the middles of the pixels."""
    xs = [-2 + 3 * (i + 0.5) / width for i in range(width)]
    ys = [1 - 2 * (j + 0.5) / height for j in range(height)]
    return xs, ys


# [end]
# [escape]
def escape(c, limit):
    """Return after how many steps |z| exceeds 2, or the limit."""
    z = 0j
    for n in range(limit):
        if abs(z) > 2:
            return n
        z = z * z + c
    return limit


# [end]
# [draw]
def draw(width, height, limit):
    """Return the counts of all pixels, as a list of rows."""
    xs, ys = coordinates(width, height)
    return [[escape(complex(x, y), limit) for x in xs] for y in ys]


# [end]
def main():
    counts = []
    seconds = median_seconds(lambda: counts.extend(draw(WIDTH, HEIGHT, LIMIT)), runs=1)
    report(1, seconds, sum(map(sum, counts)), picture=counts)


if __name__ == "__main__":
    main()
