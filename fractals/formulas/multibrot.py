"""The multibrot sets: z -> z**power + c, power 2 to 8."""

from fractals.formula import Formula, fma, number


def make_step(power):
    def step(x, y, a, b):
        u, v = x, y  # z**(power // 2), then squared, and times z where the power is odd
        for _ in range(power // 2 - 1):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        if power % 2 == 0:
            return fma(u, u, fma(-v, v, a)), fma(u + u, v, b)
        p, q = fma(u, u, -(v * v)), (u + u) * v
        return fma(p, x, fma(-q, y, a)), fma(p, y, fma(q, x, b))

    return step


def make_derivative(power):
    def derivative(x, y, p, q):  # power * z**(power - 1) * (p + iq)
        n = number(power, x)
        u, v = n * x, n * y
        for _ in range(power - 2):
            u, v = fma(u, x, -(v * y)), fma(u, y, v * x)
        return fma(u, p, -(v * q)), fma(u, q, v * p)

    return derivative


def make(power=3):
    if not isinstance(power, int) or not 2 <= power <= 8:
        raise ValueError("power is a whole number from 2 to 8")
    return Formula(
        name="multibrot",
        title=f"Multibrot set, z**{power} + c",
        step=make_step(power),
        derivative=make_derivative(power),
        degree=power,
        width="4.2",
        parameters={"power": power},
    )
