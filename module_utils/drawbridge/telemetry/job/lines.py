# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job and its numbers, as lines with hints. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from .numbers import Numbers, amount, duration, moment, percent
from .queries import CONGESTION, GPUS, LEAST_S, MOSTLY, NETWORK, STORAGE, window
from .text import Job

NONE, WARNING, CRITICAL = range(3)
"""Levels of a hint; NONE explains what Slurm does as it should, and CRITICAL is for a person who looks after nodes."""
EMPTY = "Prometheus has no samples of its nodes from that time"
GROUPS = {GPUS: "gpu", NETWORK: "network", CONGESTION: "congestion", STORAGE: "storage"}
"""The line of each query."""
LOW_SM, HIGH_BUSY = 0.2, 0.7
LOW_POWER, LOW_RAIL = 0.6, 0.5
"""Part of the others' median, below which it is odd."""
LEAST_DOWN = 0.005
FULL = 0.98
HUNGRY, FED_BY = 0.5, 1e9
"""GPUs that are busy for less, while each node reads more bytes per second, may wait for their input."""
LONG_WAIT_S = 3600.0
LOW_LIMIT = 0.25
ODD = {
    "pause_received": (100.0, "its switch paused {rail}: congestion in the fabric, or a slow receiver"),
    "pause_sent": (100.0, "{rail} paused its switch: the node received faster than it could take"),
    "cnp_ignored": (0.0, "{rail} ignores congestion notifications (CNP): its adapter has ECN switched off"),
    "retransmits": (1.0, "{rail} sends packets again: the fabric loses packets"),
    "discards": (0.1, "{rail} discards packets"),
    "port_dropped": (0.1, "port {port} of {switch} drops packets for {rail}"),
}
"""Rates per second above which a counter is odd, and the hint."""
COUNTERS = {
    "pause_received": "pauses received",
    "pause_sent": "pauses sent",
    "cnp_handled": "CNP handled",
    "ecn_marked": "ECN marks received",
}
LEAST_RATE = 0.001
VERBS = {"read": "read", "write": "wrote"}
STATES = {
    "NODE_FAIL": (CRITICAL, "Slurm lost a node while it ran: drawbridge status {nodes}"),
    "BOOT_FAIL": (CRITICAL, "a node did not boot: drawbridge status {nodes}"),
    "OUT_OF_MEMORY": (WARNING, "a process needed more memory of the host than the job had: raise --mem"),
    "TIMEOUT": (WARNING, "its time limit ended it: raise --time, or continue from a checkpoint"),
}


class Hint(NamedTuple):
    """Something odd."""

    level: int
    text: str


class Line(NamedTuple):
    """One line of the report."""

    name: str
    text: str
    hints: tuple[Hint, ...] = ()


@dataclass(frozen=True)
class Report:
    """All that is known of a job."""

    job: Job
    now: float
    numbers: Numbers
    unknown: Mapping[str, str]
    """Groups of numbers without an answer, and why."""
    partition_is_whole: bool = False
    """Whether the job's partition gives each job whole nodes."""
    waits: str = ""
    """Why it waits, as a sentence; "" if Slurm's reason must do."""

    @property
    def whole(self) -> bool:
        """Whether the numbers are the job's alone: no other job had a part of its nodes."""
        gpus = self.numbers.get("gpus")
        return self.partition_is_whole or bool(self.job.gpus and gpus == self.job.gpus)

    @property
    def hints(self) -> list[Hint]:
        """All hints, the worst first."""
        return sorted((hint for line in lines(self) for hint in line.hints), key=lambda hint: -hint.level)


def lines(report: Report) -> list[Line]:
    """The report's lines, in their order."""
    found = [_state(report), _nodes(report), _time(report)]
    if report.job.started:
        makers = {GPUS: _gpus, NETWORK: _network, CONGESTION: _congestion, STORAGE: _storage}
        for group, name in GROUPS.items():
            why = report.unknown.get(group)
            found += [Line(name, f"not known: {why}")] if why else makers[group](report)
    return found


