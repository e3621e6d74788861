# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Judge the answers of all hosts of a play, once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.api.kubeconfig import connect
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.printable import all_printable
from ..module_utils.drawbridge.preflight.model import Answer, Found
from ..module_utils.drawbridge.preflight.verdict import ROWS, document, found, lines
from ..module_utils.drawbridge.report.files_io import write
from .installer_rights import check

ARGUMENT_SPEC = {
    "answers": {"type": "str", "required": True},
    "accepted": {"type": "list", "elements": "str", "default": []},
    "accept_with": {"type": "str", "default": "accepted"},
    "report": {"type": "str", "default": ""},
    "kubeconfig": {"type": "str", "default": ""},
    "rights": {"type": "list", "elements": "dict", "default": []},
}


class ActionModule(ActionBase):
    """Reads the answers of all hosts; contacts none."""

    BYPASS_HOST_LOOP = True
    """One verdict for all hosts, also if the first ones gave no answer."""
    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the report; failed with its text if a finding is not accepted."""
        variables = task_vars or {}
        result = {**super().run(tmp, variables), "changed": False}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        if unknown := sorted(set(args["accepted"]) - set(ROWS)):
            reason = (
                f"{args['accept_with']} is {', '.join(unknown)}, but there is no such finding; use names of reports"
            )
            return {**result, "failed": True, "msg": reason}
        given = list(answers(variables["hostvars"], variables["ansible_play_hosts_all"], args["answers"]))
        findings = [*found(given), *kubeconfig(args, variables["inventory_hostname"])]
        report = all_printable(document(findings, len(given), args["accepted"]))
        if args["report"] and not self._task.check_mode:
            write(Path(args["report"]).expanduser(), json.dumps(report, indent=2) + "\n")
        text = "\n".join(lines(report, args["accept_with"]))
        if report["sound"]:
            # Ansible shows messages of failures alone
            self._display.display(text)
        return {**result, "failed": not report["sound"], "msg": text, "report": report}


def answers(hostvars: Any, hosts: list[str], variable: str) -> Iterator[Answer]:
    """The answer of each host. Templates of variables would cost seconds for thousands of hosts."""
    for host in hosts:
        answer: Mapping[str, Any] = hostvars.raw_get(host).get(variable) or {}
        lost = answer.get("lost") or ("" if "facts" in answer else str(answer.get("msg") or "no answer"))
        yield Answer(host, answer.get("facts") or {}, answer.get("want") or {}, answer.get("clock_s") or (), lost)


def kubeconfig(args: Mapping[str, Any], host: str) -> Iterator[Found]:
    """A finding about the machine that runs Ansible, under the name of the first host."""
    if not args["rights"]:
        return
    try:
        missing = check(connect(args["kubeconfig"]), args["rights"])
    except (DeviceError, OSError) as err:
        yield Found("kubeconfig", host, str(err))
        return
    if missing:
        yield Found("kubeconfig", host, f"the run lacks rights: {'; '.join(missing)}")
