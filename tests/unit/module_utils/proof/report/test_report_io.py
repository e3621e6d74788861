# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report import report_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import NodeVerdict

from tests.unit.module_utils.proof.results import LONG, example

FAULTY, CLEAN = example(8), example(8, faulty=False)
PAGE = report_io.as_page(FAULTY, CLEAN)


def test_all_files_are_written_and_the_result_is_read_back(tmp_path: Path) -> None:
    paths = report_io.write(str(tmp_path / "new"), FAULTY, CLEAN)
    assert [Path(it).name for it in paths] == ["proof.json", "proof.xml", "proof.txt", "proof.html"]
    assert {Path(it).stat().st_mode & 0o777 for it in paths} == {0o644}
    assert report_io.read(paths[0]) == FAULTY
    ElementTree.parse(paths[1])
    assert Path(paths[2]).read_text().startswith("Proof of hgx: failed. 3 of 8 nodes proved;")


def test_without_jinja2_all_but_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert len(report_io.write(str(tmp_path), CLEAN, page=False)) == 3


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 7}', '{"schema": 1, "nodes": 3}'])
def test_a_file_that_is_no_result_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "proof.json").write_text(content)
    assert report_io.read(str(tmp_path / "proof.json")) is None
    assert report_io.read(str(tmp_path / "absent.json")) is None


def test_the_page_loads_nothing_and_runs_no_script() -> None:
    assert "default-src 'none'" in PAGE
    assert not re.findall(r"<script|<link|<img|https?://|@import|url\(|\bon\w+=", PAGE)


def test_the_page_has_each_part() -> None:
    assert set(re.findall(r'<h2 id="(\w+)"', PAGE)) == {
        *("findings", "nodes", "fabric", "topology", "maps", "ports", "measures", "last")
    }
    assert set(re.findall(r'href="#(\w+)"', PAGE)) == set(re.findall(r'<h2 id="(\w+)"', PAGE))
    assert "prefers-color-scheme: dark" in PAGE and "@media print" in PAGE
    assert "Look at: ethtool -m rail3" in PAGE and "proved → failed" in PAGE
    assert 'id="last"' not in report_io.as_page(FAULTY)


@pytest.mark.parametrize("name", ["gpu{:03d}", LONG])
def test_the_page_of_512_nodes_is_below_5_mb(name: str) -> None:
    assert len(report_io.as_page(example(512, name=name), example(512, 1, False, name=name)).encode()) < 1_500_000


def test_texts_of_hosts_are_no_markup(tmp_path: Path) -> None:
    evil = NodeVerdict("<script>alert(1)</script>", "h100", "su1", "failed", ("<img src=x>\udc80",))
    page = report_io.as_page(replace(FAULTY, nodes=(*FAULTY.nodes, evil), cluster="<b>"))
    assert not re.findall(r"<script|<img|<b>", page) and "&lt;script&gt;" in page
    assert len(report_io.write(str(tmp_path), replace(FAULTY, cluster="\udc80"))) == 4
