# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cost of a run per host: task results, SSH sessions and their bytes."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible import context
from ansible.errors import AnsibleError
from ansible.plugins.callback import CallbackBase
from ansible.template import Templar
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.internals import inventory_of, playbook_file
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.releases import host_of, task_of

DOCUMENTATION = r"""
name: count
type: aggregate
short_description: Counts task results, SSH sessions and their bytes per host
version_added: 0.1.0
author: Drawbridge contributors (@drawbridge)
description:
  - Counts each task result as ok, failed or skipped. A loop counts its items, or one skipped result without items.
    Argument validation, fact gathering, handlers and included tasks count as tasks. An unreachable host counts as
    failed. A retry does not count. C(validated) is the number of argument validations.
  - Charges a result to the host that executed it, with C(delegate_to) to that host. Charges a skipped task, and an
    action without a connection, to the host of the task.
  - Counts SSH sessions at relays. C(bench/counted.py) sets them up for ssh and netmiko.
options:
  folder:
    description:
      - Folder for C(PLAYBOOK.json), or C(PLAYBOOK-check.json) in check mode. Without it no file is written.
      - Relays keep their counts in its subfolder C(sessions).
    type: path
    env:
      - name: DRAWBRIDGE_COUNT_FOLDER
"""


@dataclass
class Cost:
    """Counts of one host."""

    ok: int = 0
    changed: int = 0
    failed: int = 0
    skipped: int = 0
    validated: int = 0
    sessions: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0

    @property
    def results(self) -> int:
        """All task results; `changed` and `validated` are parts of them."""
        return self.ok + self.failed + self.skipped


class Tally:
    """Results by the host that executed them."""

    def __init__(self) -> None:
        self.costs: defaultdict[str, Cost] = defaultdict(Cost)
        self._loops: set[tuple[str, str]] = set()

    def item(self, kind: str, result: Any) -> None:
        """Count one item of a loop."""
        self._loops.add(self._key(result))
        self._count(kind, result)

    def result(self, kind: str, result: Any) -> None:
        """Count a task's result, unless its items were counted already."""
        key = self._key(result)
        if key in self._loops:
            self._loops.remove(key)
        else:
            self._count(kind, result)

    def _key(self, result: Any) -> tuple[str, str]:
        return host_of(result), task_of(result)._uuid

    def _count(self, kind: str, result: Any) -> None:
        cost = self.costs[executor(kind, result)]
        setattr(cost, kind, getattr(cost, kind) + 1)
        cost.changed += kind == "ok" and result.is_changed()
        cost.validated += task_of(result).action.endswith("validate_argument_spec")


def executor(kind: str, result: Any) -> str:
    """Name of the host that did the work. A skipped task is never delegated."""
    delegate = None if kind == "skipped" else task_of(result).delegate_to
    return delegate or host_of(result)


@dataclass(frozen=True)
class Session:
    """Bytes of one SSH session so far."""

    address: str
    sent: int
    received: int


def sessions(folder: Path) -> dict[str, Session]:
    """Counts of the relays by file name: address, port, process."""
    found = {}
    for path in sorted(folder.glob("[!.]*")):
        sent, received = path.read_text().split()
        found[path.name] = Session(path.name.rsplit("_", 2)[0], int(sent), int(received))
    return found


def charge(tally: Tally, before: dict[str, Session], now: dict[str, Session], names: dict[str, str]) -> None:
    """Charge sessions to hosts. A session that was open before this run adds its bytes only."""
    for key, session in now.items():
        cost = tally.costs[names.get(session.address, session.address)]
        start = before.get(key, Session(session.address, 0, 0))
        cost.sessions += key not in before
        cost.sent_bytes += session.sent - start.sent
        cost.received_bytes += session.received - start.received


class CallbackModule(CallbackBase):
    """Counts during the run, and writes the sums at its end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "count"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._tally = Tally()
        self._playbook = ""
        self._started = 0.0
        self._play: Any = None
        self._before: dict[str, Session] = {}

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """Remember earlier sessions. Several playbooks of one command are one run with the name of the first."""
        if self._playbook:
            return
        self._playbook = playbook_file(playbook).stem
        self._started = time.monotonic()
        self._before = self._sessions()

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._play = play

    def v2_runner_on_ok(self, result: Any) -> None:
        self._tally.result("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Count it, even if it is ignored or rescued."""
        self._tally.result("failed", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._tally.result("failed", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._tally.result("skipped", result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._tally.item("ok", result)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        self._tally.item("failed", result)

    def v2_runner_item_on_skipped(self, result: Any) -> None:
        self._tally.item("skipped", result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Write and print the sums. With several playbooks each does so, and the last has all."""
        costs = Tally()
        for name, cost in self._tally.costs.items():
            costs.costs[name] = Cost(**asdict(cost))
        charge(costs, self._before, self._sessions(), self._names())
        if self.get_option("folder"):
            self._write(costs.costs)

    def _sessions(self) -> dict[str, Session]:
        folder = self.get_option("folder")
        return sessions(Path(folder) / "sessions") if folder else {}

    def _names(self) -> dict[str, str]:
        """Inventory names of counted hosts by address. The implicit localhost has no session."""
        if not (self._play and self.get_option("folder")):
            return {}
        manager = self._play.get_variable_manager()
        hosts = {name: host for name, host in inventory_of(manager).hosts.items() if name in self._tally.costs}
        return {self._address(manager, host): name for name, host in hosts.items()}

    def _address(self, manager: Any, host: Any) -> str:
        variables = manager.get_vars(play=self._play, host=host)
        try:
            address = Templar(loader=self._play.get_loader(), variables=variables).template(
                variables.get("ansible_host")
            )
        except AnsibleError:  # a host without an address has no session
            return host.name
        return str(address or host.name)

    def _write(self, costs: dict[str, Cost]) -> None:
        check = bool(context.CLIARGS.get("check"))
        report = {
            "playbook": self._playbook,
            "check": check,
            "seconds": round(time.monotonic() - self._started, 2),
            "hosts": {name: {"results": cost.results, **asdict(cost)} for name, cost in sorted(costs.items())},
        }
        path = Path(self.get_option("folder")) / f"{self._playbook}{'-check' if check else ''}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n")
