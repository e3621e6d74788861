# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the hosts of a visit have in common is evaluated once, before Ansible starts a process for each of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any, cast

from ansible.errors import AnsibleError
from ansible.playbook.play import Play
from ansible.playbook.task import Task

from .direct import Direct, parsed
from .direct_filters import MISSING, Unknown
from .play_tasks import MAGIC, WORD, Settled, in_role, listed, tasks
from .shared import ARGUMENTS, SEARCHED, SHARED, Shared

TAG = "apart"
VISITS = ("node_visit", "drawbridge.drawbridge.node_visit")


def share(visit: Task) -> None:
    """Share what does not differ between the hosts of this task, by the variables of the first one."""
    if visit.action not in VISITS:
        return
    play, manager = cast(Play, visit.get_play()), cast(Any, visit.get_variable_manager())
    with contextlib.suppress(AnsibleError):
        if not (hosts := manager._inventory.get_hosts(play.hosts)):
            return
        variables = manager.get_vars(play=play, host=hosts[0], task=visit)
        sharing = Sharing(visit.get_loader())
        for task in tasks(play):
            if visit.args.get("tag", TAG) in listed(task.tags):
                sharing.share(task, in_role(task, variables, visit.get_loader()))


class Sharing(Settled):
    """Evaluates what needs no templating of Ansible's."""

    def share(self, task: Task, variables: Mapping[str, Any]) -> None:
        """Share values of the task's arguments and of all variables that it names, and the trees of its templates."""
        place, values = str(variables.get("role_path")), self.values(task, variables)
        for name, value in values.items():
            SHARED[place, name] = Shared(value, self._made_of([name], variables))
        for raw in task.args.values():
            with contextlib.suppress(Unknown):
                value = self.evaluated(raw, variables, values)
                ARGUMENTS[place, id(raw)] = raw, Shared(value, self._made_of(WORD.findall(str(raw)), variables))
        parse([task.args, task.when, task.loop, task.get_vars()])

    def evaluated(self, raw: Any, variables: Mapping[str, Any], found: Mapping[str, Any]) -> Any:
        """The value of one variable. Raises Unknown for what only Ansible evaluates, which may differ each time."""
        return Direct(self._loader, found, variables).value(raw)

    def _made_of(self, names: Iterable[str], variables: Mapping[str, Any]) -> dict[str, Any]:
        """All variables that a value with these words may depend on. Direct reads no lists of hosts."""
        found: dict[str, Any] = {SEARCHED: variables.get(SEARCHED, MISSING)}
        left = [*names]
        while left:
            word = left.pop()
            if word in found or word in MAGIC:
                continue
            raw = found[word] = variables.get(word, MISSING)
            text = self.text(raw) if isinstance(raw, (str, list, dict)) else ""
            left += WORD.findall(text) if "{{" in text or "{%" in text else []
        return found


def parse(raw: Any) -> None:
    """Parse all templates; Direct keeps their trees."""
    if isinstance(raw, (dict, list)):
        for part in raw.values() if isinstance(raw, dict) else raw:
            parse(part)
    elif isinstance(raw, str):
        with contextlib.suppress(Unknown):
            parsed(raw if "{{" in raw else f"{{{{ {raw} }}}}")
