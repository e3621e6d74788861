# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether a started kubelet is healthy and reads the drop-in: health check, Node, journal, command line."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError
from ..node_object_io import NodeObject
from .text import flag, kubeadm_unit

UNIT = "kubelet.service"
URL = "http://127.0.0.1:10248/healthz"
POLL_S = 0.5
HEALTHY_CHECKS = 5
ANSWER_S = 30.0
"""A healthy kubelet on a stalled machine answers late; a dead one refuses the connection at once."""
STATE_ERRORS = (
    "could not restore state from checkpoint",
    "the expected machine state is different from the real one",
    "not all reserved cpus",
    "some of strictly reserved cpus",
    "doesn't match with CPUs in state",
)
"""Errors of a kubelet whose state files contradict its configuration. systemd restarts it, so it may pass a check."""

FATAL = ("command failed", "Failed to run kubelet")
"""A kubelet's last error. When systemd restarts it, harmless errors follow."""


class Health:
    """The kubelet of this host, and the time that it may take to become healthy."""

    def __init__(self, run: Run, timeout_s: float) -> None:
        self._run, self._timeout_s = run, timeout_s

    def ok(self) -> bool:
        """Whether its health check passes now."""
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(URL, timeout=ANSWER_S) as answer:
                return answer.status == 200
        except OSError:
            return False

    def wait(self, begun_s: float, node: NodeObject, at_least_s: float = 0.0) -> None:
        """Wait until several checks in a row pass and the Node is Ready. Raises DeviceError with the journal's error.

        One check is not enough: a kubelet passes it before its container manager has read the machine, and may exit.
        """
        limit_s = max(self._timeout_s, at_least_s)
        deadline, healthy_checks, ready = time.monotonic() + limit_s, 0, not node.member
        while healthy_checks < HEALTHY_CHECKS or not ready:
            healthy_checks = healthy_checks + 1 if self.ok() else 0
            if healthy_checks and not ready:
                ready = _ready(node, begun_s)
            if healthy_checks >= HEALTHY_CHECKS and ready:
                break
            if time.monotonic() >= deadline:
                lines = journal(self._run, begun_s)
                missing = "Ready" if healthy_checks and not ready else "healthy"
                message = f"the kubelet is not {missing} {limit_s:g} s after its start: {last_error(lines)}"
                raise DeviceError(message, stdout="\n".join(lines))
            time.sleep(POLL_S)
        if found := [line for line in journal(self._run, begun_s) if any(it in line for it in STATE_ERRORS)]:
            message = f"the kubelet contradicts its state files: {error_text(found[-1])}"
            raise DeviceError(message, stdout="\n".join(found))


def _ready(node: NodeObject, begun_s: float) -> bool:
    """Whether the Node has become Ready since then; heartbeats are in whole seconds."""
    try:
        found = node.read()
    except DeviceError:
        return False
    return found.ready and found.heartbeat_s >= int(begun_s)


def journal(run: Run, begun_s: float) -> list[str]:
    """The kubelet's log lines since then."""
    since = ["--since", f"@{begun_s:.3f}", "-n", "200"]
    return run(["journalctl", "-u", UNIT, *since, "-o", "cat", "--no-pager"], ok=(0, 1)).out.splitlines()


def last_error(lines: Sequence[str]) -> str:
    """Why the kubelet ended, or else its last error."""
    errors = [line for line in lines if "err=" in line]
    fatal = [line for line in errors if any(it in line for it in FATAL)]
    return error_text((fatal or errors or ["nothing in its journal"])[-1])


def missing_flag(process: Path, drop_in: Path) -> str:
    """A drop-in of its unit that makes the running kubelet read the drop-in; empty if the kubelet reads it.

    Raises DeviceError if the kubelet reads another folder, or if kubeadm's unit did not start it.
    """
    command, environment = (words(process / name) for name in ("cmdline", "environ"))
    folder = flag(command, "--config-dir")
    if Path(folder or "/") == drop_in.parent:
        return ""
    unit = "" if folder else kubeadm_unit(command, environment, str(drop_in.parent))
    if not unit:
        reads = f"drop-ins of {folder}" if folder else "no drop-ins"
        raise DeviceError(
            f"the running kubelet reads {reads}, so {drop_in} would have no effect; its unit is not kubeadm's, so "
            f"start it with --config-dir={drop_in.parent} yourself"
        )
    return unit


def words(path: Path) -> list[str]:
    """Command line or environment of the running kubelet, a file in /proc. Raises DeviceError."""
    try:
        return path.read_text().rstrip("\0").split("\0")
    except OSError as err:
        raise DeviceError(f"the kubelet exited while its command line was read ({err}); run this again") from err


def add_flag(run: Run, unit: Path, text: str) -> None:
    """Let systemd start the next kubelet with this drop-in of its unit. The running one goes on."""
    unit.parent.mkdir(parents=True, exist_ok=True)
    unit.write_text(text)
    unit.chmod(0o644)
    run(["systemctl", "daemon-reload"])


def error_text(line: str) -> str:
    """The error of a kubelet's log line, without time, thread and source."""
    return line.partition('err="')[2].removesuffix('"').replace('\\"', "'") or line
