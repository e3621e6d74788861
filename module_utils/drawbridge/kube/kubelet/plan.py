# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps that give a node's kubelet its drop-in, and make it run with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...core.consent import Consent
from ...core.converge import Step
from .text import by_key

ADD = Consent(
    "may_add_config_dir",
    "the running kubelet reads no drop-ins, and Drawbridge changes how the site's unit starts it only with consent; "
    "compare docs/guides/kubeadm.md, and set",
)
WRITE, ENABLE, RESTART, RESUME, REMOVE_STATE = "write", "enable", "restart", "resume", "remove state"


@dataclass(frozen=True)
class AddFlag:
    """The payload of a step: text of the unit's drop-in."""

    unit: str


@dataclass(frozen=True)
class KubeletState:
    """The drop-in, and the kubelet that must have read it."""

    lines_of_file: tuple[str, ...]
    enabled: bool
    running: bool
    """The kubelet runs and answers its health check."""
    current: bool
    """The running kubelet was started after the drop-in was last written."""
    outdated: tuple[str, ...] = ()
    """State files of the kubelet's managers that contradict the wanted content."""
    drained: bool = False
    """An earlier run drained the node and did not finish."""
    missing_flag: str = ""
    """A drop-in of kubeadm's unit, without which the running kubelet does not read Drawbridge's configuration."""
    member: bool = field(default=True, compare=False)
    """The host is a member of a cluster. On other hosts only the file is written; the join starts the kubelet."""

    def lines(self) -> list[str]:
        """Lines of a diff: the drop-in, the daemon, the drain."""
        daemon = "stopped" if not self.running else "running" if self.current else "running with older content"
        drained = ["Slurm: drained for a change of the kubelet"] if self.drained else []
        flag = ["kubelet.service: without --config-dir"] if self.missing_flag else []
        unit = f"kubelet.service: {'enabled' if self.enabled else 'disabled'}, {daemon}"
        return [*self.lines_of_file, unit, *flag, *drained]


def plan(have: KubeletState, want: KubeletState) -> list[Step[KubeletState]]:
    """File, unit, daemon. They wait while the node is in use. On a host that is no member, only the file is written.

    The file waits too: a crash would restart the kubelet, and it refuses state files of another policy. A change also
    waits while the kubelet is down, because its pods run on. Starting it unchanged never waits.
    """
    steps = []
    rewrites = have.lines_of_file != want.lines_of_file
    if rewrites:
        write = _changes(have.lines_of_file, want.lines_of_file)
        steps.append(Step(write, lambda s: replace(s, lines_of_file=want.lines_of_file, current=False), WRITE))
    if not (have.running or have.member):
        if have.outdated:  # of an earlier membership: the next kubelet would exit on them
            names = ", ".join(have.outdated)
            steps.append(Step(f"remove {names}", lambda s: replace(s, outdated=()), REMOVE_STATE))
        return steps
    if have.missing_flag:
        flag = AddFlag(have.missing_flag)
        steps.append(Step("add --config-dir to the unit", lambda s: replace(s, missing_flag=""), flag, consent=ADD))
    if not have.enabled:
        steps.append(Step("start the kubelet at boot", lambda s: replace(s, enabled=True), ENABLE))
    disturbs = have.running or rewrites or bool(have.outdated)
    if not have.running or rewrites or not have.current or have.missing_flag:
        steps.append(Step(_restart(have, disturbs), _restarted, RESTART))
    elif have.drained:
        steps.append(Step("let Slurm use the node again", lambda s: replace(s, drained=False), RESUME))
    return [replace(step, disturbs=disturbs and step.payload != RESUME) for step in steps]


def _restarted(state: KubeletState) -> KubeletState:
    return replace(state, running=True, current=True, outdated=(), drained=False)


def _restart(have: KubeletState, disturbs: bool) -> str:
    """The step names the state files that it removes."""
    start = "restart" if have.running else "start"
    verb = f"drain the node, {start} the kubelet with it, resume" if disturbs else "start the kubelet"
    return f"{verb}; remove {', '.join(have.outdated)}" if have.outdated else verb


def _changes(have: tuple[str, ...], want: tuple[str, ...]) -> str:
    """Name the keys that change; a new drop-in only says how many."""
    old, new = by_key(have), by_key(want)
    if not old:
        return f"write the drop-in with {len(new)} keys"
    changed = [key for key in (*new, *(key for key in old if key not in new)) if old.get(key) != new.get(key)]
    shown = [f"{key} {old.get(key, 'unset')} -> {new.get(key, 'unset')}" for key in changed]
    return f"change the drop-in: {'; '.join(shown) or 'comments'}"
