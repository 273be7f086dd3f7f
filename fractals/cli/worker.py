"""`fractals worker` and `fractals cluster-keys`: the machines of a cluster."""

from pathlib import Path
from typing import Any

import click

from fractals.cli.command import option, verb
from fractals.cli.messages import tell
from fractals.cli.options import (
    device_options,
    device_request,
    insecure_option,
    keys_option,
)
from fractals.cli.values import Whole


@verb(
    "worker",
    "worker tcp://head:8786",
    "worker tls://head:8786 --keys keys/",
    "worker scheduler.json --device cpu --threads 8",
)
@click.argument("address")
@device_options
@keys_option
@insecure_option
def worker_command(
    address: str, threads: int | None, keys: str | None, insecure: bool, **options: Any
) -> None:
    """Compute for others: join the Dask scheduler at ADDRESS.

    A worker does one task at a time with all cores of this machine, or one for each GPU. It ends
    with its scheduler, or by Ctrl-C; the tasks that it had are then done by others. ADDRESS is
    tcp://HOST:PORT, tls://HOST:PORT, or the .json file that dask scheduler --scheduler-file wrote.
    The worker listens on the address from which this machine reaches ADDRESS. Without TLS,
    whoever reaches the scheduler or the worker runs code on this machine.
    """
    from fractals.rendering.cluster.serving import gpus_of, serve, serve_each_gpu

    device = device_request(options)
    if gpus := gpus_of(device):
        more = ["--keys", keys] if keys else []
        more += ["--insecure"] if insecure else []
        tell(f"{len(gpus)} GPUs: a process for each")
        raise SystemExit(serve_each_gpu(gpus, [address, *more], threads))
    serve(address, device, threads, keys, insecure, tell)


@verb(
    "cluster-keys",
    "cluster-keys keys/              # then copy keys/ to every machine",
    "cluster-keys keys/ --days 30",
    "worker tls://head:8786 --keys keys/",
)
@click.argument("folder")
@option(
    "--days",
    type=Whole(1, 3650),
    default=365,
    metavar="N",
    help="Days until the keys expire (default: 365).",
)
def cluster_keys_command(folder: str, days: int) -> None:
    """Write keys for TLS between the machines of a cluster to a new FOLDER.

    Whoever has these keys can run code on all workers: copy them to the machines of the cluster
    only. A scheduler that uses them is started with

    \b
      dask scheduler --protocol tls --tls-ca-file FOLDER/ca.pem \\
          --tls-cert FOLDER/cert.pem --tls-key FOLDER/key.pem \\
          --dashboard-address 127.0.0.1:8787
    """
    from fractals.rendering.cluster.keys import write_keys

    write_keys(Path(folder), days)
    tell(f"{folder}: ca.pem, cert.pem, key.pem; copy them to every machine, readable by you only")
