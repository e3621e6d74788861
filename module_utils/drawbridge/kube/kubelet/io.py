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
from ..node_object_io import NodeObject
from .health_io import UNIT, Health, add_flag, error_text, missing_flag, words
from .plan import ENABLE, REMOVE_STATE, RESTART, RESUME, WRITE, AddFlag, KubeletState
from .state_files import CPU, MEMORY, outdated
from .text import flag, parsed

PROPERTIES = ("UnitFileState", "ActiveState", "ExecMainStartTimestampMonotonic", "MainPID")
DRY_RUN_ENDS_WITH = "kubeconfig: stat /nonexistent"
"""A kubelet without kubeconfig ends here: after it has checked all values, before it checks the machine.

"invalid kubeconfig: ..." without rotation of certificates, "unable to load kubeconfig: ..." with it (kubelet 1.36.3).
"""

RESTORE_S = 120.0
"""Shortest time limit for a restart with the old content: if that fails, the node has no kubelet."""


@dataclass(frozen=True)
class Places:
    """The kubelet's files and folders."""

    drop_in: Path
    main_config: Path
    state_dir: Path
    proc: Path = Path("/proc")
    unit: Path = Path("/etc/systemd/system/kubelet.service.d/50-drawbridge.conf")


class Kubelet:
    """The kubelet of this node. If the site starts it (`of_site`), its command line may lack the drop-in's folder."""

    def __init__(
        self,
        places: Places,
        want: KubeletState,
        run: Run,
        use: NodeUse,
        node: NodeObject,
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
        """Read file, unit, health check and state files."""
        shown = self._run(["systemctl", "show", UNIT, "-p", ",".join(PROPERTIES)])
        unit = dict(line.split("=", 1) for line in shown.out.splitlines() if "=" in line)
        running = unit.get("ActiveState") == "active" and self._health.ok()
        missing = self._missing_flag(self._at.proc / unit["MainPID"]) if running and self._of_site else ""
        state = KubeletState(
            lines_of_file=self._lines(),
            enabled=unit.get("UnitFileState") == "enabled",
            running=running,
            current=running and self._started_after_write(int(unit["ExecMainStartTimestampMonotonic"])),
            drained=self._use.drained,
            member=self._node.member,
            missing_flag=missing,
        )
        if state == self._want:
            return state
        return replace(state, outdated=self._outdated(self._want.lines_of_file))

    def _missing_flag(self, process: Path) -> str:
        """A drop-in of the unit, if the running kubelet needs one. Its command line names its other files, too."""
        command = words(process / "cmdline")
        main, state = (flag(command, name) for name in ("--config", "--root-dir"))
        self._at = replace(
            self._at, main_config=Path(main or self._at.main_config), state_dir=Path(state or self._at.state_dir)
        )
        return missing_flag(process, self._at.drop_in)

    def in_use(self) -> str:
        """Why the kubelet must not be disturbed: a job, a job's pod, or the gate's taint."""
        if why := self._use.busy():
            return why
        if not self._node.member:
            return ""
        try:
            return self._node.read().in_use
        except DeviceError as err:
            return f"the API server does not show whether this node is in use ({err}); run this again when it answers"

    def apply(self, steps: Sequence[Step[KubeletState]]) -> None:
        """Check new content with the kubelet's own parser, then write, enable and restart.

        Some checks only happen in the running kubelet. If it does not stay up, the old content is restored.
        """
        todo = [step.payload for step in steps]
        if WRITE in todo:
            self._dry_run()
        if RESTART in todo and (WRITE in todo or self._outdated(self._want.lines_of_file) or self._health.ok()):
            self._use.drain()
        for payload in (it for it in todo if isinstance(it, AddFlag)):
            add_flag(self._run, self._at.unit, payload.unit)
        if RESTART in todo:
            self._change(WRITE in todo)
        elif WRITE in todo:
            self._write(self._want.lines_of_file)
        if REMOVE_STATE in todo:
            self._remove_outdated(self._want.lines_of_file)
        if ENABLE in todo:
            self._run(["systemctl", "enable", UNIT])
        if RESTART in todo or RESUME in todo:
            self._use.resume()

    def _change(self, rewrite: bool) -> None:
        """Stop it, write, remove outdated state files, start it, and wait until it is healthy."""
        old = self._lines()
        self._run(["systemctl", "stop", UNIT])
        if rewrite:
            self._write(self._want.lines_of_file)
        try:
            self._start(self._want.lines_of_file)
        except DeviceError as err:
            if not rewrite:
                raise
            raise DeviceError(f"{err}; {self._restore(old)}", **err.details) from err

    def _start(self, lines: tuple[str, ...], at_least_s: float = 0.0) -> None:
        self._remove_outdated(lines)
        begun_s = time.time()
        self._run(["systemctl", "start", UNIT])
        self._health.wait(begun_s, self._node, at_least_s)

    def _remove_outdated(self, lines: tuple[str, ...]) -> None:
        for name in self._outdated(lines):
            (self._at.state_dir / name).unlink(missing_ok=True)

    def _restore(self, old: tuple[str, ...]) -> str:
        """Run with the old content again, and end the drain.

        A kubelet that had no drop-in stays stopped and the node drained, because its node could be born open.
        """
        self._run(["systemctl", "stop", UNIT])
        if not old:
            return "it is stopped, and Slurm keeps the node drained" if self._use.drained else "it is stopped"
        self._write(old)
        self._start(old, RESTORE_S)
        self._use.resume()
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
        """Compare on the wall clock, because files have no other times."""
        written = files.changed_s(str(self._at.drop_in))
        # in this order: time between the two calls must not make the start look older than it is
        up_s = time.monotonic() - started_us / 1e6
        return 0 < written <= time.time() - up_s

    def _dry_run(self) -> None:
        """Let the kubelet check the whole configuration. It has no dry run, but stops at a missing kubeconfig."""
        with tempfile.TemporaryDirectory() as work:
            if self._at.drop_in.parent.is_dir():
                for other in self._at.drop_in.parent.glob("*.conf"):
                    shutil.copy(other, work)
            Path(work, self._at.drop_in.name).write_text(_text(self._want.lines_of_file))
            # a host that is no member may have no main configuration
            main = [f"--config={self._at.main_config}"] if self._at.main_config.exists() else []
            argv = ["kubelet", *main, f"--config-dir={work}", "--kubeconfig=/nonexistent"]
            tried = self._run(argv, ok=(0, 1))
        if DRY_RUN_ENDS_WITH not in tried.err:
            last = (tried.err.strip() or "no output").splitlines()[-1]
            message = f"the kubelet refuses this configuration, so {self.name} stays unchanged: {error_text(last)}"
            raise DeviceError(message, stderr=tried.err)

    def _write(self, lines: tuple[str, ...]) -> None:
        """Replace the file atomically, readable by all like the kubelet's other files."""
        self._at.drop_in.parent.mkdir(parents=True, exist_ok=True)
        # the kubelet reads only names that end in .conf
        partial = self._at.drop_in.with_suffix(".partial")
        partial.write_text(_text(lines))
        partial.chmod(0o644)
        partial.rename(self._at.drop_in)


def _text(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)
