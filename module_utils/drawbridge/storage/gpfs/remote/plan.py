# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A remote mount from both sides: what the owner grants, and what the cluster that mounts has defined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ....core.converge import Step
from .text import RemoteFilesystem

AUTHORIZE, GRANT, CONNECT, DEFINE, NOTHING = "authorize", "grant", "connect", "define", ""


@dataclass(frozen=True)
class OwnerState:
    """The owner's view of one client cluster. Empty digest: it is not authorized."""

    client: str
    digest: str = ""
    grants: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Access, and what root is, by the owner's device."""
    own_digest: str = field(default="", compare=False)

    def lines(self) -> list[str]:
        """As mmauth shows it."""
        if not self.digest:
            return []
        access = (f"{self.client} {device} ({it[0]}, root {it[1]})" for device, it in sorted(self.grants.items()))
        return [f"{self.client} {self.digest}", *access]


@dataclass(frozen=True)
class RemoteState:
    """The client's view of the owner. Empty digest: it is not defined."""

    owner: str
    contacts: tuple[str, ...] = ()
    digest: str = ""
    filesystems: Mapping[str, RemoteFilesystem] = field(default_factory=dict)
    """By local device."""
    own_digest: str = field(default="", compare=False)
    uid_remapping: bool = field(default=False, compare=False)

    def lines(self) -> list[str]:
        """As mmremotecluster and mmremotefs show it."""
        known = [f"{self.owner} {','.join(self.contacts)} {self.digest}"] if self.digest else []
        mounts = (
            f"{local} {it.cluster}:{it.remote} {it.mount} {it.access}" for local, it in sorted(self.filesystems.items())
        )
        return [*known, *mounts]


def plan(have: OwnerState, want: OwnerState, key: str = "given") -> list[Step[OwnerState]]:
    """Authorize the client by its key, then grant each file system. Other grants stay.

    `key` is the client's public key, empty if it was not given.
    """
    steps: list[Step[OwnerState]] = []
    refused = _other_key("this owner's", have.own_digest, want.own_digest, "owner.fingerprint")
    if have.digest != want.digest:
        verb = "replace the key of cluster" if have.digest else "authorize cluster"
        reason = f"{verb} {want.client}, with the key {want.digest}"
        why = refused or ("" if key else _needs_key(want.client))
        steps.append(Step(reason, lambda s: replace(s, digest=want.digest), (AUTHORIZE, ""), refused=why))
    for device, grant in want.grants.items():
        if have.grants.get(device) != grant:
            steps.append(_grant(device, grant, want.client, refused))
    return steps


def _grant(device: str, grant: tuple[str, str], client: str, refused: str) -> Step[OwnerState]:
    access, root = grant
    root_is = "root stays root" if root == "no" else f"root becomes {root}"
    reason = f"grant {client} {access} access to {device}, {root_is} (at its next mount)"

    def becomes(state: OwnerState) -> OwnerState:
        return replace(state, grants={**state.grants, device: grant})

    return Step(reason, becomes, (GRANT, device), refused=refused)


def plan_client(have: RemoteState, want: RemoteState, key: str = "given") -> list[Step[RemoteState]]:
    """Define the owner by its contact nodes and key, then its file systems. `key` is the owner's, or empty."""
    return [*_connect(have, want, key), *_define(have, want), *_remapping(have, want)]


def _connect(have: RemoteState, want: RemoteState, key: str) -> Iterator[Step[RemoteState]]:
    refused = _other_key("this cluster's", have.own_digest, want.own_digest, "fingerprint")
    if (have.contacts, have.digest) == (want.contacts, want.digest):
        if refused:
            yield Step("compare the keys", lambda s: s, (NOTHING, ""), refused=refused)
        return
    verb = "change" if have.digest else "define"
    reason = f"{verb} remote cluster {want.owner}, by {', '.join(want.contacts)}, with the key {want.digest}"
    why = refused or ("" if key or have.digest == want.digest else _needs_key(want.owner))
    yield Step(reason, lambda s: replace(s, contacts=want.contacts, digest=want.digest), (CONNECT, ""), refused=why)


def _define(have: RemoteState, want: RemoteState) -> Iterator[Step[RemoteState]]:
    for local, wanted in want.filesystems.items():
        if have.filesystems.get(local) == wanted:
            continue
        verb = "change" if local in have.filesystems else "define"
        reason = f"{verb} {local} as {wanted.remote} of {wanted.cluster}, at {wanted.mount}, {wanted.access}"

        def becomes(state: RemoteState, local: str = local, wanted: RemoteFilesystem = wanted) -> RemoteState:
            return replace(state, filesystems={**state.filesystems, local: wanted})

        yield Step(reason, becomes, (DEFINE, local))


def _remapping(have: RemoteState, want: RemoteState) -> Iterator[Step[RemoteState]]:
    if have.uid_remapping != want.uid_remapping:
        word = "yes" if want.uid_remapping else "no"
        why = (
            f"the cluster's enableUIDremap says otherwise, and it concerns all its nodes; set it with:"
            f" mmchconfig enableUIDremap={word}, or change drawbridge_gpfs.owner.uid_remapping"
        )
        numbers = "other" if want.uid_remapping else "the same"
        yield Step(f"let users have {numbers} numbers at the owner", lambda s: s, (NOTHING, ""), why)


def _other_key(whose: str, have: str, want: str, key: str) -> str:
    if have == want:
        return ""
    return (
        f"{whose} public key has the digest {have or 'none'}, but drawbridge_gpfs.{key} is {want}; find out with the"
        " cluster's administrators which is right before you change the intent"
    )


def _needs_key(cluster: str) -> str:
    return f"the public key of cluster {cluster} is needed, and was not given"
