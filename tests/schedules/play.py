# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Play schedules on the lab, several at a time, and read afterwards what the API server and Slurm wrote down."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from lab import demo
from roles.slurm_gate.files.gate.gate_names import CLOSED
from roles.slurm_gate.files.gate.repair import LOOK_AGAIN_S
from tests import stack
from tests.explorer.invariants import breaches
from tests.explorer.records import EVERYWHERE, GPU_USED, NEVER, History
from tests.explorer.records import Trouble as Kept
from tests.schedules import records
from tests.schedules.plan import (
    CANCELLED,
    CLOSE,
    CONTROLLER,
    DRAINED,
    END,
    ENDS,
    NODES,
    OPEN,
    PERSON,
    PLACE,
    POWER,
    PREEMPTED,
    REQUEUED,
    RUNS,
    SLURMCTLD_KILLED,
    TIMED_OUT,
    USERS,
    WITHDRAWN,
    Plan,
    Trouble,
    Work,
)
from tests.schedules.queue import Queue
from tests.stack import PATHS, ssh

AT_ONCE = 4
QUEUED_S, USABLE_S, ANSWER_S = 1200.0, 180.0, 60.0
"""The first also for jobs behind all others of a batch, of which Slurm may begin one in half a minute."""
SEEN = """\
import os, sys, time
verb, looks = sys.argv[1].encode(), {}
for _ in range(3000):
    # a process that has just been forked is called as its parent
    looks = {name: looks.get(name, 0) + 1 for name in os.listdir("/proc") if name.isdigit()}
    for name in [name for name, times in looks.items() if times < 25]:
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\\0")
        except OSError:
            continue
        if any(path.endswith(b"drawbridge/gate") and word == verb for path, word in zip(words, words[1:])):
            time.sleep(float(sys.argv[2]))
            sys.exit()
    time.sleep(0.02)
sys.exit(1)
"""
"""Wait for a verb of the gate to be at work here, then a little more. To look at young processes alone costs little."""
SPACES = {("ai-train", account): account for account in ("vision", "speech")}
"""The lab's gated partition and its accounts, which are called as their namespaces."""
SLURMD = "journalctl -u slurmd --output=short-unix --no-pager --since=@{}"
LONG_S = 600
AGAIN_S = 30.0
"""After so long a person asks once more for what slurmctld has forgotten."""
LOOKS_S = stack.SHORTEST["stuck_s"] + LOOK_AGAIN_S
"""What the gate needs to see that a job's batch script does not run."""


class Failed(Exception):
    """A schedule did not go on: a job that never ran, a node that nobody gave back."""


