# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The keys of a host in known_hosts: after it was installed again, its new key alone."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ..converge import DeviceError, Step

WHERE = "/etc/ssh/ssh_host_ed25519_key.pub"


@dataclass(frozen=True)
class Key:
    """A public key: its type, such as ssh-ed25519, and the rest in Base64."""

    kind: str
    blob: str

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` prints it."""
        digest = hashlib.sha256(base64.b64decode(self.blob)).digest()
        return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"

    def __str__(self) -> str:
        return f"{self.kind} {self.fingerprint}"


@dataclass(frozen=True)
class KnownKeys:
    """The keys of one host in the file."""

    keys: frozenset[Key]

    def lines(self) -> list[str]:
        """One line for each key."""
        return sorted(map(str, self.keys))


def offered_key(name: str, offered: Sequence[Key], fingerprint: str) -> Key:
    """The key with this fingerprint. Raises DeviceError if the host offers only others."""
    for key in offered:
        if key.fingerprint == fingerprint:
            return key
    found = ", ".join(map(str, offered)) or "no key"
    raise DeviceError(
        f"{name} offers {found}, but the fingerprint to trust is {fingerprint}; read it on the console of {name}:"
        f" ssh-keygen -lf {WHERE}"
    )


def plan(have: KnownKeys, want: KnownKeys) -> list[Step[KnownKeys]]:
    """Replace the host's keys in one step: between two steps the host would have no key, or two."""
    if have == want:
        return []
    (key,) = want.keys
    old = have.keys - want.keys
    instead = f" instead of {', '.join(sorted(map(str, old)))}" if old else ""
    return [Step(f"trust the host key {key}{instead}", lambda state: want, key)]
