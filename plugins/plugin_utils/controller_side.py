# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's side of a layer: what needs the kubeconfig, or must be checked before a host is contacted.

The other side is a module on the host. First that module predicts; most runs end there. Only if it has something to do,
the controller's side gives it what it needs, and it runs again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.layer import open_spec, opened, validated

Options = Mapping[str, Any]
Result = dict[str, Any]


class Refused(DeviceError):
    """The options are wrong. The host was not contacted."""


class ControllerSide(Protocol):
    """The controller's side of one layer."""

    module: str
    """The host's side, by its short name."""
    spec: Options
    """Options of both, as in an argument spec."""
    viewed: Sequence[str]
    """Options that the option `view` may hold, as for a layer."""

    def prepare(self, options: Options) -> Result:
        """The options of the host's side, without the controller's own. Raises Refused."""
        raise NotImplementedError

    def predicts(self, options: Options) -> bool:
        """Whether the host must predict before it may act."""
        raise NotImplementedError

    def provide(self, options: Options, predicted: Result) -> AbstractContextManager[Result]:
        """Further options with which the host acts while the context is open. Raises DeviceError."""
        raise NotImplementedError

    def conclude(self, options: Options, predicted: Result, done: Result) -> Result:
        """The result of the layer from that of the host."""
        raise NotImplementedError


class HostAction(ActionBase):
    """The action of one layer with two sides."""

    _supports_check_mode = True
    TRANSFERS_FILES = False
    side: type[ControllerSide]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> Result:
        """Return the host's result: the prediction, or the steps done."""
        result = super().run(tmp, task_vars)
        side = self.side()
        _result, given = self.validate_argument_spec(open_spec(side.spec, side.viewed))
        try:
            options = validated(side.spec, opened(given))
            host = side.prepare(options)
            if not side.predicts(options):
                return self._on_host(host, task_vars)
            predicted = self._on_host(host, task_vars, check=True)
            if self._task.check_mode or predicted.get("failed") or not predicted.get("changed"):
                return predicted
            with side.provide(options, predicted) as more:
                done = self._on_host({**host, **more}, task_vars)
            return side.conclude(options, predicted, done)
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": str(err), **err.details}

    def _on_host(self, options: Options, task_vars: Any, check: bool = False) -> Result:
        given = self._task.check_mode
        self._task.check_mode = check or given
        try:
            return self._execute_module(f"drawbridge.drawbridge.{self.side.module}", dict(options), task_vars=task_vars)
        finally:
            self._task.check_mode = given
