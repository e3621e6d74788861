# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of NFS mounts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ...core.faults import Fault
from ...core.rules import doubled
from ..mount_rules import mount_faults
from .model import Nfs

KEY = "drawbridge_nfs.mounts"
OWN = {
    **dict.fromkeys(("vers", "nfsvers", "minorversion", "v3", "v4"), "version has it"),
    **dict.fromkeys(("proto", "rdma", "tcp", "udp"), "transport has it"),
    **dict.fromkeys(("ro", "rw"), "read_only has it"),
    "nconnect": "nconnect has it",
    **dict.fromkeys(("soft", "softerr", "softreval"), "a mount that gives up loses data that a job has written"),
    "hard": "all mounts are hard",
    **dict.fromkeys(("bg", "fg", "retry"), "drawbridge-nfs.service tries again, and slurmd starts after it"),
    **dict.fromkeys(("auto", "noauto", "user", "users", "nofail"), "the mount has a systemd unit, no line in fstab"),
}
"""Options of nfs(5) and mount(8) that may not be repeated, each with the reason."""


def mounts_are_listed_once(nfs: Nfs) -> Iterator[Fault]:
    """One place, one export."""
    places = [each.mount for each in nfs.mounts]
    yield from doubled(KEY, places, "give every export a mount of its own")


def mounts_are_data(nfs: Nfs) -> Iterator[Fault]:
    """Pods of jobs may mount these folders of their node."""
    for index, each in enumerate(nfs.mounts):
        yield from mount_faults(f"{KEY}[{index}].mount", each.mount, "/nfs/data")


def exports_have_one_spelling(nfs: Nfs) -> Iterator[Fault]:
    """The kernel shows a path without surplus characters, and the two are compared."""
    for index, each in enumerate(nfs.mounts):
        plain = posixpath.normpath(each.export).replace("//", "/")
        if plain != each.export:
            reason = "the kernel shows it in another spelling"
            yield Fault(f"{KEY}[{index}].export", each.export, reason, f"write {plain}")


def options_are_free(nfs: Nfs) -> Iterator[Fault]:
    """Options that have a key of their own, or that make a mount unsafe."""
    for index, each in enumerate(nfs.mounts):
        for option in each.options:
            if reason := OWN.get(option.partition("=")[0]):
                yield Fault(f"{KEY}[{index}].options", option, reason, f"leave out {option}")


def connections_are_the_servers(nfs: Nfs) -> Iterator[Fault]:
    """The kernel shares a server's connections between its mounts, and the first mount decides their number."""
    first: dict[tuple[str, str, str], int] = {}
    for index, each in enumerate(nfs.mounts):
        number = first.setdefault((each.server, each.version, each.transport), each.nconnect)
        if number != each.nconnect:
            reason = f"another mount of {each.server} has {number}, and all mounts of a server share its connections"
            yield Fault(f"{KEY}[{index}].nconnect", each.nconnect, reason, f"write {number} in both")


RULES = (
    mounts_are_listed_once,
    mounts_are_data,
    exports_have_one_spelling,
    options_are_free,
    connections_are_the_servers,
)
