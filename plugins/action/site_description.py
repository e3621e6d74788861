# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write a proposed intent from the answers of all hosts, or compare them with the intent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.core.folder.io import written
from ..module_utils.drawbridge.core.printable import all_printable
from ..module_utils.drawbridge.site.describe_difference import differences, folded
from ..module_utils.drawbridge.site.describe_view import folder
from ..module_utils.drawbridge.site.load import load
from ..plugin_utils.play_tasks import intent_of, plain

ARGUMENT_SPEC = {
    "answers": {"type": "str", "required": True},
    "folder": {"type": "path", "required": True},
}


class ActionModule(ActionBase):
    """Reads the answers of all hosts; contacts none."""

    BYPASS_HOST_LOOP = True
    """Once for all hosts, also if the first ones gave no answer."""
    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the files that were written, or fail with the differences."""
        variables = task_vars or {}
        result = {**super().run(tmp, variables), "changed": False}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        hosts, lost = answers(variables["hostvars"], variables["ansible_play_hosts_all"], args["answers"])
        result["lost"] = all_printable(lost)
        given = intent_of(self._templar, variables)
        groups = variables["groups"]
        try:
            if given:
                nodes = {name: facts for name, facts in hosts.items() if name in groups.get("nodes", ())}
                return {**result, **all_printable(compared(folded(differences(load(given), nodes)), lost))}
            files = folder(hosts, groups, lost)
            return {**result, **written(args["folder"], files, bool(self._task.check_mode))}
        except (IntentError, DeviceError) as err:
            return {**result, "failed": True, "msg": str(err)}


def compared(found: list[str], lost: Mapping[str, str]) -> dict[str, Any]:
    """The result of a comparison."""
    unknown = [f"{host}: no answer, nothing compared: {reason}" for host, reason in lost.items()]
    said = "hosts and intent differ:" if found else "no difference between hosts and intent"
    return {"failed": bool(found), "msg": "\n".join([said, *found, *unknown]), "differences": found}


def answers(hostvars: Any, hosts: list[str], variable: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Facts of hosts that answered, and reasons of the others."""
    found, lost = {}, {}
    for host in hosts:
        # templates of all variables of thousands of hosts would cost seconds
        answer = hostvars.raw_get(host).get(variable) or {}
        if "hardware" in answer:
            found[host] = plain(answer["hardware"])
        else:
            lost[host] = str(answer.get("msg") or "no answer")
    return found, lost
