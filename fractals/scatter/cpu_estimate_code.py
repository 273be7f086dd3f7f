"""The compiled density estimate of the CPU: each bucket with light gives it to its neighbors.

A pixel gets the same terms in the same order as by gathering (`fractals.scatter.estimate`): those
of rows above first, in a row those from the left. Most buckets are empty or give light to few, so
this takes a fraction of the time.
"""

from fractals.kernels.primitives import fma


def make_estimate_body(target):
    """Return ``body(out, light, kinds, weights, reaches, far, rows)`` for a band of rows.

    The parameters are those of `fractals.scatter.estimate.make_estimate_body`.
    """
    real = target.real

    def give(out, red, green, blue, density, weights, reach, x, y, top, until):
        wide = 0  # how far the disc goes in a row: beyond it weights are 0, and add nothing
        for j in range(max(top, y - reach), min(until, y + reach + 1)):
            down = y - j
            line, square = out[j], down * down
            while wide < reach and weights[square + (wide + 1) * (wide + 1)] > real(0):
                wide += 1
            while wide > 0 and not weights[square + wide * wide] > real(0):
                wide -= 1
            for i in range(max(0, x - wide), min(out.shape[1], x + wide + 1)):
                weight = weights[square + (i - x) * (i - x)]
                line[i, 0] = fma(weight, red, line[i, 0])
                line[i, 1] = fma(weight, green, line[i, 1])
                line[i, 2] = fma(weight, blue, line[i, 2])
                line[i, 3] = fma(weight, density, line[i, 3])

    give = target.jit(give)

    def body(out, light, kinds, weights, reaches, far, rows):
        columns, top, until = out.shape[1], rows.top, rows.until
        for j in range(top, until):
            line = out[j]
            for i in range(columns):
                line[i, 0] = line[i, 1] = line[i, 2] = line[i, 3] = real(0)
        most = reaches[0]  # the reach of a single hit
        for y in range(max(0, top - most), min(light.shape[0], until + most)):
            source = light[y]
            for x in range(columns):
                density = source[x, 3]
                if density > real(0):
                    kind = kinds[y, x]
                    give(
                        out, source[x, 0], source[x, 1], source[x, 2], density, weights[kind],
                        reaches[kind], x, y, top, until,
                    )  # fmt: skip

    return body