def _state(report: Report) -> Line:
    job = report.job
    waits = f": {job.reason}" if job.reason and not job.started else ""
    code = f", exit code {job.exit_code}" if job.over and job.exit_code else ""
    level, text = STATES.get(job.state, (0, ""))
    hints = (Hint(level, text.format(nodes=job.hostlist)),) if level else ()
    if report.waits:
        hints = (*hints, Hint(NONE, report.waits))
    return Line("state", f"{job.state}{waits}{code}", hints)


def _nodes(report: Report) -> Line:
    job = report.job
    count = f" ({len(job.nodes)})" if len(job.nodes) > 1 else ""
    gpus = f", {job.gpus} GPU{'s'[: job.gpus != 1]}" if job.gpus else ""
    shared = "; numbers are of whole nodes, also of other jobs" if _measured(report) and not report.whole else ""
    return Line("nodes", f"{job.hostlist}{count}{gpus}{shared}" if job.nodes else "none" if job.over else "none yet")


def _measured(report: Report) -> bool:
    return bool(report.job.started) and len(report.unknown) < len(GROUPS)


def _time(report: Report) -> Line:
    job = report.job
    wait, run = job.wait_s(report.now), job.run_s(report.now)
    text = f"{'waited' if job.started or job.over else 'waits for'} {duration(wait)}"
    hints = []
    if job.started:
        text += (
            f", ran {duration(run)}{f' of {duration(job.limit_s)}' if job.limit_s else ''} from {moment(job.started)}"
        )
        text += f" to {moment(job.ended)}" if job.ended else " to now"
        if _measured(report) and window(job, report.now).cut:
            text += f"; numbers are of its last {duration(window(job, report.now).seconds)}"
        elif _measured(report) and run < LEAST_S:
            text += "; that is too short for exact numbers"
    if job.state == "COMPLETED" and wait >= max(LONG_WAIT_S, run) and run < LOW_LIMIT * job.limit_s:
        hints = [
            Hint(
                WARNING, f"it used {duration(run)} of {duration(job.limit_s)}: with a lower --time it may start sooner"
            )
        ]
    return Line("time", text, tuple(hints))


def _gpus(report: Report) -> list[Line]:
    numbers, job = report.numbers, report.job
    count, busy = numbers.get("gpus"), numbers.get("busy")
    if count is None or busy is None:
        return [Line("gpu", f"not known: {EMPTY}")]
    of = f"{count:.0f} GPU{'s'[: count != 1]}"
    missing = f" (of {job.gpus})" if count < job.gpus else ""
    text = f"busy for {percent(busy)} of the time, mean of {of}{missing}"
    least = numbers.get("least_busy")
    text += f"; least {percent(least)}: {numbers.gpu('least_busy')}" if least is not None and count > 1 else ""
    found = [Line("gpu", text, tuple(_gpu_hints(report)) if report.whole else ())]
    memory, size = numbers.get("memory"), numbers.get("memory_bytes")
    if memory is not None:
        text = f"peak {percent(memory)}{f', {size / 2**30:.0f} GiB' if size else ''}: {numbers.gpu('memory')}"
        full = memory >= FULL and job.state in ("FAILED", "OUT_OF_MEMORY")
        hint = Hint(WARNING, f"memory of {numbers.gpu('memory')} was full: look for an error of its allocation")
        found.append(Line("gpu memory", text, (hint,) if full else ()))
    if power := numbers.get("power"):
        # of whole GPUs, also where jobs have instances of them
        whole = numbers.get("powered") or count
        energy = power * whole * job.run_s(report.now) / 3.6e6
        text = f"{power:.0f} W, mean of {whole:.0f} GPU{'s'[: whole != 1]}; {energy:.1f} kWh in all"
        found.append(Line("gpu power", text, tuple(_power_hints(report))))
    return found


