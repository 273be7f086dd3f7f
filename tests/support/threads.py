"""Work in a new thread, and a wait for worker threads to end."""

import threading
import time

PATIENCE = 20  # seconds


def in_a_thread(work, *arguments):
    """Run a function in a new thread; return its result, or raise its error."""
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
    """Return whether, within 20 s, no more threads are left than before."""
    until = time.monotonic() + PATIENCE
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    return threading.active_count() <= before
