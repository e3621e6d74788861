# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's kubelet: its drop-in file, its systemd unit, its health check, its managers' state files."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...core import files
from ...core.command import Run
from ...core.converge import DeviceError, Step
from ...nodes.use_io import NodeUse
from ..node_object_io import OwnNode
from .health_io import UNIT, Health, refuse_deaf, sentence
from .plan import ENABLE, FORGET, RELEASE, RESTART, WRITE, KubeletState
from .state_files import CPU, MEMORY, outdated
from .text import parsed

PROPERTIES = ("UnitFileState", "ActiveState", "ExecMainStartTimestampMonotonic", "MainPID")
DRY_RUN_ENDS_WITH = "kubeconfig: stat /nonexistent"
"""Where a kubelet stops that was given no kubeconfig: behind the checks of values, before those of the machine.

"invalid kubeconfig: ..." without rotation of certificates, "unable to load kubeconfig: ..." with it (kubelet 1.36.3).
"""

GO_BACK_S = 120.0
"""What ran before gets so long at least to run again: giving it up leaves a node without a kubelet."""


@dataclass(frozen=True)
class Places:
    """Where a site keeps its kubelet's things."""

    drop_in: Path
    main_config: Path
    state_dir: Path
    proc: Path = Path("/proc")


class Kubelet:
    """The kubelet of this node. `want` spares it questions whose answers would not matter.

    One that the site starts (`of_site`) is looked at before all else: without our directory it would never read us.
    """

    def __init__(
        self,
        places: Places,
        want: KubeletState,
        run: Run,
        use: NodeUse,
        node: OwnNode,
        health: Health,
        of_site: bool = False,
    ) -> None:
        self._at, self._want, self._run = places, want, run
        self._use, self._node, self._health, self._of_site = use, node, health, of_site

    @property
    def name(self) -> str:
        """The drop-in's path."""
        return str(self._at.drop_in)

    def read(self) -> KubeletState:
        """Look at file, unit and health check."""
        shown = self._run(["systemctl", "show", UNIT, "-p", ",".join(PROPERTIES)])
        unit = dict(line.split("=", 1) for line in shown.out.splitlines() if "=" in line)
        running = unit.get("ActiveState") == "active" and self._health.ok()
        if running and self._of_site:
            refuse_deaf(self._at.proc / unit["MainPID"] / "cmdline", self._at.drop_in)
        state = KubeletState(
            lines_of_file=self._lines(),
            enabled=unit.get("UnitFileState") == "enabled",
            running=running,
            current=running and self._started_after_write(int(unit["ExecMainStartTimestampMonotonic"])),
            held=self._use.held,
            member=self._node.member,
        )
        if state == self._want:
            return state
        return replace(state, outdated=self._outdated(self._want.lines_of_file))

    def in_use(self) -> str:
        """Why the kubelet must not be disturbed: jobs and their pods, and what the gate knows of the node."""
        if why := self._use.busy():
            return why
        if not self._node.member:
            return ""
        try:
            return self._node.look().in_use
        except DeviceError as err:
            return f"Kubernetes does not say who uses this node ({err}); run this again when it answers"

    def apply(self, steps: Sequence[Step[KubeletState]]) -> None:
        """Write, enable, restart. The kubelet tries the content before it replaces anything, but its last checks come
        only when it runs: if it does not stay up, the old content comes back.
        """
        todo = [step.payload for step in steps]
        if WRITE in todo:
            self._try()
        if RESTART in todo and (WRITE in todo or self._outdated(self._want.lines_of_file) or self._health.ok()):
            self._use.hold()
        if RESTART in todo:
            self._change(WRITE in todo)
        elif WRITE in todo:
            self._write(self._want.lines_of_file)
        if FORGET in todo:
            self._forget(self._want.lines_of_file)
        if ENABLE in todo:
            self._run(["systemctl", "enable", UNIT])
        if RESTART in todo or RELEASE in todo:
            self._use.release()

    def _change(self, rewrite: bool) -> None:
        """Stop it, let it find nothing that contradicts its new configuration, start it, and wait for the proof."""
        old = self._lines()
        self._run(["systemctl", "stop", UNIT])
        if rewrite:
            self._write(self._want.lines_of_file)
        try:
            self._start(self._want.lines_of_file)
        except DeviceError as err:
            if not rewrite:
                raise
            raise DeviceError(f"{err}; {self._go_back(old)}", **err.details) from err

    def _start(self, lines: tuple[str, ...], at_least_s: float = 0.0) -> None:
        self._forget(lines)
        begun_s = time.time()
        self._run(["systemctl", "start", UNIT])
        self._health.wait(begun_s, self._node, at_least_s)

    def _forget(self, lines: tuple[str, ...]) -> None:
        for name in self._outdated(lines):
            (self._at.state_dir / name).unlink(missing_ok=True)

    def _go_back(self, old: tuple[str, ...]) -> str:
        """Run with the old content again, and let jobs in.

        A kubelet that had none stays stopped, as it would be born open, and jobs stay off a node without a kubelet.
        """
        self._run(["systemctl", "stop", UNIT])
        if not old:
            return "it is stopped, and Slurm keeps the node drained" if self._use.held else "it is stopped"
        self._write(old)
        self._start(old, GO_BACK_S)
        self._use.release()
        return "it runs with its old configuration again"

    def _outdated(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        found = {name: self._at.state_dir / name for name in (CPU, MEMORY)}
        return outdated({name: path.read_text() for name, path in found.items() if path.exists()}, parsed(lines))

    def _lines(self) -> tuple[str, ...]:
        try:
            return tuple(self._at.drop_in.read_text().splitlines())
        except FileNotFoundError:
            return ()

    def _started_after_write(self, started_us: int) -> bool:
        """Compare on the wall clock, the only one that files know."""
        written = files.changed_s(str(self._at.drop_in))
        # in this order: what passes between the two looks must not make the start look older than it is
        up_s = time.monotonic() - started_us / 1e6
        return 0 < written <= time.time() - up_s

    def _try(self) -> None:
        """Let the kubelet check the whole configuration; it has no dry run, but stops at a missing kubeconfig."""
        with tempfile.TemporaryDirectory() as work:
            if self._at.drop_in.parent.is_dir():
                for other in self._at.drop_in.parent.glob("*.conf"):
                    shutil.copy(other, work)
            Path(work, self._at.drop_in.name).write_text(_text(self._want.lines_of_file))
            # a host that is no member yet has no other configuration than the kubelet's own
            main = [f"--config={self._at.main_config}"] if self._at.main_config.exists() else []
            argv = ["kubelet", *main, f"--config-dir={work}", "--kubeconfig=/nonexistent"]
            tried = self._run(argv, ok=(0, 1))
        if DRY_RUN_ENDS_WITH not in tried.err:
            said = (tried.err.strip() or "nothing").splitlines()[-1]
            message = f"the kubelet refuses this configuration, so {self.name} stays as it is: {sentence(said)}"
            raise DeviceError(message, stderr=tried.err)

    def _write(self, lines: tuple[str, ...]) -> None:
        """Replace the file at once, readable by all as the kubelet's other files."""
        self._at.drop_in.parent.mkdir(parents=True, exist_ok=True)
        # The kubelet reads names that end in .conf only.
        partial = self._at.drop_in.with_suffix(".partial")
        partial.write_text(_text(lines))
        partial.chmod(0o644)
        partial.rename(self._at.drop_in)


def _text(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)
