# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A seed decides everything about one schedule: which jobs, how the first of them ends, and what goes wrong when."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.explorer.records import GPU_USED

ALL_SEEDS = range(1, 301)
CI_SEEDS = (
    *(15, 22, 26, 29, 35, 44, 59, 61, 63, 66),
    *(106, 141, 143, 152, 162, 188, 238, 239, 255, 266),
)
"""Twenty that show every moment and way to end and nearly every fault; three wait for another run."""
NODES = ("gpu01", "gpu02", "gpu03", "gpu04")
CONTROLLER = "ctl"
USERS = {"ada": "vision", "ben": "vision", "cleo": "speech"}
"""Who submits, and the namespace of whose account the pods are in: two tenants."""

ENDS, CANCELLED, REQUEUED, TIMED_OUT, PREEMPTED = "ends", "cancelled", "requeued", "timed out", "preempted"
WITHDRAWN = "withdrawn before it runs"
WAYS = {ENDS: 6, CANCELLED: 5, WITHDRAWN: 2, TIMED_OUT: 2, REQUEUED: 1, PREEMPTED: 3}
"""How a schedule's first job ends, with weights."""

OPEN, PLACE, RUNS, END, CLOSE = "open", "deliver_token", "runs", "end", "close"
ON_CONTROLLER = (OPEN, END)
MOMENTS = (OPEN, PLACE, RUNS, END, CLOSE)
"""When a fault comes: while a verb of the gate is at work for the first job, or while that job runs."""


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong: a shell script for a host. `{seconds}` is how long it lasts."""

    on_controller: bool
    script: str
    moments: tuple[str, ...] = MOMENTS
    weight: int = 3
    longest_s: int = 0


def _service(name: str, seconds: str = "{seconds}") -> str:
    return f"systemctl stop {name}; sleep {seconds}; systemctl start {name}"


def _asleep(name: str) -> str:
    return f"systemctl kill -s STOP {name}; sleep {{seconds}}; systemctl kill -s CONT {name}"


_KILL = "systemctl kill --kill-whom=main -s KILL {0}; sleep 0.3; systemctl reset-failed {0}; systemctl start {0}"
GHOST = "import os, time; os.open('/dev/nvidia3', os.O_PATH); time.sleep({seconds})"
PERSON = "schedules: a person looks at it"
"""Why a person drains a node; nobody else lifts that."""
POWER = "the power is cut"
DRAINED = "a person drains the node"
GATE_KILLED = "the gate is killed"
SLURMCTLD_KILLED = "slurmctld is killed"

FAULTS = {
    "the API server stops": Fault(True, _service("kube-apiserver"), weight=5, longest_s=15),
    "the API server is killed": Fault(True, _KILL.format("kube-apiserver")),
    "etcd hangs": Fault(True, _asleep("lab-etcd"), longest_s=6),
    "the scheduler hangs": Fault(True, _asleep("kube-scheduler"), longest_s=6),
    "the controllers hang": Fault(True, _asleep("kube-controller-manager"), longest_s=6),
    "slurmctld restarts": Fault(True, "systemctl restart slurmctld"),
    SLURMCTLD_KILLED: Fault(True, _KILL.format("slurmctld")),
    "Slurm reconfigures": Fault(True, "scontrol reconfigure"),
    "slurmdbd stops": Fault(True, _service("slurmdbd"), weight=2, longest_s=6),
    "slurmd restarts": Fault(False, "systemctl restart slurmd"),
    "slurmd stops": Fault(False, _service("slurmd"), (RUNS, END), longest_s=12),
    "slurmd is killed": Fault(False, _KILL.format("slurmd")),
    "the kubelet hangs": Fault(False, _asleep("kubelet"), longest_s=8),
    "the kubelet restarts": Fault(False, "systemctl restart kubelet"),
    "the runtime restarts": Fault(False, "systemctl restart containerd", weight=2),
    GATE_KILLED: Fault(False, "pkill -KILL -f 'drawbridge/gate [{initial}]{rest}'", (OPEN, PLACE, END, CLOSE), 5),
    GPU_USED: Fault(False, f'python3 -c "{GHOST}"', (RUNS, END, CLOSE), longest_s=12),
    DRAINED: Fault(False, f"scontrol update nodename={{node}} state=drain reason='{PERSON}'", (RUNS, CLOSE), 2),
    POWER: Fault(False, "", (OPEN, RUNS, CLOSE), weight=1),
}


@dataclass(frozen=True)
class Work:
    """One submission."""

    user: str
    nodes: tuple[str, ...]
    """Names that it asks for; empty: any one node."""
    seconds: int
    pods: bool = False
    stubborn: bool = False
    """Its pods are made again when they go, by a controller of Kubernetes."""
    tasks: int = 1
    gated: bool = True
    requeue: bool = True

    @property
    def namespace(self) -> str:
        """Where its pods are."""
        return USERS[self.user]

    def __str__(self) -> str:
        """For people."""
        kind = ("stubborn pods" if self.stubborn else "pods") if self.pods else "quiet"
        where = ",".join(self.nodes) or "anywhere"
        several = f" x{self.tasks}" if self.tasks > 1 else ""
        return f"{self.user} {'' if self.gated else 'ungated '}{kind}{several} on {where} for {self.seconds} s"


@dataclass(frozen=True)
class Trouble:
    """A fault, its moment, how long after that it comes and how long it lasts."""

    what: str
    moment: str
    after_ms: int
    seconds: int
    node: str

    @property
    def seen_on(self) -> str:
        """The host where the moment is seen."""
        return CONTROLLER if self.moment in ON_CONTROLLER else self.node

    @property
    def host(self) -> str:
        """The host that suffers."""
        if self.what == GATE_KILLED:
            return self.seen_on
        return CONTROLLER if FAULTS[self.what].on_controller else self.node

    @property
    def script(self) -> str:
        """What to run there."""
        words = {"seconds": self.seconds, "node": self.node, "initial": self.moment[0], "rest": self.moment[1:]}
        return FAULTS[self.what].script.format(**words)


@dataclass(frozen=True)
class Plan:
    """One schedule. The first job is the one that it is about; the others come right behind it."""

    seed: int
    way: str
    works: tuple[Work, ...]
    trouble: Trouble | None = None
    withdrawn_ms: int = 0
    """So long after its submission the first job is withdrawn."""

    @property
    def first(self) -> Work:
        """The job that it is about."""
        return self.works[0]

    def __str__(self) -> str:
        """One line for people."""
        trouble = self.trouble
        when = f"{trouble.after_ms} ms into {trouble.moment}" if trouble else ""
        lasts = f" for {trouble.seconds} s" if trouble and trouble.seconds else ""
        what = f"{trouble.what} ({trouble.host}){lasts} {when}" if trouble else "nothing goes wrong"
        way = f"{self.way}, after {self.withdrawn_ms} ms" if self.withdrawn_ms else self.way
        return f"seed {self.seed}: {'; '.join(map(str, self.works))}; the first {way}; {what}"


def plan_of(seed: int) -> Plan:
    """The same seed is the same schedule, always."""
    dice = random.Random(seed)
    place = tuple(sorted(dice.sample(NODES, dice.choice((1, 1, 2)))))
    way = dice.choices(list(WAYS), list(WAYS.values()))[0]
    pods = dice.random() < 0.75
    first = Work(
        dice.choice(list(USERS)),
        place,
        dice.randint(1, 4),
        pods,
        stubborn=pods and dice.random() < 0.4,
        requeue=way == REQUEUED or dice.random() < 0.5,
    )
    others = tuple(_other(dice, place) for _ in range(dice.choice((0, 1, 1, 2))))
    trouble = _trouble(dice, place) if dice.random() < 0.75 else None
    return Plan(seed, way, (first, *others), trouble, dice.randint(0, 2500) if way == WITHDRAWN else 0)


def _other(dice: random.Random, place: tuple[str, ...]) -> Work:
    """A job that waits behind the first one, mostly for the same nodes."""
    gated = dice.random() < 0.8
    pods = gated and dice.random() < 0.4
    tasks = dice.choice((1, 1, 2, 3))
    where = place if dice.random() < 0.7 else ()
    return Work(
        dice.choice(list(USERS)),
        where,
        dice.randint(1, 3),
        pods,
        tasks=1 if pods else tasks,
        gated=gated,
        requeue=False,
    )


def _trouble(dice: random.Random, place: tuple[str, ...]) -> Trouble:
    what = dice.choices(list(FAULTS), [fault.weight for fault in FAULTS.values()])[0]
    fault = FAULTS[what]
    return Trouble(
        what,
        dice.choice(fault.moments),
        dice.choice((0, 0, 100, 300, 700, 1500)),
        dice.randint(2, fault.longest_s) if fault.longest_s else 0,
        dice.choice(place),
    )
