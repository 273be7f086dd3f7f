"""Checks the choice of a device."""


def check(answer):
    small, large = ("cuda:0", 8 * 10**9), ("cuda:1", 24 * 10**9)
    cases = [
        ([], 10**6, "cpu", "a machine without a GPU"),
        ([small], 10**9, "cuda:0", "a GPU with enough memory"),
        ([small], 10**10, "cpu", "a GPU with too little memory"),
        ([small, large], 10**10, "cuda:1", "two GPUs, of which the second has enough memory"),
        ([small, large], 10**6, "cuda:1", "two GPUs, of which the second has more free memory"),
        ([small], 8 * 10**9, "cuda:0", "a GPU whose memory is just enough"),
    ]
    for gpus, needed, expected, what in cases:
        found = answer.choose(gpus, needed)
        assert found == expected, f"{what}: choose returns {found!r}, expected {expected!r}"
