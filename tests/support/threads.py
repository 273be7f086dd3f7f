"""Threads of a test's own, and whether those that worked for them have ended."""

import threading
import time

PATIENCE = 20  # seconds


def in_a_thread(work, *arguments):
    """Return what work returns in a thread of its own, or raise its error."""
    returned, raised = [], []

    def run():
        try:
            returned.append(work(*arguments))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    for error in raised:
        raise error
    return returned[0]


def end_by_themselves(before):
    """Tell whether, some time from now, there are no more threads than before."""
    until = time.monotonic() + PATIENCE
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    return threading.active_count() <= before
