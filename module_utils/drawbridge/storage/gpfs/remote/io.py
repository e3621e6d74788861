# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A remote mount's two sides, each on an admin host of its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....core.converge import DeviceError, Step
from ..io import Mm
from ..members.io import FOLDER
from .plan import AUTHORIZE, CONNECT, DEFINE, GRANT, OwnerState, RemoteState
from .text import ROOT, Authorized, authorized, clusters, filesystems, is_none

KEYS = Path("/var/mmfs/ssl")
KEY_FILES = ("id_rsa_committed.pub", "id_rsa.pub")
"""The key in use, and the only one of a cluster that never had another."""
CIPHER = "AUTHONLY"
"""Clusters authenticate each other; data is not encrypted."""


class _KeyFile:
    """The other cluster's public key in a file while a command reads it."""

    def __init__(self, key: str, folder: Path) -> None:
        self._key, self._path = key, folder / "remote.pub"

    def __enter__(self) -> str:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.write_text(self._key if self._key.endswith("\n") else f"{self._key}\n")
        return str(self._path)

    def __exit__(self, *_: object) -> None:
        self._path.unlink(missing_ok=True)


def own_entry(mm: Mm, cluster: str, wanted: str = "all") -> tuple[Authorized, dict[str, Authorized]]:
    """This cluster's entry of mmauth, and all entries that it showed. Raises DeviceError for another cluster."""
    shown = authorized(mm.show("mmauth", "show", wanted))
    own = next(((name, it) for name, it in shown.items() if it.own), None)
    if not own:
        raise DeviceError("mmauth does not show this cluster itself; check whether it has a key: mmauth show .")
    if own[0] != cluster:
        raise DeviceError(
            f"the intent names cluster {cluster} for this admin host, but the host belongs to {own[0]}; correct the"
            " cluster or the admin host in drawbridge_gpfs"
        )
    return own[1], shown


def public_key(folder: Path) -> str:
    """Text of this cluster's public key. Raises DeviceError if there is none."""
    for name in KEY_FILES:
        if (path := folder / name).exists():
            return path.read_text()
    raise DeviceError(f"{folder} has no {KEY_FILES[0]}; check whether this cluster has a key: mmauth show .")


class Owner:
    """The owner's record of one accessing cluster; `key` is that cluster's public key."""

    name = "GPFS authorization"

    def __init__(self, mm: Mm, want: OwnerState, key: str, cluster: str, folder: Path | None = None) -> None:
        self._mm, self._want, self._key, self._cluster = mm, want, key, cluster
        self._folder = folder or FOLDER

    def read(self) -> OwnerState:
        """What mmauth shows of the accessing cluster."""
        own, shown = own_entry(self._mm, self._cluster)
        client = shown.get(self._want.client)
        digest, grants = (client.digest, client.grants) if client else ("", {})
        wanted = {device: grants[device] for device in self._want.grants if device in grants}
        return OwnerState(self._want.client, digest, wanted, own.digest)

    def apply(self, steps: Sequence[Step[OwnerState]]) -> None:
        """Before anything is granted, a key with another digest than intended is deleted again."""
        client = self._want.client
        for step in steps:
            verb, device = step.payload
            if verb == AUTHORIZE:
                known = bool(self.read().digest)
                with _KeyFile(self._key, self._folder) as path:
                    self._mm.change("mmauth", "update" if known else "add", client, "-k", path, "-l", CIPHER)
                self._refuse_other_key()
            elif verb == GRANT:
                access, root = self._want.grants[device]
                squash = "no" if root == ROOT else root
                self._mm.change("mmauth", "grant", client, "-f", device, "-a", access, "-r", squash)

    def _refuse_other_key(self) -> None:
        digest = self.read().digest
        if digest not in ("", self._want.digest):
            self._mm.change("mmauth", "delete", self._want.client)
            raise DeviceError(_wrong_key(self._want.client, digest, self._want.digest, "fingerprint"))


class Client:
    """The accessing cluster's record of the owner; `key` is the owner's public key."""

    name = "GPFS remote cluster"

    def __init__(self, mm: Mm, want: RemoteState, key: str, cluster: str, folder: Path | None = None) -> None:
        self._mm, self._want, self._key, self._cluster = mm, want, key, cluster
        self._folder = folder or FOLDER

    def read(self) -> RemoteState:
        """What mmremotecluster and mmremotefs show of the owner."""
        own, _unused = own_entry(self._mm, self._cluster, ".")
        contacts, digest = clusters(self._shown("mmremotecluster")).get(self._want.owner, ((), ""))
        defined = filesystems(self._shown("mmremotefs"))
        wanted = {local: defined[local] for local in self._want.filesystems if local in defined}
        users = {local: self._users(local) for local, it in wanted.items() if it != self._want.filesystems[local]}
        return RemoteState(self._want.owner, contacts, digest, wanted, own.digest, self._remaps(), users)

    def apply(self, steps: Sequence[Step[RemoteState]]) -> None:
        """The owner with its key comes before its file systems."""
        for step in steps:
            verb, local = step.payload
            if verb == CONNECT:
                self._connect()
            elif verb == DEFINE:
                wanted = self._want.filesystems[local]
                known = local in self.read().filesystems
                of_cluster = [] if known else ["-C", wanted.cluster]
                options = ["-f", wanted.remote, *of_cluster, "-T", wanted.mount, "-A", "no", "-o", wanted.access]
                self._mm.change("mmremotefs", "update" if known else "add", local, *options)

    def _connect(self) -> None:
        """An owner that was defined with a wrong key is deleted again. With one that is changed, no mount succeeds."""
        have, owner = self.read(), self._want.owner
        contacts = ["-n", ",".join(self._want.contacts)]
        verb = "update" if have.digest else "add"
        if have.digest == self._want.digest:
            self._mm.change("mmremotecluster", verb, owner, *contacts)
            return
        with _KeyFile(self._key, self._folder) as path:
            self._mm.change("mmremotecluster", verb, owner, *contacts, "-k", path)
        digest = self.read().digest
        if digest not in ("", self._want.digest):
            if not have.digest:
                self._mm.change("mmremotecluster", "delete", owner)
            raise DeviceError(_wrong_key(owner, digest, self._want.digest, "owner.fingerprint"))

    def _remaps(self) -> bool:
        rows = self._mm.read("mmlsconfig").get("", [])
        return any(row["configParameter"] == "enableUIDremap" and row["value"] == "yes" for row in rows)

    def _users(self, local: str) -> int:
        """Number of nodes that have mounted a device."""
        rows = [row for kind in self._mm.read("mmlsmount", local, "-L").values() for row in kind]
        return sum(bool(row["nodeName"]) for row in rows)

    def _shown(self, verb: str) -> str:
        """The output of a command; empty where it says that nothing is defined, which it may call a failure."""
        try:
            return self._mm.show(verb, "show", "all")
        except DeviceError as err:
            if is_none(f"{err.details.get('stdout', '')}{err.details.get('stderr', '')}"):
                return ""
            raise


def _wrong_key(cluster: str, have: str, want: str, key: str) -> str:
    return (
        f"the public key that was given for cluster {cluster} has the digest {have}, but drawbridge_gpfs.{key} is"
        f" {want}; give the right key, or correct the intent"
    )
