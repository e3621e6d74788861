# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who uses this node: Slurm's jobs and their pods, and how to keep new ones off while the kubelet is changed."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..core.command import Run
from ..core.converge import DeviceError
from .scontrol import fields, state_flags

REASON = "drawbridge kubelet: its configuration changes"
MARKER = Path("/var/lib/drawbridge/kubelet-change")
"""Stands while we keep jobs off, so that the run after one that broke off lets them in again, and others ask nobody."""
POD_LOGS = Path("/var/log/pods")


class NodeUse:
    """This node as Slurm calls it. Without Slurm's commands only pods count."""

    def __init__(self, run: Run, slurm_node: str, pod_logs: Path = POD_LOGS, marker: Path = MARKER) -> None:
        self._run, self._name, self._pod_logs, self._marker = run, slurm_node, pod_logs, marker

    @property
    def held(self) -> bool:
        """We keep jobs off."""
        return self._marker.exists()

    def busy(self) -> str:
        """Who would suffer from a restart: a Slurm job, or a job's pod that the kubelet has not cleaned up yet."""
        if pods := sorted(path.name for path in self._pod_logs.glob("*_slurm-*")):
            return f"a job's pod is on this node ({pods[0]}); run this again when the node is empty"
        if not shutil.which("squeue"):
            return ""
        try:
            jobs = self._run(["squeue", "--noheader", "--states=R,CF,CG,S", "--format=%i", f"--nodelist={self._name}"])
        except DeviceError as err:
            return f"Slurm does not say whether a job is on this node ({err}); run this again when it answers"
        if running := jobs.out.split():
            return f"Slurm job {running[0]} is on this node; drain it and run this again"
        return ""

    def hold(self) -> None:
        """Keep new jobs off, unless somebody does so already. Raises DeviceError if one was faster."""
        if not shutil.which("scontrol"):
            return
        if "DRAIN" not in state_flags(self._look())[1]:
            self._marker.parent.mkdir(parents=True, exist_ok=True)
            self._marker.write_text(f"{REASON}\n")
            self._run(["scontrol", "update", f"nodename={self._name}", "state=drain", f"reason={REASON}"])
        if why := self.busy():
            self.release()
            raise DeviceError(f"{self._name} was taken before it could be drained: {why}")

    def release(self) -> None:
        """Let jobs in again, unless somebody else has come to keep them off since."""
        if not self.held:
            return
        if self._look().get("Reason", "").startswith(REASON):
            self._run(["scontrol", "update", f"nodename={self._name}", "state=undrain"])
        self._marker.unlink()

    def _look(self) -> dict[str, str]:
        return fields(self._run(["scontrol", "show", "node", self._name, "-o"]).out)
