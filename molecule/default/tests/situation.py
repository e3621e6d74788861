# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node of the whole site in a situation: what `drawbridge status` says of it, and a person who follows the step."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from lab import demo
from tests import stack
from tests.stack import PATHS, ssh, until

from .conftest import Lab

NODE, ADMIN = "gpu04", "/run/status.kubeconfig"
COMMAND = re.compile(r"(?:ssh \S+ )?(?:scontrol|kubectl uncordon|systemctl status|ansible-playbook) [^,;]*")
PATIENCE_S = 600


def findings() -> list[dict[str, Any]]:
    """All that status says of the node, and its state as the last one."""
    argv = demo.ssh(PATHS, "ctl", f"drawbridge status --json --kubeconfig {ADMIN} {NODE}")
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    (found,) = json.loads(done.stdout)["nodes"]
    return [*found["findings"], {"word": found["state"], "cause": "", "step": ""}]


def words() -> set[str]:
    """The words of all findings."""
    return {found["word"] for found in findings()}


def named(word: str) -> str:
    """The step of a finding, as soon as status has it."""

    def step() -> str:
        return next((f"{found['step']} " for found in findings() if found["word"] == word), "")

    return until(step, PATIENCE_S, f"status calls it {word}")


def follow(lab: Lab, step: str) -> None:
    """Run the last command that a step prints."""
    command = COMMAND.findall(step)[-1].strip()
    if command.startswith("ansible-playbook playbooks/"):
        playbook, _, value = command.removeprefix("ansible-playbook playbooks/").partition(".yml")
        done = lab.playbook(playbook, *(("-e", value.split("'")[1]) if value else ()))
        assert done.code == 0, done.output
    elif command.startswith("ssh "):
        ssh(*command.removeprefix("ssh ").split(" ", 1), check=False)
    else:
        ssh("ctl", f"KUBECONFIG={ADMIN} {command}")


def held() -> str:
    """A job whose script runs on the node."""
    job = stack.quiet(f"-N1 -w {NODE}", stack.PATIENT)
    until(lambda: stack.patient(job, NODE), PATIENCE_S, "the job's script runs")
    return job
