"""The CUDA backend: GPUs, and a simulator where there is none."""

from fractals.backends.base import Limits

LIMITS = Limits(
    samples_per_tile=2**21,
    min_samples_per_tile=2**18,  # fewer than a GPU has threads would leave some without work
    steps_per_tile=2**38,
    # A branch costs a GPU instructions, and a warp repeats a block once for all its threads.
    steps_per_check=16,
    rectangles=False,
    shared_by_threads=False,
    steps_per_second=5e11,
    samples_per_second=5e9,
    seconds_per_deep_sample=1e-8,
)
SIMULATED_LIMITS = Limits(
    samples_per_tile=2**20,
    min_samples_per_tile=64,
    steps_per_tile=2**29,
    steps_per_check=16,
    rectangles=False,
    shared_by_threads=True,
    steps_per_second=5e8,
    samples_per_second=1e7,
    seconds_per_deep_sample=7e-6,
)
SIMULATED_STEPS = 2**29  # iterations of a launch: about a second, until Ctrl-C is noticed
SECONDS_PER_LAUNCH = 0.2  # of a GPU that also serves a screen, which stands still meanwhile
INSTRUCTIONS_PER_STEP = 20  # of an iteration: 4 to 50, by the formula
SLOWEST = 2e10  # instructions per second, of a GPU whose driver does not state its clock


def steps_per_launch(rate: float) -> int:
    """Return the iterations of a launch on a GPU with this rate of instructions per second."""
    return int(SECONDS_PER_LAUNCH / INSTRUCTIONS_PER_STEP * (rate or SLOWEST))
