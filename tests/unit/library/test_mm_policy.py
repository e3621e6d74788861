# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Placement rules in the emulated file system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.emulated import converged
from tests.unit.library.gpfs_filesystem import ADMIN, Filesystem

SITE = """\
/* rules of the site: 100 % ours */
RULE 'logs' SET POOL 'system' WHERE NAME LIKE '%.log'
RULE 'default' SET POOL 'system'
"""
OWN = """\
/* drawbridge begin */
RULE 'drawbridge vision' SET POOL 'data' FOR FILESET ('vision')
/* drawbridge end */
"""


@pytest.fixture
def site(own_mounts: None, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Filesystem:
    """vision and speech exist."""
    site = Filesystem(tmp_path, monkeypatch, capfd)
    for name in ("vision", "speech"):
        site.tool("mmcrfileset", "fs1", name, "--inode-space", "new")
    site.forget()
    return site


def run(site: Filesystem, check: bool = False, **more: Any) -> dict[str, Any]:
    pools = more.pop("pools", {"vision": "data"})
    filesets = [{"name": name, "pool": pool} for name, pool in pools.items()]
    arguments = {"device": "fs1", "filesets": filesets, "default_pool": "system", "lock_wait_s": 0, **more}
    return site.run(ADMIN, "mm_policy", check, **arguments)


def settled(site: Filesystem, **more: Any) -> dict[str, Any]:
    return converged(lambda check=False: run(site, check=check, **more), lambda: changes(site))


def changes(site: Filesystem) -> list[dict[str, Any]]:
    """Installed policies; -I test installs nothing."""
    return [call for call in site.device(ADMIN).calls() if call["tool"] == "mmchpolicy" and "test" not in call["argv"]]


def validations(site: Filesystem) -> int:
    return sum("test" in call["argv"] for call in site.device(ADMIN).calls())


def policy(site: Filesystem) -> str:
    return site.tool("mmlspolicy", "fs1", "-L")


def given(site: Filesystem, text: str) -> None:
    path = site.folder.parent / "site.policy"
    path.write_text(text)
    site.tool("mmchpolicy", "fs1", str(path))
    site.forget()


def test_a_first_policy_is_validated_and_installed_as_predicted(site: Filesystem) -> None:
    settled(site)
    default = "RULE 'drawbridge: other files' SET POOL 'system'\n"
    assert policy(site) == OWN.replace("/* drawbridge end", f"{default}/* drawbridge end")
    assert validations(site) == 1 and list(site.folder.iterdir()) == []


def test_rules_follow_the_projects_and_the_sites_part_stays(site: Filesystem) -> None:
    given(site, SITE)
    settled(site, into_site_policy=True)
    assert policy(site) == SITE.replace("RULE 'default'", f"{OWN}RULE 'default'")
    settled(site, pools={"vision": "data", "speech": "system"})
    assert "FOR FILESET ('speech')" in policy(site)
    settled(site, pools={})
    assert policy(site) == SITE


def test_a_policy_of_the_site_needs_a_consent(site: Filesystem) -> None:
    given(site, SITE)
    for check in (True, False):
        refused = run(site, check=check, variables={"into_site_policy": "site_into"})
        assert refused["failed"] and refused["msg"].endswith("set site_into: true")
        assert "fs1 has a policy of 2 rules" in refused["msg"]
    assert policy(site) == SITE and validations(site) == 0
    assert run(site, pools={})["changed"] is False


@pytest.mark.parametrize("effect", ["refuse", "lie", "hang", "die", "drift"])
def test_faults_are_reported_and_the_next_run_finishes(site: Filesystem, effect: str) -> None:
    site.hosts[ADMIN].arm("gpfs", "mmchpolicy", effect)
    failed = run(site)
    assert failed["failed"], failed
    again = run(site, into_site_policy=True)
    assert not again.get("failed"), again
    assert run(site, check=True)["steps"] == [] and "FOR FILESET ('vision')" in policy(site)


def test_a_pool_that_gpfs_does_not_have_is_refused_before_anything_changes(site: Filesystem) -> None:
    for check in (True, False):
        refused = run(site, check=check, pools={"vision": "flash"})
        assert refused["failed"] and "flash" in refused["msg"]
    assert changes(site) == [] or policy(site).startswith("No policy")


def test_a_name_that_could_end_a_quotation_is_refused(site: Filesystem) -> None:
    refused = run(site, pools={"vision": "data' /*"})
    assert refused["failed"] and "is no name for a policy" in refused["msg"] and changes(site) == []
