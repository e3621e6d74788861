# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.look import (
    id_fault,
    mounted,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.text import Row


def row(node: str, cluster: str = "own.site", **change: str) -> Row:
    return Row({"nodename": node, "clustername": cluster, **change})


def found(*nodes: str, **rows: list[Row]) -> list[str]:
    return mounted(rows, nodes, ("", "-data", "-adm"), "own.site")


def test_a_node_mounts_every_file_system_or_counts_as_none() -> None:
    assert found("n1", "n2", fs1=[row("n1"), row("n2")], fs2=[row("n2")]) == ["n2"]
    assert found("n1", fs1=[]) == []


def test_nodes_are_found_by_all_their_names_and_not_by_a_part() -> None:
    rows = [row("n1-data"), row("n2-adm.site"), row("n30")]
    assert found("n1", "n2", "n3", fs1=rows) == ["n1", "n2"]


def test_a_node_of_another_cluster_or_one_that_only_reads_does_not_count() -> None:
    rows = [row("n1", "other.site"), row("n2", mountmode="RO"), row("n3", mountmode="RW"), row("n4", "")]
    assert found("n1", "n2", "n3", "n4", fs1=rows) == ["n3", "n4"]


def test_another_id_names_both() -> None:
    assert id_fault("1", "1") == ""
    assert id_fault("1", "2").startswith("drawbridge_gpfs.csi.cluster.id is 2, but mmlscluster prints 1 here")
