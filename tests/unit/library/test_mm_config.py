# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Node classes and their attributes in the emulated cluster, and what its daemons then use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.gpfs_site import Site

NODES = ["gpu01", "gpu02"]
SETTINGS = {"workerThreads": "1024", "maxMBpS": "20000"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Site:
    """gpu01 and gpu02 are members."""
    site = Site(tmp_path, monkeypatch, capfd)
    site.change(lambda state: state.update(lag_calls=0, arbitrating_polls=0))
    joined = site.run("nsd1", "mm_node", nodes=NODES, accept_license=True)
    assert not joined.get("failed"), joined
    return site


def config(site: Site, check: bool = False, **more: Any) -> dict[str, Any]:
    wanted = {"name": "drawbridge_h100", "nodes": NODES, "settings": SETTINGS, **more.pop("change", {})}
    return site.run("nsd1", "mm_config", check, classes=[wanted], **more)


def written(site: Site) -> list[str]:
    return [verb for verb in site.written("nsd1") if verb not in ("mmaddnode", "mmchlicense")]


def test_a_class_is_made_with_its_attributes_as_predicted_and_the_second_run_only_reads(site: Site) -> None:
    site.converge("nsd1", config)
    assert written(site) == ["mmcrnodeclass", "mmchconfig", "mmchconfig"]
    assert site.state()["classes"]["drawbridge_h100"] == NODES


def test_units_are_compared_and_a_dropped_attribute_is_reset(site: Site) -> None:
    config(site, change={"settings": {"pagepool": "4096M"}})
    assert config(site, change={"settings": {"pagepool": "4G"}})["steps"] == []
    config(site, change={"settings": {}})
    assert [it for it in site.state()["config"] if it["scope"] == ["drawbridge_h100"]] == []


def test_a_node_that_leaves_the_intent_leaves_its_class_and_a_part_of_the_nodes_only_adds(site: Site) -> None:
    config(site)
    assert config(site, change={"nodes": ["gpu01"]}, only=["gpu01"])["steps"] == []
    assert config(site, change={"nodes": ["gpu01"]})["steps"] == ["take gpu02 out of node class drawbridge_h100"]


def test_a_node_that_has_not_joined_is_left_out(site: Site) -> None:
    config(site, change={"nodes": [*NODES, "gpu03"]})
    assert site.state()["classes"]["drawbridge_h100"] == NODES


@pytest.mark.parametrize("verb", ["mmcrnodeclass", "mmchconfig"])
@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die"])
def test_faults_are_reported_and_the_next_run_finishes(site: Site, verb: str, effect: str) -> None:
    site.hosts["nsd1"].arm("gpfs", verb, effect)
    assert config(site)["failed"]
    assert not config(site).get("failed")
    assert config(site, check=True)["steps"] == []


def test_a_running_daemon_is_restarted_for_what_it_reads_at_its_start(site: Site) -> None:
    started = site.run("gpu01", "mm_mount", filesystems=[])
    assert not started.get("failed"), started
    config(site)
    tuned = {"filesystems": [], "settings": SETTINGS, "node_class": "drawbridge_h100"}
    predicted = site.run("gpu01", "mm_mount", True, **tuned)
    done = site.run("gpu01", "mm_mount", **tuned)
    assert predicted["steps"] == done["steps"] == ["restart GPFS: workerThreads is 48 instead of 1024"], done
    assert not done.get("failed") and site.run("gpu01", "mm_mount", **tuned)["steps"] == []
