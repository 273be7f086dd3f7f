"""Linear approximation (LA): stages of entries that skip whole periods of a reference orbit."""

from fractals.kernels.bla import TOLERANCE
from fractals.kernels.floatexp import make_arithmetic, make_reference
from fractals.kernels.primitives import number

DIP = 10  # a radius smaller by 2**-DIP ends an entry
MOST_STAGES = 64


def make_stages_body(target, formula, extended):
    """Return ``body(..., entries, stages, found, orbit, tiny, last, goes_on)``: cuts the stages.

    ``found`` (2,) gets how many stages and entries there are; ``last`` is the index where the
    stages end. The orbit ends there, too, or ``goes_on``: a sample at the end of a stage then takes
    single steps from ``last``, and is not rebased. Only for holomorphic formulas.
    """
    int64 = target.int64
    normal, times, plus, size, less, ratio = make_arithmetic(target, extended)
    reference = make_reference(target, extended)
    derive, degree = target.jit(formula.derivative), formula.degree
    tolerance = TOLERANCE * (2 / (degree - 1) if degree > 2 else 1)

    @target.jit
    def smaller(p, q):
        return p if less(p, q) else q

    @target.jit
    def narrowed(r, room, by):
        """Return the smaller of r and room / by, of reals (x, e)."""
        return smaller(r, ratio(room, by)) if by[0] > 0 else r

    @target.jit
    def room(Z):
        x, e = size(Z)
        x, _, e = normal(x * tolerance, x - x, e)
        return x, e

    @target.jit
    def sloped(Z, d):
        x, y = derive(Z[0], Z[1], d[0], d[1])
        return normal(x, y, int64(Z[2] * (degree - 1) + d[2]) if extended else d[2])

    @target.jit
    def dips(new, old):
        """Tell whether a radius fell by 2**-DIP or more."""
        if not extended:
            return new[0] < old[0] * 2.0**-DIP
        return less(new, (old[0], old[1] - DIP))

    @target.jit
    def at(entries, k, column):
        return entries[k, column], entries[k, column + 1], int64(entries[k, column + 2])

    @target.jit
    def write(entries, k, Z, a, b, r, r_c, length, begin):
        entries[k, 0], entries[k, 1], entries[k, 2] = Z
        entries[k, 3], entries[k, 4], entries[k, 5] = a
        entries[k, 6], entries[k, 7], entries[k, 8] = b
        entries[k, 9], entries[k, 10] = r
        entries[k, 11], entries[k, 12] = r_c
        entries[k, 13], entries[k, 14] = length, begin

    def body(x0, y0, dx, dy, entries, stages, found, orbit, tiny, last, goes_on):
        zero = orbit[0, 0] - orbit[0, 0]
        one = normal(number(1, zero), zero, int64(0))
        unit = size(one)
        begin, end, stage, previous = int64(0), int64(0), int64(0), int64(0)
        capacity = entries.shape[0] - 2
        cutting = True
        while cutting and stage < stages.shape[0]:
            # The parts of stage 0 are the points of the orbit, those of another the entries below.
            begin, count = end, int64(last)
            if stage > 0:
                count = stages[stage - 1, 1] - stages[stage - 1, 0] - goes_on
            period, k = int64(0), int64(0)
            while k < count and end < capacity:
                start, length = k, int64(1)
                if stage == 0:
                    Z = reference(orbit, tiny, start)
                    a, b, r, r_c = one, one, unit, unit
                else:
                    i = previous + start
                    Z, a, b = at(entries, i, 0), at(entries, i, 3), at(entries, i, 6)
                    r = entries[i, 9], int64(entries[i, 10])
                    r_c = entries[i, 11], int64(entries[i, 12])
                    length = int64(entries[i, 13])
                k += 1
                while k < count:
                    i = previous + k
                    W = reference(orbit, tiny, k) if stage == 0 else at(entries, i, 0)
                    free = room(W)
                    near = narrowed(r, free, size(a))
                    long = period > 0 and k - start >= period
                    if k > start + 1 and (long or dips(near, r)):
                        break
                    near_c = narrowed(r_c, free, size(b))
                    a, b = sloped(W, a), sloped(W, b)
                    if stage == 0:
                        b = plus(b, one)
                        length += 1
                    else:
                        r2 = entries[i, 9], int64(entries[i, 10])
                        near, near_c = narrowed(near, r2, size(a)), narrowed(near_c, r2, size(b))
                        near_c = smaller(near_c, (entries[i, 11], int64(entries[i, 12])))
                        a2, b2 = at(entries, i, 3), at(entries, i, 6)
                        a, b = times(a, a2), plus(times(b, a2), b2)
                        length += int64(entries[i, 13])
                    r, r_c = near, near_c
                    k += 1
                if period == 0:
                    period = k - start
                write(
                    entries, end, Z, a, b, r, r_c, length, start if stage == 0 else previous + start
                )
                end += 1
            if k < count or end - begin < 2 or (stage > 0 and end - begin >= count):
                end, cutting = begin, False  # no room, or nothing was cut, or nothing joined
            else:
                # The last entry is never valid. What stands behind it is never reached, so that a
                # stage of an orbit that goes on ends by falling to the stage below.
                Z = reference(orbit, tiny, last)
                below = last if stage == 0 else previous + count
                write(entries, end, Z, one, one, (zero, int64(0)), (zero, int64(0)), 0, below)
                stages[stage, 0], stages[stage, 1] = begin, end + goes_on
                end += 1
                previous = begin
                stage += 1
        found[0], found[1] = stage, end

    return body
