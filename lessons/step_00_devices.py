"""Step 0: what can compute in this machine: its cores, the width of its vectors, its GPUs."""

import platform

from ladder import arithmetic, cores, report
from llvmlite import binding

import fractals


# [vectors]
def vector_bits():
    """Return how many bits the widest registers of the processor have."""
    features = binding.get_host_cpu_features()  # of the compiler that Numba uses
    for name, bits in {"avx512f": 512, "avx2": 256, "avx": 256}.items():
        if features.get(name):
            return bits
    return 128  # SSE2 on every x86-64, NEON on every 64-bit Arm


# [end]
# [gpus]
def gpus():
    """Return a line for each NVIDIA GPU: name, memory, driver."""
    found = [each for each in fractals.devices() if each.kind == "cuda"]
    return [f"{each.name}, {each.memory >> 30} GiB, CUDA {each.driver}" for each in found]


# [end]
# [choose]
def choose():
    """Return the name of the device that a program should use by default."""
    return "cuda" if gpus() else "cpu"


# [end]


def main():
    print(
        f"system      {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )
    print(f"processor   {binding.get_host_cpu_name()}, {cores()} cores for this process")
    bits = vector_bits()
    print(
        f"vectors     {bits} bits: {bits // 64} float64 or {bits // 32} float32 in an instruction"
    )
    rate = 2 * arithmetic()  # a fused multiply-add is a product and a sum
    print(f"arithmetic  {rate / 2e9:.0f} billion fused multiply-adds a second, all cores")
    for line in gpus() or ["none: the driver is missing or finds no GPU"]:
        print(f"GPU         {line}")
    print(f"default     {choose()}")
    report(0, 1, rate, "flop/s")


if __name__ == "__main__":
    main()
