"""Steps of a reference orbit in numbers of some limbs, which round as those of MPFR.

A number is (negative, exponent, mantissa): 0 or 1, an int64, and a wide number of N bits. Its size
is mantissa 2**(exponent - N), and the highest bit of the mantissa is 1. The precision of the orbit
is at most N - ORBIT_SPARE bits, so the lower bits are 0. Zero has the mantissa 0, and the exponent
ORBIT_ZERO. Sums and products are rounded to nearest, ties to even (IEEE 754), as MPFR's are, so the
bits are those of gmpy2, which takes the steps that are left out here (`fractals.deep.orbit_steps`).

The step of a formula is not compiled. It is a list of sums and products, `code`, that is read at
each step, so that one program of a size serves all formulas. Only z² + c has one of its own.
"""

from fractals.backends.cpu.wide import (
    leading_zeros,
    put_word,
    turned,
    unsigned,
    wide_functions,
    word_at,
)
from fractals.kernels.floatexp import MAX_TINY
from fractals.kernels.layout import (
    ORBIT_C,
    ORBIT_EXPONENT,
    ORBIT_LARGEST,
    ORBIT_LEFT,
    ORBIT_MANTISSA,
    ORBIT_OPERAND,
    ORBIT_OPERATION,
    ORBIT_RESULT,
    ORBIT_RIGHT,
    ORBIT_SAVED,
    ORBIT_SIZES,
    ORBIT_SMALLEST,
    ORBIT_SPARE,
    ORBIT_SUM,
    ORBIT_ZERO,
)
from fractals.kernels.near_orbits import make_growth
from fractals.kernels.primitives import select, two_to


def rounded_limbs(limbs):
    """Return how many of its limbs hold all bits that a number's rounding may leave out.

    Numbers of fewer bits have fewer limbs.
    """
    sizes = (1, *ORBIT_SIZES)
    fewest = max(64 * sizes[sizes.index(limbs) - 1] - ORBIT_SPARE, 64) + 1
    return (64 * limbs - fewest) // 64 + 1


def make_rounding(target, limbs, lowest):
    """Return ``rounded(a, masks)`` of numbers of some limbs, which rounds in the lowest of them.

    ``masks`` are three numbers of `lowest` limbs: the largest below half of the lowest bit that is
    kept; this bit; and all bits from it on.
    """
    int64, wide, part = target.int64, wide_functions(limbs, lowest), wide_functions(lowest)
    high_word, of_high_word, of_word = wide.high_word, wide.of_high_word, part.of_word
    low, with_low, of_low = wide.low, wide.with_low, wide.of_low

    @target.jit
    def rounded(a, masks):
        negative, exponent, mantissa = a
        below, last, kept = masks
        even = low(mantissa) & last == of_word(int64(0))
        total = mantissa + of_low(below + of_word(select(even, int64(0), int64(1))))
        result = with_low(total, low(total) & kept)
        if high_word(result) == 0:
            if high_word(mantissa) == 0:
                return a
            return negative, exponent + 1, of_high_word(int64(-(2**63)))
        return negative, exponent, result

    return rounded


