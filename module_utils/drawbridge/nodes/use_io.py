# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs and pods that use this node or any node, and a drain that keeps new ones off while a daemon changes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..core import hostlist
from ..core.command import Run
from ..core.converge import DeviceError
from . import passport_io
from .scontrol import fields, state_flags
from .use import USING, ClusterUse, closed

REASON = "drawbridge kubelet: its configuration changes"
MARKER = Path("/var/lib/drawbridge/kubelet-change")
"""Exists while this drain does, so that a run after an aborted one can lift it."""
UNKNOWN_NODE = "not found"
"""scontrol's words for a node that slurm.conf does not have."""
PAUSE_S = 2.0
POD_LOGS = Path("/var/log/pods")


class NodeUse:
    """This node, by its name in Slurm. Without Slurm's commands only pods count.

    Each daemon has a marker and a drain reason of its own.
    """

    def __init__(
        self, run: Run, slurm_node: str, pod_logs: Path = POD_LOGS, marker: Path = MARKER, reason: str = REASON
    ) -> None:
        self._run, self._name, self._pod_logs = run, slurm_node, pod_logs
        self._marker, self._reason = marker, reason

    @property
    def drained(self) -> bool:
        """Whether Drawbridge's drain keeps jobs off."""
        return self._marker.exists()

    def pod(self) -> str:
        """A job's pod that the kubelet has not cleaned up yet; empty for none."""
        pods = sorted(path.name for path in self._pod_logs.glob("*_slurm-*"))
        return f"a job's pod is on this node ({pods[0]}); run this again when the node is empty" if pods else ""

    def busy(self) -> str:
        """The Slurm job on this node, or a job's pod that the kubelet has not cleaned up yet; empty for none."""
        if pod := self.pod():
            return pod
        if not shutil.which("squeue"):
            return ""
        try:
            jobs = self._run(["squeue", "--noheader", f"--states={USING}", "--format=%i", f"--nodelist={self._name}"])
        except DeviceError as err:
            return f"Slurm gave no list of the jobs on this node ({err}); run this again when it answers"
        if running := jobs.out.split():
            return f"Slurm job {running[0]} is on this node; drain it and run this again"
        return ""

    def undrained(self, reason: str = "retire") -> str:
        """Why new jobs could start on this node; empty if none can, or if Slurm does not know the node.

        `reason` is one word for the drain that a person makes.
        """
        if not shutil.which("scontrol"):
            return ""
        try:
            state, flags = state_flags(self._look())
        except DeviceError as err:
            if UNKNOWN_NODE in str(err.details.get("stdout", "")) + str(err.details.get("stderr", "")):
                return ""
            return f"Slurm gave no state of {self._name} ({err}); run this again when it answers"
        if closed(state, flags):
            return ""
        drain = f"scontrol update nodename={self._name} state=drain reason={reason}"
        return f"Slurm may start jobs on {self._name}; drain it first: {drain}"

    def drain(self, what: str = "") -> None:
        """Drain the node, unless it is drained already. Raises DeviceError if a job started before the drain.

        `what` ends the drain's reason, for people who find the node drained after a change that failed.
        """
        if not shutil.which("scontrol"):
            return
        if "DRAIN" not in state_flags(self._look())[1]:
            self._marker.parent.mkdir(parents=True, exist_ok=True)
            self._marker.write_text(f"{self._reason}\n")
            reason = f"reason={self._reason}{what and f': {what}'}"
            self._run(["scontrol", "update", f"nodename={self._name}", "state=drain", reason])
        if why := self.busy():
            self.resume()
            raise DeviceError(f"{self._name} was taken before it could be drained: {why}")

    def resume(self) -> None:
        """Lift the drain, unless its reason is another one by now.

        A node without a valid passport gets the reason that its proof lifts.
        """
        if not self.drained:
            return
        if self._look().get("Reason", "").startswith(self._reason):
            why = passport_io.unproved(self._run, passport_io.installed())
            words = ["state=drain", f"reason={passport_io.REASON}{why}"] if why else ["state=undrain"]
            self._run(["scontrol", "update", f"nodename={self._name}", *words])
        self._marker.unlink()

    def _look(self) -> dict[str, str]:
        return fields(self._run(["scontrol", "show", "node", self._name, "-o"]).out)


def cluster_use(run: Run) -> ClusterUse:
    """Ask slurmctld who uses which node: one call for the nodes, then one for the jobs.

    In this order a job that starts in between is seen. No answer is an answer of its own: nothing is known then.
    """
    try:
        shown = run(["scontrol", "show", "node", "-o"]).out
        queue = run(["squeue", "--all", "--noheader", f"--states={USING}", "--format=%i %N"]).out
    except DeviceError as err:
        return ClusterUse(why_unknown=f"Slurm gave no list of nodes and jobs ({err})")
    return ClusterUse.of(shown, queue)


def jobs_on(run: Run, names: Sequence[str]) -> Mapping[str, str]:
    """The job on each of these nodes of slurm.conf. Raises DeviceError: an unknown job would lose its node."""
    if not names:
        return {}
    argv = ["squeue", "--all", "--noheader", f"--states={USING}", "--format=%i %N"]
    return ClusterUse.of("", run([*argv, f"--nodelist={hostlist.compress(list(names))}"]).out).jobs


def jobs_left_on(run: Run, names: Sequence[str], wait_s: float) -> Mapping[str, str]:
    """The job on each of these nodes, once none is left there, or after `wait_s`. Raises DeviceError."""
    deadline = time.monotonic() + wait_s
    while (jobs := jobs_on(run, names)).keys() & set(names) and time.monotonic() < deadline:
        time.sleep(PAUSE_S)
    return jobs
