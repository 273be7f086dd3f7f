"""A fuzz test of every reader: the same inputs in each run, so a change fails for its own error.

FRACTALS_FUZZ_SEED and FRACTALS_FUZZ_COUNT choose other inputs and their number: the weekly run
takes a new seed each time, and scripts/fuzz reads any number.
"""

import os

import pytest
from support.deadline import deadline
from support.fuzz import Fuzz, Unanswered, mutated

SEED = os.environ.get("FRACTALS_FUZZ_SEED", "readers")
COUNT = int(os.environ.get("FRACTALS_FUZZ_COUNT", "3000"))  # a quarter of a minute
PARTS = 4  # so that several processes share the work


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory):
    return Fuzz(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.many
@pytest.mark.parametrize("part", range(PARTS))
def test_every_input_is_read_or_refused(fuzz, part):
    print(f"FRACTALS_FUZZ_SEED={SEED}")  # noqa: T201
    valid = 0
    for number in range(part, COUNT, PARTS):
        try:
            valid += fuzz.check(SEED, number)
        except Unanswered as error:
            pytest.fail(f"input {number} of FRACTALS_FUZZ_SEED={SEED}: {str(error)!a}")
    assert 0 < valid < COUNT / PARTS  # some mutations change nothing that matters


def test_every_kind_is_valid_before_it_is_mutated(fuzz, monkeypatch):
    monkeypatch.setattr("support.fuzz.mutated", lambda dice, content: content)
    monkeypatch.setattr("support.fuzz.json_mutated", lambda dice, value: value)
    monkeypatch.setattr(Fuzz, "archive", lambda self, dice, content: content)
    monkeypatch.setattr(Fuzz, "chunks", lambda self, dice, content: content)
    kinds = set()
    for number in range(400):
        kind, _ = fuzz.input("valid", number)
        if kind not in kinds:
            assert fuzz.check("valid", number), kind
        kinds.add(kind)
    assert kinds == set(fuzz.kinds)


def test_an_input_is_the_same_again(fuzz):
    for number in range(50):
        kind, text = fuzz.input("seed", number)
        assert fuzz.input("seed", number) == (kind, text)


def test_what_is_not_answered_fails(fuzz, monkeypatch):
    def hang(kind, text):
        while True:
            pass

    monkeypatch.setattr("support.fuzz.deadline", lambda: deadline(0.1))
    for read, words in (
        (lambda kind, text: 1 / 0, "ZeroDivisionError"),
        (hang, "0.1 s of CPU time"),
    ):
        monkeypatch.setattr(fuzz, "read", read)
        with pytest.raises(Unanswered, match=words):
            fuzz.check("seed", 1)
    assert mutated is not None
