# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.gate_guards import KINDS, guards
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError

from roles.slurm_gate.files.gate.opener import mark


def item(name: str, generation: int = 1) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-of-{name}", "generation": generation}}


def test_our_policies_and_bindings_are_marked_as_the_opener_marks_them() -> None:
    there = [item("drawbridge-tokens", 3), item("kyverno")]
    found = guards(lambda method, path, body: (200, {"items": there}))
    assert found == {kind: {"drawbridge-tokens": mark(there[0]["metadata"])} for kind in KINDS}


def test_an_error_names_the_policies_that_can_not_be_listed() -> None:
    with pytest.raises(DeviceError, match="validatingadmissionpolicies can't be listed: no"):
        guards(lambda method, path, body: (403, {"message": "no"}))
