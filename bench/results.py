# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cost per host of building the site and of a second run: `python -m bench.results`.

Runs playbooks/site.yml twice against the running lab and writes bench/measured/results.md. The first run is
one from bare hosts only in a fresh lab: `lab/lab down; lab/lab up; lab/lab administrator`. Ends with 1 when a budget is
exceeded.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import budgets
from bench.counted import ROOT, Counting, Report, groups, run, spent

MEASURED, RAW = ROOT / "bench/measured", ROOT / "build/bench"
KIB = 1024
HEADS = "run | host | results | ok | changed | failed | skipped | validated | sessions | KiB sent | KiB received"


def site(counting: Counting) -> Report:
    """One run of the whole site. Leaves with its output when it fails."""
    done = run(counting, "-i", "inventories/lab", "playbooks/site.yml")
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}site.yml failed; is the lab up? lab/lab status")
    return counting.report("site")


def built(report: Report, hosts: Sequence[str]) -> bool:
    """Whether a run changed every one of these hosts: a run from bare hosts does."""
    return all(report["hosts"][name]["changed"] for name in hosts)


def over(reports: Mapping[str, Report], members: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences about exceeded budgets. Reads are counted by the switches' own journals, which tests look at."""
    counted = [budget for budget in budgets.load() if budget.kind != "reads"]
    return [line for name, report in reports.items() for line in budgets.over(counted, name, members, spent(report))]


def page(reports: Mapping[str, Report]) -> str:
    """The table as Markdown."""
    lines = [f"| {HEADS} |", "|" + "---|" * len(HEADS.split("|"))]
    for name, report in reports.items():
        for host, cost in report["hosts"].items():
            numbers = [cost[key] for key in ("results", "ok", "changed", "failed", "skipped", "validated", "sessions")]
            numbers += [round(cost[key] / KIB) for key in ("sent_bytes", "received_bytes")]
            lines.append(f"| {name} | {host} | " + " | ".join(str(number) for number in numbers) + " |")
    seconds = ", ".join(f"{name} run {report['seconds']:.0f} s" for name, report in reports.items())
    return f"# Results per host\n\nMade by `python -m bench.results`; {seconds}.\n\n" + "\n".join(lines) + "\n"


def store(name: str, content: Any, text: str) -> None:
    """Write the page, show it, and keep what it was made of until the next time."""
    RAW.mkdir(parents=True, exist_ok=True)
    (RAW / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    (MEASURED / f"{name}.md").write_text(text)
    print(text)


def main() -> int:
    """Run, store, judge."""
    members = groups()
    with tempfile.TemporaryDirectory(prefix="count") as folder:
        counting = Counting(Path(folder))
        reports = {"first": site(counting), "second": site(counting)}
    if not built(reports["first"], members["nodes"]):
        fresh = "lab/lab down && lab/lab up && lab/lab administrator"
        print(f"the site was there already, so no first run is judged; for one: {fresh}")
        del reports["first"]
    store("results", reports, page(reports))
    found = over(reports, members)
    print("\n".join(found) or "all budgets are kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
