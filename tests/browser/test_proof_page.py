# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, with Chromium: a proof's page at 8, 64 and 512 nodes, light and dark, wide and narrow.

No text overlaps another or leaves the page. PICTURES=docs/images writes a screenshot anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.report_io import as_page

from tests.browser.test_report_page import MODES, WIDTHS, chromium, looked
from tests.unit.module_utils.proof.results import LONG, example


def page(nodes: int, unit: int = 32, name: str = "gpu{:03d}") -> str:
    return as_page(example(nodes, 0, True, unit, name), example(nodes, 1, False, unit, name))


PAGES = {"8": page(8, 4), "64 with long names": page(64, 16, LONG), "128": page(128), "512": page(512)}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", PAGES)
def test_no_text_overlaps_another_or_leaves_the_page(tmp_path: Path, size: str, mode: str, width: int) -> None:
    seen = looked(tmp_path, PAGES[size], mode, width)
    assert (seen["overlaps"], seen["wide"]) == ([], 0)
    assert seen["texts"] > 100
    assert seen["back"] == {"dark": "rgb(18, 22, 28)", "light": "rgb(255, 255, 255)"}[mode]


@pytest.mark.skipif("PICTURES" not in os.environ, reason="PICTURES names no folder")
@pytest.mark.parametrize("mode", MODES)
def test_the_guide_has_pictures(tmp_path: Path, mode: str) -> None:
    (tmp_path / "page.html").write_text(PAGES["128"])
    folder = Path(os.environ["PICTURES"]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    size = "--window-size=1200,1360"
    chromium(tmp_path / "page.html", mode, 1200, size, f"--screenshot={folder}/proof-{mode}.png")
