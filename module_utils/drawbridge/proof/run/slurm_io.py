# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm as the proof uses it: one reservation, one job at a time, and drains of its own."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...core import hostlist
from ...core.command import Child, Run, tool
from ...core.converge import DeviceError
from ...nodes.scontrol import fields, state_flags
from ...nodes.use_io import jobs_on
from ..measure import Found
from ..node import ProofNode
from ..schedule.site import Test
from .bundle_io import bundle
from .cluster import Interrupted, NodeInSlurm
from .collective import command, found_of
from .request import Answer, Request, answers

RESERVED_MINUTES = 15
"""The reservation's end, from now. A proof that lives prolongs it."""
PROLONG_S = 240.0
AT_NODE = "/run/drawbridge-proof.pyz"
"""The worker on a node, which removes itself when it has started."""
SILENT_TOO = " : Not responding"


class SlurmCluster:
    """Slurm by its commands. `partition` is the name of partition, reservation and jobs alike."""

    def __init__(
        self, run: Run, say: Callable[[str], None], partition: str, sources: Path, scratch: Path, patrol: bool = False
    ) -> None:
        self._run, self._name, self._sources, self._scratch = run, partition, sources, scratch
        self._patrol, self._say = patrol, say
        self._reserved: tuple[str, ...] = ()

    def clean(self) -> None:
        """End jobs and the reservation of an earlier proof."""
        self._run(["scancel", "--quiet", f"--name={self._name}", f"--partition={self._name}"])
        if self._reservation():
            self._wait_for_jobs()
            self._run(["scontrol", "delete", f"reservationname={self._name}"])

    def states(self, names: Sequence[str]) -> Mapping[str, NodeInSlurm]:
        """The nodes' states; a node that Slurm does not know is absent."""
        shown = self._run(["scontrol", "show", "node", "-o"]).out
        jobs = jobs_on(self._run, names)
        wanted = set(names)
        found = {}
        for line in shown.splitlines():
            part = fields(line)
            if (name := part.get("NodeName", "")) in wanted:
                reason = part.get("Reason", "").rpartition(" [")[0].partition(SILENT_TOO)[0]
                found[name] = NodeInSlurm(*state_flags(part), reason, jobs.get(name, ""))
        return found

    def reserve(self, names: Sequence[str]) -> None:
        """Reserve these nodes for root, or prolong the reservation. A patrol takes idle nodes without one."""
        if self._patrol:
            self._use_qos()
            return
        if self._reserved == tuple(names) and self._reservation():
            self._prolong()
            return
        length = ["starttime=now", f"duration={RESERVED_MINUTES}", f"nodes={hostlist.compress(list(names))}"]
        self._run(["scontrol", "create", "reservation", f"reservationname={self._name}", "user=root", *length])
        self._reserved = tuple(names)

    def resume(self, names: Sequence[str]) -> None:
        """End the drains of these nodes."""
        if names:
            self._run(["scontrol", "update", f"nodename={hostlist.compress(list(names))}", "state=resume"])

    def drain(self, name: str, reason: str) -> None:
        """Keep jobs off this node."""
        self._run(["scontrol", "update", f"nodename={name}", "state=drain", f"reason={reason}"])

    def ask(self, request: Request, names: Sequence[str], limit_s: float) -> Mapping[str, Answer]:
        """Run the workers of these nodes at the same time; a node that did not answer is absent.

        Nodes with the same GPUs are in one job.
        """
        file = bundle(self._sources, request.to_json(), self._scratch / "worker.pyz")
        worker = ["--ntasks-per-node=1", f"--bcast={AT_NODE}", str(file)]
        jobs = by_gres(request, names)
        argvs = [[*self._srun(alike, limit_s, gres), *worker] for gres, alike in jobs.items()]
        printed = self._wait([self._child(argv, str(number)) for number, argv in enumerate(argvs)], limit_s)
        found: dict[str, Answer] = {}
        for alike, (out, err, _code) in zip(jobs.values(), printed):
            here = {name: it for name, it in answers(out).items() if name in alike}
            found |= here
            if len(here) < len(alike):
                _refuse_cancelled(err)
                if err.strip():
                    self._say(f"srun: {err.strip().splitlines()[-1]}")
        return found

    def collective(self, tests: Sequence[Test], node: ProofNode, limit_s: float) -> Mapping[int, Sequence[Found]]:
        """Run nccl-tests over the nodes of each test at the same time; findings by the number of the test."""
        children = []
        for number, test in enumerate(tests):
            tasks = [f"--ntasks-per-node={node.gpus}", f"--mpi={node.tools.get('mpi', 'pmix')}"]
            argv = [*self._srun(test.nodes, limit_s, node.gres), *tasks, *command(node, test)]
            children.append(self._child(argv, str(number)))
        printed = self._wait(children, limit_s)
        for _out, err, code in printed:
            if code:
                _refuse_cancelled(err)
        return {number: found_of(test, *printed[number]) for number, test in enumerate(tests)}

    def release(self) -> None:
        """End the reservation."""
        if not self._patrol and self._reservation():
            self._wait_for_jobs()
            self._run(["scontrol", "delete", f"reservationname={self._name}"])

    def _srun(self, names: Sequence[str], limit_s: float, gres: str) -> list[str]:
        minutes = math.ceil(limit_s / 60) + 1
        where = [] if self._patrol else [f"--reservation={self._name}"]
        rank = [f"--qos={self._name}", "--immediate=30"] if self._patrol else []
        return [
            *("srun", f"--job-name={self._name}", f"--partition={self._name}", *where, *rank, f"--time={minutes}"),
            *(f"--nodelist={hostlist.compress(list(names))}", f"--nodes={len(names)}", "--exclusive", "--mem=0"),
            *("--no-kill", "--kill-on-bad-exit=0", "--chdir=/", "--export=NONE", "--quiet", "--unbuffered"),
            *([f"--gres={gres}"] if gres else []),
        ]

    def _child(self, argv: Sequence[str], name: str = "0") -> Child:
        out, err = (self._scratch / f"srun{name}.{end}" for end in ("out", "err"))
        with out.open("w") as stdout, err.open("w") as stderr:
            return Child([tool(argv[0]), *argv[1:]], stdout=stdout, stderr=stderr)

    def _wait(self, children: Sequence[Child], limit_s: float) -> list[tuple[str, str, int]]:
        """Output, errors and exit code of each; the reservation is prolonged meanwhile."""
        end, next_time = time.monotonic() + limit_s + 60, time.monotonic() + PROLONG_S
        while any(child.poll() is None for child in children) and time.monotonic() < end:
            time.sleep(0.2)
            if time.monotonic() > next_time:
                self._prolong()
                next_time = time.monotonic() + PROLONG_S
        for child in children:
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(10)
                except subprocess.TimeoutExpired:
                    child.end()
                    child.wait()
        return [self._printed(number, child) for number, child in enumerate(children)]

    def _printed(self, name: int, child: Child) -> tuple[str, str, int]:
        texts = [(self._scratch / f"srun{name}.{end}").read_text(errors="replace") for end in ("out", "err")]
        return texts[0], texts[1], child.returncode

    def _use_qos(self) -> None:
        """Let root's jobs have the QOS that all others preempt: slurmdbd knows root's association alone by itself."""
        whose = ["where", "user=root", "account=root"]
        found = self._run(["sacctmgr", "--noheader", "--parsable2", "show", "assoc", *whose, "format=qos"]).out
        if any(self._name not in line.split(",") for line in found.split()):
            self._run(["sacctmgr", "--immediate", "modify", "user", *whose, "set", f"qos+={self._name}"])

    def _prolong(self) -> None:
        if not self._patrol:
            end = f"endtime=now+{RESERVED_MINUTES}minutes"
            self._run(["scontrol", "update", "reservation", f"reservationname={self._name}", end])

    def _reservation(self) -> bool:
        shown = self._run(["scontrol", "show", "reservation", "-o"]).out
        return any(fields(line).get("ReservationName") == self._name for line in shown.splitlines())

    def _wait_for_jobs(self, limit_s: float = 120.0) -> None:
        """A reservation can't be deleted while a job uses it."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if not self._run(["squeue", "--noheader", f"--name={self._name}", "--format=%i"]).out.strip():
                return
            time.sleep(1)
        raise DeviceError(f"jobs {self._name} do not end; see squeue --name={self._name}")


def by_gres(request: Request, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Nodes by what Slurm has of GPUs there: a job asks for the same on all its nodes."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(request.node(name).gres, []).append(name)
    return found


def _refuse_cancelled(err: str) -> None:
    """Raise Interrupted for a job that was preempted or cancelled. One whose time or node ended is a result."""
    if "CANCELLED" in err and "TIME LIMIT" not in err and "NODE FAILURE" not in err:
        raise Interrupted(f"the job was cancelled or preempted; the next run goes on: {err.strip().splitlines()[-1]}")
