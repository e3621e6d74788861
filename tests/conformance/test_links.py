# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Links lead somewhere: pages to files and headings, and what code says of a page to that page."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.conformance.tree import ROOT, relative

TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
PAGES = [ROOT / name for name in TRACKED if name.endswith(".md")]
RENAMED = ROOT / "docs/upgrade.md"
"""Names pages that are gone."""


def anchors(page: Path) -> set[str]:
    """What headings are called in links."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    found = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    return [link for link in found if "://" not in link and not _leads(page, *link.partition("#")[::2])]


def _leads(page: Path, path: str, anchor: str) -> bool:
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_links_lead_somewhere(path: Path) -> None:
    assert broken(path) == []


def test_pages_that_files_name_exist() -> None:
    command = ["git", "grep", "-noIE", r"\bdocs/[a-z-]+(/[a-z-]+)*\.md"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    named = [line.split(":") for line in lines]
    outside = {"module_utils/drawbridge/kube/releases/catalogue.py", relative(RENAMED)}
    assert {(file, name) for file, _, name in named if file not in outside and not (ROOT / name).is_file()} == set()
