"""Jobs: what workers need to know to compute parts, and what becomes of the parts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from fractals.errors import FractalsError, OptionError
from fractals.io.parts import Parts, check_equal, decode
from fractals.io.store import header_text
from fractals.rendering.cluster.dispatch import Dispatch
from fractals.rendering.cluster.pools import Pool, open_pool
from fractals.rendering.cluster.worker import facts_of_this_program, known_sum
from fractals.rendering.drawing import Drawing
from fractals.rendering.known import BEGUN, known_of, load_known, save_known
from fractals.rendering.options import RenderOptions

ROUNDS = 3  # times that lost parts are computed
TIDY = 10.0  # seconds between two calls of `tidy`


def run_job(
    cluster: Any,
    kind: str,
    header: Mapping[str, Any],
    parts: Parts,
    missing: Callable[[], Sequence[int]],
    drawing: Drawing,
    options: RenderOptions,
    tidy: Callable[[], None] = lambda: None,
) -> None:
    """Have parts computed by a cluster.

    Parameters
    ----------
    cluster : object
        As of `fractals.rendering.cluster.pools.open_pool`, or a `Cluster`.
    kind : str
        "tiles" of a store, or "strips" of a picture.
    header : mapping
        Holds the scene; of a store, its header.
    parts : Parts
        Where the parts are collected.
    missing : callable
        Returns the numbers of the parts that are missing.
    drawing : Drawing
        Of this process; its limit, count offset and reference orbits are those of all workers.
    tidy : callable
        Called now and then.

    Raises
    ------
    FractalsError
        No worker can take part, two results differ, or parts get lost again and again.
    """
    if not missing():
        return
    asked = cluster if isinstance(cluster, Cluster) else Cluster(cluster)
    if not drawing.plan.formula.step.__module__.startswith("fractals."):
        raise OptionError("a formula from a Python file can't be sent to the workers of a cluster")
    pool = open_pool(asked.address, asked.keys, asked.insecure, options.on_message)
    try:
        _run(pool, asked.returns, kind, header, parts, missing, drawing, options, tidy)
    finally:
        pool.close()


def _run(
    pool: Pool,
    returns: bool,
    kind: str,
    header: Mapping[str, Any],
    parts: Parts,
    missing: Callable[[], Sequence[int]],
    drawing: Drawing,
    options: RenderOptions,
    tidy: Callable[[], None],
) -> None:
    """Have parts computed by a pool; the arguments are those of `run_job`."""
    if load_known(parts) is None:
        save_known(known_of(drawing.source), parts)
    token, numbers = parts.make_token(), missing()
    job = {
        "kind": kind,
        "work": parts.work,
        "folder": str(parts.folder.resolve()),
        "token": token.name,
        "returns": returns,
        "program": facts_of_this_program(),
        "known_sum": known_sum(drawing),
        "header": header_text(header),
        "device": options.device,
        "interior_shortcuts": options.interior_shortcuts,
    }

    last = monotonic()

    def receive(receipt: Mapping[str, Any]) -> None:
        nonlocal last
        if content := receipt["content"]:
            if before := parts.read(receipt["name"]):
                check_equal(decode(content, parts.work), before)
            else:
                decode(content, parts.work)
                parts.keep(receipt["name"], content)
        if monotonic() - last > TIDY:
            tidy()
            last = monotonic()

    def deposits() -> Mapping[str, bytes]:
        names = [name for name in parts.names() if name.endswith(".orbit")]
        return {name: (parts.folder / name).read_bytes() for name in [*names, BEGUN]}

    # The forecast is that of one machine like this one.
    seconds = drawing.plan.seconds / max(1, len(numbers))
    dispatch = Dispatch(pool, job, receive, deposits, seconds, options.on_message)
    try:
        for _ in range(ROUNDS):
            dispatch.run(numbers, options.progress)
            numbers = missing()  # a file may have been damaged after its receipt came
            if not numbers:
                return
        raise FractalsError(
            f"'{parts.folder}': {len(numbers)} parts were lost on the way: the same command "
            "computes them"
        )
    finally:
        token.unlink(missing_ok=True)  # workers that are late write no more


class Cluster:
    """An address and how it is reached, as the command line gives them."""

    def __init__(
        self,
        address: Any,
        keys: str | Path | None = None,
        insecure: bool = False,
        returns: bool = False,
    ) -> None:
        self.address, self.keys = address, keys
        self.insecure, self.returns = insecure, returns
