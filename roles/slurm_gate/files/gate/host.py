# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What runs on this host: containers of jobs' pods, processes on GPUs, Slurm's scripts."""

from __future__ import annotations

import fcntl
import json
import os
import pwd
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import processes
from .command import Commands
from .config import Refused

BOOT_ID = processes.PROC / "sys/kernel/random/boot_id"
PASSPORT = Path("/usr/local/sbin/drawbridge-passport")
UPTIME = processes.PROC / "uptime"
SCRIPTS_LOCK = Path("/run/drawbridge/slurm-dispatch.lock")
NAMESPACE, POD = "io.kubernetes.pod.namespace", "io.kubernetes.pod.name"


class Host:
    """This host. A query without an answer raises Refused: an unknown state is not empty."""

    def __init__(self, commands: Commands, runtime: str, gpu_proof: Mapping[str, Any]) -> None:
        self._commands, self._runtime, self._gpu_proof = commands, runtime, gpu_proof

    def containers(self, infra: Iterable[str], own: tuple[str, str] = ("", "")) -> list[str]:
        """Running containers and sandboxes outside of `infra` namespaces, by the pod's or their own name.

        Without those of `own`: a namespace and a prefix of pods' names.
        """
        return self._by_crictl(set(infra), own) if self._runtime == "crictl" else self._by_ctr(sorted(infra), own)

    def gpu_processes(self) -> dict[int, str]:
        """Processes that hold a GPU's device file, or that the driver lists, with their names."""
        return {pid: processes.name(pid) for pid in self._listed_on_gpus()} | self.holders()

    def _listed_on_gpus(self) -> list[int]:
        """Processes in the driver's own list: a folder of the kernel, or the answer of the vendor's tool."""
        if folder := self._gpu_proof.get("process_folder", ""):
            try:
                return processes.in_folder(Path(folder))
            except OSError as err:
                raise Refused(f"{folder} does not show who uses GPUs ({err.strerror}): load the GPU driver") from err
        return [int(pid) for pid in self._run(*self._gpu_proof["processes"]).split()]

    def holders(self) -> dict[int, str]:
        """Processes that hold a GPU's device file, with their names."""
        how = self._gpu_proof
        kind = processes.Gpus.of(how["devices"], how["major"], how["minors_below"], how.get("minors_from", 0))
        return processes.holders(kind)

    def daemons(self, pids: Iterable[int], programs: Iterable[str]) -> list[int]:
        """The processes of system users that run one of these programs."""
        return processes.daemons(pids, programs)

    def infra_processes(self, pids: Sequence[int], infra: Iterable[str]) -> list[int]:
        """The processes in containers of these namespaces: device plugins and exporters hold GPUs, too."""
        if self._runtime == "crictl":
            items = json.loads(self._run("crictl", "ps", "--output=json"))["containers"]
            return processes.of_containers(pids, [it["id"] for it in items if _label(it, NAMESPACE) in set(infra)], [])
        ids = self._listed([f'labels."{NAMESPACE}"=={space}' for space in sorted(infra)])
        firsts = running_tasks(self._tasks(), ids)
        return processes.of_containers(pids, ids, firsts.values())

    def groups(self, uid: int, gid: int) -> list[int]:
        """Other groups of a user than `gid`, as this host knows them, and not root's; none for an unknown user."""
        try:
            name = pwd.getpwuid(uid).pw_name
        except KeyError:
            return []
        return sorted(set(os.getgrouplist(name, gid)) - {0, gid})

    def boot_id(self) -> str:
        """A value that differs for each boot of this host."""
        return BOOT_ID.read_text().strip()

    def uptime_s(self) -> float:
        """Seconds since this host's boot."""
        return float(UPTIME.read_text().split()[0])

    def script_runs(self) -> bool:
        """Whether one of Slurm's scripts runs here: its dispatcher holds a lock."""
        try:
            with SCRIPTS_LOCK.open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def unproved(self) -> str:
        """Why this node lacks a valid passport, on a node that needs one to take jobs; "" for no reason."""
        if not PASSPORT.exists():
            return ""
        result = self._commands.run(str(PASSPORT), "look")
        why = (result.out.strip() or result.err or f"exit code {result.code}").splitlines()[0]
        return f"it needs a valid passport ({why})" if result.code else ""

    def _by_ctr(self, infra: Sequence[str], own: tuple[str, str]) -> list[str]:
        known = self._listed([",".join(f'labels."{NAMESPACE}"!={space}' for space in infra)])
        if known and own[0]:
            known -= self._listed([f'labels."{NAMESPACE}"=={own[0]},labels."{POD}"~="^{own[1]}"'])
        return list(running_tasks(self._tasks(), known)) if known else []

    def _listed(self, filters: Sequence[str]) -> set[str]:
        return set(self._run("ctr", "--namespace", "k8s.io", "containers", "list", "--quiet", *filters).split())

    def _tasks(self) -> str:
        return self._run("ctr", "--namespace", "k8s.io", "tasks", "list")

    def _by_crictl(self, infra: set[str], own: tuple[str, str]) -> list[str]:
        found = set()
        for words, key in (("ps", "containers"), ("pods --state=Ready", "items")):
            for item in json.loads(self._run("crictl", *words.split(), "--output=json"))[key]:
                namespace, pod = _label(item, NAMESPACE), _label(item, POD)
                if namespace not in infra and not (own[0] == namespace != "" and pod.startswith(own[1])):
                    found.add(pod or item["id"])
        return sorted(found)

    def _run(self, *argv: str) -> str:
        result = self._commands.run(*argv)
        if result.code:
            detail = (result.err or result.out).strip().splitlines() or [f"exit code {result.code}"]
            raise Refused(f"{argv[0]} does not report what runs here ({detail[0]})")
        return result.out


def _label(item: Mapping[str, Any], key: str) -> str:
    return str((item.get("labels") or {}).get(key, ""))


def running_tasks(text: str, known: Collection[str]) -> dict[str, int]:
    """PIDs by container id, from lines `TASK PID STATUS` below a heading."""
    rows = (line.split() for line in text.splitlines()[1:])
    return {row[0]: int(row[1]) for row in rows if len(row) > 2 and row[0] in known and row[2] != "STOPPED"}


def obstacle(containers: Sequence[str], on_gpus: dict[int, str], allowed: Iterable[int]) -> str:
    """Why the host is not empty; "" if it is. Pure."""
    if containers:
        return f"container {containers[0]} still runs: end it with its pod, or by the container runtime"
    free = set(allowed)
    foreign = {pid: name for pid, name in on_gpus.items() if pid not in free}
    for pid, name in sorted(foreign.items()):
        if not name:
            return (
                f"the GPU driver still lists process {pid}, which has ended: wait, then reset the GPU or boot the node"
            )
        return f"process {pid} ({name}) uses a GPU: end it"
    return ""
