# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets of projects in the emulated file system, whose junctions are real directories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.emulated import converged
from tests.unit.library.gpfs_filesystem import ADMIN, Filesystem

GROUP = 4711
VISION = {"name": "vision", "inode_limit": 200_000, "owner": "daemon", "group": str(GROUP), "mode": "2770"}


@pytest.fixture
def site(own_mounts: None, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Filesystem:
    return Filesystem(tmp_path, monkeypatch, capfd)


def wanted(site: Filesystem, **more: Any) -> dict[str, Any]:
    name = more.get("name", "vision")
    return {**VISION, "junction": f"{site.mount}/projects/{name}", **more}


def run(site: Filesystem, *filesets: dict[str, Any], check: bool = False, **more: Any) -> dict[str, Any]:
    arguments = {"device": "fs1", "mount": site.mount, "lock_wait_s": 0, **more}
    return site.run(ADMIN, "mm_fileset", check, filesets=list(filesets or (wanted(site),)), **arguments)


def settled(site: Filesystem, *filesets: dict[str, Any], **more: Any) -> dict[str, Any]:
    return converged(lambda check=False: run(site, *filesets, check=check, **more), lambda: site.commands())


def top(site: Filesystem, name: str = "vision") -> tuple[int, int, str]:
    found = os.lstat(f"{site.mount}/projects/{name}")
    return found.st_uid, found.st_gid, f"{found.st_mode & 0o7777:04o}"


def listed(site: Filesystem, name: str = "vision") -> dict[str, str]:
    """The row of mmlsfileset, as it prints it."""
    header, *rows = (line.split(":") for line in site.tool("mmlsfileset", "fs1", "-Y").splitlines())
    found = (dict(zip(header, row)) for row in rows)
    return next((row for row in found if row["filesetName"] == name), {})


def test_a_project_is_made_as_predicted_and_the_second_run_only_reads(site: Filesystem) -> None:
    done = settled(site)
    assert done["steps"] == [
        f"make directory {site.mount}/projects",
        "create fileset vision",
        f"link fileset vision at {site.mount}/projects/vision",
        f"give {site.mount}/projects/vision to daemon:{GROUP} 2770",
    ]
    assert site.commands() == [["mmcrfileset", "fs1", "vision"], ["mmlinkfileset", "fs1", "vision"]]
    assert top(site) == (1, GROUP, "2770")
    assert listed(site)["status"] == "Linked" and listed(site)["comment"] == "drawbridge project vision"
    found = os.lstat(f"{site.mount}/projects")
    assert (found.st_uid, found.st_mode & 0o7777) == (0, 0o755)


def test_many_projects_are_read_with_one_command(site: Filesystem) -> None:
    some = [wanted(site, name=f"p{number}") for number in range(20)]
    run(site, *some)
    site.forget()
    assert run(site, *some)["changed"] is False
    assert site.verbs().count("mmlsfileset") == 1 and len(site.verbs()) <= 4


@pytest.mark.parametrize("verb", ["mmcrfileset", "mmlinkfileset"])
@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
def test_faults_are_reported_and_the_next_run_finishes(site: Filesystem, verb: str, effect: str) -> None:
    site.hosts[ADMIN].arm("gpfs", verb, effect)
    failed = run(site)
    assert failed["failed"], failed
    lost = listed(site) and listed(site)["comment"] != "drawbridge project vision"
    if lost:  # what has no comment of Drawbridge may be anyone's
        refused = run(site)
        assert refused["failed"] and "take them over with the line adopt: [vision]" in refused["msg"]
    again = run(site, adopt=["vision"] if lost else [])
    assert not again.get("failed"), again
    assert run(site, check=True)["steps"] == [] and top(site) == (1, GROUP, "2770")


def test_a_run_that_was_cut_off_between_link_and_owner_is_finished(site: Filesystem) -> None:
    Path(f"{site.mount}/projects").mkdir()
    site.tool("mmcrfileset", "fs1", "vision", "-t", "drawbridge project vision", "--inode-space", "new")
    site.tool("mmlinkfileset", "fs1", "vision", "-J", f"{site.mount}/projects/vision")
    site.forget()
    first, second = settled(site)["steps"]
    assert first.startswith("raise the inodes of fileset vision from ") and second.startswith("give ")
    assert top(site) == (1, GROUP, "2770")


def test_owner_and_mode_are_repaired_and_nothing_below(site: Filesystem) -> None:
    run(site)
    below = Path(f"{site.mount}/projects/vision/data")
    below.mkdir(0o700)
    os.chown(below, 12, 13)
    Path(f"{site.mount}/projects/vision").chmod(0o777)
    assert settled(site)["steps"] == [
        f"give {site.mount}/projects/vision to daemon:{GROUP} 2770, instead of daemon:{GROUP} 0777"
    ]
    assert (below.stat().st_uid, below.stat().st_gid) == (12, 13)


def test_a_closed_project_opens_again(site: Filesystem) -> None:
    run(site)
    settled(site, wanted(site, closed=True))
    assert top(site) == (0, 0, "0500")
    settled(site)
    assert top(site) == (1, GROUP, "2770")


def test_an_unknown_group_waits_and_leaves_the_directory_to_root(site: Filesystem) -> None:
    done = run(site, wanted(site, group="no-such-group"), wanted(site, name="speech"))
    assert not done.get("failed") and top(site) == (0, 0, "0700") and top(site, "speech")[0] == 1
    [waits] = done["pending"]
    assert "group no-such-group is unknown on this host; look at `getent group no-such-group`" in waits


def test_inodes_grow_and_never_shrink(site: Filesystem) -> None:
    run(site)
    assert settled(site, wanted(site, inode_limit=9_000_000))["steps"] == [
        "raise the inodes of fileset vision from 200,704 with 0 allocated to 9,000,000 with 0"
    ]
    waits = run(site)
    assert waits["changed"] is False and "Drawbridge never lowers that number" in waits["pending"][0]
    assert int(listed(site)["maxInodes"]) >= 9_000_000


def test_preallocated_inodes_are_compared_too(site: Filesystem) -> None:
    settled(site, wanted(site, inode_prealloc=100_000))
    assert int(listed(site)["allocInodes"]) >= 100_000


def test_a_fileset_of_others_is_refused_until_a_consent_names_it(site: Filesystem) -> None:
    site.tool("mmcrfileset", "fs1", "vision", "-t", "of the physics: do not touch", "--inode-space", "new")
    site.forget()
    refused = run(site, variables={"adopt": "site_adopt"})
    assert refused["failed"] and site.commands() == []
    assert "vision ('of the physics: do not touch')" in refused["msg"] and "site_adopt: [vision]" in refused["msg"]
    done = settled(site, adopt=["vision"])
    assert done["steps"][1] == "take over fileset vision, which is 'of the physics: do not touch'"
    assert run(site)["changed"] is False


def test_another_junction_is_refused_with_the_lines_to_run(site: Filesystem) -> None:
    run(site)
    refused = run(site, wanted(site, junction=f"{site.mount}/other"))
    assert refused["failed"] and f"mmlinkfileset fs1 vision -J {site.mount}/other" in refused["msg"]
    assert not Path(f"{site.mount}/other").exists()


def test_a_directory_in_the_place_of_the_junction_is_refused(site: Filesystem) -> None:
    Path(f"{site.mount}/projects/vision").mkdir(parents=True)
    refused = run(site)
    assert refused["failed"] and "can't be linked at" in refused["msg"] and site.commands() == []


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_nothing_is_linked_below_a_folder_that_others_may_change(site: Filesystem, mode: int) -> None:
    folder = Path(site.mount, "projects")
    folder.mkdir()
    folder.chmod(mode)
    refused = run(site)
    assert refused["failed"] and f"chmod go-w {folder}" in refused["msg"] and site.commands() == []
    folder.chmod(0o755)
    assert not run(site).get("failed")


def test_a_link_in_the_place_of_a_folder_is_refused(site: Filesystem) -> None:
    Path(f"{site.mount}/projects").symlink_to("/tmp")
    refused = run(site)
    assert refused["failed"] and "projects must be a directory" in refused["msg"] and site.commands() == []


def test_an_unlinked_fileset_keeps_its_data_and_is_linked_again(site: Filesystem) -> None:
    run(site)
    Path(f"{site.mount}/projects/vision/data").write_text("result\n")
    done = settled(site, wanted(site, state="unlinked"))
    assert done["steps"] == [
        f"close {site.mount}/projects/vision: root:root 0500 instead of daemon:{GROUP} 2770",
        f"unlink fileset vision from {site.mount}/projects/vision",
    ]
    assert not Path(f"{site.mount}/projects/vision").exists() and listed(site)["status"] == "Unlinked"
    run(site)
    assert Path(f"{site.mount}/projects/vision/data").read_text() == "result\n"


def test_a_fileset_in_use_waits_and_is_named_with_its_user(site: Filesystem) -> None:
    run(site)
    site.forget()
    with Path(f"{site.mount}/projects/vision/data").open("w"):
        waits = run(site, wanted(site, state="unlinked"))
        assert not waits.get("failed") and site.commands() == []
        assert f"({os.getpid()}) use it" in waits["pending"][0]
        assert top(site) == (0, 0, "0500"), "its users keep what they opened, and open nothing more"
        assert run(site, wanted(site, state="unlinked"))["changed"] is False
    assert run(site, wanted(site, state="unlinked"))["changed"]


def test_limits_may_come_before_owners(site: Filesystem) -> None:
    """A check predicts both parts of a run, also of a fileset that does not exist yet."""
    predicted = [run(site, part=part, check=True)["steps"] for part in ("filesets", "owners")]
    for part, steps in zip(("filesets", "owners"), predicted):
        assert settled(site, part=part)["steps"] == steps
        assert top(site) == ((0, 0, "0700") if part == "filesets" else (1, GROUP, "2770"))
    run(site, wanted(site, state="unlinked"))
    predicted = [run(site, part=part, check=True)["steps"] for part in ("filesets", "owners")]
    assert [settled(site, part=part)["steps"] for part in ("filesets", "owners")] == predicted
    assert predicted[1] == [f"give {site.mount}/projects/vision to daemon:{GROUP} 2770"]


def test_a_fileset_that_others_unlinked_is_linked_closed(site: Filesystem) -> None:
    """Its directory still has the owner of before, and limits may have gone meanwhile."""
    run(site)
    site.tool("mmunlinkfileset", "fs1", "vision")
    settled(site, part="filesets")
    assert top(site) == (0, 0, "0500")
    settled(site, part="owners")
    assert top(site) == (1, GROUP, "2770")


def test_a_fileset_that_other_hosts_use_waits_and_the_others_go_on(site: Filesystem) -> None:
    run(site, wanted(site), wanted(site, name="speech"))
    link = site.hosts[ADMIN].bin / "mmunlinkfileset"
    real = link.readlink()
    link.unlink()
    site.hosts[ADMIN].program("mmunlinkfileset", "echo mmunlinkfileset: Device or resource busy. >&2; exit 1")
    site.forget()
    gone = wanted(site, state="absent")
    waits = run(site, gone, wanted(site, name="speech", closed=True), delete=["vision"])
    assert not waits.get("failed"), waits
    assert [step.partition(":")[0] for step in waits["steps"]] == [
        f"close {site.mount}/projects/vision",
        f"give {site.mount}/projects/speech to root",
    ]
    assert "Device or resource busy" in waits["pending"][0] and "lsof +f -- " in waits["pending"][0]
    assert listed(site)["status"] == "Linked" and top(site, "speech") == (0, 0, "0500") and site.commands() == []
    link.unlink()
    link.symlink_to(real)
    assert run(site, gone, delete=["vision"])["changed"] and listed(site) == {}


def test_data_is_deleted_only_with_the_consent_that_names_it(site: Filesystem) -> None:
    run(site, wanted(site), wanted(site, name="speech"))
    Path(f"{site.mount}/projects/vision/data").write_text("result\n")
    site.forget()
    gone = wanted(site, state="absent")
    for consent in ([], ["speech"]):
        refused = run(site, gone, delete=consent, variables={"delete": "site_delete"})
        assert refused["failed"] and site.commands() == [] and listed(site)["status"] == "Linked"
        assert "deletes their data permanently: vision" in refused["msg"]
        assert "add the line site_delete: [vision]" in refused["msg"]
    done = settled(site, gone, delete=["vision"])
    assert done["steps"][2] == "delete fileset vision with its data"
    assert listed(site) == {} and listed(site, "speech")["status"] == "Linked"


@pytest.mark.parametrize("verb", ["mmunlinkfileset", "mmdelfileset", "mmchfileset"])
@pytest.mark.parametrize("effect", ["refuse", "lie", "die"])
def test_faults_of_later_changes_are_reported_too(site: Filesystem, verb: str, effect: str) -> None:
    run(site)
    fileset = wanted(site, comment="more") if verb == "mmchfileset" else wanted(site, state="absent")
    site.hosts[ADMIN].arm("gpfs", verb, effect)
    assert run(site, fileset, delete=["vision"])["failed"]
    assert not run(site, fileset, delete=["vision"]).get("failed")
    assert run(site, fileset, check=True, delete=["vision"])["steps"] == []


def test_an_empty_mount_point_takes_no_files(site: Filesystem) -> None:
    subprocess.run(["umount", site.mount], check=True)
    for check in (True, False):
        refused = run(site, check=check)
        assert refused["failed"] and f"fs1 is not mounted at {site.mount} on this host" in refused["msg"]
    assert list(Path(site.mount).iterdir()) == [] and site.commands() == []


def test_nothing_is_made_where_limits_have_no_effect(site: Filesystem) -> None:
    site.tool("mmchfs", "fs1", "-Q", "no")
    site.tool("mmchfs", "fs1", "--nofilesetdf")
    site.forget()
    refused = run(site)
    assert refused["failed"] and site.commands() == []
    assert "`mmchfs fs1 -Q yes`" in refused["msg"] and "`mmchfs fs1 --filesetdf`" in refused["msg"]
    assert not run(site, quotas=False).get("failed")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"name": "root"}, "'root' is no name of a fileset"),
        ({"name": "-f"}, "'-f' is no name of a fileset"),
        ({"junction": "/etc"}, "but it must be a plain path below"),
        ({"mode": "770"}, "write four octal digits"),
        ({"inode_prealloc": 300_000}, "must be at most its inode_limit, 200000"),
    ],
)
def test_options_that_make_no_sense_are_refused(site: Filesystem, change: dict[str, Any], why: str) -> None:
    refused = run(site, wanted(site, **{"junction": f"{site.mount}/projects/vision", **change}))
    assert refused["failed"] and why in refused["msg"] and site.commands() == []


def test_a_name_twice_is_refused(site: Filesystem) -> None:
    assert "a name is listed twice" in run(site, wanted(site), wanted(site))["msg"]


def test_a_busy_lock_is_no_user_of_a_fileset(site: Filesystem) -> None:
    run(site)
    site.change(lambda state: state.update(lock_held_until=1e12, lock_timeout_s=0))
    refused = run(site, wanted(site, state="unlinked"))
    assert refused["failed"] and "Timed out waiting for lock" in refused["msg"]
