"""Checks a measurement with a clock that only a call of the function moves."""

import time


def check(answer):
    for durations in ([5.0, 1.0, 2.0, 9.0, 1.5, 1.0], [3.0, 4.0]):
        now, calls = 0.0, 0

        def function():
            nonlocal now, calls
            assert calls < len(durations), "the function is called too often"
            now += durations[calls]
            calls += 1

        real = time.perf_counter
        time.perf_counter = lambda: now
        try:
            first, median = answer.time_it(function, len(durations) - 1)
        finally:
            time.perf_counter = real
        assert calls == len(durations), f"{calls} calls: call it once, and then `runs` times"
        assert first == durations[0], f"the first call took {durations[0]} s, not {first}"
        expected = sorted(durations[1:])[(len(durations) - 1) // 2]
        assert median == expected, f"calls took {durations[1:]} s: the median is not {median}"
