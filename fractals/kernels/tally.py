"""The least and the greatest count of each column of a tile, and how many samples are inside.

A GPU sends these few numbers to the host in place of all counts.
"""

ROWS = 3  # of the result: least, greatest, inside
NONE_YET = 2**62  # the least count of no samples


def make_tally_body(target):
    """Return the body that fills ``found`` (int32, shape (ROWS, columns)).

    ``body(i0, j0, di, dj, found, count, max_iterations)``. In a column where no sample escaped, the
    least count is `max_iterations` and the greatest -1.
    """
    int32 = target.int32

    def body(i0, j0, di, dj, found, count, max_iterations):
        i = i0
        while j0 == 0 and i < count.shape[1]:
            least, greatest, inside = max_iterations, int32(-1), int32(0)
            for j in range(count.shape[0]):
                n = count[j, i]
                if n < max_iterations:
                    least, greatest = min(least, n), max(greatest, n)
                else:
                    inside += int32(1)
            found[0, i], found[1, i], found[2, i] = least, greatest, inside
            i += di

    return body
