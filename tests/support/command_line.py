"""Arguments and checks shared by the tests of the command line."""

SMALL = ("--size", "32x18", "--cpu")


def one_line(err):
    lines = err.splitlines()
    return len(lines) == 1 and lines[0].startswith("fractals: ") and "Traceback" not in err
