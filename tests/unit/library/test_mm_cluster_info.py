# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.library.gpfs_site import Site


def test_nodes_are_absent_or_unknown_and_nothing_is_written(tmp_path: Path, monkeypatch: Any, capfd: Any) -> None:
    site = Site(tmp_path, monkeypatch, capfd)
    site.change(lambda state: state.update(lag_calls=0))
    site.run("nsd1", "mm_node", nodes=["gpu01", "gpu02"], accept_license=True)
    site.change(lambda state: state["unreachable"].append("gpu02"))
    before = site.written("nsd1")
    found = site.run("nsd1", "mm_cluster_info", nodes=["gpu01", "gpu02", "gpu03"])
    assert (found["absent"], found["unknown"]) == (["gpu03"], ["gpu02"])
    assert found["cluster_id"] == site.state()["id"] and not found["changed"]
    assert site.written("nsd1") == before
