# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's kubelet: its drop-in file, its systemd unit, its health check."""

from __future__ import annotations

import shutil
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..converge import DeviceError, Step
from ..dialects.kubelet_config import KubeletState
from ..plans.kubelet import ENABLE, RESTART, WRITE
from . import files
from .command import Run

UNIT = "kubelet.service"
STATE_FILES = ("cpu_manager_state", "memory_manager_state")
POLL_S = 0.5
HEALTHY_LOOKS = 5
PROPERTIES = ("UnitFileState", "ActiveState", "ExecMainStartTimestampMonotonic")
DRY_RUN_ENDS_WITH = "invalid kubeconfig: stat /nonexistent"
"""Where a kubelet stops that was given no kubeconfig: behind the checks of values, before those of the machine."""


@dataclass(frozen=True)
class Places:
    """Where a site keeps its kubelet's things."""

    drop_in: Path
    main_config: Path
    state_dir: Path
    health_url: str = "http://127.0.0.1:10248/healthz"
    pod_logs: Path = Path("/var/log/pods")


class Kubelet:
    """The kubelet of this node. `want` spares it questions whose answers would not matter."""

    def __init__(self, places: Places, slurm_node: str, want: KubeletState, run: Run, start_timeout_s: float) -> None:
        self._at, self._slurm_node, self._want = places, slurm_node, want
        self._run, self._start_timeout_s = run, start_timeout_s

    @property
    def name(self) -> str:
        """The drop-in's path."""
        return str(self._at.drop_in)

    def read(self) -> KubeletState:
        """Look at file, unit and health check; ask who uses the node only if something has to change."""
        shown = self._run(["systemctl", "show", UNIT, "-p", ",".join(PROPERTIES)])
        unit = dict(line.split("=", 1) for line in shown.out.splitlines() if "=" in line)
        running = unit.get("ActiveState") == "active" and self._healthy()
        state = KubeletState(
            lines_of_file=self._lines(),
            enabled=unit.get("UnitFileState") == "enabled",
            running=running,
            current=running and self._started_after_write(int(unit["ExecMainStartTimestampMonotonic"])),
        )
        if state == self._want or not running:
            return state
        return replace(state, busy=self._busy())

    def apply(self, steps: Sequence[Step[KubeletState]]) -> None:
        """Write, enable, start. The kubelet tries the content before it replaces anything, but its last checks come
        only when it runs: if it does not stay up, the old content comes back.
        """
        todo, old = [step.payload for step in steps], self._lines()
        if WRITE in todo:
            self._try()
            self._write(self._want.lines_of_file)
        if ENABLE in todo:
            self._run(["systemctl", "enable", UNIT])
        if RESTART in todo:
            try:
                self._restart()
                self._await_health()
            except DeviceError as err:
                if WRITE in todo:
                    raise DeviceError(f"{err}; {self._go_back(old)}", **err.details) from err
                raise

    def _restart(self) -> None:
        self._run(["systemctl", "stop", UNIT])
        for name in STATE_FILES:
            (self._at.state_dir / name).unlink(missing_ok=True)
        self._run(["systemctl", "start", UNIT])

    def _go_back(self, old: tuple[str, ...]) -> str:
        """Run with the old content again; a kubelet that had none stays stopped, as it would be born open."""
        if not old:
            self._run(["systemctl", "stop", UNIT])
            return "it is stopped"
        self._write(old)
        self._restart()
        return "it runs with its old configuration again"

    def _lines(self) -> tuple[str, ...]:
        try:
            return tuple(self._at.drop_in.read_text().splitlines())
        except FileNotFoundError:
            return ()

    def _started_after_write(self, started_us: int) -> bool:
        """Compare on the wall clock, the only one that files know."""
        written = files.changed_s(str(self._at.drop_in))
        return 0 < written <= time.time() - (time.monotonic() - started_us / 1e6)

    def _busy(self) -> str:
        """Who would suffer from a restart: a Slurm job, or a job's pod that the kubelet has not cleaned up yet."""
        if pods := sorted(path.name for path in self._at.pod_logs.glob("*_slurm-*")):
            return f"a job's pod is on this node ({pods[0]}); run this again when the node is empty"
        if not shutil.which("squeue"):
            return ""
        try:
            jobs = self._run(
                ["squeue", "--noheader", "--states=R,CF,CG,S", "--format=%i", f"--nodelist={self._slurm_node}"]
            )
        except DeviceError as err:
            return f"Slurm does not say whether a job is on this node ({err}); run this again when it answers"
        if running := jobs.out.split():
            return f"Slurm job {running[0]} is on this node; drain it and run this again"
        return ""

    def _try(self) -> None:
        """Let the kubelet check the whole configuration; it has no dry run, but stops at a missing kubeconfig."""
        with tempfile.TemporaryDirectory() as work:
            if self._at.drop_in.parent.is_dir():
                for other in self._at.drop_in.parent.glob("*.conf"):
                    shutil.copy(other, work)
            Path(work, self._at.drop_in.name).write_text(_text(self._want.lines_of_file))
            argv = ["kubelet", f"--config={self._at.main_config}", f"--config-dir={work}", "--kubeconfig=/nonexistent"]
            tried = self._run(argv, ok=(0, 1))
        if DRY_RUN_ENDS_WITH not in tried.err:
            said = (tried.err.strip() or "nothing").splitlines()[-1]
            message = f"the kubelet refuses this configuration, so {self.name} stays as it is: {_sentence(said)}"
            raise DeviceError(message, stderr=tried.err)

    def _write(self, lines: tuple[str, ...]) -> None:
        """Replace the file at once, readable by all as the kubelet's other files."""
        self._at.drop_in.parent.mkdir(parents=True, exist_ok=True)
        # The kubelet reads names that end in .conf only.
        partial = self._at.drop_in.with_suffix(".partial")
        partial.write_text(_text(lines))
        partial.chmod(0o644)
        partial.rename(self._at.drop_in)

    def _healthy(self) -> bool:
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(self._at.health_url, timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def _await_health(self) -> None:
        """Wait until the kubelet says ok for a while, or tell what it last said in the journal.

        It says ok before its container manager has looked at the machine, and may end right after.
        """
        deadline, healthy_looks = time.monotonic() + self._start_timeout_s, 0
        while True:
            healthy_looks = healthy_looks + 1 if self._healthy() else 0
            if healthy_looks == HEALTHY_LOOKS:
                return
            if time.monotonic() >= deadline:
                raise self._unhealthy()
            time.sleep(POLL_S)

    def _unhealthy(self) -> DeviceError:
        journal = self._run(["journalctl", "-u", UNIT, "-n", "20", "-o", "cat", "--no-pager"]).out
        last = [line for line in journal.splitlines() if "err=" in line] or ["nothing in its journal"]
        message = f"the kubelet is not healthy {self._start_timeout_s:g} s after its start: {_sentence(last[-1])}"
        return DeviceError(message, stdout=journal)


def _text(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _sentence(line: str) -> str:
    """What a log line of the kubelet says, without time, thread and source."""
    return line.partition('err="')[2].removesuffix('"').replace('\\"', "'") or line
