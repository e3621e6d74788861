# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

from roles.drawbridge_status.files.gate.gate_names import LABEL, TAINT
from roles.drawbridge_status.files.status.actors_text import actors
from roles.drawbridge_status.files.status.model import Actor


def entry(manager: str, time: str, **fields: Any) -> dict[str, Any]:
    """One program's fields."""
    owned = {f"f:{name}": value for name, value in fields.items()}
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": owned}


def node(*entries: dict[str, Any], **spec: Any) -> str:
    return json.dumps({"metadata": {"name": "gpu01", "managedFields": list(entries)}, "spec": spec})


TAINTED, LABELLED = {"f:taints": {}}, {"f:labels": {".": {}, f"f:{LABEL}": {}}}


def test_programs_of_drawbridge_and_of_kubernetes_are_no_news() -> None:
    shown = node(
        entry("kubelet", "2026-11-24T01:00:00Z", spec=TAINTED, metadata={"f:annotations": {}}),
        entry("drawbridge-gate", "2026-11-25T01:00:00Z", spec=TAINTED, metadata=LABELLED),
        taints=[{"key": TAINT, "value": "closed"}, {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}],
    )
    assert actors(shown) == ()


def test_a_cordon_a_taint_and_our_label_have_their_writer_and_time() -> None:
    shown = node(
        entry("drawbridge-gate", "2026-11-25T01:00:00Z", spec=TAINTED, metadata=LABELLED),
        entry("kubectl-cordon", "2026-11-25T02:00:00Z", spec={"f:unschedulable": {}}),
        entry("kubectl-edit", "2026-11-25T03:00:00Z", spec=TAINTED, metadata=LABELLED),
        entry("", "2026-11-25T04:00:00Z", metadata={"f:labels": {"f:rack": {}}}),
        unschedulable=True,
    )
    assert actors(shown) == (
        Actor("taints", "kubectl-edit", "2026-11-25T03:00:00Z"),
        Actor(f"label {LABEL}", "kubectl-edit", "2026-11-25T03:00:00Z"),
        Actor("cordon", "kubectl-cordon", "2026-11-25T02:00:00Z"),
    )


def test_the_latest_writer_counts() -> None:
    shown = node(
        entry("kubectl-taint", "2026-11-25T02:00:00Z", spec=TAINTED),
        entry("drawbridge-gate", "2026-11-25T03:00:00Z", spec=TAINTED),
    )
    assert actors(shown) == ()


def test_taints_of_others_are_named() -> None:
    shown = node(taints=[{"key": TAINT, "value": "closed"}, {"key": "example.com/repair", "effect": "NoExecute"}])
    assert actors(shown) == (Actor("taint example.com/repair:NoExecute", ""),)
