# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A remote mount from both sides: access that the owner grants, and file systems that the accessing cluster defines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ....core.converge import Step
from .text import ROOT, RemoteFilesystem

AUTHORIZE, GRANT, CONNECT, DEFINE, NOTHING = "authorize", "grant", "connect", "define", ""


@dataclass(frozen=True)
class OwnerState:
    """The owner's record of one accessing cluster. Without a digest the cluster is not authorized."""

    client: str
    digest: str = ""
    grants: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Access (rw or ro) and the user that root becomes, by the owner's device."""
    own_digest: str = field(default="", compare=False)

    def lines(self) -> list[str]:
        """As mmauth shows it."""
        if not self.digest:
            return []
        access = (f"{self.client} {device} ({it[0]}, root is {it[1]})" for device, it in sorted(self.grants.items()))
        return [f"{self.client} {self.digest}", *access]


@dataclass(frozen=True)
class RemoteState:
    """The accessing cluster's record of the owner. Without a digest the owner is not defined."""

    owner: str
    contacts: tuple[str, ...] = ()
    digest: str = ""
    filesystems: Mapping[str, RemoteFilesystem] = field(default_factory=dict)
    """By local device."""
    own_digest: str = field(default="", compare=False)
    uid_remapping: bool = field(default=False, compare=False)
    mounted_on: Mapping[str, int] = field(default_factory=dict, compare=False)
    """Number of nodes that have mounted a local device."""

    def lines(self) -> list[str]:
        """As mmremotecluster and mmremotefs show it."""
        known = [f"{self.owner} {','.join(self.contacts)} {self.digest}"] if self.digest else []
        mounts = (
            f"{local} {it.cluster}:{it.remote} {it.mount} {it.access}" for local, it in sorted(self.filesystems.items())
        )
        return [*known, *mounts]


def plan(have: OwnerState, want: OwnerState, key: str) -> list[Step[OwnerState]]:
    """Authorize the accessing cluster by its key, then grant each file system. Other grants stay.

    `key` is the accessing cluster's public key, empty if it was not given.
    """
    steps: list[Step[OwnerState]] = list(_own_key(have, want, "owner.fingerprint"))
    if have.digest != want.digest:
        verb = "replace the key of cluster" if have.digest else "authorize cluster"
        reason = f"{verb} {want.client}, with the key {want.digest}"
        why = "" if key else _needs_key(want.client)
        steps.append(Step(reason, lambda s: replace(s, digest=want.digest), (AUTHORIZE, ""), refused=why))
    return [*steps, *(_grant(it, want) for it, grant in want.grants.items() if have.grants.get(it) != grant)]


def _grant(device: str, want: OwnerState) -> Step[OwnerState]:
    access, root = want.grants[device]
    root_is = "root stays root" if root == ROOT else f"root becomes {root}"
    reason = f"grant {want.client} {access} access to {device}, {root_is} (from its next mount on)"

    def becomes(state: OwnerState) -> OwnerState:
        return replace(state, grants={**state.grants, device: (access, root)})

    return Step(reason, becomes, (GRANT, device))


def plan_client(have: RemoteState, want: RemoteState, key: str) -> list[Step[RemoteState]]:
    """Define the owner by its contact nodes and key, then its file systems. `key` is the owner's, or empty."""
    return [
        *_own_key(have, want, "fingerprint"),
        *_remapping(have, want),
        *_connect(have, want, key),
        *(step for local in want.filesystems for step in _define(local, have, want)),
    ]


def _connect(have: RemoteState, want: RemoteState, key: str) -> Iterator[Step[RemoteState]]:
    if (have.contacts, have.digest) == (want.contacts, want.digest):
        return
    verb = "change" if have.digest else "define"
    reason = f"{verb} remote cluster {want.owner}, by {', '.join(want.contacts)}, with the key {want.digest}"
    why = "" if key or have.digest == want.digest else _needs_key(want.owner)
    yield Step(reason, lambda s: replace(s, contacts=want.contacts, digest=want.digest), (CONNECT, ""), refused=why)


def _define(local: str, have: RemoteState, want: RemoteState) -> Iterator[Step[RemoteState]]:
    """A file system of another owner under this name stays. A mounted one keeps its definition."""
    wanted, old = want.filesystems[local], have.filesystems.get(local)
    if old == wanted:
        return
    verb, refused, pending = "change" if old else "define", "", ""
    if old and old.cluster != wanted.cluster:
        refused = (
            f"this cluster has {local} as {old.remote} of cluster {old.cluster}; give the file system another device"
            " in drawbridge_gpfs.filesystems, and its own as owner_device"
        )
    elif nodes := have.mounted_on.get(local):
        pending = f"it is mounted on {nodes} nodes; drain them, then run mmumount {local} -a on an admin host"
    reason = f"{verb} {local} as {wanted.remote} of {wanted.cluster}, at {wanted.mount}, {wanted.access}"

    def becomes(state: RemoteState) -> RemoteState:
        return replace(state, filesystems={**state.filesystems, local: wanted})

    yield Step(reason, becomes, (DEFINE, local), pending=pending, refused=refused)


def _remapping(have: RemoteState, want: RemoteState) -> Iterator[Step[RemoteState]]:
    """With the wrong setting users would be other users at the owner. It concerns all nodes of the cluster."""
    if have.uid_remapping == want.uid_remapping:
        return
    word = "yes" if want.uid_remapping else "no"
    why = (
        f"drawbridge_gpfs.owner.uid_remapping is {str(want.uid_remapping).lower()}, but this cluster's attribute"
        f" enableUIDremap says otherwise; correct the intent, or set it for all nodes: mmchconfig enableUIDremap={word}"
    )
    yield Step("compare the UID remapping", lambda s: s, (NOTHING, ""), refused=why)


def _own_key(have: OwnerState | RemoteState, want: OwnerState | RemoteState, key: str) -> Iterator[Step[Any]]:
    """Nothing is changed on a host whose cluster has another key than the intent."""
    if why := other_key(have.own_digest, want.own_digest, key):
        yield Step("compare the keys", lambda s: s, (NOTHING, ""), refused=why)


def other_key(have: str, want: str, key: str) -> str:
    """Why a cluster's own key is refused; empty for the right one."""
    if have == want:
        return ""
    return (
        f"drawbridge_gpfs.{key} is {want}, but this cluster's public key has the digest {have or 'none'}; ask the"
        " cluster's administrators which one is right before you change the intent"
    )


def _needs_key(cluster: str) -> str:
    return (
        f"the public key of cluster {cluster} is missing: its admin host did not answer, or the intent names none; run"
        " this again, or set drawbridge_gpfs.owner.public_key"
    )
