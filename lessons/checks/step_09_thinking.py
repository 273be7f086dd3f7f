"""Checks the counts, and that orbits inside are left early."""

from step_01_python import coordinates
from step_01_python import escape as escape_of_step_1


def check(answer):
    limit, taken, plain = 3000, 0, 0
    xs, ys = coordinates(37, 23)
    for c in [complex(x, y) for x in xs for y in ys] + [0j, -1 + 0j, -2 + 0j]:
        count, steps = answer.escape(c, limit)
        expected = escape_of_step_1(c, limit)
        assert count == expected, f"c = {c:.4f}: the count is {count}, expected {expected}"
        assert steps <= limit, f"c = {c:.4f}: {steps} steps are more than the limit"
        if expected < limit:
            assert steps >= expected, f"c = {c:.4f}: {steps} steps can't give count {expected}"
        taken, plain = taken + steps, plain + expected
    assert taken < 0.25 * plain, (
        f"{taken} of {plain} steps are taken: most orbits inside become cycles much earlier"
    )
