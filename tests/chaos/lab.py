# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab of LAB_ID and runs of our playbooks in it, whole or cut off."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.demo import ssh
from lab.hosts.paths import REPOSITORY, Paths
from tests.chaos import inventory
from tests.chaos.plan import NODE_ROLES, Kill, Verb
from tests.processes import end

PLAYBOOK = Path(sys.executable).parent / "ansible-playbook"
LAB = (sys.executable, "lab/lab")
SETTINGS = {"ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1", "PYTHONUNBUFFERED": "1"}
LAB_ID = "58"
"""Where LAB_ID names none: a lab that no developer uses, since its hosts are drifted, and down at the end."""
RUN_S = 1800
"""What a run may take at most, on a machine that has much else to do; a run that hangs is a finding."""
SCRIPT_S = 900
"""The same of a script on a host, such as all of its proofs."""
TASK = re.compile(r"^TASK \[(?:(?:[\w.]*\.)?(\w+) : )?(.*?)\]")
PLAY_OF_LIST = re.compile(r"^  play #\d+ \((\S+)\)")
TASK_OF_LIST = re.compile(r"^      (?:(?:[\w.]*\.)?(\w+) : )?(.*?)\t")
RECAP = re.compile(r"^\w+ +: ok=\d+ +changed=(\d+) ", re.MULTILINE)
CHANGED = re.compile(r"^TASK \[(.*?)\] \*+\n(?:(?!^TASK \[).*\n)*?changed: \[(\w+)", re.MULTILINE)
VISIT = "Bring all layers of the node to their intended state"
LAST_TASKS, LAST_MS, TASK_MS, VISIT_MS = 2, 100, 250, 800
"""How long a run lives for sure after the start of one of its last tasks, and that much more for each task before.
The last number counts from the start of a visit, which runs all roles of a node."""


SHIM = """\
#!/bin/sh
if printf '%s\\n' "$*" | grep -Eq -- '{match}'; then rm -f "$0"; kill -9 $PPID; exit 137; fi
exec /usr/bin/{tool} "$@"
"""
"""Stands before a real tool in the path, once."""
SHIM_PATH = "/usr/local/sbin/{}"


class Broken(Exception):
    """Something of the lab itself did not work, so that nothing was learnt."""


@dataclass(frozen=True)
class Run:
    """A finished run; `killed` tells whether it was killed at the planned point, and not before or never."""

    code: int
    output: str
    killed: bool = False

    def changes(self) -> list[str]:
        """What a whole run changed; empty if nothing, which the recap must confirm."""
        counts = [int(count) for count in RECAP.findall(self.output)]
        if counts and not any(counts):
            return []
        return [f"{host}: {task}" for task, host in CHANGED.findall(self.output)] or ["there is no recap"]

    def report(self) -> list[str]:
        """What it says of its changes, below the recap."""
        return self.output.rpartition("PLAY RECAP")[2].splitlines()[1:]


