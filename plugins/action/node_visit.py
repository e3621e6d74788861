# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run the layers of a play in one visit of the node.

The layers are the play's own tasks with the tag of the visit. Ansible does not run them; this action evaluates their
arguments as Ansible would, and sends all of them to the host at once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.playbook.play import Play
from ansible.playbook.task import Task
from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.site.layers import LAYERS
from ..module_utils.drawbridge.site.visit import DONE, FAILED, STOPPED, WAITS, Visited
from ..module_utils.drawbridge.site.visit_report import Place, report
from ..module_utils.drawbridge.site.visit_source_io import source
from ..module_utils.drawbridge.site.visit_texts import taken_out
from ..plugin_utils.gate_token import GateToken
from ..plugin_utils.half import Half
from ..plugin_utils.kube_member import KubeMember
from ..plugin_utils.kubelet_config import KubeletConfig
from ..plugin_utils.play_tasks import Settled, arguments, in_role, listed, role_name, tasks, turns, words
from ..plugin_utils.releases import registered

MODULE = "drawbridge.drawbridge.node_visit_host"
HALVES: Mapping[str, type[Half]] = {
    "gate_token": GateToken,
    "kube_member": KubeMember,
    "kubelet_config": KubeletConfig,
}
"""Modules with a controller's half."""
PROOF = "slurm_node_ready"
"""The module whose success proves a node ready for jobs."""
ARGUMENT_SPEC = {
    "tag": {"type": "str", "default": "apart"},
    "needs": {"type": "dict", "default": {}},
    "layers": {"type": "list", "elements": "str", "default": []},
    "holds": {"type": "dict", "default": {}},
}
UNSUPPORTED = ("delegate_to", "until", "notify", "environment", "ignore_errors", "no_log", "async_val")
"""Keywords of a task that a layer of a visit can't have. Plays that run the task alone use what it registers."""


@dataclass
class Layer:
    """One layer of this visit."""

    place: Place
    module: str
    """The host's module."""
    half: Half | None
    options: dict[str, Any]
    host: dict[str, Any]
    """The options for the host."""
    needs: list[int] = field(default_factory=list)
    hold: str = ""
    """Why its steps wait for a later run."""
    seen: Visited = field(default_factory=lambda: Visited(WAITS))
    helped: bool = False
    """The controller has done its part."""

    @property
    def predicts(self) -> bool:
        return bool(self.half and not self.helped and self.half.predicts(self.options))


class ActionModule(ActionBase):
    """Evaluates, visits, helps, and visits again if a layer needed the controller."""

    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what all layers did."""
        result = super().run(tmp, task_vars)
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        try:
            layers = self._layers(args, task_vars or {})
        except DeviceError as err:
            return {**result, "failed": True, "changed": False, "msg": str(err), **err.details}
        lost = self._visit(layers, task_vars)
        return lost or {**result, **report([(layer.place, layer.seen) for layer in layers])}

    def _layers(self, args: Mapping[str, Any], variables: dict[str, Any]) -> list[Layer]:
        """The layers in order. Raises DeviceError with all that is wrong; the host has not been contacted."""
        chosen = list(chosen_tasks(self._task, args["tag"], args["layers"]))
        layers: list[Layer] = []
        settled = Settled(self._loader)
        wrong: list[DeviceError] = []
        made = [(name, task) for task in chosen for name in registered(task)]
        for task in chosen:
            try:
                unread(task, made)
                layers += self._of(task, variables, settled)
            except DeviceError as err:
                wrong.append(err)
            except AnsibleError as err:
                wrong.append(DeviceError(f"{role_name(task)}, task {task.name}: {err}"))
        if wrong:
            details = {key: value for err in wrong for key, value in err.details.items()}
            raise DeviceError("\n".join(map(str, wrong)), **details)
        roles = [layer.place.role for layer in layers]
        for at, layer in enumerate(layers):
            layer.needs = needed(at, roles, args["needs"])
            layer.hold = str(args["holds"].get(layer.place.role) or "")
        return layers

    def _of(self, task: Task, variables: dict[str, Any], settled: Settled) -> Iterator[Layer]:
        """The task's layers: one, or one for each item of its loop. Raises DeviceError and AnsibleError."""
        name = short(task)
        seen = in_role(task, variables, self._loader)
        if not task.loop and not settled.runs(task, seen):
            return
        values = settled.values(task, seen)
        for turn in turns(task, seen, self._loader, values):
            item = {"item": turn["item"]} if task.loop else {}
            options = arguments(task, turn, self._loader, values={**values, **item})
            half = HALVES[name]() if name in HALVES else None
            host = options
            if half:
                found = ArgumentSpecValidator(dict(half.spec)).validate(options)
                if found.error_messages:
                    raise DeviceError(f"{role_name(task)}, task {task.name}: {found.error_messages[0]}")
                options = dict(found.validated_parameters)
                host = half.prepare(options)
            place = Place(role_name(task), str(task.name), name == PROOF)
            yield Layer(place, half.module if half else name, half, options, host)

    def _visit(self, layers: Sequence[Layer], task_vars: Any) -> dict[str, Any]:
        """Visit until no layer waits for the controller. Returns the result of a visit that failed as a whole."""
        ready: list[Layer] = []
        while True:
            with contextlib.ExitStack() as stack:
                given = {id(layer): self._help(layer, layer.half, stack) for layer in ready if layer.half}
                stop(layers)
                left = [layer for layer in layers if layer.seen.state == WAITS]
                found = self._execute_module(MODULE, message(layers, left, given), task_vars=task_vars) if left else {}
            if found.get("failed") or found.get("unreachable") or ("layers" not in found and left):
                return found
            answers = cast(list[dict[str, Any]], found.get("layers") or [])
            for layer, answer in zip(left, answers, strict=True):
                predicted, layer.seen = layer.seen.result, Visited(answer["state"], answer["result"])
                if layer.half and layer.helped and layer.seen.result:
                    concluded = layer.half.conclude(layer.options, predicted, layer.seen.result)
                    layer.seen = Visited(layer.seen.state, concluded)
            ready = [layer for layer in layers if layer.seen.state == WAITS and layer.seen.result]
            if not ready:
                return {}

    def _help(self, layer: Layer, half: Half, stack: contextlib.ExitStack) -> dict[str, Any]:
        try:
            given = stack.enter_context(half.help(layer.options, layer.seen.result))
        except DeviceError as err:
            layer.seen = Visited(FAILED, {"failed": True, "changed": False, "msg": str(err), **err.details})
            return {}
        layer.helped = True
        return given


