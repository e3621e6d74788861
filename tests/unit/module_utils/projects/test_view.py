# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import viewed

from tests.unit.module_utils.site.test_refused import site

BIO = {"name": "bio", "groups": ["bio"], "directory": {"quota_gib": 2, "inodes": 500, "mode": "770", "pool": "data"}}
DAY = "2027-03-31"


def storage(*projects: dict[str, Any], today: str = DAY, host: str = "", **arguments: Any) -> dict[str, Any]:
    nfs = {"drawbridge_nfs": {"mounts": [{"server": "filer", "export": "/x", "mount": "/nfs"}]}} if host else {}
    whole = {"filesystem": "/gpfs/fs1", "projects": [*projects], "host": host}
    found = viewed(
        "project_storage", {**site("lab"), **nfs, "drawbridge_projects": whole}, {"today": today, **arguments}
    )
    assert isinstance(found, dict)
    return found


def fileset(*projects: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    [filesystem] = storage(*projects, **arguments)["filesystems"]
    [found] = filesystem["filesets"]
    assert isinstance(found, dict)
    return found


def test_a_site_without_projects_has_nothing_to_make() -> None:
    found = viewed("project_storage", site("lab"), {"today": DAY})
    assert found == {"filesystems": [], "directories": [], "host": ""}
    assert viewed("project_states", site("lab"), {"today": DAY}) == {
        **{"open": [], "closed": []},
        **{"archived": [], "removed": []},
    }


def test_a_directory_of_gpfs_is_a_fileset_with_quota_and_pool() -> None:
    [found] = storage(BIO, {"name": "bare"})["filesystems"]
    assert found == {
        "device": "fs1",
        "mount": "/gpfs/fs1",
        "filesets": [
            {
                **{"name": "bio", "junction": "/gpfs/fs1/projects/bio", "state": "linked", "inode_limit": 500},
                **{"owner": "root", "group": "bio", "mode": "0770", "closed": False},
            }
        ],
        "quotas": [{"name": "bio", "block_kib": 2 * 1024 * 1024, "inodes": 500}],
        "pools": [{"name": "bio", "pool": "data"}],
        "others": [],
    }


def test_a_directory_elsewhere_is_made_by_the_host_that_the_intent_names() -> None:
    nfs = {**BIO, "directory": {"filesystem": "/nfs", "owner": "ada"}}
    found = storage(nfs, host="login1")
    assert (found["filesystems"], found["host"]) == ([], "login1")
    path = {"path": "/nfs/projects/bio", "mount": "/nfs"}
    assert found["directories"] == [{**path, "owner": "ada", "group": "bio", "mode": "2770", "closed": False}]


@pytest.mark.parametrize(
    ("state", "deletes", "expected"),
    [
        ("open", False, ("linked", False)),
        ("closed", False, ("linked", True)),
        ("archived", True, ("unlinked", False)),
        ("removed", False, ("unlinked", False)),
        ("removed", True, ("absent", False)),
    ],
)
def test_only_a_run_that_deletes_deletes(state: str, deletes: bool, expected: tuple[str, bool]) -> None:
    found = fileset({**BIO, "state": state}, deletes=deletes)
    assert (found["state"], found["closed"]) == expected


def test_the_last_day_is_a_day_of_the_project() -> None:
    ends = {**BIO, "ends": DAY}
    assert not fileset(ends)["closed"]
    assert fileset(ends, today="2027-04-01")["closed"]
    states = viewed(
        "project_states",
        {**site("lab"), "drawbridge_projects": {"filesystem": "/gpfs/fs1", "projects": [ends]}},
        {"today": "2027-04-01"},
    )
    assert states["closed"] == ["bio"] and states["open"] == []


def test_a_project_with_jobs_stays_as_it_is() -> None:
    """An open one is made all the same, and a closed one is not opened again."""
    for state in ("closed", "archived", "removed"):
        assert storage({**BIO, "state": state}, busy={"bio": "job 7"})["filesystems"] == []
    assert fileset(BIO, busy={"bio": "job 7"})["state"] == "linked"


def test_one_project_of_many() -> None:
    other = {**BIO, "name": "med"}
    assert fileset(BIO, other, only=["med"])["name"] == "med"
    with pytest.raises(ValueError, match="no project has the name mad"):
        fileset(BIO, only=["mad"])


def test_rules_of_projects_that_a_run_is_not_about_stay() -> None:
    """One policy has the rules of all projects, and a run for one must not take away the others'."""
    many = [BIO, *({**BIO, "name": name, "state": "closed"} for name in ("med", "geo")), {"name": "bare"}]
    [found] = storage(*many, only=["bio"])["filesystems"]
    assert ([it["name"] for it in found["pools"]], found["others"]) == (["bio"], ["med", "geo"])
    [found] = storage(*many, busy={"med": "job 7"}, states=["closed"])["filesystems"]
    assert ([it["name"] for it in found["pools"]], found["others"]) == (["geo"], ["bio", "med"])


def test_open_projects_have_a_run_of_their_own() -> None:
    shut = {**BIO, "name": "med", "state": "closed"}
    assert fileset(BIO, shut, states=["open"])["name"] == "bio"
    assert fileset(BIO, shut, states=["closed", "archived", "removed"])["name"] == "med"
    assert fileset({**BIO, "ends": DAY}, states=["closed"], today="2027-04-01")["closed"]


def test_nothing_is_closed_while_it_is_not_known_which_projects_have_jobs() -> None:
    assert fileset(BIO, busy=None)["name"] == "bio"
    for state in ("closed", "archived", "removed"):
        for unknown in (None, ""):
            with pytest.raises(ValueError, match="did not say which projects have jobs"):
                storage({**BIO, "state": state}, busy=unknown)
