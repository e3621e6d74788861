# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a report."""

from __future__ import annotations

import re
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.page_io import (
    REPOSITORY,
    as_page,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.sentences import text

from tests.unit.module_utils.report.runs import recorded, report, step

ROOT = Path(__file__).parents[4]
COLLECTION = ROOT / "collections/ansible_collections/drawbridge/drawbridge"


def test_the_page_loads_nothing_and_shows_every_host_and_no_markup_of_results() -> None:
    page = as_page(report([*recorded("failures"), step("gpu01", "write <script>alert(1)</script>")]))
    assert "<script" not in page
    assert re.findall(r"\b(?:src|url|@import)\s*[=(]", page) == []
    assert "default-src 'none'" in page
    for place in {line["hosts"] for line in report(recorded("failures"))["findings"] if line["hosts"]}:
        assert place in page


def test_each_layer_leads_to_its_page() -> None:
    roles = ("slurm_node", "node", "a_role_of_the_site")
    page = as_page(report([*recorded("failures"), *(step("gpu01", "restart it", role=role) for role in roles)]))
    paths = set(re.findall(rf'href="{REPOSITORY}/([^"]+)"', page))
    assert {"docs/guides/run-report.md", "roles/slurm_node/README.md"} < paths
    assert len(re.findall(r'href="(?!#)', page)) == len(re.findall(f'href="{REPOSITORY}/', page))
    assert all((ROOT / path).is_file() for path in paths)
    assert f"repository: {REPOSITORY.removesuffix('/blob/main')}\n" in (COLLECTION / "galaxy.yml").read_text()


def test_the_page_begins_with_failures_and_counts_lead_to_their_sections() -> None:
    page = as_page(report(recorded("failures")))
    assert "on the inventory <code>inventories/lab</code>" in page
    kinds = re.findall(r'<section class="found (\w+)">', page)
    assert kinds == [
        kind for kind in ("refused", "failed", "stopped", "unreachable", "pending", "changed") if kind in kinds
    ]
    assert len(kinds) > 2
    targets = re.findall(r'href="#([^"]+)"', page)
    assert targets and sorted(targets) == sorted(re.findall(r'<h3 id="([^"]+)"', page))
    for kind in kinds:
        assert f'id="only-{kind}"' in page
        assert f"body:has(#only-{kind}:checked) section.found:not(.{kind})" in page


def test_the_counts_are_those_of_the_lines() -> None:
    page = as_page(
        report([*(step(f"gpu0{at}", f"write {at}") for at in range(3)), step("gpu01", "x", role="slurm_node")])
    )
    numbers = [int(number) for number in re.findall(r'href="#[^"]+">(\d+)<', page)]
    assert numbers == []  # one kind: there is nothing to choose
    page = as_page(report([*recorded("failures"), *(step(f"gpu0{at}", f"write {at}") for at in range(3))]))
    sections = page.split('<section class="found ')[1:]
    by_anchor = dict(re.findall(r'href="#([^"]+)">(\d+)<', page))
    for section in sections:
        for part in section.split("<h3 ")[1:]:
            assert part.partition("</table>")[0].count("<tr>") == int(by_anchor[re.findall(r'id="([^"]+)"', part)[0]])


def test_a_long_hostlist_is_cut_for_people_and_whole_in_the_page() -> None:
    names = [f"gpu{number:04}" for number in range(0, 2000, 2)]
    found = report([step(name, "restart it") for name in names])
    assert "    1,000 hosts: gpu[0000,0002," in "\n".join(text(found))
    assert max(map(len, text(found))) < 200
    page = as_page(found)
    assert "<summary>1,000 hosts</summary>gpu[0000,0002," in page
    assert ",1998]</details>" in page
