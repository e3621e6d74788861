# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run a playbook so that the callback `count` sees results, SSH sessions and bytes."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.hosts.paths import Paths

ROOT = Path(__file__).resolve().parent.parent
RELAY = ROOT / "bench/relay.py"
Report = dict[str, Any]
"""As the callback writes it: playbook, check, seconds, hosts {name: {results, ok, ..., sessions, sent_bytes, ...}}."""


@dataclass(frozen=True)
class Counting:
    """One folder that relays and callback write to.

    The relay replaces a ProxyCommand, a ProxyJump or an `-F` of the inventory, and reaches hosts directly. All other
    settings of ssh stay. From netmiko the relay gets port 22, unless `more` has another.
    """

    folder: Path
    more: str = ""
    """Further lines for ssh_config(5)."""

    @property
    def ssh_config(self) -> Path:
        """For `ssh -F`, and for netmiko, which reads the same file."""
        return self.folder / "ssh_config"

    @property
    def masters(self) -> Path:
        """Where ssh's masters listen: short, because a socket's path has at most 107 characters."""
        return Path(tempfile.gettempdir()) / f"count-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:10]}"

    def prepare(self) -> None:
        """Write the files that a counted run needs."""
        (self.folder / "sessions").mkdir(parents=True, exist_ok=True)
        words = (sys.executable, "-I", "-S", str(RELAY), str(self.folder / "sessions"))
        self.ssh_config.write_text(
            f"Host *\n  ProxyCommand {shlex.join(words)} %h %p\n{self.more}"
            "Match all\n  Include ~/.ssh/config\n  Include /etc/ssh/ssh_config\n"
        )

    def environment(self) -> dict[str, str]:
        """Variables for ansible-playbook. Masters of earlier runs are not reused, because they bypass the relay."""
        return {
            "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "bench/callbacks"),
            "ANSIBLE_CALLBACKS_ENABLED": "count",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.masters),
            "DRAWBRIDGE_COUNT_FOLDER": str(self.folder),
        }

    def arguments(self) -> list[str]:
        """Words for the command line of ansible-playbook: both ssh and our switch action read this variable."""
        return ["--extra-vars", json.dumps({"ansible_ssh_extra_args": f"-F {shlex.quote(str(self.ssh_config))}"})]

    def report(self, playbook: str, check: bool = False) -> Report:
        """What the last run of a playbook cost."""
        return json.loads((self.folder / f"{playbook}{'-check' if check else ''}.json").read_text())

    def close(self) -> None:
        """End the masters, so that no session outlives the counting."""
        for master in sorted(self.masters.glob("*")):
            command = ["ssh", "-O", "exit", "-o", f"ControlPath={master}", "any"]
            subprocess.run(command, capture_output=True, check=False)
        shutil.rmtree(self.masters, ignore_errors=True)


def run(counting: Counting, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ansible-playbook, counted. No session is left for the next run to find open."""
    counting.prepare()
    command = [str(Path(sys.executable).parent / "ansible-playbook"), *words, *counting.arguments()]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1", **counting.environment()}
    try:
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    finally:
        counting.close()


def spent(report: Report) -> dict[str, dict[str, int]]:
    """Task results, SSH sessions and kilobytes sent by host, as budgets judge them."""
    found = {kind: {name: host[kind] for name, host in report["hosts"].items()} for kind in ("results", "sessions")}
    return {**found, "kilobytes": {name: host["sent_bytes"] // 1000 for name, host in report["hosts"].items()}}


def on_host(host: str, command: str, data: bytes = b"") -> str:
    """Output of a command on a lab host. Exits with that output if the command fails."""
    argv = ["ssh", "-F", str(Paths.of().ssh_config), host, command]
    done = subprocess.run(argv, input=data, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{host}: {command[:200]}: {done.stdout.decode()[-2000:]}{done.stderr.decode()[-2000:]}")
    return done.stdout.decode().strip()


def groups(inventory: str = "inventories/lab") -> dict[str, list[str]]:
    """Hosts of every group, those of its children included."""
    command = [str(Path(sys.executable).parent / "ansible-inventory"), "-i", inventory, "--list"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    listed = json.loads(done.stdout)

    def hosts(name: str) -> list[str]:
        entry = listed.get(name, {})
        return entry.get("hosts", []) + [host for child in entry.get("children", []) for host in hosts(child)]

    return {name: hosts(name) for name in listed if name != "_meta"}
