# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module against an emulated cluster that really mounts, in a mount namespace of its own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.gpfs_site import Site
from tests.unit.library.ways import ALONE, VISIT, meet_faults


@pytest.fixture(params=[ALONE, VISIT])
def site(request: Any, own_mounts: None, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Site:
    """gpu01 has joined and runs."""
    site = Site(tmp_path, monkeypatch, capfd)
    site.hosts["gpu01"].way = request.param
    site.change(lambda state: state.update(lag_calls=0, arbitrating_polls=0))
    joined = site.run("nsd1", "mm_node", nodes=["gpu01"], accept_license=True)
    assert not joined.get("failed"), joined
    started = site.run("gpu01", "mm_mount", filesystems=[], patience_s=0)
    assert started["steps"] == [START], started
    (site.device("gpu01").directory / "journal.jsonl").unlink()
    site.hosts["gpu01"].program("systemctl", "echo ActiveState=inactive")
    return site


def mount(site: Site, check: bool = False, host: str = "gpu01", **more: Any) -> dict[str, Any]:
    arguments = {"filesystems": [{"device": "fs1", "mount": site.mount}], "patience_s": 0, **more}
    return site.run(host, "mm_mount", check, **arguments)


def is_mounted(site: Site) -> bool:
    """Ask the kernel: os.path.ismount does not see bind mounts within one file system."""
    return f" {site.mount} " in Path("/proc/self/mountinfo").read_text()


def steps(site: Site, *first: str) -> list[str]:
    return [*first, f"mount fs1 at {site.mount}"]


START = "start GPFS"


def test_check_predicts_the_mount_and_the_second_run_only_reads(site: Site) -> None:
    assert site.converge("gpu01", mount, cluster="drawbridge-lab.nsd1")["steps"] == steps(site)
    assert is_mounted(site)
    assert site.written("gpu01") == ["mmmount"]


def test_an_unmount_by_hand_is_seen(site: Site) -> None:
    mount(site)
    subprocess.run(["umount", site.mount], check=True)
    assert mount(site)["steps"] == steps(site)
    assert is_mounted(site)


def test_a_bare_host_can_be_checked_before_it_joins(site: Site) -> None:
    predicted = mount(site, check=True, host="gpu02")
    assert not predicted.get("failed") and predicted["steps"] == steps(site, START)


def test_a_join_that_arrives_late_is_waited_for(site: Site) -> None:
    site.change(lambda state: state.update(lag_calls=4))
    site.run("nsd1", "mm_node", nodes=["gpu02"], accept_license=True)
    done = mount(site, host="gpu02", patience_s=600)
    assert not done.get("failed") and is_mounted(site), done


def test_a_reinstalled_host_is_refused_with_the_way_back(site: Site) -> None:
    mount(site, check=True)
    (site.hosts["gpu01"].root / "mmfs/gen/mmsdrfs").unlink()
    refused = mount(site)
    assert refused["failed"] and not refused["changed"] and refused["left"] == steps(site, START)
    assert "is in no cluster" in refused["msg"] and "this restores it there: mmsdrrestore -N" in refused["msg"]
    assert site.written("gpu01") == []


def test_a_host_of_another_cluster_is_refused(site: Site) -> None:
    refused = mount(site, cluster="ess.example.org")
    assert refused["failed"] and site.written("gpu01") == []
    assert "drawbridge_gpfs.cluster is ess.example.org, but this host belongs to drawbridge-lab.nsd1" in refused["msg"]


def test_a_stopped_daemon_is_started(site: Site) -> None:
    site.change(lambda state: state["daemons"]["gpu01"].update(state="down"))
    predicted, done = mount(site, check=True), mount(site)
    assert predicted["steps"] == done["steps"] == steps(site, START) and not done.get("failed")
    assert site.written("gpu01") == ["mmstartup", "mmmount"] and is_mounted(site)


def test_a_daemon_that_flaps_is_a_failure_with_the_end_of_its_log(site: Site) -> None:
    site.change(lambda state: state["daemons"]["gpu01"].update(state="down"))
    site.change(lambda state: state["flapping"].append("gpu01"))
    refused = mount(site)
    assert refused["failed"] and refused["left"] == steps(site, START)
    assert (
        "went down again; its log ends with: " in refused["msg"] or "mmfs.log.latest has the reason" in refused["msg"]
    )


def test_a_cluster_without_quorum_is_no_broken_client(site: Site) -> None:
    site.change(lambda state: state["daemons"]["gpu01"].update(state="down"))
    site.change(lambda state: state.update(quorum_lost=True))
    refused = mount(site, settle_s=1)
    assert refused["failed"] and "does not reach a quorum of the cluster" in refused["msg"]


def test_a_node_leaves_and_the_second_run_only_reads(site: Site) -> None:
    mount(site)
    done = site.converge("gpu01", mount, state="absent", filesystems=[])
    assert done["steps"] == [f"unmount fs1 from {site.mount}", "stop GPFS"]
    assert not is_mounted(site) and site.state()["daemons"]["gpu01"]["state"] == "down"


def test_a_busy_file_system_is_never_unmounted(site: Site) -> None:
    mount(site)
    with (Path(site.mount) / "busy").open("w"):
        refused = mount(site, state="absent", filesystems=[])
        assert refused["failed"] and f"{site.mount} can't be unmounted: " in refused["msg"]
        assert is_mounted(site) and site.state()["daemons"]["gpu01"]["state"] == "active"


def test_another_default_mount_point_is_refused(site: Site) -> None:
    refused = mount(site, filesystems=[{"device": "fs1", "mount": "/elsewhere"}])
    assert refused["failed"] and site.written("gpu01") == []
    assert f"mount of fs1 is /elsewhere, but GPFS mounts it at {site.mount}" in refused["msg"]


def test_an_unknown_file_system_is_reported_in_the_tools_words(site: Site) -> None:
    refused = mount(site, filesystems=[{"device": "fs9", "mount": "/gpfs/fs9"}])
    assert refused["msg"] == "mmlsfs failed: File system fs9 is not known to the GPFS cluster."


def test_a_foreign_mount_in_the_place_is_refused(site: Site) -> None:
    Path(site.mount).mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", site.mount], check=True)
    refused = mount(site)
    assert refused["failed"] and site.written("gpu01") == []
    assert "something else is mounted there; unmount it first" in refused["msg"]


@pytest.mark.parametrize(
    ("effect", "told", "mounted"),
    [
        ("refuse", "mmmount failed: Make sure that the following nodes are available: nsd1", False),
        ("lie", "reported success, but the change is not in effect: mount fs1", False),
        ("hang", "mmmount gave no answer within [0-9]+ s and was killed", False),
        ("die", "mmmount failed", True),
        ("drift", "reported success, but the change is not in effect: mount fs1", False),
    ],
)
@meet_faults("site")
def test_faults_are_reported_and_the_next_run_finishes(site: Site, effect: str, told: str, mounted: bool) -> None:
    site.hosts["gpu01"].arm("gpfs", "mmmount", effect)
    result = mount(site)
    assert result["failed"] and re.search(told, result["msg"])
    assert (result["done"], result["left"]) == ((steps(site), []) if mounted else ([], steps(site)))
    again = mount(site)
    assert again["changed"] is not mounted
    assert is_mounted(site)
