# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A module's two ways to run: alone, and as a layer of a visit. Both must return and leave the same."""

from __future__ import annotations

import importlib
import json
import os
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.layers import LAYERS

PACKAGE = "ansible_collections.drawbridge.drawbridge.plugins.modules"
ALONE, VISIT = "alone", "visit"
IN_FAULTS = (ALONE, VISIT) if os.environ.get("BOTH_WAYS") else (VISIT,)
"""Faults meet visits every time, and both ways at night."""
ANSIBLES = ("invocation", "warnings")
"""Keys that Ansible adds, or shows by itself."""


def ways(module: str) -> tuple[str, ...]:
    """A visit runs the layers of nodes."""
    return (ALONE, VISIT) if module in LAYERS else (ALONE,)


def meet_faults(fixture: str) -> pytest.MarkDecorator:
    """Mark a test of faults whose fixture takes the way."""
    return pytest.mark.parametrize(fixture, IN_FAULTS, indirect=True)


def result_of(way: str, module: str, arguments: dict[str, Any], check: bool, capfd: Any) -> dict[str, Any]:
    """Run it in this process."""
    if way == ALONE:
        return _main(module, arguments, check, capfd)
    secret = {name for name, option in LAYERS[module].spec.items() if option.get("no_log")} & arguments.keys()
    shown = {name: value for name, value in arguments.items() if name not in secret}
    args = {"layers": [{"layer": module, "options": shown}], "secrets": {"0": {it: arguments[it] for it in secret}}}
    [layer] = _main("node_visit_host", args, check, capfd)["layers"]
    assert (layer["state"] == "failed") == layer["result"].get("failed", False)
    return {key: value for key, value in layer["result"].items() if key not in ANSIBLES}


def _main(module: str, arguments: dict[str, Any], check: bool, capfd: Any) -> dict[str, Any]:
    args = {**arguments, "_ansible_check_mode": check, "_ansible_diff": True}
    with patch_module_args(args), pytest.raises(SystemExit):
        importlib.import_module(f"{PACKAGE}.{module}").main()
    result = json.loads(capfd.readouterr().out)
    return {"changed": False, **{key: value for key, value in result.items() if key not in ANSIBLES}}
