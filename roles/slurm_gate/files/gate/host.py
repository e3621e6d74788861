# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What runs on this host: containers of jobs' pods, processes on GPUs, Slurm's scripts."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from .command import Commands
from .config import Refused

PROC = Path("/proc")
BOOT_ID = PROC / "sys/kernel/random/boot_id"
UPTIME = PROC / "uptime"
SCRIPTS_LOCK = Path("/run/drawbridge/slurm-dispatch.lock")
NAMESPACE, POD = "io.kubernetes.pod.namespace", "io.kubernetes.pod.name"


class Host:
    """This host. A question without an answer raises Refused: what can't be seen isn't empty."""

    def __init__(self, commands: Commands, runtime: str) -> None:
        self._commands, self._runtime = commands, runtime

    def containers(self, namespaces: Iterable[str]) -> list[str]:
        """Running containers of pods of these namespaces, sandboxes included, by the pod's or the container's name."""
        return self._by_crictl(set(namespaces)) if self._runtime == "crictl" else self._by_ctr(set(namespaces))

    def gpu_processes(self) -> dict[int, str]:
        """Processes that use a GPU, with their names."""
        rows = self._ask("nvidia-smi", "--query-compute-apps=pid,process_name", "--format=csv,noheader").splitlines()
        pairs = (row.partition(",") for row in rows if row.strip())
        return {int(pid): name.strip() for pid, _, name in pairs}

    def daemons(self, pids: Iterable[int], programs: Iterable[str]) -> list[int]:
        """Those processes that run one of these programs. What they call themselves proves nothing."""
        known = set(programs)
        return [pid for pid in pids if known and self._program(pid) in known]

    def _program(self, pid: int) -> str:
        exe = PROC / str(pid) / "exe"
        try:
            return exe.readlink().name if exe.stat().st_uid == 0 else ""
        except OSError:
            return ""  # it has ended

    def boot_id(self) -> str:
        """What tells one boot of this host from the next."""
        return BOOT_ID.read_text().strip()

    def uptime_s(self) -> float:
        """Since when this host is up."""
        return float(UPTIME.read_text().split()[0])

    def script_runs(self) -> bool:
        """One of Slurm's scripts is at work here: its dispatcher holds a lock."""
        try:
            with SCRIPTS_LOCK.open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _by_ctr(self, namespaces: set[str]) -> list[str]:
        filters = [f'labels."{NAMESPACE}"=={namespace}' for namespace in sorted(namespaces)]
        known = set(self._ask("ctr", "--namespace", "k8s.io", "containers", "list", "--quiet", *filters).split())
        if not known:
            return []
        return running_tasks(self._ask("ctr", "--namespace", "k8s.io", "tasks", "list"), known)

    def _by_crictl(self, namespaces: set[str]) -> list[str]:
        found = []
        for words, key in (("ps", "containers"), ("pods --state=Ready", "items")):
            items = json.loads(self._ask("crictl", *words.split(), "--output=json"))[key]
            labels = (item["labels"] for item in items)
            found += [label[POD] for label in labels if label.get(NAMESPACE) in namespaces]
        return sorted(set(found))

    def _ask(self, *argv: str) -> str:
        said = self._commands.run(*argv)
        if said.code:
            detail = (said.err or said.out).strip().splitlines() or [f"exit code {said.code}"]
            raise Refused(f"{argv[0]} does not say what runs here ({detail[0]})")
        return said.out


def running_tasks(text: str, known: set[str]) -> list[str]:
    """Container ids that have a process, of the lines `TASK PID STATUS` below a heading."""
    rows = (line.split() for line in text.splitlines()[1:])
    return [row[0] for row in rows if len(row) > 2 and row[0] in known and row[2] != "STOPPED"]


def obstacle(containers: Sequence[str], on_gpus: dict[int, str], allowed: Iterable[int]) -> str:
    """Why the host is not empty; "" if it is. Pure."""
    if containers:
        return f"container {containers[0]} still runs: end it with its pod, or by the container runtime"
    free = set(allowed)
    foreign = {pid: name for pid, name in on_gpus.items() if pid not in free}
    for pid, name in sorted(foreign.items()):
        return f"process {pid} ({name}) uses a GPU: end it"
    return ""
