"""A worker process of `fractals worker`: a Dask worker that does one task at a time."""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fractals.backends import probe
from fractals.errors import FractalsError, shown
from fractals.rendering.cluster import worker
from fractals.rendering.cluster.pools import (
    TIMEOUT,
    check_address,
    import_distributed,
    security_of,
)
from fractals.threads import core_count


def serve(
    address: str,
    device: str,
    threads: int | None,
    keys: str | Path | None,
    insecure: bool,
    on_message: Callable[[str], None],
) -> None:
    """Do tasks of a scheduler until it ends, or this process is interrupted.

    Raises
    ------
    FractalsError
        The scheduler does not answer, or Dask is not installed.
    OptionError
        The address is public and without TLS.
    """
    check_address(address, insecure)
    distributed = import_distributed()
    # It writes stack traces where a connection ends; `fractals worker` says so in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    worker.settings.device, worker.settings.threads = device, threads
    settings: dict[str, Any] = {"scheduler_ip": address}
    if address.endswith(".json"):
        settings = {"scheduler_file": address}
    if address.startswith("tls://") and keys:
        settings["security"] = security_of(keys)

    async def run() -> None:
        with TemporaryDirectory(prefix="fractals-worker-") as folder:
            serving = distributed.Worker(
                **settings,
                nthreads=1,
                resources={"tile": 1},
                memory_limit=0,  # the plan of a scene knows its memory
                local_directory=folder,
                dashboard=False,
                death_timeout=TIMEOUT,
            )
            try:
                await serving
                cores = threads or core_count()
                on_message(f"{serving.address} is ready at {address}: {cores} threads, {device}")
                await serving.finished()
            finally:
                await serving.close(timeout=1, nanny=False)

    try:
        asyncio.run(run())
    except (OSError, TimeoutError, ValueError) as error:
        raise FractalsError(
            f"no scheduler answers at {shown(address, 80)} ({shown(error, 100)})"
        ) from None


def gpus_of(device: str) -> Sequence[str]:
    """Return the numbers of the GPUs that get a process each; none where one process is enough."""
    if device not in ("auto", "gpu", "cuda", "cuda:all"):
        return ()
    found, _ = probe.gpus()
    usable = [str(k) for k, gpu in enumerate(found) if not gpu.problem]
    return usable if len(usable) > 1 else ()


def serve_each_gpu(gpus: Sequence[str], arguments: Sequence[str], threads: int | None) -> int:
    """Start a process for each GPU, each with its share of the cores, and wait for them."""
    share = threads or max(1, core_count() // len(gpus))
    command = [sys.executable, "-m", "fractals", "worker", *arguments, "--device", "cuda"]
    started = [
        subprocess.Popen(
            [*command, "--threads", str(share)], env=os.environ | {"CUDA_VISIBLE_DEVICES": gpu}
        )
        for gpu in gpus
    ]
    try:
        return max(process.wait() for process in started)
    finally:
        for process in started:
            process.terminate()
