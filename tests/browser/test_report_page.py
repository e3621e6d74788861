# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, with Chromium: a report's page at 10 and at 2,000 hosts, light and dark, wide and narrow.

No text overlaps another or leaves the page. PICTURES=docs/images writes the guide's screenshots anew.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.page_io import as_page

from tests.unit.module_utils.report.runs import recorded, report, step

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
MODES = {"dark": 0, "light": 1}
WIDTHS = (1200, 390)
LOOK = """
const texts = [...document.querySelectorAll('h1, h2, h3, p, li, th, td, summary, text')];
const said = it => (it.innerText ?? it.textContent).trim();
const boxes = texts.filter(said).map(it => [it, it.getBoundingClientRect()]).sort((a, b) => a[1].top - b[1].top);
const found = [];
boxes.forEach(([one, a], index) => {
  for (let next = index + 1; next < boxes.length && boxes[next][1].top < a.bottom - 1; next++) {
    const [other, b] = boxes[next];
    const apart = b.left >= a.right - 1 || a.left >= b.right - 1 || one.contains(other) || other.contains(one);
    if (!apart) found.push([said(one), said(other)]);
  }
});
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const back = getComputedStyle(document.body).backgroundColor;
const told = JSON.stringify({overlaps: found.slice(0, 5), wide, back, texts: boxes.length});
document.body.innerHTML = '<pre id="told"></pre>';
document.getElementById('told').textContent = told;
"""


def large() -> str:
    """Eight ports of a third of 2,000 nodes, and a daemon of all."""
    names = [f"gpu{number:04}" for number in range(2000)]
    nics = [step(name, f"rail{rail}: mtu 9000, not 1500") for name in names[::3] for rail in range(8)]
    return as_page(
        report([*recorded("drift"), *nics, *(step(it, "restart slurmd.service", role="slurm_node") for it in names)])
    )


PAGES = {"10 hosts": as_page(report(recorded("failures"))), "2,000 hosts": large()}


def chromium(page: Path, mode: str, width: int, *more: str) -> str:
    """Standard output of a headless Chromium with this page; it loads nothing else."""
    argv = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--host-resolver-rules=MAP * ~NOTFOUND",
    ]
    argv += [f"--blink-settings=preferredColorScheme={MODES[mode]}", f"--window-size={width},900", *more, page.as_uri()]
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=300).stdout


def looked(folder: Path, text: str, mode: str, width: int) -> dict[str, Any]:
    """What a script sees in a copy of the page that may run scripts."""
    page = folder / "page.html"
    page.write_text(re.sub(r"<meta http-equiv=.*>\n", "", text).replace("</body>", f"<script>{LOOK}</script></body>"))
    told = re.search(r'<pre id="told">(.*)</pre>', chromium(page, mode, width, "--dump-dom"), re.DOTALL)
    assert told
    return json.loads(html.unescape(told[1]))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", PAGES)
def test_no_text_overlaps_another_or_leaves_the_page(tmp_path: Path, size: str, mode: str, width: int) -> None:
    seen = looked(tmp_path, PAGES[size], mode, width)
    assert (seen["overlaps"], seen["wide"]) == ([], 0)
    assert seen["texts"] > 20
    assert seen["back"] == {"dark": "rgb(18, 22, 28)", "light": "rgb(255, 255, 255)"}[mode]


@pytest.mark.skipif("PICTURES" not in os.environ, reason="PICTURES names no folder")
@pytest.mark.parametrize("mode", MODES)
def test_the_guide_has_pictures(tmp_path: Path, mode: str) -> None:
    (tmp_path / "page.html").write_text(PAGES["10 hosts"])
    folder = Path(os.environ["PICTURES"]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    chromium(tmp_path / "page.html", mode, 1000, f"--screenshot={folder}/report-{mode}.png")