def make_arithmetic(target, limbs, lowest):
    """Return ``plus``, ``times`` and ``nearest`` of numbers of some limbs.

    ``plus(a, b, masks)`` and ``times(a, b, masks)`` return a number, which is rounded in the
    `lowest` limbs: see `make_rounding`. ``nearest(a)`` returns a float64, of a number whose
    exponent `make_body` allows.
    """
    int64, wide = target.int64, wide_functions(limbs)
    of_word, low_word, high_word = wide.of_word, wide.low_word, wide.high_word
    left, right, left_limb, right_limb = wide.left, wide.right, wide.left_limb, wide.right_limb
    product, borrowed = wide.product, wide.borrowed
    rounded = make_rounding(target, limbs, lowest)

    @target.jit
    def times(a, b, masks):
        negative = a[0] ^ b[0]
        high, low = product(a[2], b[2])
        if high_word(high) == 0:
            return negative, int64(ORBIT_ZERO), high
        # Rounded to odd: the lower half decides nothing but that the rest is not exact.
        rest = of_word(select(low == of_word(int64(0)), int64(0), int64(1)))
        zeros = leading_zeros(high_word(high))  # 0 or 1
        high = select(zeros == 0, high, high + high)
        return rounded((negative, a[1] + b[1] - zeros, high | rest), masks)

    @target.jit
    def plus(a, b, masks):
        one, far, lost = int64(1), a[1] - b[1], int64(0)
        less = far < borrowed(a[2], b[2])  # the size of a than that of b
        negative, exponent = select(less, b[0], a[0]), select(less, b[1], a[1])
        large, small = right(select(less, b[2], a[2]), one), select(less, a[2], b[2])
        far = abs(far) + one
        if far > 63:
            for _ in range(min(far >> 6, int64(limbs))):
                lost |= low_word(small)
                small = right_limb(small)
            far &= 63
        lost |= low_word(small) & ((one << far) - one)
        # Rounded to odd, too
        small = right(small, far) | of_word(select(lost == 0, int64(0), one))
        differ = a[0] != b[0]
        total = select(differ, large - small, large + small)
        if high_word(total) == 0:
            if total == of_word(int64(0)):
                return select(differ, int64(0), negative), int64(ORBIT_ZERO), total
            while high_word(total) == 0:
                total, exponent = left_limb(total), exponent - 64
        zeros = leading_zeros(high_word(total))
        return rounded((negative, exponent + 1 - zeros, left(total, zeros)), masks)

    @target.jit
    def nearest(a):
        rest = select(left_limb(a[2]) == of_word(int64(0)), int64(0), int64(1))
        size = unsigned(high_word(a[2]) | rest)
        return size * turned(two_to(a[1] - 64, size), a[0])

    return plus, times, nearest


def make_rows(limbs):
    """Return ``number_at``, ``operand`` and ``keep``, for the numbers of an `OrbitCode`."""
    wide = wide_functions(limbs)
    load, store = wide.load, wide.store

    def number_at(numbers, at):
        exponent = word_at(numbers, at + ORBIT_EXPONENT)
        return word_at(numbers, at), exponent, load(numbers, at + ORBIT_MANTISSA)

    def operand(numbers, code, at):
        """Return a number of which the sign is kept or dropped, then turned or not, and doubled."""
        row = word_at(code, at)
        negative = word_at(numbers, row) & word_at(code, at + 1) ^ word_at(code, at + 2)
        exponent = word_at(numbers, row + ORBIT_EXPONENT) + word_at(code, at + 3)
        return negative, exponent, load(numbers, row + ORBIT_MANTISSA)

    def keep(numbers, at, a):
        put_word(numbers, at, a[0])
        put_word(numbers, at + ORBIT_EXPONENT, a[1])
        store(numbers, at + ORBIT_MANTISSA, a[2])

    return number_at, operand, keep


def make_masks(lowest, limbs):
    """Return ``masks_at``: the lowest limbs of three masks, for `make_rounding`."""
    load = wide_functions(lowest).load

    def masks_at(masks, at):
        return load(masks, at), load(masks, at + limbs), load(masks, at + 2 * limbs)

    return masks_at


