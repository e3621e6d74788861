# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A remote mount's two sides, each on an admin node of its cluster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....core.converge import DeviceError, Step
from ..io import Mm
from ..members.io import FOLDER
from .plan import AUTHORIZE, CONNECT, DEFINE, GRANT, OwnerState, RemoteState
from .text import authorized, clusters, filesystems, is_none

CIPHER = "AUTHONLY"
"""Peers prove who they are; the data is not encrypted."""


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


class Owner:
    """The owner's authorization of one client cluster; `key` is the client's public key."""

    name = "GPFS authorization"

    def __init__(self, mm: Mm, want: OwnerState, key: str, cluster: str, folder: Path | None = None) -> None:
        self._mm, self._want, self._key, self._cluster = mm, want, key, cluster
        self._folder = folder or FOLDER

    def read(self) -> OwnerState:
        """What mmauth shows of the client."""
        shown = authorized(self._mm.show("mmauth", "show", "all"))
        own = next(((name, it) for name, it in shown.items() if it.own), None)
        if not own:
            raise DeviceError("mmauth show all does not list this cluster itself; it needs a key: mmauth genkey new")
        if own[0] != self._cluster:
            raise DeviceError(f"drawbridge_gpfs.owner.cluster is {self._cluster}, but this host belongs to {own[0]}")
        client = shown.get(self._want.client)
        digest, grants = (client.digest, client.grants) if client else ("", {})
        wanted = {device: grants[device] for device in self._want.grants if device in grants}
        return OwnerState(self._want.client, digest, wanted, own[1].digest)

    def apply(self, steps: Sequence[Step[OwnerState]]) -> None:
        """A key whose digest is another one than intended is taken away again, before anything is granted."""
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
                self._mm.change("mmauth", "grant", client, "-f", device, "-a", access, "-r", root)

    def _refuse_other_key(self) -> None:
        digest = self.read().digest
        if digest not in ("", self._want.digest):
            self._mm.change("mmauth", "delete", self._want.client)
            raise DeviceError(_other_key(self._want.client, digest, self._want.digest, "fingerprint"))


class Client:
    """The owner as the client cluster has defined it; `key` is the owner's public key."""

    name = "GPFS remote cluster"

    def __init__(self, mm: Mm, want: RemoteState, key: str, folder: Path | None = None) -> None:
        self._mm, self._want, self._key, self._folder = mm, want, key, folder or FOLDER

    def read(self) -> RemoteState:
        """What mmremotecluster and mmremotefs show of the owner."""
        known = clusters(self._shown("mmremotecluster"))
        contacts, digest = known.get(self._want.owner, ((), ""))
        mounted = filesystems(self._shown("mmremotefs"))
        wanted = {local: mounted[local] for local in self._want.filesystems if local in mounted}
        own = next((it.digest for it in authorized(self._mm.show("mmauth", "show", ".")).values() if it.own), "")
        rows = self._mm.read("mmlsconfig", "enableUIDremap").get("", [])
        remaps = any(row["value"] == "yes" for row in rows)
        return RemoteState(self._want.owner, contacts, digest, wanted, own, remaps)

    def apply(self, steps: Sequence[Step[RemoteState]]) -> None:
        """A key whose digest is another one than intended is taken away again, before a file system is defined."""
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
            raise DeviceError(_other_key(owner, digest, self._want.digest, "owner.fingerprint"))

    def _shown(self, verb: str) -> str:
        """What a command shows; nothing where it says that there is nothing, which it may call a failure."""
        try:
            return self._mm.show(verb, "show", "all")
        except DeviceError as err:
            if is_none(f"{err.details.get('stdout', '')}{err.details.get('stderr', '')}"):
                return ""
            raise


def _other_key(cluster: str, have: str, want: str, key: str) -> str:
    return (
        f"the public key that was given for cluster {cluster} has the digest {have}, but drawbridge_gpfs.{key} is"
        f" {want}; it was not kept; get the right key, or correct the intent"
    )
