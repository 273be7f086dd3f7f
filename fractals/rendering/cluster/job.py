"""Jobs: what workers need to know to compute parts, and what becomes of the parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from fractals.errors import FractalsError, OptionError
from fractals.io.parts import Parts, check_equal, decode
from fractals.io.store import header_text
from fractals.kernels.formula import Formula
from fractals.rendering.cluster import worker
from fractals.rendering.cluster.dispatch import Dispatch, Plan
from fractals.rendering.cluster.pools import Pool, open_pool
from fractals.rendering.cluster.worker import known_sum
from fractals.rendering.drawing import Drawing
from fractals.rendering.known import BEGUN, Known, known_of, load_known, save_known
from fractals.rendering.options import RenderOptions

ROUNDS = 3  # times that lost parts are computed
TIDY = 10.0  # seconds between two calls of `tidy`


@dataclass(frozen=True)
class Job:
    """What a cluster computes.

    Attributes
    ----------
    kind : str
        What the parts are: "tiles" of a store, "strips" of a picture, or "film".
    header : mapping
        Holds the scene; of a store, its header.
    parts : Parts
        Where the parts are collected.
    missing : callable
        Returns the numbers of the parts that are missing, in the order in which they are made.
    known : Known
        The limit, count offset and reference orbits of all workers.
    known_sum : int
        Compared with that of each worker.
    seconds : float
        The forecast of all parts that are missing, by a machine like this one.
    received : callable
        Called with the number of each part that came.
    opener : str
        The module whose `open_session` a worker calls.
    program : mapping
        What must be equal on all machines.
    plan : Plan, optional
        By default all parts take the same time and are ready.
    """

    kind: str
    header: Mapping[str, Any]
    parts: Parts
    missing: Callable[[], Sequence[int]]
    known: Known
    known_sum: int
    seconds: float = 0.0
    received: Callable[[int], None] = lambda number: None
    opener: str = worker.__name__
    program: Mapping[str, str] = field(default_factory=worker.facts_of_this_program)
    plan: Plan | None = None


def make_job(
    kind: str,
    header: Mapping[str, Any],
    parts: Parts,
    missing: Callable[[], Sequence[int]],
    drawing: Drawing,
    tidy: Callable[[], None] = lambda: None,
) -> Job:
    """Return the job of a store or a picture.

    Parameters
    ----------
    drawing : Drawing
        Of this process; its limit, count offset and reference orbits are those of all workers.
    tidy : callable
        Called now and then.
    """
    check_formula(drawing.plan.formula)
    last = monotonic()

    def received(_number: int) -> None:
        nonlocal last
        if monotonic() - last > TIDY:
            tidy()
            last = monotonic()

    known = known_of(drawing.source)
    seconds = drawing.plan.seconds
    return Job(kind, header, parts, missing, known, known_sum(drawing), seconds, received)


def check_formula(formula: Formula) -> None:
    """Raise an `OptionError` for a formula that workers do not have."""
    if not formula.step.__module__.startswith("fractals."):
        raise OptionError("a formula from a Python file can't be sent to the workers of a cluster")


def run_job(cluster: Any, job: Job, options: RenderOptions) -> None:
    """Have parts computed by a cluster.

    Parameters
    ----------
    cluster : object
        As of `fractals.rendering.cluster.pools.open_pool`, or a `Cluster`.

    Raises
    ------
    FractalsError
        No worker can take part, two results differ, or parts get lost again and again.
    """
    if not job.missing():
        return
    asked = cluster if isinstance(cluster, Cluster) else Cluster(cluster)
    pool = open_pool(asked.address, asked.keys, asked.insecure, options.on_message)
    try:
        _run(pool, asked.returns, job, options)
    finally:
        pool.close()


def _run(pool: Pool, returns: bool, job: Job, options: RenderOptions) -> None:
    """Have parts computed by a pool."""
    parts = job.parts
    if load_known(parts) is None:
        save_known(job.known, parts)
    token, numbers = parts.make_token(), job.missing()
    sent = {
        "kind": job.kind,
        "opener": job.opener,
        "work": parts.work,
        "folder": str(parts.folder.resolve()),
        "token": token.name,
        "returns": returns,
        "program": dict(job.program),
        "known_sum": job.known_sum,
        "header": header_text(job.header),
        "device": options.device,
        "interior_shortcuts": options.interior_shortcuts,
    }

    def receive(receipt: Mapping[str, Any]) -> None:
        if content := receipt["content"]:
            if before := parts.read(receipt["name"]):
                check_equal(decode(content, parts.work), before)
            else:
                decode(content, parts.work)
                parts.keep(receipt["name"], content)
        job.received(receipt["number"])

    def deposits() -> Mapping[str, bytes]:
        names = [name for name in parts.names() if name.endswith(".orbit")]
        return {name: (parts.folder / name).read_bytes() for name in [*names, BEGUN]}

    each = job.seconds / max(1, len(numbers))
    plan = job.plan or Plan(lambda _number: each)
    dispatch = Dispatch(pool, sent, receive, deposits, plan, options.on_message)
    try:
        for _ in range(ROUNDS):
            dispatch.run(numbers, options.progress)
            numbers = job.missing()  # a file may have been damaged after its receipt came
            if not numbers:
                return
        raise FractalsError(
            f"'{parts.folder}': {len(numbers)} parts were lost on the way: the same command "
            "computes them"
        )
    finally:
        token.unlink(missing_ok=True)  # workers that are late stop, and write no more


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
