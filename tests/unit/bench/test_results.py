# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.callback.count import Cost

from bench import results

NODES = {"nodes": ["gpu01"], "switches": ["leaf1"]}


def report(node: int = 15, changed: int = 9, sessions: int = 1) -> dict[str, Any]:
    """As the callback writes it."""
    costs = {
        "gpu01": Cost(ok=node, changed=changed, sessions=sessions, sent_bytes=10240, received_bytes=1000),
        "leaf1": Cost(ok=2, sessions=sessions),
    }
    hosts = {name: {"results": cost.results, **vars(cost)} for name, cost in costs.items()}
    return {"playbook": "site", "check": False, "seconds": 12.3, "hosts": hosts}


def test_only_a_run_that_changed_all_nodes_built_them() -> None:
    assert results.built(report(changed=1), NODES["nodes"])
    assert not results.built(report(changed=0), NODES["nodes"])


def test_budgets_are_judged_run_by_run() -> None:
    assert results.over({"first": report(40), "second": report(35)}, NODES) == []
    sentences = results.over({"first": report(41), "second": report(36, sessions=2)}, NODES)
    assert [sentence.split(",")[0] for sentence in sentences] == [
        "gpu01: the first run took 41 results",
        "gpu01: the second run took 36 results",
        "gpu01: the second run took 2 sessions",
        "leaf1: the second run took 2 sessions",
    ]


def test_the_page_has_a_line_a_host_and_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reports = {"first": report(), "second": report(changed=0)}
    results.store("results", reports, results.page(reports), tmp_path)
    lines = (tmp_path / "results.md").read_text().splitlines()
    assert lines[2] == "Made by `python -m bench.results`; first run 12 s, second run 12 s."
    assert lines[6:8] == [
        "| first | gpu01 | 15 | 15 | 9 | 0 | 0 | 0 | 1 | 10 | 1 |",
        "| first | leaf1 | 2 | 2 | 0 | 0 | 0 | 0 | 1 | 0 | 0 |",
    ]
    assert json.loads((tmp_path / "results.json").read_text()) == reports
    assert capsys.readouterr().out.startswith("# Results per host")
