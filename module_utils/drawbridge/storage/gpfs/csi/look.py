# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the driver needs of the storage cluster, and which nodes mount all of its file systems. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..members.text import directory, find
from ..text import Row


def id_fault(found: str, wanted: str) -> str:
    """Why the driver would refuse the cluster; "" if the id is the intent's."""
    if found == wanted:
        return ""
    return (
        f"drawbridge_gpfs.csi.cluster.id is {wanted}, but mmlscluster prints {found or 'no id'} here; write this id, or"
        " correct drawbridge_gpfs.admin"
    )


def mounted(
    rows: Mapping[str, Sequence[Row]], nodes: Iterable[str], suffixes: Sequence[str], cluster: str
) -> list[str]:
    """Of these nodes those that mount every file system, by rows of mmlsmount of each. Writing must be allowed.

    GPFS knows a node by the name of its daemon or admin interface, and another cluster may have one of that name.
    """
    places = {device: directory([row for row in own if _counts(row, cluster)]) for device, own in rows.items()}
    names = {node: {f"{node}{suffix}" for suffix in suffixes} for node in nodes}
    return [node for node, own in names.items() if all(any(find(at, it) for it in own) for at in places.values())]


def _counts(row: Row, cluster: str) -> bool:
    """Whether a row is of a node of this cluster that writes. A release that does not say is believed."""
    mode = next((row[key] for key in ("mountMode", "mode", "accessMode") if row[key]), "")
    return row["clusterName"] in ("", cluster) and mode.upper() != "RO"
