"""Check of exercise 13."""

CASES = (  # compute, copy, streams, done
    ([3, 3, 3, 3], [2, 2, 2, 2], 1, 20),
    ([3, 3, 3, 3], [2, 2, 2, 2], 2, 14),
    ([3, 3, 3, 3], [2, 2, 2, 2], 4, 14),  # the GPU is busy all the time: more streams gain nothing
    ([1, 1, 1, 1], [4, 4, 4, 4], 2, 17),  # the bus is busy all the time
    ([5, 1, 1, 1, 6, 2, 3], [1, 7, 1, 2, 1, 5, 1], 2, 28),
    ([5, 1, 1, 1, 6, 2, 3], [1, 7, 1, 2, 1, 5, 1], 3, 27),
)


def check(answer):
    """Raise AssertionError with one clear line unless `answer` solves the exercise."""
    for compute, copy, streams, right in CASES:
        found = answer.done(list(compute), list(copy), streams)
        assert found == right, (
            f"compute {compute}, copy {copy}, {streams} streams: done at {found}, not {right}"
        )