def _gpu_hints(report: Report) -> Iterator[Hint]:
    numbers, count = report.numbers, report.numbers.get("gpus") or 0
    if numbers.at_least("idle", MOSTLY):
        worst, idle = numbers.get("idle") or 0, numbers.get("idle_gpus") or 1
        if idle <= 1:
            yield Hint(WARNING, f"{numbers.gpu('idle')} was idle for {percent(worst)} of the time")
        elif idle >= count:
            yield Hint(WARNING, f"all {count:.0f} GPUs were idle for more than half of the time")
        else:
            most = f"{idle:.0f} of {count:.0f} GPUs were idle for more than half of the time"
            yield Hint(WARNING, f"{most}, such as {numbers.gpu('idle')} ({percent(worst)})")
    elif numbers.at_least("busy", HIGH_BUSY) and numbers.below("sm_active", LOW_SM):
        share = percent(numbers.get("sm_active") or 0)
        yield Hint(WARNING, f"GPUs were busy, but used {share} of their multiprocessors: kernels are small")
    if code := numbers.get("xid"):
        yield Hint(WARNING, f"{numbers.gpu('xid')} reported Xid {code:.0f}: the list of Xids by NVIDIA has its meaning")


def _power_hints(report: Report) -> Iterator[Hint]:
    """A GPU that idles draws less power, too: that is said once."""
    numbers = report.numbers
    if report.whole and numbers.below("least_power", LOW_POWER) and not numbers.at_least("idle", MOSTLY):
        share = percent(numbers.get("least_power") or 0)
        yield Hint(
            WARNING, f"{numbers.gpu('least_power')} drew {share} of the power of the others: it may be throttled"
        )


def _network(report: Report) -> list[Line]:
    numbers = report.numbers
    sent, received = numbers.get("sent"), numbers.get("received")
    if sent is None or received is None:
        return [Line("network", f"not known: {EMPTY}")]
    text = f"{amount(sent)}/s sent and {amount(received)}/s received by a rail, mean of all"
    hints = []
    slowest = min(("slowest_sent", "slowest_received"), key=lambda name: _or_one(numbers.get(name)))
    if (share := numbers.get(slowest)) is not None:
        text += f"; slowest {numbers.rail(slowest)}: {percent(share)} of its node's median"
        if share < LOW_RAIL:
            said = f"{numbers.rail(slowest)} carried {percent(share)} of the traffic of its siblings"
            hints.append(Hint(WARNING, f"{said}: drawbridge status {numbers.label(slowest, 'node')}"))
    if (down := numbers.get("rail_down")) is not None and down >= LEAST_DOWN:
        hints.append(Hint(CRITICAL, f"{numbers.rail('rail_down')} was down for {percent(down)} of the time"))
    return [Line("network", text, tuple(hints))]


def _or_one(value: float | None) -> float:
    return 1.0 if value is None else value


def _congestion(report: Report) -> list[Line]:
    numbers = report.numbers
    rates = {word: numbers.get(name) for name, word in COUNTERS.items()}
    if all(rate is None for rate in rates.values()):
        return [Line("congestion", f"not known: {EMPTY}")]
    text = ", ".join(
        f"{word} {rate:.3g}/s ({numbers.rail(name)})"
        for name, word in COUNTERS.items()
        if (rate := rates[word]) is not None and rate >= LEAST_RATE
    )
    lacking = ", ".join(word for word, rate in rates.items() if rate is None)
    hints = []
    for name, (limit, said) in ODD.items():
        if (rate := numbers.get(name)) is not None and rate > limit:
            words = {label: numbers.label(name, label) for label in ("port", "switch")}
            hints.append(Hint(WARNING, f"{said.format(rail=numbers.rail(name), **words)} ({rate:.3g}/s)"))
    shown = f"highest rates: {text}" if text else "none"
    return [Line("congestion", f"{shown}{f'; not known: {lacking}' if lacking else ''}", tuple(hints))]


def _storage(report: Report) -> list[Line]:
    numbers, job = report.numbers, report.job
    known = [(verb, one) for name, verb in VERBS.items() for one in numbers.all(name)]
    if not known:
        return [Line("storage", f"not known: {EMPTY}")]
    run = job.run_s(report.now)
    words = [
        f"{verb} {amount(one.value)}/s of {one.labels.get('fs', '?')} ({amount(one.value * run)})"
        for verb, one in known
        if one.value >= 1
    ]
    fed = sum(one.value for one in numbers.all("read")) / max(1, len(job.nodes)) > FED_BY
    hungry = report.whole and fed and numbers.below("busy", HUNGRY)
    hint = Hint(WARNING, "GPUs were mostly not busy while it read much: they may wait for their input")
    return [Line("storage", ", ".join(words) or "nothing read or written", (hint,) if hungry else ())]
