# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A report as JSON, as JUnit XML, and as metrics."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from xml.etree import ElementTree

from ..core import hostlist
from ..core.printable import printable
from .collect import CHANGED, KINDS
from .fold import Document
from .sentences import SITE, summary

FAULTS = {kind: "failure" if kind == CHANGED else "error" for kind in KINDS}
"""Drift is a failure; what could not be compared is an error."""
METRICS = {
    "drawbridge_report_findings": "Findings of the last run in check mode, one for each host, by kind and layer.",
    "drawbridge_report_new_findings": "Findings that the run before did not have.",
    "drawbridge_report_hosts": "Hosts that the run compared with the intent.",
    "drawbridge_report_duration_seconds": "How long the run took.",
    "drawbridge_report_start_timestamp_seconds": "When the run began.",
}


def as_json(report: Document) -> str:
    """The report with its first line as `summary`."""
    return json.dumps({**report, "summary": summary(report)}, indent=1) + "\n"


def as_junit(report: Document) -> str:
    """A test case for each host and layer with a finding; without findings one that passes."""
    cases: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for found in report["findings"]:
        for host in hostlist.expand(found["hosts"]) or [SITE]:
            cases.setdefault((host, found["layer"]), []).append((found["kind"], found["text"]))
    suite = ElementTree.Element("testsuite", name=report["playbook"], timestamp=report["started"])
    kinds = Counter(FAULTS[kind] for found in cases.values() for kind, _unused in found[:1])
    suite.set("tests", str(max(1, len(cases))))
    suite.set("time", str(report["seconds"]))
    for name in ("failure", "error"):
        suite.set(f"{name}s", str(kinds[name]))
    if not cases:
        ElementTree.SubElement(suite, "testcase", classname="drawbridge", name="no drift")
    for (host, layer), texts in cases.items():
        case = ElementTree.SubElement(suite, "testcase", classname=f"drawbridge.{layer}", name=host)
        kind, first = texts[0]
        fault = ElementTree.SubElement(case, FAULTS[kind], type=kind, message=printable(first.splitlines()[0]))
        fault.text = printable("\n".join(f"{kind}: {text}" for kind, text in texts))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_metrics(report: Document) -> str:
    """Text for Prometheus. All kinds have a value, so that an alert sees zeros."""
    counts: Counter[tuple[str, str]] = Counter()
    for found in report["findings"]:
        counts[found["kind"], found["layer"]] += max(1, hostlist.count(found["hosts"]))
    for kind in KINDS:
        if not any(known == kind for known, _unused in counts):
            counts[kind, ""] = 0
    started = datetime.datetime.fromisoformat(report["started"]).timestamp()
    values = {
        "drawbridge_report_findings": [
            (f"{{kind={_label(kind)},layer={_label(layer)}}}", number)
            for (kind, layer), number in sorted(counts.items())
        ],
        "drawbridge_report_new_findings": [("", sum(hostlist.count(it.get("new", "")) for it in report["findings"]))],
        "drawbridge_report_hosts": [("", report["hosts"])],
        "drawbridge_report_duration_seconds": [("", report["seconds"])],
        "drawbridge_report_start_timestamp_seconds": [("", round(started))],
    }
    lines = []
    for name, about in METRICS.items():
        lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge"]
        lines += [f"{name}{labels} {value}" for labels, value in values[name]]
    return "\n".join(lines) + "\n"


def _label(value: str) -> str:
    """A label's value in quotes. Other files than ours may name a role as they like."""
    escaped = printable(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
