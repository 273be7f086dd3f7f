"""Dispatch: parts handed out to workers until all are there, whatever happens to the workers."""

import contextlib
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from fractals.errors import FractalsError, shown
from fractals.io.stores.parts import NAME, DamagedPartError, difference
from fractals.rendering.cluster import worker as work
from fractals.rendering.cluster.pools import Pool
from fractals.rendering.cluster.worker import RefusedError
from fractals.threads import Progress

LOOK = 1.0  # seconds between two looks at which workers are there
WAKE = 0.1  # seconds until a KeyboardInterrupt is raised
AIM = 5.0  # seconds of a task, between 2 and 20: shorter ones cost the scheduler, longer ones more
# work if a worker is lost
MOST_PARTS = 64  # of a task
LATE = 3.0  # times the expected seconds after which an idle worker computes a task again
LEAST_LATE = 4.0  # seconds
MOST_TRIES = 3  # times that a worker may fail to get ready, or to return a result
MOST_FAILURES = 5  # workers that end at a part, or return it damaged, before it is given up
ALONE = 10.0  # seconds without a worker, after which a message says how to start one
# Parts for each worker, from which on the first part of each worker is repeated by another one: a
# machine that computes wrongly is found, and this costs little.
CHECK = 64
FETCH = 60  # seconds to fetch the result of a task that is done
FETCHERS = 4  # threads that fetch


@dataclass
class Task:
    """What a worker was asked: to get ready, or to compute the parts of `numbers`."""

    worker: str
    numbers: list[int]
    future: Any = field(repr=False)
    begun: float
    given: bool = False  # whether the worker was sent what it lacked


Ended = tuple[Task, Any]  # a task, and its result or the error that it raised


@dataclass
class Worker:
    """A worker as this process knows it."""

    state: str = "new"  # "new", "ready" or "refused"
    share: int = 1  # workers that share the cores of its machine
    pace: float = 0.0  # seconds that it takes for a second of the forecast; 0: not known yet
    checked: bool = False  # whether another worker was asked to repeat a part
    wrong: int = 0  # tasks of which it returned no result, or a damaged one
    failed: int = 0  # tasks that ended with an error, one after the other
    tasks: list[Task] = field(default_factory=list)

    def seconds(self, forecast: float) -> float:
        """Return the seconds that it takes for a part; 0: not known yet."""
        return self.pace * (forecast or 1.0) if self.pace else forecast