def chosen_tasks(visit: Task, tag: str, roles: Sequence[str]) -> Iterator[Task]:
    """Tasks of the play with the tag, of these roles or of all. Raises DeviceError for an unknown role."""
    found = [task for task in tasks(cast(Play, visit.get_play())) if tag in listed(task.tags)]
    known = list(dict.fromkeys(role_name(task) for task in found))
    if unknown := [name for name in roles if name not in known]:
        raise DeviceError(f"layers is {', '.join(unknown)}, but this play has {', '.join(known)}")
    return (task for task in found if not roles or role_name(task) in roles)


def short(task: Task) -> str:
    """The module's name. Raises DeviceError for a task that a visit can't run."""
    name = task.action.rsplit(".", 1)[-1]
    where = f"{role_name(task)}, task {task.name}"
    if name not in HALVES and name not in LAYERS:
        raise DeviceError(f"{where}: module {task.action} can't be part of a visit; run it as a task of its own")
    if used := [word for word in UNSUPPORTED if getattr(task, word, None)]:
        raise DeviceError(f"{where}: a layer of a visit can't have {used[0]}")
    return name


def unread(task: Task, made: Sequence[tuple[str, Task]]) -> None:
    """Refuse a task that reads what another one registers: all are evaluated before the first one runs.

    Raises DeviceError.
    """
    text = words(task)
    for name, other in made:
        if other is not task and name in text:
            reads = f"{role_name(task)}, task {task.name}: it reads {name}"
            raise DeviceError(f"{reads}, but a visit evaluates all layers before task {other.name} runs")


def needed(at: int, roles: Sequence[str], needs: Mapping[str, Sequence[str]]) -> list[int]:
    """Positions of the layers that the one at this position needs: earlier ones of its role, and of its role's needs.

    A role without an entry needs all before it.
    """
    role = roles[at]
    return [before for before in range(at) if role not in needs or roles[before] in {role, *needs[role]}]


def stop(layers: Sequence[Layer]) -> None:
    """Stop the layers that need one that failed."""
    for layer in layers:
        if layer.seen.state == WAITS and any(layers[need].seen.state in (FAILED, STOPPED) for need in layer.needs):
            layer.seen = Visited(STOPPED)


def message(layers: Sequence[Layer], left: Sequence[Layer], given: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    """The arguments of the host's module for the layers that are left; secrets and long texts are apart."""
    position = {id(layer): at for at, layer in enumerate(left)}
    calls: list[dict[str, Any]] = []
    secrets: dict[str, dict[str, Any]] = {}
    texts: dict[str, str] = {}
    for at, layer in enumerate(left):
        options = {**layer.host, **given.get(id(layer), {})}
        secret = {name for name, option in LAYERS[layer.module].spec.items() if option.get("no_log")} & options.keys()
        needs = [position[id(layers[need])] for need in layer.needs if layers[need].seen.state != DONE]
        shown = {name: taken_out(value, source, texts) for name, value in options.items() if name not in secret}
        call = {"layer": layer.module, "options": shown, "needs": needs, "predict": layer.predicts}
        calls.append({**call, "hold": layer.hold} if layer.hold else call)
        if secret:
            secrets[str(at)] = {name: options[name] for name in secret}
    return {"layers": calls, "secrets": secrets, "texts": texts}
