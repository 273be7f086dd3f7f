"""`fractals devices`."""

import dataclasses

from fractals.cli.command import verb
from fractals.cli.messages import print_json, write_out
from fractals.cli.options import json_option


@verb("devices", "devices", "devices --json", "render --device cuda:1 -o second.png")
@json_option
def devices_command(as_json: bool) -> None:
    """List the devices that can draw on this machine.

    The default device is marked; for a GPU that can't be used, the reason is given.
    """
    from fractals.backends import probe
    from fractals.backends.devices import choose, devices

    found = devices()
    taken = choose("auto").device  # compared by name, because the free memory changes
    auto = taken.kind, taken.index
    reason = probe.gpus()[1]
    if as_json:
        tables = [{**dataclasses.asdict(d), "auto": (d.kind, d.index) == auto} for d in found]
        print_json({"devices": tables, "auto": taken.kind, "no_gpu": reason})
        return
    lines = []
    for device in found:
        if device.kind == "cpu":
            facts = f"{device.cores} cores, {device.vector_bits}-bit vectors"
        elif device.kind == "cuda":
            major, minor = device.compute_capability
            memory = device.memory / 2**30
            facts = (
                f"compute capability {major}.{minor}, {memory:.0f} GiB, driver CUDA {device.driver}"
            )
        else:
            facts = "slow; for learning and for tests"
        name = f"cuda:{device.index}" if device.kind == "cuda" else device.kind
        mark = "  <- auto" if (device.kind, device.index) == auto else ""
        lines.append(f"{name:10} {device.name}, {facts}{mark}")
        if device.problem:
            lines.append(f"{'':10} not used: {device.problem}")
    if not any(device.kind == "cuda" for device in found):
        lines.append(f"{'cuda':10} not found: {reason}")
        lines.append(
            f"{'':10} with an NVIDIA GPU, install its driver and pip install 'fractals-numba[gpu]'"
        )
    write_out("\n".join(lines) + "\n")
