"""Interrupts between any two instructions of Python, one after the other."""

import itertools
import sys


def each_interrupt(work, files, begin):
    """Yield 1, 2, ... after ``work()`` was interrupted at that instruction of what some files hold.

    ``begin()`` comes before each time. The last time the work comes to its end. Finalizers are not
    interrupted, because Python ignores what is raised there.
    """
    for number in itertools.count(1):
        begin()
        left = number

        def trace(frame, event, _):
            nonlocal left
            if frame.f_code.co_filename not in files or frame.f_code.co_name == "__del__":
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                left -= 1
                if not left:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        try:
            sys.settrace(trace)
            work()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        yield number
        if left > 0:
            return
