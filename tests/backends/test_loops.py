"""Which loop a program gets on the CPU: packs, packets or plain, and why."""

import subprocess
import sys


def test_the_cpu_backend_alone_knows_the_elementary_functions():
    """In a process that never imported the CUDA backend, which needs them too."""
    script = (
        "import fractals.backends.cpu.backend\n"
        "from fractals.kernels import elementary\n"
        "import numba\n"
        "print(numba.njit(lambda x: elementary.quotient(x, 4.0))(2.0))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "0.5", done.stderr
