"""The CPU backend: programs compiled by Numba, most of them with SIMD vectors."""

from fractals.backends.base import Limits

LIMITS = Limits(
    samples_per_tile=2**17,
    min_samples_per_tile=64,
    steps_per_tile=2**29,
    # A longer block of steps has fewer branches, and more steps to repeat when an orbit escaped. A
    # core predicts branches well.
    steps_per_check=8,
    rectangles=True,
    shared_by_threads=True,
    steps_per_second=3e9,  # 1.5e9 to 5.4e9 with vectors of 256 and 512 bits
    samples_per_second=1.6e8,
    seconds_per_deep_sample=2.5e-7,  # gallery scenes: 1.2e-7 to 3.6e-7
)
