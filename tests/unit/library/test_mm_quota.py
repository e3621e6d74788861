# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of filesets in the emulated file system, whose blocks have 4 MiB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import layer
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.quotas.layer import MM_QUOTA

from tests.unit.library.emulated import converged
from tests.unit.library.gpfs_filesystem import ADMIN, Filesystem

LIMITS = {"name": "vision", "block_kib": 5000, "inodes": 1000}


@pytest.fixture
def site(own_mounts: None, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Filesystem:
    """vision and speech exist, and speech has limits that someone else has set."""
    site = Filesystem(tmp_path, monkeypatch, capfd)
    for name in ("vision", "speech"):
        site.tool("mmcrfileset", "fs1", name, "--inode-space", "new")
        site.tool("mmlinkfileset", "fs1", name, "-J", f"{site.mount}/{name}")
    site.tool("mmsetquota", "fs1:speech", "--block", "1G:2G", "--files", "10:20")
    site.forget()
    return site


def run(site: Filesystem, *limits: dict[str, Any], check: bool = False) -> dict[str, Any]:
    return site.run(ADMIN, "mm_quota", check, device="fs1", filesets=list(limits or (LIMITS,)), lock_wait_s=0)


def settled(site: Filesystem, *limits: dict[str, Any]) -> dict[str, Any]:
    return converged(lambda check=False: run(site, *limits, check=check), lambda: site.commands())


def report(site: Filesystem, name: str) -> list[str]:
    """Block quota and limit, and quota and limit of files."""
    header, *rows = (line.split(":") for line in site.tool("mmrepquota", "-Y", "-j", "fs1").splitlines() if ":" in line)
    [row] = [found for found in (dict(zip(header, row)) for row in rows) if found["name"] == name]
    return [row[key] for key in ("blockQuota", "blockLimit", "filesQuota", "filesLimit")]


def test_limits_are_set_as_predicted_and_the_second_run_only_reads(site: Filesystem) -> None:
    done = settled(site)
    assert done["steps"] == ["limit fileset vision to 5,000 KiB and 1,000 inodes"]
    assert report(site, "vision") == ["8192", "8192", "1000", "1000"]
    assert report(site, "speech") == ["1048576", "2097152", "10", "20"]
    assert site.verbs().count("mmrepquota") >= 4 and "mmlsquota" not in site.verbs()


def test_a_limit_is_changed_and_lifted(site: Filesystem) -> None:
    run(site)
    settled(site, {**LIMITS, "block_kib": 50_000})
    assert report(site, "vision")[1] == "53248"
    settled(site, {"name": "vision"})
    assert report(site, "vision") == ["0", "0", "0", "0"]


def test_soft_and_hard_limits_of_others_become_one(site: Filesystem) -> None:
    settled(site, {"name": "speech", "block_kib": 2 << 20, "inodes": 20})
    assert report(site, "speech") == ["2097152", "2097152", "20", "20"]


@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
def test_faults_are_reported_and_the_next_run_finishes(site: Filesystem, effect: str) -> None:
    site.hosts[ADMIN].arm("gpfs", "mmsetquota", effect)
    failed = run(site)
    assert failed["failed"], failed
    assert not run(site).get("failed")
    assert run(site, check=True)["steps"] == []


def test_a_command_that_fails_with_exit_0_is_seen(site: Filesystem) -> None:
    site.change(lambda state: state.update(quota_rc0=True))
    failed = run(site, LIMITS, {**LIMITS, "name": "none"})
    assert failed["failed"] and failed["left"] == ["limit fileset none to 5,000 KiB and 1,000 inodes"]
    assert report(site, "vision")[1] == "8192"


def test_a_fileset_that_does_not_exist_is_predicted_and_an_error_of_the_run(site: Filesystem) -> None:
    wanted = {**LIMITS, "name": "soon"}
    assert run(site, wanted, check=True)["steps"] == ["limit fileset soon to 5,000 KiB and 1,000 inodes"]
    assert run(site, wanted)["failed"]


@pytest.mark.parametrize("banner", [True, False])
def test_a_line_before_the_report_is_no_matter(site: Filesystem, banner: bool) -> None:
    site.change(lambda state: state.update(quota_banner=banner))
    settled(site)


def test_a_limit_below_the_usage_is_set_with_a_warning(site: Filesystem, monkeypatch: Any) -> None:
    for number in range(5):
        Path(f"{site.mount}/vision/{number}").write_text("x")
    host = site.hosts[ADMIN]
    for name, value in host.environment.items():
        monkeypatch.setenv(name, value)
    few = {"device": "fs1", "filesets": [{**LIMITS, "inodes": 2}], "mm_path": str(host.bin)}
    limits = {**few, "lock_wait_s": 0, "timeout_s": 120}
    predicted, done = (layer.run(MM_QUOTA, limits, check) for check in (True, False))
    for result in (predicted, done):
        assert "fileset vision uses 6 of 2 inodes, so its users can only delete" in result["warnings"][0]
    assert report(site, "vision")[2:] == ["2", "2"]
    assert layer.run(MM_QUOTA, limits, False)["warnings"] == []


def test_a_file_system_without_quotas_is_refused(site: Filesystem) -> None:
    site.tool("mmchfs", "fs1", "-Q", "no")
    site.forget()
    for check in (True, False):
        refused = run(site, check=check)
        assert refused["failed"] and "fs1 does not enforce quotas of filesets" in refused["msg"]
        assert "`mmchfs fs1 -Q yes`" in refused["msg"]
    assert run(site, {"name": "vision"})["changed"] is False and site.commands() == []


def test_an_answer_that_is_cut_off_is_refused(site: Filesystem) -> None:
    site.change(lambda state: state["truncated"].append("mmrepquota"))
    refused = run(site)
    assert refused["failed"] and "the answer ends within a line" in refused["msg"] and site.commands() == []


def test_options_that_make_no_sense_are_refused(site: Filesystem) -> None:
    assert "must not be negative" in run(site, {"name": "vision", "inodes": -1})["msg"]
    assert "a name is listed twice" in run(site, LIMITS, LIMITS)["msg"]