def make_body(target, limbs, squares):
    """Return ``body(steps, found, orbit, rules)``, which takes up to some steps of an orbit.

    `squares`: the step is that of z² + c, and is compiled, not read from the list. `found` is an
    `OrbitFound`, `orbit` an `OrbitCode`, and `rules` an `OrbitRules`. It ends before a step to a
    point that needs more than a row of `points`.
    """
    int64, lowest = target.int64, rounded_limbs(limbs)
    plus, times, nearest = make_arithmetic(target, limbs, lowest)
    rounded = make_rounding(target, limbs, limbs)
    number_at, operand, keep = map(target.jit, make_rows(limbs))
    masks_at = target.jit(make_masks(lowest, limbs))
    all_masks_at = target.jit(make_masks(limbs, limbs))
    grow, scaled = make_growth(target)
    size = ORBIT_MANTISSA + limbs

    def squared(x, y, a, b, orbit, masks):
        minus, twice = (1 - y[0], y[1], y[2]), (x[0], x[1] + 1, x[2])
        p, q, r = times(x, x, masks), times(minus, y, masks), times(y, twice, masks)
        q, v = plus(q, a, masks), plus(r, b, masks)
        return plus(p, q, masks), v

    def listed(x, y, a, b, orbit, masks):
        numbers, code, ends, at = orbit.numbers, orbit.code, orbit.ends, int64(0)
        keep(numbers, int64(0), x)
        keep(numbers, int64(size), y)
        while at < code.shape[0]:
            p = operand(numbers, code, at + ORBIT_LEFT)
            q = operand(numbers, code, at + ORBIT_RIGHT)
            result = word_at(code, at + ORBIT_RESULT)
            if word_at(code, at) == ORBIT_SUM:
                keep(numbers, result, plus(p, q, masks))
            else:
                keep(numbers, result, times(p, q, masks))
            at += ORBIT_OPERATION
        return operand(numbers, ends, int64(0)), operand(numbers, ends, int64(ORBIT_OPERAND))

    step = target.jit(squared if squares else listed)

    @target.jit
    def fits(a):
        """Tell whether float64 holds a number with all its bits."""
        return (a[1] < ORBIT_LARGEST and a[1] > ORBIT_SMALLEST) or a[1] == ORBIT_ZERO

    @target.jit
    def same(x, y, numbers, at):
        """Tell whether a point is the one that lies in two rows; +0 and -0 are the same."""
        p, q = number_at(numbers, at), number_at(numbers, at + size)
        return p[1] == x[1] and p[2] == x[2] and q[1] == y[1] and q[2] == y[2]

    @target.jit
    def near_axis(u, v, power, share):
        """Tell whether a power of u + iv up to this one may be near an axis."""
        p, q = u, v
        for _ in range(power - 1):
            p, q = p * u - q * v, p * v + q * u
            s, t = abs(p), abs(q)
            if not min(s, t) > 2 * share * max(s, t):
                return True
        return False

    @target.jit
    def is_plain(u, v, before, rules):
        """Tell whether a point is far from all that the orbit is watched for, but its period."""
        s, t = abs(u), abs(v)
        if s < MAX_TINY and t < MAX_TINY:
            return False
        if s < rules.near_kink or t < rules.near_kink or abs(s - t) < rules.near_kink:
            return False
        near = rules.near_move * (s + t)
        if near > 0 and abs(u - before[0]) <= near and abs(v - before[1]) <= near:
            return False
        return u * u + v * v <= rules.inner

    def body(steps, found, orbit, rules):
        numbers, saved = orbit.numbers, int64(ORBIT_SAVED * size)
        masks = masks_at(orbit.masks, int64(0))
        masks_of_float64 = all_masks_at(orbit.masks, int64(3 * limbs))
        x, y = number_at(numbers, int64(0)), number_at(numbers, int64(size))
        c = int64(ORBIT_C * size)
        a, b = number_at(numbers, c), number_at(numbers, c + size)
        n, d = found.place[0], (found.growth[0], found.growth[1], found.place[1])
        z, saved_u = (nearest(x), nearest(y)), nearest(number_at(numbers, saved))
        done = int64(0)
        while done < steps:
            new_x, new_y = step(x, y, a, b, orbit, masks)
            if not (fits(new_x) and fits(new_y)):
                break
            u, v = nearest(new_x), nearest(new_y)
            if not is_plain(u, v, z, rules):
                break
            if rules.power > 2 and near_axis(u, v, rules.power, rules.near_kink):
                break
            grown = d
            if rules.seeks:
                grown, long = grow(z[0], z[1], d, rules.degree, rules.factor)
                reach = rules.gate * scaled(rules.gate_exponent + grown[2], u) * long
                if abs(u) < reach and abs(v) < reach:
                    break
            if u == saved_u and same(new_x, new_y, numbers, saved):
                break
            if found.low.shape[0] > 0:
                p, q = rounded(new_x, masks_of_float64), rounded(new_y, masks_of_float64)
                p = plus(new_x, (1 - p[0], p[1], p[2]), masks)
                q = plus(new_y, (1 - q[0], q[1], q[2]), masks)
                if not (fits(p) and fits(q)):
                    break
                found.low[done, 0], found.low[done, 1] = nearest(p), nearest(q)
            found.points[done, 0], found.points[done, 1] = u, v
            x, y, z, d, n, done = new_x, new_y, (u, v), grown, n + 1, done + 1
            if n & (n - 1) == 0:
                saved_u = u
                keep(numbers, saved, x)
                keep(numbers, saved + size, y)
        keep(numbers, int64(0), x)
        keep(numbers, int64(size), y)
        found.place[0], found.place[1] = n, d[2]
        found.growth[0], found.growth[1] = d[0], d[1]

    return body
