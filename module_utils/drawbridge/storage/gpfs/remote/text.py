# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The output of mmauth, mmremotecluster and mmremotefs. Only their forms for people are documented."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LABEL = re.compile(r"^([A-Z][A-Za-z ]+):\s*(.*)$")
_GRANT = re.compile(r"(\S+)\s+\((r[wo])\b,?\s*(.*?)\)")
_IDS = re.compile(r"[0-9]+:[0-9]+")
_NONE = re.compile(r"no remote (clusters|file systems)", re.IGNORECASE)
OWN = "(this cluster)"
ROOT = "root"
TITLE = "Local Name"
COLUMNS = 6
"""Columns of mmremotefs that Drawbridge reads: local name, remote name, cluster, mount point, options, automount."""


@dataclass(frozen=True)
class Authorized:
    """A cluster as mmauth shows it. Grants are (rw or ro, root or UID:GID) by device."""

    digest: str
    own: bool = False
    grants: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteFilesystem:
    """A file system as mmremotefs shows it."""

    remote: str
    cluster: str
    mount: str
    access: str


def authorized(text: str) -> dict[str, Authorized]:
    """Clusters of `mmauth show` by name."""
    found = {}
    for block in _blocks(text):
        name, digest = block["Cluster name"], block.get("SHA digest", "")
        grants = {
            device: (access, ids[0] if (ids := _IDS.findall(root)) else ROOT)
            for device, access, root in _GRANT.findall(block.get("File system access", ""))
        }
        found[name.removesuffix(OWN).strip()] = Authorized(digest, name.endswith(OWN), grants)
    return found


def clusters(text: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """Contact nodes and digest of the clusters of `mmremotecluster show all`."""
    return {
        block["Cluster name"]: (tuple(block.get("Contact nodes", "").split(",")), block.get("SHA digest", ""))
        for block in _blocks(text)
    }


def filesystems(text: str) -> dict[str, RemoteFilesystem]:
    """File systems of `mmremotefs show all` by local device."""
    found, begun = {}, False
    for line in text.splitlines():
        words = line.split()
        if begun and len(words) >= COLUMNS:
            local, remote, cluster, mount, options, *_unused = words
            access = "ro" if "ro" in options.split(",") else "rw"
            found[local] = RemoteFilesystem(remote, cluster, mount, access)
        begun = begun or line.startswith(TITLE)
    return found


def is_none(text: str) -> bool:
    """Whether a command said that nothing is defined."""
    return bool(_NONE.search(text))


def _blocks(text: str) -> list[dict[str, str]]:
    """Paragraphs that begin with a cluster's name, as labels and values. Lines without a label continue a value."""
    found: list[dict[str, str]] = []
    label = ""
    for line in text.splitlines():
        if match := _LABEL.match(line):
            label = match[1]
            if label == "Cluster name":
                found.append({})
            if found:
                found[-1][label] = match[2].strip()
        elif line.strip() and found and label:
            found[-1][label] += f" {line.strip()}"
    return found
