# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A running lab for tests: its hosts by ssh, its API server, and runs of our playbooks."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

from bench.counted import Counting
from lab.hosts.paths import REPOSITORY, Paths
from tests.processes import end
from tests.waiting import until

SSH_S, RUN_S = 300, 1800
"""What a command and a playbook may take; a hang is a finding, and must not look like a slow machine."""


@dataclass(frozen=True)
class Run:
    """A finished ansible-playbook: its results by host and task, as the json callback gives them."""

    code: int
    output: str
    report: dict[str, Any]

    def results(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Task name, host, result of every task; of a visit, those of its layers."""
        return [
            (name, host, found)
            for play in self.report["plays"]
            for task in play["tasks"]
            for host, result in task["hosts"].items()
            for name, found in layers(task["task"]["name"], result)
        ]

    def steps(self) -> dict[tuple[str, str], Any]:
        """The steps that modules announced or did, by task and host."""
        return {(task, host): result["steps"] for task, host, result in self.results() if result.get("steps")}

    def changed(self) -> list[str]:
        """Tasks that say they changed something."""
        return [f"{host}: {task}" for task, host, result in self.results() if result.get("changed")]


def layers(task: str, result: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """A result with its task; of a visit, those of its layers, as if each were a task."""
    if "layers" not in result or result.get("failed"):
        return [(task, result)]
    found = [(f"drawbridge.drawbridge.{layer['role']} : {layer['task']}", layer) for layer in result["layers"]]
    return found or [(task, result)]


@dataclass(frozen=True)
class Lab:
    """The lab of this scenario."""

    paths: Paths
    inventories: tuple[str, ...] = ("inventories/lab",)
    """Of the site that is built in it."""
    run_s: int = RUN_S
    ssh_s: int = SSH_S

    def ssh(self, host: str, command: str, check: bool = True, stdin: str = "") -> str:
        """Standard output of a command on a host."""
        argv = ["ssh", "-F", str(self.paths.ssh_config), host, command]
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False, timeout=self.ssh_s)
        assert done.returncode == 0 or not check, f"{host}: {command}: {done.stdout}{done.stderr}"
        return done.stdout

    def kubectl(self, *arguments: str, stdin: str = "", check: bool = True) -> str:
        """Standard output of kubectl with the administrator's kubeconfig, run where kubectl is: on ctl."""
        words = " ".join(shlex.quote(word) for word in arguments)
        self.ssh("ctl", "umask 077; cat > /run/admin.kubeconfig", stdin=self.paths.kubeconfig.read_text())
        return self.ssh("ctl", f"kubectl --kubeconfig=/run/admin.kubeconfig {words}", check=check, stdin=stdin)

    def playbook(self, name: str, *arguments: str, counting: Counting | None = None) -> Run:
        """Run one of our playbooks against this lab."""
        arguments += tuple(counting.arguments() if counting else ())
        inventories = [word for place in self.inventories for word in ("-i", place)]
        command = ["ansible-playbook", *inventories, f"playbooks/{name}.yml", *arguments]
        env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json"}
        env["ANSIBLE_CALLBACK_RESULT_FORMAT"] = "json"
        env |= counting.environment() if counting else {}
        with subprocess.Popen(command, cwd=REPOSITORY, env=env, text=True, stdout=PIPE, stderr=PIPE) as process:
            try:
                out, err = process.communicate(timeout=self.run_s)
            except subprocess.TimeoutExpired:
                end(process.pid)
                raise
        start = out.find("{")
        # other callbacks may print after the report
        report = json.JSONDecoder().raw_decode(out[start:])[0] if start >= 0 else {"plays": []}
        return Run(process.returncode, out[-4000:] + err[-4000:], report)

    def administrator(self, plan: Path, *names: str) -> None:
        """Be the cluster's administrator, and apply manifests of a plan, which is written if it is not there."""
        if not plan.exists():
            run = self.playbook("plan", "-e", f"plan_into={plan}")
            assert run.code == 0, run.output
        files = [str(plan / f"kubernetes/{name}.yml") for name in names]
        argv = [sys.executable, "lab/lab", "administrator", *files]
        subprocess.run(argv, cwd=REPOSITORY, check=True, capture_output=True, timeout=self.run_s)

    def wait(self, what: str, condition: Callable[[], Any], seconds: float = 300) -> Any:
        """The first true answer of a condition. Fails when there is none in time."""
        return until(condition, seconds, what)

    def tell(self, command: str) -> None:
        """Send Slurm, on the controller, a command that may run twice: slurmctld may get it though the client fails."""
        self.wait(f"Slurm hears {command}", lambda: (self.ssh("ctl", command),))

    def gone(self, job: str) -> bool:
        """Slurm's queue has the job no more. Fails when Slurm does not say: no answer looks like an empty queue."""
        return job not in self.ssh("login1", "squeue -h -o %A").split()

    def booked(self, job: str) -> list[str]:
        """State and exit code of each run of a job that is over, by Slurm accounting, a moment later."""

        def told() -> list[str]:
            return self.ssh("login1", f"sacct -n -X -D -j {job} -o State,ExitCode").split()

        return self.wait(
            f"the end of job {job} is booked", lambda: (found := told()) and "RUNNING" not in found and found
        )

    def written(self) -> dict[str, tuple[int, int]]:
        """Files that hosts have written to their disks: change time and size, by host/path."""
        found = {}
        for disk in sorted((self.paths.state / "hosts").glob("*/disk")):
            for folder, _, names in os.walk(disk):
                for name in names:
                    path = Path(folder) / name
                    try:
                        status = path.lstat()
                    except FileNotFoundError:
                        continue
                    key = f"{disk.parent.name}/{path.relative_to(disk)}"
                    found[key] = (status.st_ctime_ns, status.st_size)
        return found

    def journals(self, since: Mapping[str, int] | None = None) -> dict[str, list[dict[str, Any]]]:
        """Calls that the emulators have seen, by the files that they noted them in; `since` skips so many of a file."""
        files = [
            *self.paths.state.glob("hosts/*/emu/**/journal.jsonl"),
            *self.paths.state.glob("switches/*/journal.jsonl"),
        ]
        known = since or {}
        return {
            str(file): [json.loads(line) for line in file.read_text().splitlines()[known.get(str(file), 0) :]]
            for file in files
        }
