# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A proof as JUnit XML: a suite for the verdicts of nodes, and one for each check with its nodes and pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from xml.etree import ElementTree

from ...core import hostlist
from ..result import FAILED, SKIPPED, UNKNOWN, Judged, NodeVerdict, ProofFinding, Result
from .measures import FABRIC
from .words import bound, place, seconds, value

VERDICT = "verdict"
MOST_LINES = 20
"""Measures of a failed case that its text has."""


@dataclass
class Case:
    """A test case. Texts in `failures` make it fail."""

    name: str
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Kind and text."""
    skipped: str = ""


def xml(result: Result) -> str:
    """The document. Findings that only warn fail no case."""
    checks = dict.fromkeys(it.check for it in (*result.measures, *result.findings))
    suites = [(VERDICT, _verdicts(result), 0)]
    suites += [(it, _cases(result, it), result.fabric.seconds if it == FABRIC else 0) for it in checks]
    top = ElementTree.Element("testsuites", {"name": f"proof of {_clean(result.cluster)}", **_numbers(suites)})
    top.set("time", f"{seconds(result):.3f}")
    for name, cases, spent in suites:
        suite = ElementTree.SubElement(top, "testsuite", {"name": _clean(name), **_numbers([(name, cases, spent)])})
        suite.set("time", f"{spent:.3f}")
        suite.set("timestamp", result.started[:19])
        suite.set("hostname", _clean(result.cluster))
        for case in cases:
            _write(suite, name, case)
    ElementTree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(top, encoding="unicode") + "\n"


def _write(suite: ElementTree.Element, check: str, case: Case) -> None:
    names = {"classname": f"drawbridge.proof.{_clean(check)}", "name": _clean(case.name), "time": "0.000"}
    element = ElementTree.SubElement(suite, "testcase", names)
    if case.failures:
        kinds = ", ".join(dict.fromkeys(kind for kind, _text in case.failures))
        first = _clean(case.failures[0][1].splitlines()[0])
        failure = ElementTree.SubElement(element, "failure", {"type": _clean(kinds), "message": first})
        failure.text = _clean("\n".join(text for _kind, text in case.failures))
    elif case.skipped:
        ElementTree.SubElement(element, "skipped", {"message": _clean(case.skipped)})


def _numbers(suites: Sequence[tuple[str, Sequence[Case], int]]) -> dict[str, str]:
    cases = [case for _name, mine, _spent in suites for case in mine]
    failed, skipped = sum(bool(it.failures) for it in cases), sum(bool(it.skipped and not it.failures) for it in cases)
    return {"tests": str(len(cases)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}


def _verdicts(result: Result) -> list[Case]:
    cases = [_verdict(it) for it in result.nodes]
    if not result.complete:
        cases.append(Case("complete", [("incomplete", "the proof was interrupted, and the next run goes on")]))
    return cases


def _verdict(node: NodeVerdict) -> Case:
    why = "\n".join(node.why) or node.verdict
    if node.verdict in (FAILED, UNKNOWN):
        return Case(node.name, [(node.verdict, why)])
    return Case(node.name, skipped=why if node.verdict == SKIPPED else "")


def _cases(result: Result, check: str) -> list[Case]:
    """A case for each node, for each pair of nodes, and for each place of a finding that is neither."""
    faults = [it for it in result.findings if it.check == check and not it.warning]
    groups: dict[str, list[Judged]] = {}
    for measure in (it for it in result.measures if it.check == check):
        for subject in [_names(measure.nodes)] if len(measure.nodes) <= 2 else measure.nodes:
            groups.setdefault(subject, []).append(measure)
    places = {_subject(it): None for it in result.findings if it.check == check}
    return [_case(subject, groups.get(subject, []), faults) for subject in {**dict.fromkeys(groups), **places}]


def _case(subject: str, measures: Sequence[Judged], faults: Iterable[ProofFinding]) -> Case:
    """A test of many nodes that failed fails no case of its nodes: a finding names the cause."""
    mine = [it for it in faults if _subject(it) == subject]
    failures = [
        (it.kind, "\n".join(filter(None, [it.text, it.look and f"Look at: {it.look}", *it.evidence]))) for it in mine
    ]
    failed = [it for it in measures if not it.passed and len(it.nodes) <= 2]
    lines = [f"{it.where}: {it.name} {value(it)}, limit {bound(it.limit, it.at_least, it.unit)}" for it in failed]
    if failed:
        causes = [it.text for it in faults if it not in mine and any(set(it.nodes) & set(one.nodes) for one in failed)]
        failures.append(("limit", "\n".join([*causes, *lines[:MOST_LINES]])))
    return Case(subject, failures)


def _subject(finding: ProofFinding) -> str:
    return _names(finding.nodes) if finding.nodes else place(finding) or finding.kind


def _names(nodes: Sequence[str]) -> str:
    return hostlist.compress(list(nodes))


def _clean(text: str) -> str:
    """The text with ? for characters that XML 1.0 does not allow."""
    return "".join(
        it if it in "\t\n\r" or 0x20 <= ord(it) < 0xD800 or 0xE000 <= ord(it) < 0xFFFE or ord(it) > 0xFFFF else "?"
        for it in text
    )
