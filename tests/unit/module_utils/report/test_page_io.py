# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of a report."""

from __future__ import annotations

import re

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.page_io import as_page
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.sentences import text

from tests.unit.module_utils.report.runs import recorded, report, step


def test_the_page_loads_nothing_and_shows_every_host_and_no_markup_of_results() -> None:
    page = as_page(report([*recorded("failures"), step("gpu01", "write <script>alert(1)</script>")]))
    assert "<script" not in page
    assert re.findall(r"\b(?:src|href|url|@import)\s*[=(]", page) == []
    assert "default-src 'none'" in page
    for place in {line["hosts"] for line in report(recorded("failures"))["findings"] if line["hosts"]}:
        assert place in page


def test_a_long_hostlist_is_cut_for_people_and_whole_in_the_page() -> None:
    names = [f"gpu{number:04}" for number in range(0, 2000, 2)]
    found = report([step(name, "restart it") for name in names])
    assert "    1,000 hosts: gpu[0000,0002," in "\n".join(text(found))
    assert max(map(len, text(found))) < 200
    page = as_page(found)
    assert "<summary>1,000 hosts</summary>gpu[0000,0002," in page
    assert ",1998]</details>" in page
