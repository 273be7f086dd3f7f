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
from fractals.errors import FractalsError, OptionError, shown
from fractals.rendering.cluster import worker
from fractals.rendering.cluster.pools import (
    TIMEOUT,
    address_towards,
    check_address,
    import_distributed,
    is_public,
    read_address,
    security_settings,
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

    The worker listens on the address from which this machine reaches the scheduler, and on no
    other one: for a scheduler on this machine, only processes of this machine reach it.

    Raises
    ------
    FractalsError
        The scheduler does not answer, or Dask is not installed.
    OptionError
        The scheduler's address, or the worker's own one, is public and without TLS.
    """
    check_address(address, insecure)
    import_distributed()
    # It writes stack traces where a connection ends; `fractals worker` says so in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    worker.settings.device, worker.settings.threads = device, threads
    where = read_address(address, insecure)
    own = address_towards(where)
    tls = where.startswith("tls://")
    if not tls and not insecure and is_public(own):
        raise OptionError(
            f"this machine reaches {shown(address, 80)} from {own}, a public address, and whoever "
            "reaches a worker without TLS runs code on it: give tls://... (see fractals "
            "cluster-keys --help), or --insecure"
        )
    settings: dict[str, Any] = {
        "scheduler_ip": where,
        "host": f"[{own}]" if ":" in own else own,
        **security_settings(where, keys),
    }
    from fractals.rendering.cluster.nodes import QuietWorker

    async def run() -> None:
        with TemporaryDirectory(prefix="fractals-worker-") as folder:
            serving = QuietWorker(
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
                facts = f"{cores} threads, {device}" + ("" if tls else ", without TLS")
                on_message(f"{serving.address} is ready at {address}: {facts}")
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
    # -P: nothing is imported from the current folder.
    command = [sys.executable, "-P", "-m", "fractals", "worker", *arguments, "--device", "cuda"]
    paths = [str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    started = [
        subprocess.Popen(
            [*command, "--threads", str(share)], env=environment | {"CUDA_VISIBLE_DEVICES": gpu}
        )
        for gpu in gpus
    ]
    try:
        return max(process.wait() for process in started)
    finally:
        for process in started:
            process.terminate()
