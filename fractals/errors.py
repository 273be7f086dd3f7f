"""Every error raised on purpose, each with the exit code that the command line answers with.

    FractalsError                1   something failed: a file, a device that broke
    ├── OptionError              2   a bad value of an option or an argument
    ├── InputError               3   an input file that is invalid: a palette, raw numbers
    │   └── SceneError           3   a scene, or a file with one, that is invalid
    ├── DeviceError              4   the device asked for is missing
    └── DifferenceError          5   pictures that should be equal differ

A message says what was given (quoted), what is allowed, and what to type next.
"""


class FractalsError(Exception):
    """Base of all errors that are raised on purpose; the message is for the user."""

    exit_code = 1


class OptionError(FractalsError, ValueError):
    """A bad value of an option or an argument."""

    exit_code = 2


class InputError(FractalsError, ValueError):
    """An input file that is invalid, such as a palette or raw numbers."""

    exit_code = 3


class SceneError(InputError):
    """A scene, or a file with a scene, that is invalid."""


class DeviceError(FractalsError, RuntimeError):
    """The device asked for is missing, or can't be used here."""

    exit_code = 4


class DifferenceError(FractalsError):
    """Pictures or counts that should be equal differ."""

    exit_code = 5
