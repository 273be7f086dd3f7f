"""Ctrl-C while a program is compiled: heard, once, and afterwards all can be compiled."""

import os
import signal
import sys
import threading

import numba
import pytest
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from fractals.backends.cpu import interrupts  # noqa: F401 - it listens

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no SIGINT for one process"
)


class Interrupting(event.Listener):
    """Sends Ctrl-C whenever Numba begins to compile a function."""

    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))  # Python would hear it here

    def on_end(self, event):
        pass


def new():
    return numba.njit(lambda x: x + 1)


@pytest.fixture
def interruptible():
    """Python's own handler, whatever the tests were begun with."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_it_is_heard_when_the_program_is_compiled(interruptible):
    function = new()
    with (
        event.install_listener("numba:compile", Interrupting()),
        pytest.raises(KeyboardInterrupt),
    ):
        function(1)
    assert len(function.signatures) == 1
    assert not global_compiler_lock.is_locked()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    found = []
    thread = threading.Thread(target=lambda: found.append(new()(1)), daemon=True)
    thread.start()
    thread.join(60)
    assert found == [2]


def test_what_ignores_it_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with event.install_listener("numba:compile", Interrupting()):
            assert new()(1) == 2
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
