# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the report of a proof on the machine that runs Ansible, and fail if a node is not proved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.printable import all_printable
from ..module_utils.drawbridge.proof.lossless import findings
from ..module_utils.drawbridge.proof.report import report_io
from ..module_utils.drawbridge.proof.report.summary import text
from ..module_utils.drawbridge.proof.result import Result

ARGUMENT_SPEC = {
    "result": {"type": "str", "required": True},
    "folder": {"type": "str", "default": ""},
    "before": {"type": "str", "default": ""},
    "after": {"type": "str", "default": ""},
    "priority": {"type": "int", "default": -1},
}


class ActionModule(ActionBase):
    """Reads the result that drawbridge-prove printed; contacts no host."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the report; failed with its text unless everything passed."""
        result = {**super().run(tmp, task_vars), "changed": False}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            printed = json.loads(args["result"])
            found = Result.from_json(printed["result"])
            before = Result.from_json(printed["before"]) if printed["before"] else None
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            return {**result, "failed": True, "msg": f"drawbridge-prove printed no result that can be read: {err}"}
        if args["priority"] >= 0:
            sides = [self._ports(task_vars or {}, args[side]) for side in ("before", "after")]
            found = replace(found, findings=(*found.findings, *findings(found, sides[0], sides[1], args["priority"])))
        words = all_printable("\n".join(text(found, before)))
        files: list[str] = []
        if args["folder"] and not self._task.check_mode:
            folder = Path(args["folder"]).expanduser()
            try:
                folder.mkdir(parents=True, exist_ok=True)
                files = report_io.write(str(folder), found, before)
            except OSError as err:
                return {**result, "failed": True, "msg": f"the report can't be written: {err}\n{words}"}
        if found.passed:
            # Ansible shows messages of failures alone
            self._display.display(str(words))
        return {**result, "failed": not found.passed, "msg": words, "files": files}

    @staticmethod
    def _ports(variables: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Ports of each switch of the inventory, from a result of switch_state; empty without one."""
        hosts = variables["groups"].get("switches", ())
        results = {host: variables["hostvars"].raw_get(host).get(name) or {} for host in hosts}
        return {host: result.get("ports") or {} for host, result in results.items()}
