"""The memory of the process of the tests."""

import sys


def most_memory():
    """Return the most bytes that this process has taken so far; 0 where nothing tells."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
