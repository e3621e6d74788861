# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a kubelet that was started is well, and reads us: its health check, Node, journal and command line."""

from __future__ import annotations

import time
import urllib.request
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError
from ..node_object_io import OwnNode
from .text import config_dir

UNIT = "kubelet.service"
URL = "http://127.0.0.1:10248/healthz"
POLL_S = 0.5
HEALTHY_LOOKS = 5
ANSWER_S = 30.0
"""A machine that stands still for a moment has a kubelet that is well; one that is dead refuses at once."""
COMPLAINTS = (
    "could not restore state from checkpoint",
    "the expected machine state is different from the real one",
    "not all reserved cpus",
    "some of strictly reserved cpus",
    "doesn't match with CPUs in state",
)
"""What a kubelet says that its state files contradict; systemd starts it again, so it may look well for a moment."""

FATAL = ("command failed", "Failed to run kubelet")
"""What a kubelet ends with; one that systemd starts again writes harmless errors after it."""


class Health:
    """The kubelet of this host, which gets so many seconds to become well."""

    def __init__(self, run: Run, timeout_s: float, url: str = URL) -> None:
        self._run, self._timeout_s, self._url = run, timeout_s, url

    def ok(self) -> bool:
        """What its health check says now."""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(self._url, timeout=ANSWER_S) as answer:
                return answer.status == 200
        except OSError:
            return False

    def wait(self, begun_s: float, node: OwnNode, at_least_s: float = 0.0) -> None:
        """Wait until it says ok for a while and its Node is Ready since; tell what its journal says if it doesn't.

        It says ok before its container manager has looked at the machine, and may end right after.
        """
        patience_s = max(self._timeout_s, at_least_s)
        deadline, healthy_looks, ready = time.monotonic() + patience_s, 0, not node.member
        while healthy_looks < HEALTHY_LOOKS or not ready:
            healthy_looks = healthy_looks + 1 if self.ok() else 0
            if healthy_looks and not ready:
                ready = self._ready(node, begun_s)
            if healthy_looks >= HEALTHY_LOOKS and ready:
                break
            if time.monotonic() >= deadline:
                raise self._unwell(begun_s, patience_s, "Ready" if healthy_looks and not ready else "healthy")
            time.sleep(POLL_S)
        if said := [line for line in self._journal(begun_s).splitlines() if any(it in line for it in COMPLAINTS)]:
            raise DeviceError(f"the kubelet contradicts its state files: {sentence(said[-1])}", stdout="\n".join(said))

    def _ready(self, node: OwnNode, begun_s: float) -> bool:
        """Its Node is Ready, and not by a word from before: stamps have whole seconds."""
        try:
            found = node.look()
        except DeviceError:
            return False
        return found.ready and found.heard_s >= int(begun_s)

    def _unwell(self, begun_s: float, patience_s: float, what: str) -> DeviceError:
        journal = self._journal(begun_s)
        errors = [line for line in journal.splitlines() if "err=" in line]
        fatal = [line for line in errors if any(it in line for it in FATAL)]
        said = (fatal or errors or ["nothing in its journal"])[-1]
        message = f"the kubelet is not {what} {patience_s:g} s after its start: {sentence(said)}"
        return DeviceError(message, stdout=journal)

    def _journal(self, begun_s: float) -> str:
        since = ["--since", f"@{begun_s:.3f}", "-n", "200"]
        return self._run(["journalctl", "-u", UNIT, *since, "-o", "cat", "--no-pager"], ok=(0, 1)).out


def refuse_deaf(cmdline: Path, drop_in: Path) -> None:
    """Raises DeviceError for a running kubelet that does not read the drop-in: it would be restarted for nothing."""
    try:
        told = config_dir(cmdline.read_text().rstrip("\0").split("\0"))
    except OSError as err:
        raise DeviceError(f"the kubelet ended while it was looked at ({err}); run this again") from err
    if Path(told or "/") != drop_in.parent:
        reads, flag = f"drop-ins of {told}" if told else "no drop-ins", f"--config-dir={drop_in.parent}"
        raise DeviceError(
            f"the running kubelet reads {reads}, so {drop_in} would say nothing to it; start it with {flag}, after "
            f"kubeadm by KUBELET_EXTRA_ARGS={flag} in /etc/default/kubelet (/etc/sysconfig/kubelet with RPM)"
        )


def sentence(line: str) -> str:
    """What a log line of the kubelet says, without time, thread and source."""
    return line.partition('err="')[2].removesuffix('"').replace('\\"', "'") or line
