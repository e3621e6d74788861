# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tree as a collection: which files are shipped, and that it works from a place of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import yaml

from tests.collection.installed import NAME, ROOT, Site
from tests.collection.payloads import refusing_python

SHIPPED = {
    "CHANGELOG.md",
    "FILES.json",
    "LICENSE",
    "MANIFEST.json",
    "README.md",
    "docs",
    "examples",
    "filter_plugins",
    "inventories",
    "library",
    "meta",
    "module_utils",
    "playbooks",
    "plugins",
    "requirements.lock",
    "requirements.yml",
    "roles",
}
"""What a site needs; tests, lab and the makings of a release stay in the repository."""


def links(root: Path) -> dict[str, str]:
    """Links by path, without those that are no part of the collection."""
    return {
        str(path.relative_to(root)): str(path.readlink())
        for folder in sorted(SHIPPED)
        for path in (root / folder).rglob("*")
        if path.is_symlink()
    }


def test_nothing_but_what_a_site_needs_is_shipped(site: Site) -> None:
    assert {path.name for path in site.installed.iterdir()} == SHIPPED


def test_every_tracked_file_of_the_shipped_folders_is_there(site: Site) -> None:
    for folder in sorted(SHIPPED - {"FILES.json", "MANIFEST.json"}):
        for path in [site.export / folder, *(site.export / folder).rglob("*")]:
            assert os.path.lexists(site.installed / path.relative_to(site.export)), path


def test_links_survive(site: Site) -> None:
    """Some are folders that make the tree a collection, some are files that two roles share."""
    before = links(site.export)
    assert {"plugins/modules", "plugins/module_utils", "plugins/filter"} <= set(before)
    assert links(site.installed) == before
    for name in before:
        assert (site.installed / name).resolve().is_relative_to(site.installed.resolve()), name
        assert (site.installed / name).exists(), name


def test_the_check_runs_by_its_name(site: Site) -> None:
    inventory = site.installed / "inventories/lab"
    done = site.ansible("ansible-playbook", "-i", str(inventory), f"{NAME}.check")
    assert done.code == 0, done.text
    assert "ok=1" in done.out
    assert "[WARNING]" not in done.out + done.err, done.text
    assert list(site.cwd.iterdir()) == []


def test_the_list_for_a_mirror_is_written_without_any_host(site: Site, tmp_path: Path) -> None:
    """The example's hosts exist nowhere."""
    inventory, file = site.installed / "inventories/example-rails", tmp_path / "mirror.yml"
    done = site.ansible(
        "ansible-playbook", "-i", str(inventory), f"{NAME}.mirror", "-e", f"cluster_intent_mirror_file={file}"
    )
    assert done.code == 0, done.text
    listed = {item["package"] for item in yaml.safe_load(file.read_text())["packages"]}
    assert {"slurmctld", "slurmd", "sackd", "munge", "kubelet"} <= listed


def test_every_playbook_is_found_with_its_roles(site: Site) -> None:
    """Roles and imported playbooks are looked up when a playbook is read."""
    inventory = site.installed / "inventories/lab"
    names = [f"{NAME}.{path.stem}" for path in sorted((ROOT / "playbooks").glob("*.yml"))]
    done = site.ansible("ansible-playbook", "-i", str(inventory), "--list-tasks", *names)
    assert done.code == 0, done.text


def test_a_module_takes_its_imports_along(site: Site) -> None:
    """One for all: they share the links. tests/old_python sends every module."""
    version = refusing_python(["mm_node"], site.cwd.parent, site.environment, Path(sys.executable))
    assert version == sys.version_info[:2]
