"""Checks the counts of a Julia set."""


def count(z, c, limit):
    n = 0
    while n < limit and abs(z) <= 2:
        z = z * z + c
        n += 1
    return n


def check(answer):
    c = -0.8 + 0.156j
    for width, height, limit in ((37, 23, 60), (5, 1, 1), (8, 8, 300)):
        for j in range(height):
            for i in range(width):
                z = complex(-2.1 + 4.2 * (i + 0.5) / width, 1.3 - 2.6 * (j + 0.5) / height)
                found, expected = answer.julia(z, c, limit), count(z, c, limit)
                assert found == expected, (
                    f"z = {z:.3f}, c = {c}, limit {limit}: julia returns {found}, "
                    f"expected {expected}"
                )
    assert answer.julia(0j, 0j, 50) == 50, "z = 0, c = 0 never escapes: its count is the limit"
    assert answer.julia(2 + 0j, -2 + 0j, 50) == 50, "|z| = 2 has not escaped: it must exceed 2"