class Lab:
    """Four hosts of the lab. `folder` takes the inventory and the logs."""

    def __init__(self, folder: Path) -> None:
        self._environment = {"LAB_ID": LAB_ID, **os.environ, **SETTINGS}
        self.paths = Paths.of(self._environment)
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._inventory = inventory.write(folder / f"inventory-{self.paths.lab_id}")
        self.converged = False
        self._untouched = False

    def command(self, *words: str) -> str:
        """Run a verb of the lab; what it says."""
        done = subprocess.run(
            [*LAB, *words], cwd=REPOSITORY, env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Broken(f"lab {' '.join(words)}: {done.stderr.strip()[-2000:]}")
        return done.stderr

    def up(self) -> None:
        """Start what does not run."""
        self._untouched = not self.paths.state.exists()
        self.command("up", *inventory.HOSTS, inventory.INFRA)
        self.command("administrator")

    def bare(self) -> None:
        """Start anew with fresh disks, unless they are."""
        self.converged = False
        if not self._untouched:
            self.command("down")
            self.up()

    def sh(self, host: str, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script on a host, or type it into a switch."""
        shell = ("sh", "-s") if host in (inventory.CONTROLLER, inventory.ADMIN, inventory.NODE) else ()
        command = ssh(self.paths, host, *shell)
        try:
            return subprocess.run(command, input=script, capture_output=True, text=True, check=False, timeout=SCRIPT_S)
        except subprocess.TimeoutExpired as error:
            raise Broken(f"{host} does not end in {SCRIPT_S} s: {script[:200]}") from error

    def arm(self, verb: Verb) -> None:
        """Let the next such call of a tool be its last."""
        if verb.emulated:
            self.command("fault", verb.host, verb.tool, "die", f"--match={verb.match}")
            return
        shim, text = SHIM_PATH.format(verb.tool), SHIM.format(match=verb.match, tool=verb.tool)
        done = self.sh(verb.host, f"cat > {shim} <<'END' && chmod 755 {shim}\n{text}END\n")
        if done.returncode:
            raise Broken(f"{verb.tool} on {verb.host} can't be made to die: {done.stderr.strip()}")

    def disarm(self, verb: Verb) -> bool:
        """Whether a program died of it; it is harmless now in any case."""
        if verb.emulated:
            return self.command("fault", "--clear").startswith("0 devices")
        shim = SHIM_PATH.format(verb.tool)
        done = self.sh(verb.host, f"if test -e {shim}; then rm {shim} && echo armed; else echo used; fi")
        if done.returncode or (word := done.stdout.strip()) not in ("armed", "used"):
            raise Broken(f"nobody knows whether {verb.tool} died on {verb.host}: {done.stderr.strip()}")
        return word == "used"

    def kubectl(self, *words: str) -> str:
        """Standard output of kubectl on the controller, as the administrator."""
        config = "/run/admin.kubeconfig"
        self.sh(inventory.CONTROLLER, f"umask 077; cat > {config} <<'END'\n{self.paths.kubeconfig.read_text()}END\n")
        return self.sh(inventory.CONTROLLER, f"kubectl --kubeconfig={config} {' '.join(words)}").stdout

    def run(self, playbooks: Sequence[str], log: str, kill: Kill | None = None) -> Run:
        """Run playbooks; with `kill`, up to there. The output also goes to a log."""
        command = [str(PLAYBOOK), "-i", str(self._inventory), *(f"playbooks/{name}.yml" for name in playbooks)]
        number, seconds = _moment(command, kill, self._environment) if kill else (0, 0.0)
        self._untouched = False
        with _started(command, self._environment) as process, (self._folder / log).open("w", buffering=1) as file:
            for line in _until(process, number, seconds):
                file.write(line)
        if kill and kill.powerless:
            self.command("power-cut", kill.powerless)
            self.command("up", kill.powerless)
        output = (self._folder / log).read_text()
        begun = sum(bool(TASK.match(line)) for line in output.splitlines())
        return Run(process.returncode, output, process.returncode == -signal.SIGKILL and 0 < number <= begun)


@contextlib.contextmanager
def _started(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        late = threading.Timer(RUN_S, end, (process.pid,))
        late.start()
        try:
            yield process
        finally:
            late.cancel()


def _moment(command: Sequence[str], kill: Kill, environment: Mapping[str, str]) -> tuple[int, float]:
    """Which TASK line of the output a kill belongs to, and the seconds after it."""
    listing = [*command, "--list-tasks"]
    done = subprocess.run(listing, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    return moment(tasks(done.stdout), kill)


def tasks(listed: str) -> list[tuple[str, str]]:
    """Role and name of every task that --list-tasks lists, but those of plays whose hosts are not booted."""
    found: list[tuple[str, str]] = []
    skipped = False
    for line in listed.splitlines():
        if play := PLAY_OF_LIST.match(line):
            skipped = play[1] == "login"
        elif (task := TASK_OF_LIST.match(line)) and not skipped:
            found.append((task[1] or "", task[2]))
    return found


def moment(listed: Sequence[tuple[str, str]], kill: Kill) -> tuple[int, float]:
    """The number, from 1, of the task that a kill means, and how many seconds after its start that is."""
    meant = [
        number
        for number, (role, name) in enumerate(listed, 1)
        if kill.role in ("", role) or (name == VISIT and kill.role in NODE_ROLES)
    ]
    if not meant:
        raise Broken(f"site.yml has no task of the role {kill.role}")
    number = meant[min(int(kill.share * len(meant)), len(meant) - 1)]
    lives = VISIT_MS if listed[number - 1][1] == VISIT else LAST_MS
    longest = lives + TASK_MS * max(0, len(listed) - LAST_TASKS - number + 1)
    return number, min(kill.milliseconds, longest) / 1000


def _until(process: subprocess.Popen[str], number: int, seconds: float) -> Iterator[str]:
    """The lines of a run; `seconds` after the start of its task `number` it and all its processes are killed."""
    assert process.stdout is not None
    seen = 0
    for line in process.stdout:
        yield line
        seen += bool(TASK.match(line))
        if number and seen == number:
            number = 0
            try:
                process.wait(seconds)  # the moment of the kill
            except subprocess.TimeoutExpired:
                end(process.pid)
