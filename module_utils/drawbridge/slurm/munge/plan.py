# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""munge: the cluster's key, and a daemon that has read it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from ...core.converge import Step


@dataclass(frozen=True)
class MungeState:
    """The key's digest (empty: no key, or one that other users can read), and the daemon."""

    digest: str
    enabled: bool = True
    active: bool = True
    current: bool = True

    def lines(self) -> list[str]:
        """The key's digest and the daemon's state."""
        state = ["enabled" if self.enabled else "disabled", "running" if self.active else "stopped"]
        if self.active and not self.current:
            state.append("with an older key")
        return [f"key sha256:{self.digest or 'none'}", f"munge.service {' '.join(state)}"]


def digest_of(key: bytes) -> str:
    """Enough to distinguish keys; the key can't be derived from it."""
    return hashlib.sha256(key).hexdigest()[:12]


def plan(have: MungeState, want: MungeState) -> list[Step[MungeState]]:
    """The key first: munged reads it only when it starts, and does not start without it."""
    steps: list[Step[MungeState]] = []
    wrong = have.digest != want.digest
    if wrong:
        reason = "replace the munge key" if have.digest else "write the munge key"
        steps.append(Step(reason, lambda s: replace(s, digest=want.digest, current=False), "key"))
    if not have.enabled:
        steps.append(Step("enable munge.service", lambda s: replace(s, enabled=True), "enable"))
    if not have.active:
        steps.append(Step("start munge.service", lambda s: replace(s, active=True, current=True), "start"))
    elif wrong or not have.current:
        steps.append(Step("restart munge.service with the key", lambda s: replace(s, current=True), "restart"))
    return steps