class Inbox:
    """The tasks that are done, with their results.

    Results are fetched by threads, because fetching from a worker that has just ended may take
    until a timeout.
    """

    def __init__(self) -> None:
        self._ended: SimpleQueue[Ended] = SimpleQueue()
        self._polled: list[Task] = []
        self._threads = ThreadPoolExecutor(FETCHERS)

    def watch(self, task: Task) -> None:
        """Have a task be found once it is done."""
        if hasattr(task.future, "add_done_callback"):
            task.future.add_done_callback(lambda _: self._fetch_later(task))
        else:
            self._polled.append(task)

    def take(self) -> Iterator[Ended]:
        """Yield tasks that are done, and their results; wait for one, but not for long."""
        for task in [task for task in self._polled if task.future.done()]:
            self._polled.remove(task)
            self._fetch_later(task)
        with contextlib.suppress(Empty):
            yield self._ended.get(timeout=WAKE)
            while True:
                yield self._ended.get_nowait()

    def close(self) -> None:
        """Fetch no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _fetch_later(self, task: Task) -> None:
        with contextlib.suppress(RuntimeError):  # closed
            self._threads.submit(self._fetch, task)

    def _fetch(self, task: Task) -> None:
        try:
            self._ended.put((task, _result_of(task.future)))
        except BaseException as error:
            self._ended.put((task, error))


@dataclass
class Results:
    """Which parts are there, and who computed them."""

    # By number of a part: the CRC-32s of its arrays, and the machine
    done: dict[int, tuple[list[int], str]] = field(default_factory=dict)

    def is_new(self, receipt: Mapping[str, Any]) -> bool:
        """Note a receipt, and tell whether its part was not there.

        Raises FractalsError: the part was there and differs; the message names both machines.
        """
        number, sums, machine = receipt["number"], receipt["sums"], receipt["machine"]
        if number not in self.done:
            self.done[number] = sums, machine
            return True
        before, other = self.done[number]
        if before != sums:
            raise difference(receipt["name"], other, machine)
        return False


@dataclass(frozen=True)
class PartForecast:
    """What is known of parts before they are computed."""

    # Seconds that a machine like this one takes for a part; 0: not known
    forecast: Callable[[int], float] = lambda number: 0.0
    # Seconds of a task that begins with a part
    aim: Callable[[int], float] = lambda number: AIM
    # Whether a part can be computed yet; others may have to be there first
    is_ready: Callable[[int], bool] = lambda number: True


class Dispatch:
    """Hands out the parts of a job; `results` says who computed them."""

    def __init__(
        self,
        pool: Pool,
        job: Mapping[str, Any],
        receive: Callable[[Mapping[str, Any]], None],
        deposits: Callable[[], Mapping[str, bytes]],
        plan: PartForecast | None = None,
        on_message: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Take the job that each worker receives.

        `receive` is called with the receipt of each part; `deposits` returns the parts that workers
        without the folder need.
        """
        self._pool, self._job, self._receive, self._deposits = pool, job, receive, deposits
        self._plan, self._on_message = plan or PartForecast(), on_message
        self._workers: dict[str, Worker] = {}
        self._waiting: deque[int] = deque()
        self.results = Results()
        self._failures: dict[int, list[str]] = defaultdict(list)  # a part's workers
        self._failed: dict[int, float] = {}  # when they failed last
        self._troubles: dict[str, int] = defaultdict(int)  # of workers that should get ready
        self._inbox = Inbox()
        self._checks: deque[tuple[int, str]] = deque()  # parts to compute again, and who must not
        self._unchecked: dict[int, str] = {}  # such parts, until two results are there
        self._looked = self._seen = self._got = 0.0  # moments; the last: when a new part came
        self._told_alone = False

    def run(self, numbers: Iterable[int], progress: Progress | None = None) -> None:
        """Have these parts computed, and return when all of them are there.

        Raises FractalsError: a worker can't write; all workers are refused; two results differ; or
        five workers, or all that are ready, failed at a part. Parts that are there are kept.
        """
        self._inbox = Inbox()
        self._waiting.extend(numbers)
        total, self._seen = len(self._waiting), monotonic()
        for number in self._waiting:
            self.results.done.pop(number, None)
        before = len(self.results.done)

        def tell() -> None:
            """Call `progress`, which may end the run, after each part and while none comes."""
            if progress:
                progress(len(self.results.done) - before, total)

        try:
            while len(self.results.done) < before + total or self._awaits_checks():
                self._look()
                self._feed()
                for task, result in self._inbox.take():
                    self._finish(task, result)
                    tell()
                tell()
        finally:
            for known in self._workers.values():
                for task in known.tasks:
                    with contextlib.suppress(Exception):
                        task.future.cancel()
                known.tasks.clear()
            self._inbox.close()

    def _awaits_checks(self) -> bool:
        """Tell whether a part is still to be repeated: some seconds after the last, at most."""
        ready = {a for a, known in self._workers.items() if known.state == "ready"}
        others = any(ready - {worker} for worker in self._unchecked.values())
        return others and monotonic() - self._got < LEAST_LATE

    def _look(self) -> None:
        """Find new workers, and take back the tasks of those that are gone."""
        now = monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        there = self._pool.workers()
        for address in set(self._workers) - set(there):
            gone = self._workers.pop(address)
            for k, task in enumerate(gone.tasks):
                self._take_back(task, f"{address} ended" if k == 0 else "")
        for address in there:
            if address not in self._workers:
                self._workers[address] = Worker()
                self._submit(address, [])
        if any(known.state == "ready" for known in self._workers.values()):
            self._seen = now
        elif now - self._seen > ALONE and not there and not self._told_alone:
            self._told_alone = True
            self._on_message("no worker is there yet: start some with 'fractals worker ADDRESS'")

    def _submit(self, address: str, numbers: list[int], *given: Any) -> None:
        """Have a worker compute parts, or get ready; `given`: what it lacked."""
        known = self._workers[address]
        call: tuple[Any, ...]
        if numbers:
            call = work.compute, self._job, numbers, known.share
        else:
            known.share = self._pool.share(address)
            call = work.introduce, self._job, known.share
        future = self._pool.submit(address, *call, *given)
        task = Task(address, numbers, future, monotonic(), bool(given))
        known.tasks.append(task)
        self._inbox.watch(task)

    def _feed(self) -> None:
        """Give each ready worker as many tasks as it should have, a second one after all firsts."""
        ready = {a: known for a, known in self._workers.items() if known.state == "ready"}
        most = {address: self._pool.ahead(address) for address in ready}
        for count in range(max(most.values(), default=0)):
            for address, known in ready.items():
                idle = len(known.tasks) == count < most[address]
                if idle and (numbers := self._next(address, known)):
                    self._submit(address, numbers)

    def _next(self, address: str, known: Worker) -> list[int]:
        """Return the parts of a worker's next task; at the end, those that another is late with."""
        for check in self._checks:
            if check[1] != address:
                self._checks.remove(check)
                return [check[0]]
        numbers = self._take(address, known)
        if numbers or known.tasks:
            return numbers
        self._free_next()
        if numbers := self._take(address, known):
            return numbers
        for other in self._workers.values():
            for task in other.tasks:
                slow = other if other.pace else known
                forecasts = map(self._plan.forecast, task.numbers)
                late = max(LEAST_LATE, LATE * sum(map(slow.seconds, forecasts)))
                left = [number for number in task.numbers if number not in self.results.done]
                if left and task.worker != address and monotonic() - task.begun > late:
                    task.begun = monotonic()  # the next worker waits as long again
                    return left
        return []

    def _free_next(self) -> None:
        """Have parts wait again that a busy worker, the one with most tasks, has not begun."""
        busy = max(self._workers.values(), key=lambda each: len(each.tasks))
        for task in reversed(busy.tasks[1:]):
            left = [number for number in task.numbers if number not in self.results.done]
            if left:  # else another worker's part is repeated
                with contextlib.suppress(Exception):
                    task.future.cancel()
                busy.tasks.remove(task)
                self._waiting.extend(left)
                return

    def _take(self, address: str, known: Worker) -> list[int]:
        """Take the parts of a worker's next task from those that wait.

        A part that may have ended a worker is a task of an idle worker, alone: if that ends, too,
        no other part is blamed. One that has failed at it leaves it to others for a while.
        """
        ready = sum(each.state == "ready" for each in self._workers.values())
        most = min(MOST_PARTS, max(1, len(self._waiting) // (2 * ready)))
        while self._waiting and self._waiting[0] in self.results.done:
            self._waiting.popleft()
        numbers: list[int] = []
        seconds = 0.0
        for number in self._waiting:
            if number in self.results.done or not self._plan.is_ready(number):
                continue
            if self._failures.get(number):
                if numbers or known.tasks or self._leaves(address, number):
                    continue
                numbers.append(number)
                break
            each = known.seconds(self._plan.forecast(number))
            # Halves are rounded up, so that parts of 3 s make tasks of 6 s and not of 3 s.
            full = numbers and seconds + each / 2 > self._plan.aim(numbers[0])
            if full or len(numbers) == most:
                break
            numbers.append(number)
            seconds += each
            if not each:
                break
        for number in numbers:
            self._waiting.remove(number)
        return numbers

    def _finish(self, task: Task, result: Any) -> None:
        known = self._workers.get(task.worker)
        if known is None or task not in known.tasks:
            return  # of a worker that is gone
        known.tasks.remove(task)
        if isinstance(result, RefusedError):
            self._refuse(known, task, str(result))
        elif isinstance(result, FractalsError):
            raise result
        elif isinstance(result, BaseException):  # whatever a worker or a transport raises
            reason = f"{type(result).__name__}: {shown(result, 100)}"
            if task.numbers:
                self._fail(known, task, reason)
            elif self._troubles[task.worker] < MOST_TRIES:
                self._troubles[task.worker] += 1
                del self._workers[task.worker]  # it may have ended; if not, it is asked again
            else:
                self._refuse(known, task, f"{task.worker} is refused: {reason}")
        elif problem := _problem_of(task, result):
            self._distrust(known, task, problem)
        else:
            self._accept(known, task, result)
        with contextlib.suppress(Exception):
            getattr(task.future, "release", lambda: None)()  # else a dead worker's are run again

    def _fail(self, known: Worker, task: Task, reason: str) -> None:
        """Have the parts of a task computed again; refuse a worker that does nothing but fail.

        Where others compute parts, what it fails at would soon have been tried too often.
        """
        known.failed += 1
        others = (each for each in self._workers.values() if each is not known)
        if known.failed >= MOST_TRIES and any(each.pace and not each.failed for each in others):
            self._refuse(known, task, f"{task.worker} is refused: {reason}")
        else:
            self._take_back(task, f"{task.worker}, {reason}")

    def _distrust(self, known: Worker, task: Task, reason: str) -> None:
        """Have the parts of a task computed again; refuse a worker after MOST_TRIES of them.

        The worker's pace is not known without results, so it would be given each part again.
        """
        known.wrong += 1
        if known.wrong < MOST_TRIES and task.numbers:
            self._take_back(task, f"{task.worker}, {reason}")
        else:
            self._refuse(known, task, f"{task.worker} is refused: {reason}")

    def _accept(self, known: Worker, task: Task, result: Any) -> None:
        if task.numbers and not result:  # another process of an executor than the one before
            self._submit(task.worker, task.numbers, self._deposits())
        elif task.numbers:
            self._receive_all(known, task, result)
        elif result["lacks"]:
            self._submit(task.worker, [], self._deposits())
        else:
            known.state = "ready"

    def _receive_all(self, known: Worker, task: Task, receipts: list[Mapping[str, Any]]) -> None:
        many = len(self.results.done) + len(self._waiting) >= CHECK * len(self._workers)
        if many and not known.checked:
            known.checked = True
            self._checks.append((receipts[0]["number"], task.worker))
            self._unchecked[receipts[0]["number"]] = task.worker
        forecast = sum(self._plan.forecast(k) or 1.0 for k in task.numbers)
        pace = sum(receipt["seconds"] for receipt in receipts) / forecast
        known.pace, known.failed = (known.pace or pace) * 0.7 + pace * 0.3, 0
        damaged = ""
        for receipt in receipts:
            if self.results.is_new(receipt):
                self._got = monotonic()
                try:
                    self._receive(receipt)
                except DamagedPartError as error:
                    del self.results.done[receipt["number"]]
                    damaged = str(error)
            else:
                self._unchecked.pop(receipt["number"], None)
        if damaged:
            self._distrust(known, task, damaged)

    def _take_back(self, task: Task, reason: str) -> None:
        """Have the parts of a task computed by another worker."""
        with contextlib.suppress(Exception):
            task.future.cancel()
        for number in reversed(task.numbers):
            if number in self.results.done:
                continue
            self._waiting.appendleft(number)
            if not reason:
                continue
            failed = self._failures[number]
            failed.append(task.worker)
            self._failed[number] = monotonic()
            most = MOST_FAILURES * (1 if self._all_failed(number) else MOST_TRIES)
            if len(set(failed)) >= MOST_FAILURES or len(failed) >= most:
                raise FractalsError(
                    f"part {number} was tried {len(failed)} times, the last time: {reason}. The "
                    "other parts are kept"
                )

    def _all_failed(self, number: int) -> bool:
        """Tell whether each worker that is ready has failed at a part."""
        ready = {a for a, known in self._workers.items() if known.state == "ready"}
        return ready <= set(self._failures[number])

    def _leaves(self, address: str, number: int) -> bool:
        """Tell whether a worker that failed at a part leaves it to those that have not yet."""
        recent = monotonic() - self._failed[number] < LEAST_LATE
        return recent and address in self._failures[number] and not self._all_failed(number)

    def _refuse(self, known: Worker, task: Task, line: str) -> None:
        known.state = "refused"
        self._on_message(line)
        for other in [task, *known.tasks]:
            self._take_back(other, "")
        known.tasks.clear()
        if all(each.state == "refused" for each in self._workers.values()):
            raise FractalsError(f"no worker can take part: {line}")


def _problem_of(task: Task, result: Any) -> str:
    """Return why a task's result is none that a sound worker returns; "" where it is one."""
    if not task.numbers:
        sound = isinstance(result, Mapping) and isinstance(result.get("lacks"), bool)
        lacks = sound and result["lacks"]
    else:
        lacks = isinstance(result, list) and not result
        sound = lacks or (
            isinstance(result, list)
            and all(map(_is_receipt, result))
            and sorted(receipt["number"] for receipt in result) == sorted(task.numbers)
        )
    if not sound:
        return f"what it returned is no result: {shown(result, 60)}"
    return "it lacks what it was sent" if lacks and task.given else ""


def _is_receipt(given: Any) -> bool:
    """Tell whether this is a receipt as `work.compute` returns."""
    kinds = {"number": int, "name": str, "sums": list, "machine": str, "content": bytes}
    if not isinstance(given, Mapping) or not isinstance(given.get("seconds"), int | float):
        return False
    typed = all(isinstance(given.get(key), kind) for key, kind in kinds.items())
    return typed and NAME.fullmatch(given["name"]) is not None and 0 <= given["seconds"] < math.inf


def _result_of(future: Any) -> Any:
    if getattr(future, "cancelled", lambda: False)():
        raise TimeoutError("it was cancelled")
    try:
        return future.result(timeout=FETCH)
    except TypeError:  # an executor whose futures take no timeout
        return future.result()
