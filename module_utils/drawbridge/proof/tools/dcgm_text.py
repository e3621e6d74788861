# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""JSON of `dcgmi diag -j`, of DCGM 3 and 4: which test failed on which GPU, and why.

The exit code is 226 if a test failed and 205 if DCGM asks to isolate a GPU. The JSON decides: it names the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..measure import Found, Missing, Remark
from .output import document, first_line, not_recognised, part, parts, stopped

NAME = "DCGM"
FAILED, ISOLATE = 226, 205
_CODES = {FAILED: "a test failed", ISOLATE: "DCGM asks to isolate a GPU"}
_SEVERITIES = {2: "DCGM asks to isolate it", 5: "a setting of the node", 6: "DCGM asks to reset it"}
"""DCGM's severities that say what to do."""
_KEYS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
"""Of DCGM 4 and 3."""
_PASSED, _SKIPPED, _FAILED, _WARNED = "pass", "skip", "fail", "warn"


def remarks(stdout: str, stderr: str, code: int, where: str) -> list[Found]:
    """A Remark for each failed test of each GPU; those of warnings, and of tests that no GPU ran, only warn.

    `where` is the node; a remark's own is "gpu01 GPU 3". Nothing is found if each test passed.
    """
    if why := stopped(code):
        return [Missing(NAME, where, why)]
    try:
        shown = document(stdout)
    except ValueError:
        return [Missing(NAME, where, not_recognised(code, stdout, stderr))]
    run = next((part(shown, key) for key in _KEYS if part(shown, key)), {})
    if error := run.get("runtime_error") or shown.get("runtime_error"):
        return [Missing(NAME, where, f"dcgmi could not run it: {first_line(str(error))}")]
    tests = [test for category in parts(run, "test_categories") for test in parts(category, "tests")]
    if not tests:
        return [Missing(NAME, where, f"the JSON has no tests (exit code {code})")]
    states = {_status(it) for test in tests for it in _results(test)}
    if states == {_SKIPPED}:
        return [Missing(NAME, where, "each test was skipped")]
    found = [it for test in tests for it in _of_test(test, where)]
    if code and all(isinstance(it, Remark) and it.warning for it in found):
        why = f"{_CODES.get(code, 'dcgmi failed')} (exit code {code}), but its JSON names no failed test"
        return [*found, Missing(NAME, where, why)]
    return found


def _results(test: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Results by GPU, and the summary where no GPU's result says as much."""
    results, summary = parts(test, "results"), part(test, "test_summary")
    if summary and _status(summary) not in {_status(it) for it in results}:
        return [*results, summary]
    return results


def _status(result: Mapping[str, Any]) -> str:
    return str(result.get("status", "")).strip().lower()


def _of_test(test: Mapping[str, Any], where: str) -> Iterator[Found]:
    name = f"{NAME} {first_line(str(test.get('name'))) or 'test'}"
    results = _results(test)
    if not results:
        yield Missing(name, where, "the test has no result")
    elif {_status(it) for it in results} == {_SKIPPED}:
        yield Remark(name, where, f"no GPU ran it: {_reasons(results[0]) or 'DCGM skipped it'}", warning=True)
    for result in results:
        status, place = _status(result), _place(result, where)
        if status in (_FAILED, _WARNED):
            yield Remark(name, place, _reasons(result) or "DCGM gave no reason", warning=status == _WARNED)
        elif status not in (_PASSED, _SKIPPED):
            yield Missing(name, place, f"unknown status {first_line(status) or '(none)'}")


def _place(result: Mapping[str, Any], where: str) -> str:
    """DCGM 4 has entities, and DCGM 3 `gpu_id` or `gpu_ids`. A summary is of the node."""
    kind = result.get("entity_group", "GPU")
    number = next((result[key] for key in ("entity_id", "gpu_id", "gpu_ids") if key in result), None)
    return where if number is None else f"{where} {first_line(str(kind))} {first_line(str(number))}"


def _reasons(result: Mapping[str, Any]) -> str:
    """Its warnings, or else its information; each is a text, or in warnings a mapping with a severity."""
    given = result.get("warnings") or result.get("info") or []
    return "; ".join(_reason(it) for it in (given if isinstance(given, list) else [given]))


def _reason(given: object) -> str:
    if not isinstance(given, Mapping):
        return first_line(str(given))
    severity = given.get("error_severity")
    advice = _SEVERITIES.get(severity) if isinstance(severity, int) else None
    text = first_line(str(given.get("warning", ""))) or "no text"
    return f"{text} ({advice})" if advice else text
