# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Configure the lossless class of a switch from the controller's own process.

The documentation is in library/switch_roce.py.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Any

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core import hostlist
from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT, variable
from ..module_utils.drawbridge.core.converge import DeviceError, Outcome, converge
from ..module_utils.drawbridge.core.spec import bare, documented
from ..module_utils.drawbridge.fabric.model import SwitchProfile
from ..module_utils.drawbridge.fabric.nos.dialect import Dialect
from ..module_utils.drawbridge.fabric.plan import interrupting, plan
from ..module_utils.drawbridge.fabric.traffic import ALL, PHASES, QUIET, Traffic
from ..module_utils.drawbridge.fabric.transaction_io import Limits, Switch
from ..module_utils.drawbridge.nodes.use import ClusterUse
from ..plugin_utils import switches

ARGUMENT_SPEC: dict[str, Any] = {
    "profile": bare({**documented(SwitchProfile), "required": True}),
    "behind": {"type": "dict", "default": {}},
    "links": {"type": "list", "elements": "str", "default": []},
    "node_use": {"type": "dict", "default": {}},
    "phase": {"type": "str", "choices": list(PHASES), "default": ALL},
    "may_flap_ports": {"type": "bool", "default": False},
    "may_try_release": {"type": "bool", "default": False},
    "answer_timeout_s": {"type": "int", "default": 60},
    "confirm_timeout_s": {"type": "int", "default": 300},
    "settle_timeout_s": {"type": "int", "default": 10},
    **VARIABLES_ARGUMENT,
}


class ActionModule(ActionBase):
    """Reads a switch, and changes it as one transaction if it differs from the profile."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result with steps and diff; failed when the switch differs from the profile in the end."""
        variables = task_vars or {}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        result = super().run(tmp, variables)
        profile = SwitchProfile.from_dict(args["profile"])
        system = switches.DIALECTS[profile.platform]
        consent = "" if args["may_try_release"] else variable(args, "may_try_release")
        limits = Limits(args["answer_timeout_s"], args["confirm_timeout_s"], args["settle_timeout_s"])
        try:
            login = switches.login(self._templar, variables)
            with closing(Switch(login, system, profile, limits, consent=consent)) as switch:
                return {**result, **converged(switch, system, profile, args, bool(self._task.check_mode))}
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": str(err), **err.details}


def traffic(options: dict[str, Any]) -> Traffic:
    """Who is behind the ports, and what may happen to them, from the action's options."""
    return Traffic(
        behind={port: hostlist.expand(names) for port, names in options["behind"].items() if names},
        links=frozenset(options["links"]),
        use=ClusterUse.from_dict(options["node_use"]),
        allowed=options["may_flap_ports"],
        consent=variable(options, "may_flap_ports"),
        phase=options["phase"],
    )


def converged(
    switch: Switch, system: Dialect, profile: SwitchProfile, options: dict[str, Any], check: bool
) -> dict[str, Any]:
    """Converge. A switch with the right configuration fails if its hardware does not follow."""
    known, want = traffic(options), system.render(profile)
    outcome = converge(switch, partial(plan, system, traffic=known), want, check, options=options)
    if outcome.error and not outcome.planned:
        return _failure(outcome, f"{switch.name}: {outcome.error}", left=outcome.left)
    unproven = switch.unproven(switch.last)
    if unproven and not outcome.error and not (outcome.pending or (check and outcome.changed)):
        return _failure(outcome, f"{switch.name} is configured, but {unproven[0]}", left=[])
    later = interrupting(system, switch.last, want, known) if known.allowed and known.phase == QUIET else []
    result = {**outcome.result(), "interrupting": later}
    return {**result, "failed": bool(outcome.error), "warnings": outcome.pending}


def _failure(outcome: Outcome, message: str, left: list[str]) -> dict[str, Any]:
    return {**outcome.result(), "failed": True, "msg": message, "left": left, "done": []}
