# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A shared file system as the other layers see it, the same for all kinds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SharedFilesystem:
    """A file system that all nodes mount at the same place."""

    mount: str
    kind: str
    """gpfs or nfs: the variable `drawbridge_<kind>` declares it, the role `<kind>_client` mounts it."""
    source: str
    """The device, or the server with its export."""
    proof: str
    """The command whose output shows that it is mounted with its kind; it reads this host only."""
    unit: str
    """The systemd unit that mounts it after a boot; slurmd and kubelet start after this unit."""
