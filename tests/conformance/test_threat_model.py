# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Each promise of the threat model names the policy, test or page that holds it, or says that nothing does."""

from __future__ import annotations

import re

import pytest

from tests.conformance.tree import ROOT

PAGE = ROOT / "docs/concepts/threat-model.md"
SECTIONS = dict(re.findall(r"^##+ (.+)\n((?:(?!##).*\n)*)", PAGE.read_text(), re.MULTILINE))
BULLETS = ("Who may do what", "A stolen kubeconfig of a run", "Admission policies", "Workloads other than batch Jobs")
TABLES = ("Who may do what", "Review findings")
SOURCES = "".join(path.read_text() for path in ROOT.glob("roles/kube_installer/templates/manifests/*.j2"))
POLICIES = {f"drawbridge-{name}" for name in re.findall(r"cel\.policy\('([a-z-]+)'", SOURCES)}
UNHELD = ("Nothing else holds", "Nothing holds", "Nothing of ")


def promises() -> list[str]:
    """Bullets of the page, each with its indented lines, and the last cells of rows in its tables."""
    text = [SECTIONS[name] for name in (*BULLETS, "Guarantees", "Limits")]
    bullets = [found for part in text for found in re.findall(r"^- (?:.*\n)(?:(?:  .*)?\n)*", part, re.MULTILINE)]
    rows = [line for name in TABLES for line in SECTIONS[name].splitlines()[2:] if line.startswith("| ")]
    return [*bullets, *(f"{row.split('|')[1]} held by: {row.split('|')[-2]}" for row in rows if "held by |" not in row)]


def led(reference: str) -> bool:
    """Whether a policy, or a test in a file, is there."""
    if reference in POLICIES:
        return True
    path, _sep, name = reference.partition("::")
    file = ROOT / path
    text = file.read_text() if file.is_file() else ""
    words = (
        {".py": f"def {name}(", ".yml": f"id: {name},"}
        if path.startswith("tests/attacks/")
        else {".py": f"def {name}("}
    )
    return file.is_file() and (not name or words.get(file.suffix, name) in text)


@pytest.mark.parametrize("promise", promises(), ids=lambda it: " ".join(it.split()[:8]))
def test_each_promise_is_held(promise: str) -> None:
    held = " ".join(re.findall(r"eld by:\s(.+?)(?:\.\s|\s*$)", promise, re.DOTALL))
    named = re.findall(r"`([^`]+)`", held)
    assert named or "](" in held or (not held and any(words in promise for words in UNHELD)), "what holds it?"
    assert [reference for reference in named if not led(reference)] == []


def test_the_table_has_all_policies() -> None:
    rows = re.findall(r"^\| (drawbridge-[a-z, -]+) \|", SECTIONS["Admission policies"], re.MULTILINE)
    assert {f"drawbridge{name.removeprefix('drawbridge')}" for row in rows for name in row.split(", ")} == POLICIES