@dataclass
class Diary:
    """What we did to the stack, and when; what it made of that is in its own records."""

    begin: float = field(default_factory=time.time)
    troubles: list[Kept] = field(default_factory=list)
    cuts: list[Kept] = field(default_factory=list)
    undrained: list[Kept] = field(default_factory=list)
    reached: dict[int, bool] = field(default_factory=dict)
    jobs: dict[int, list[str]] = field(default_factory=dict)
    ended: dict[str, list[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    @contextmanager
    def noted(self, kind: list[Kept], what: str, host: str = EVERYWHERE) -> Iterator[None]:
        """Something lasts as long as this."""
        begin = time.time()
        try:
            yield
        finally:
            kind.append(Kept(what, host, begin, time.time()))


class Stage:
    """The lab, its queue, and the schedules that are under way."""

    def __init__(self) -> None:
        self.queue, self.diary = Queue(), Diary()
        self._power = threading.Lock()
        self._known = stack.audited()

    def play_all(self, plans: Sequence[Plan]) -> History:
        """Play schedules, a few at a time, and wait until the last job is over and all nodes are back."""
        with stack.outsiders(), stack.impatient(NODES, stack.SHORTEST):
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(self._try, plans))
            arrays = [array for arrays in self.diary.jobs.values() for array in arrays]
            self._expect(lambda: all(map(self.queue.over, arrays)), QUEUED_S, "all jobs are over")
            self._expect(lambda: stack.all_usable(NODES), USABLE_S, "all nodes closed and in service")
            self.queue.close()
            return self.story()

    def _try(self, plan: Plan) -> None:
        try:
            self._play(plan)
        except Failed as late:
            self.diary.failures.append(str(late))
            jobs = " ".join(self.diary.jobs.get(plan.seed, []))
            subprocess.run(demo.ssh(PATHS, CONTROLLER, f"scancel {jobs}"), capture_output=True, check=False)

    def _expect(self, true: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait for what must come; what does not is one of the things that were wrong."""
        try:
            self._until(true, seconds, what)
        except Failed as late:
            self.diary.failures.append(str(late))

    def _play(self, plan: Plan) -> None:
        """One schedule, until its jobs are over or wait for minutes."""
        moments = (OPEN, PLACE) if plan.way != WITHDRAWN else (OPEN, PLACE, END, CLOSE)
        early = plan.trouble if plan.trouble and plan.trouble.moment in moments else None
        with ThreadPoolExecutor(1) as aside:
            doing = aside.submit(self._suffer, plan, early) if early else None
            arrays = self.diary.jobs[plan.seed] = [self._submit(plan.first, plan.way)]
            if plan.way == WITHDRAWN:
                time.sleep(plan.withdrawn_ms / 1000)  # anywhere between the queue and the batch script's start
                self._tell(f"scancel {arrays[0]}", lambda: self.queue.over(arrays[0]))
            arrays += [self._submit(work, ENDS) for work in plan.works[1:]]
            self._until(lambda: self._runs(plan) or self.queue.over(arrays[0]), QUEUED_S, f"{plan}: the first job runs")
            if plan.trouble and not early:
                doing = aside.submit(self._suffer, plan, plan.trouble)
            self._end(plan, arrays)
            if doing:
                doing.result()
        told = [time.monotonic()]
        self._take_back(plan, lambda: self._at_rest(plan, arrays, told) or self.queue.at_rest(arrays[0]))
        self._until(lambda: self._at_rest(plan, arrays, told), QUEUED_S, f"{plan}: its jobs are over")

    def _at_rest(self, plan: Plan, arrays: list[str], told: list[float]) -> bool:
        """Its jobs are over, or wait for minutes. What a killed slurmctld has forgotten is asked for once more."""
        forgetful = any(it.what == SLURMCTLD_KILLED for it in self.diary.troubles)
        if forgetful and time.monotonic() > told[-1] + AGAIN_S and self._first_run(plan, arrays[0]):
            told.append(time.monotonic())
            self._end(plan, arrays)
        return all(map(self.queue.at_rest, arrays))

    def _first_run(self, plan: Plan, job: str) -> bool:
        """A job that is to be ended from outside runs, and never was."""
        return plan.way != ENDS and self.queue.running(job) and "Restarts=0" in stack.shown(job)

    def _submit(self, work: Work, way: str) -> str:
        words = [
            "-p ai-train" if work.gated else "-p hpc",
            f"-N{len(work.nodes) or 1}",
            f"-w {','.join(work.nodes)}" if work.nodes else "",
            f"--array=1-{work.tasks}" if work.tasks > 1 else "",
            "--requeue" if work.requeue else "--no-requeue",
            "--output=/dev/null",
        ]
        return self._submitted(" ".join(words), script(work, way), work.user)

    def _submitted(self, options: str, text: str, user: str) -> str:
        """The number of a job that slurmctld took, which may be away just now."""
        numbers: list[str] = []

        def taken() -> bool:
            numbers.append(stack.sbatch(options, text, user))
            return True

        self._until(taken, ANSWER_S, f"{user} submits")
        return numbers[0]

    def _runs(self, plan: Plan) -> bool:
        """The first job runs, and if it is to have pods, on all of its nodes."""
        array = self.diary.jobs[plan.seed][0]
        if plan.way == ENDS or not self.queue.running(array):
            return self.queue.running(array)
        return not plan.first.pods or self._pods(plan.first, array) or bool(plan.trouble)

    @staticmethod
    def _pods(work: Work, array: str) -> bool:
        try:
            return len(stack.pods(work.namespace, job=array)) >= len(work.nodes)
        except (stack.ApiException, stack.HTTPError):
            return False

    def _end(self, plan: Plan, arrays: list[str]) -> None:
        """Let the first job end as planned."""
        job = arrays[0]
        if plan.way in (CANCELLED, WITHDRAWN, REQUEUED, TIMED_OUT):
            verb = {
                CANCELLED: f"scancel {job}",
                WITHDRAWN: f"scancel {job}",
                REQUEUED: f"scontrol requeue {job}",
                TIMED_OUT: f"scontrol update jobid={job} endtime=now",
            }[plan.way]
            self._tell(verb, lambda: not self.queue.running(job))
        if plan.way == PREEMPTED:
            options = f"-p ai-train -q urgent -N{len(plan.first.nodes)} -w {','.join(plan.first.nodes)}"
            urgent = f"{options} --no-requeue --output=/dev/null"
            arrays.append(self._submitted(urgent, "#!/bin/sh\nsleep 2\n", "ben"))

    def _tell(self, command: str, done: Callable[[], bool]) -> None:
        """Tell slurmctld, which may be away just now."""
        deadline = time.monotonic() + ANSWER_S
        while subprocess.run(demo.ssh(PATHS, CONTROLLER, command), capture_output=True, check=False).returncode:
            if done() or time.monotonic() > deadline:
                return
            time.sleep(0.5)

    def _suffer(self, plan: Plan, trouble: Trouble) -> None:
        """Wait for the moment, then let it go wrong, until it is over."""
        watch = f"python3 -IS - {trouble.moment} {trouble.after_ms / 1000}"
        if trouble.moment == RUNS:
            time.sleep(trouble.after_ms / 1000)  # the moment itself, not a wait for anything
            reached = True
        else:
            there = subprocess.run(demo.ssh(PATHS, trouble.seen_on, watch), input=SEEN, text=True, check=False)
            reached = not there.returncode
        self.diary.reached[plan.seed] = reached
        if not reached:
            return
        if trouble.what == POWER:
            self._cut(trouble.host)
            return
        host = EVERYWHERE if trouble.host == CONTROLLER else trouble.host
        ghost = trouble.what == GPU_USED
        with self.diary.noted(self.diary.troubles, f"{trouble.what}, or its end" if ghost else trouble.what, host):
            if ghost:
                begin = time.time()  # the process itself ends no sooner than this, and ssh tells it late
                self.diary.troubles.append(Kept(GPU_USED, host, begin, begin + trouble.seconds))
            subprocess.run(demo.ssh(PATHS, trouble.host, trouble.script), capture_output=True, check=False)
            if trouble.host == CONTROLLER:
                self._until(stack.answering, 90, f"{plan}: API server and Slurm answer again")

    def _cut(self, host: str) -> None:
        diary = self.diary
        with self._power, diary.noted(diary.troubles, POWER, host), diary.noted(diary.cuts, POWER, host):
            stack.lab("power-cut", host)
            stack.lab("up", host)

    def _take_back(self, plan: Plan, first_over: Callable[[], bool]) -> None:
        """A person takes a drain back, which must still be there; until then the jobs behind wait for the node."""
        if not plan.trouble or plan.trouble.what != DRAINED or not self.diary.reached[plan.seed]:
            return
        node = plan.trouble.node
        self._until(first_over, QUEUED_S, f"{plan}: its first job is over")
        self._until(lambda: stack.all_closed([node]), USABLE_S, f"{plan}: {node} is closed")
        if stack.reason(node) != PERSON:
            raise Failed(f"{plan}: {node} should be drained because {PERSON!r}, and is because {stack.reason(node)!r}")
        with self.diary.noted(self.diary.undrained, DRAINED, node):
            ssh(CONTROLLER, f"scontrol update nodename={node} state=undrain")

    def _until(self, true: Callable[[], bool], seconds: float, what: str) -> None:
        """Wait for something that may have nobody to answer for a while."""
        deadline = time.monotonic() + seconds
        while not _answered(true):
            if time.monotonic() > deadline:
                raise Failed(f"not within {seconds:.0f} s: {what}")
            time.sleep(0.3)

    def story(self) -> History:
        """What API server and Slurm wrote down since the beginning."""
        diary, end = self.diary, time.time()
        entries = list(records.writes(stack.audit(self._known)))
        since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(diary.begin))
        told = "TZ=UTC SLURM_TIME_FORMAT=%s"
        jobs = f"sacct --duplicates --allusers -nP --starttime={since} --format={records.SACCT}"
        accounting = records.begun(ssh(CONTROLLER, f"{told} {jobs}"), int(diary.begin))
        events = f"sacctmgr -nP show event nodes={','.join(NODES)} start={since} format={records.EVENTS}"
        kept = ssh(CONTROLLER, f"{told} {events}")
        journal = "\n".join(ssh(node, SLURMD.format(int(diary.begin))) for node in NODES)
        diary.ended = records.ended(accounting, diary.troubles)
        return History(
            begun=dict.fromkeys(NODES, CLOSED),
            changes=records.changes(entries, NODES),
            containers=records.containers(entries, diary.cuts),
            unbound=records.unbound(entries),
            accounts=records.accounts(entries),
            runs=records.runs(accounting, records.launches(journal), records.epilogs(journal), SPACES, diary.troubles),
            drains=records.drains(
                records.later(kept, int(diary.begin)), diary.undrained, diary.troubles, stack.reasons()
            ),
            troubles=diary.troubles,
            left=stack.left_behind(sorted(set(USERS.values())), NODES),
            surprises=records.strangers(entries, NODES),
            end=end,
        )


def _answered(question: Callable[[], bool]) -> bool:
    try:
        return question()
    except subprocess.CalledProcessError:
        return False


def script(work: Work, way: str) -> str:
    """A job's batch script. What is to be ended from outside runs for long, in its first run."""
    first = work.seconds if way == ENDS else LONG_S
    if not work.pods:
        return f'#!/bin/sh\n[ "${{SLURM_RESTART_COUNT:-0}}" = 0 ] || exec sleep {work.seconds}\nsleep {first}\n'
    return stack.pods_for(f"{work.seconds} if os.environ.get('SLURM_RESTART_COUNT') else {first}", work.stubborn)


ENDINGS = {
    ENDS: {"COMPLETED"},
    CANCELLED: {"CANCELLED"},
    WITHDRAWN: {"CANCELLED"},
    REQUEUED: {"COMPLETED"},
    TIMED_OUT: {"TIMEOUT"},
    PREEMPTED: {"COMPLETED", "PREEMPTED"},
}
"""How a first job may end when nothing goes wrong."""
DISTURBED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", records.FORGOTTEN}


def astray(plans: Sequence[Plan], diary: Diary) -> list[str]:
    """Jobs that did not come to the end that they should have; any end will do where something went wrong."""
    found = []
    calm = not any(diary.reached.values())
    # a slurmctld that is killed may forget a whole submission as well
    killed = any(it.what == SLURMCTLD_KILLED for it in diary.troubles)
    nowhere = records.FORGOTTEN if killed else "UNKNOWN"
    for plan in plans:
        for number, array in enumerate(diary.jobs.get(plan.seed, [])):
            wanted = (ENDINGS[plan.way] if number == 0 else ENDINGS[ENDS]) if calm else DISTURBED
            ends = diary.ended.get(array, [nowhere])
            if not set(ends) <= wanted:
                found.append(f"job {array} of {plan} ended {', '.join(ends)}")
    return found


def judged(plans: Sequence[Plan], diary: Diary, history: History) -> list[str]:
    """Everything that is wrong with what came of schedules."""
    broken = [f"{name}: {text}" for name, text in breaches(history, stack.SHORTEST["pod_grace_s"], LOOKS_S)]
    return [*diary.failures, *broken, *astray(plans, diary)]


def told(plans: Sequence[Plan], diary: Diary, history: History) -> list[str]:
    """What happened, for people: schedules with their jobs, then everything in its order."""
    lines = [
        f"{plan}: jobs {' '.join(diary.jobs.get(plan.seed, []))}, reached {diary.reached.get(plan.seed)}"
        for plan in plans
    ]
    moments = [(it.at, f"{it.node}: {it.before} -> {it.after} by {it.by}") for it in history.changes]
    moments += [(it.at, f"{it.node}: kept out {it.before!r} -> {it.after!r} by {it.by}") for it in history.drains]
    for run in history.runs:
        moments += [(run.works, f"job {run.job} works on {run.nodes}"), (run.over, f"job {run.job} is over")]
    for it in history.containers:
        moments += [(it.start, f"{it.node}: {it.pod} runs"), (it.end, f"{it.node}: {it.pod} has ended")]
    for it in history.troubles:
        moments += [(it.start, f"{it.node or CONTROLLER}: {it.what}"), (it.end, f"{it.node or CONTROLLER}: over")]
    return lines + [f"{at - diary.begin:8.2f} {what}" for at, what in sorted(moments) if at < NEVER]


def summary(history: History) -> str:
    """How much happened."""
    return (
        f"{len(history.changes)} changes of nodes, {len(history.runs)} runs of jobs, "
        f"{len(history.containers)} pods, {len(history.drains)} changes of drains"
    )
