"""What this CPU can do, and what programs are compiled for: read without Numba."""

import os
from typing import Any

import llvmlite.binding

# The settings of Numba that change the machine code of a program.
SETTINGS = ("CPU_NAME", "CPU_FEATURES", "ENABLE_AVX", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE")


def _setting(name: str) -> str | None:
    return os.environ.get(f"NUMBA_{name}")


def own_flags() -> str:
    """Return the features of this CPU, as LLVM writes them: "+fma,-avx512f,..."."""
    if (given := _setting("CPU_FEATURES")) is not None:
        return given
    if _setting("CPU_NAME") == "generic":
        return ""
    try:
        found: Any = llvmlite.binding.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know them
        return ""
    if _setting("ENABLE_AVX") == "0":
        found.update({name: False for name in found if name.startswith("avx")})
    return str(found.flatten())


def register_bytes(features: set[str]) -> int:
    """Return the width of a vector register."""
    if {"avx512f", "avx512vl"} <= features:
        return 64
    return 32 if "avx2" in features else 16  # SSE2 and NEON


CPU = _setting("CPU_NAME") or llvmlite.binding.get_host_cpu_name()
FLAGS = own_flags()
FEATURES = {name[1:] for name in FLAGS.split(",") if name.startswith("+")}
REGISTER = register_bytes(FEATURES)
# x86 CPUs before 2013 have no fused multiply-add, and packs gain nothing from the C library's.
FUSED = "fma" in FEATURES or "sse2" not in FEATURES
# All that tells the machine code of one computer and its settings from that of others.
TARGET = " ".join([CPU, FLAGS, *(f"{name}={_setting(name)}" for name in SETTINGS)])
