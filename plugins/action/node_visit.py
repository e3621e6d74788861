# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run the layers of a play in one visit of the node.

The layers are the play's own tasks with the tag of the visit. Ansible does not run them; this action evaluates their
arguments as Ansible would, and sends all of them to the host at once.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from ansible.errors import AnsibleError
from ansible.playbook.play import Play
from ansible.playbook.task import Task
from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.layer import opened, validated
from ..module_utils.drawbridge.core.placed.text import RECORD, Item
from ..module_utils.drawbridge.site.layers import LAYERS, PLACED
from ..module_utils.drawbridge.site.visit import DONE, FAILED, STOPPED, WAITS, Visited
from ..module_utils.drawbridge.site.visit_report import Place, report
from ..module_utils.drawbridge.site.visit_source_io import source
from ..module_utils.drawbridge.site.visit_texts import taken_out
from ..plugin_utils.controller_side import ControllerSide
from ..plugin_utils.gate_token import GateToken
from ..plugin_utils.internals import inventory_of
from ..plugin_utils.kube_member import KubeMember
from ..plugin_utils.kubelet_config import KubeletConfig
from ..plugin_utils.play_tasks import FROM_THE_RUN, LEAVES, HostTasks, listed, role_name, tasks
from ..plugin_utils.program_imports import imported
from ..plugin_utils.releases import evaluated_value, registered

NAMESPACE = "drawbridge.drawbridge."
MODULE = f"{NAMESPACE}node_visit_host"
CONTROLLER_SIDES: Mapping[str, type[ControllerSide]] = {
    "gate_token": GateToken,
    "kube_member": KubeMember,
    "kubelet_config": KubeletConfig,
}
"""Modules with a controller's side."""
OWN_TASK = "run it as a task of its own"
ABSENT = "absent"
"""The option `state` of a layer that a person takes away, such as a node's membership."""
PROOF = "slurm_node_ready"
"""The module whose success proves a node ready for jobs."""
ARGUMENT_SPEC = {
    "tag": {"type": "str", "default": "apart"},
    "needs": {"type": "dict", "default": {}},
    "layers": {"type": "list", "elements": "str", "default": []},
    "postponed": {"type": "dict", "default": {}},
    "given": {"type": "dict", "default": {}},
    "record": {"type": "path", "default": RECORD},
}


@dataclass
class Layer:
    """One layer of this visit."""

    place: Place
    module: str
    """The host's module."""
    side: ControllerSide | None
    options: dict[str, Any]
    host: dict[str, Any]
    """The options for the host."""
    needs: list[int] = field(default_factory=list)
    postponed: str = ""
    """Why its steps wait for a later run."""
    leaves: bool = False
    """It takes away what the intent has no more."""
    places: Sequence[Item] = ()
    """What it places on the host."""
    seen: Visited = field(default_factory=lambda: Visited(WAITS))
    provided: bool = False
    """The controller has done its side."""

    @property
    def predicts(self) -> bool:
        return bool(self.side and not self.provided and self.side.predicts(self.options))


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
        host = self._host_tasks(variables, args["given"])
        layers: list[Layer] = []
        wrong: list[DeviceError] = []
        made: dict[str, Task] = {}
        for task in chosen:
            try:
                unread(task, made)
                layers += self._of(task, host, made)
            except DeviceError as err:
                wrong.append(err)
            except AnsibleError as err:
                wrong.append(DeviceError(f"{where(task)}: {err}"))
            made |= dict.fromkeys(registered(task), task)
        if wrong:
            details = {key: value for err in wrong for key, value in err.details.items()}
            raise DeviceError("\n".join(map(str, wrong)), **details)
        roles = [layer.place.role for layer in layers]
        for at, layer in enumerate(layers):
            layer.needs = needed(at, roles, args["needs"])
            layer.postponed = str(args["postponed"].get(layer.place.role) or "")
        return [*layers, leftovers(layers, dict.fromkeys(map(role_name, chosen)), args["record"])]

    def _host_tasks(self, variables: Mapping[str, Any], given: Mapping[str, Any]) -> HostTasks:
        manager = self._task.get_variable_manager()
        host = inventory_of(manager).get_host(variables["inventory_hostname"])
        run = {name: variables[name] for name in FROM_THE_RUN if name in variables}
        run |= {name: evaluated_value(value) for name, value in given.items()}
        play = cast(Play, self._task.get_play())
        return HostTasks(play, host, manager, self._loader, run, self._play_context)

    def _of(self, task: Task, tasks_of_host: HostTasks, made: Mapping[str, Task]) -> Iterator[Layer]:
        """The task's layers: one, or one for each item of its loop. Raises DeviceError and AnsibleError."""
        name = short(task)
        for args in tasks_of_host.turns(task, hidden=made):
            if lost := tasks_of_host.lost_keywords(task, self._task):
                raise DeviceError(f"{where(task)}: a layer of a visit can't have {', '.join(lost)}; {OWN_TASK}")
            side = CONTROLLER_SIDES[name]() if name in CONTROLLER_SIDES else None
            options = host = opened(args)
            spec, exclusive = (side.spec, ()) if side else (LAYERS[name].spec, LAYERS[name].exclusive)
            try:
                found = validated(spec, options, exclusive)
            except DeviceError as err:
                raise DeviceError(f"{where(task)}: {err}") from err
            if side:
                options, host = found, side.prepare(found)
            place = Place(role_name(task), str(task.name), name == PROOF)
            module, leaves = side.module if side else name, LEAVES in listed(task.tags)
            placed = () if leaves else LAYERS[module].places(host if side else found)
            yield Layer(place, module, side, options, host, leaves=leaves, places=placed)

    def _visit(self, layers: Sequence[Layer], task_vars: Any) -> dict[str, Any]:
        """Visit until no layer waits for the controller. Returns the result of a visit that failed as a whole."""
        ready: list[Layer] = []
        while True:
            with contextlib.ExitStack() as stack:
                given = {id(layer): self._provide(layer, layer.side, stack) for layer in ready if layer.side}
                stop(layers)
                left = [layer for layer in layers if layer.seen.state == WAITS]
                found = self._execute_module(MODULE, message(layers, left, given), task_vars=task_vars) if left else {}
            if found.get("failed") or found.get("unreachable") or ("layers" not in found and left):
                return found
            answers = cast(list[dict[str, Any]], found.get("layers") or [])
            for layer, answer in zip(left, answers, strict=True):
                predicted, layer.seen = layer.seen.result, Visited(answer["state"], answer["result"])
                if layer.side and layer.provided and layer.seen.result:
                    concluded = layer.side.conclude(layer.options, predicted, layer.seen.result)
                    layer.seen = Visited(layer.seen.state, concluded)
            ready = [layer for layer in layers if layer.seen.state == WAITS and layer.seen.result]
            if not ready:
                return {}

    def _provide(self, layer: Layer, side: ControllerSide, stack: contextlib.ExitStack) -> dict[str, Any]:
        try:
            given = stack.enter_context(side.provide(layer.options, layer.seen.result))
        except DeviceError as err:
            layer.seen = Visited(FAILED, {"failed": True, "changed": False, "msg": str(err), **err.details})
            return {}
        layer.provided = True
        return given


def leftovers(layers: Sequence[Layer], roles: Iterable[str], record: str = RECORD) -> Layer:
    """The last layer: it removes what these roles placed in earlier runs and do not place any more.

    It waits for layers that leave: until they are gone, files of others are in use.
    """
    placed: dict[str, list[list[str]]] = {}
    for layer in layers:
        if not layer.leaves:
            placed.setdefault(layer.place.role, []).extend(list(item) for item in layer.places)
    options = {"placed": placed, "gone": [role for role in roles if role not in placed], "record": record}
    needs = [at for at, layer in enumerate(layers) if layer.leaves or layer.options.get("state") == ABSENT]
    return Layer(Place("node", "Remove what the intent has no more"), PLACED, None, options, options, needs)


def chosen_tasks(visit: Task, tag: str, roles: Sequence[str]) -> Iterator[Task]:
    """Tasks of the play with the tag or LEAVES, of these roles or of all. Raises DeviceError for an unknown role."""
    found = [task for task in tasks(cast(Play, visit.get_play())) if {tag, LEAVES} & {*listed(task.tags)}]
    known = list(dict.fromkeys(role_name(task) for task in found))
    if unknown := [name for name in roles if not any(matches(role, [name]) for role in known)]:
        raise DeviceError(f"layers is {', '.join(unknown)}, but this play has {', '.join(known)}")
    return (task for task in found if not roles or matches(role_name(task), roles))


def where(task: Task) -> str:
    """The task as messages name it."""
    return f"{role_name(task)}, task {task.name}"


def short(task: Task) -> str:
    """The name of one of Drawbridge's modules. Raises DeviceError for a task that a visit can't run."""
    name = task.action.removeprefix(NAMESPACE)
    if name not in CONTROLLER_SIDES and name not in LAYERS:
        raise DeviceError(f"{where(task)}: module {task.action} can't be part of a visit; {OWN_TASK}")
    return name


def unread(task: Task, made: Mapping[str, Task]) -> None:
    """Refuse a task that reads what an earlier one registers: all are evaluated before the first one runs.

    Raises DeviceError.
    """
    for name, other in made.items():
        if any(re.search(rf"(?<![\w.'\"]){re.escape(name)}(?!\w)", text) for text in templates(task)):
            reads = f"{where(task)}: it reads {name}"
            raise DeviceError(f"{reads}, but a visit evaluates all layers before task {other.name} runs")


def templates(task: Task) -> Iterator[str]:
    """Conditions of a task, and the templates in its loop, arguments and variables, without the text around them."""
    yield from map(str, listed(task.when))
    left: list[Any] = [task.loop, task.args, task.get_vars()]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str):
            yield from re.findall(r"\{[{%](.+?)[}%]\}", value, re.DOTALL)


def needed(at: int, roles: Sequence[str], needs: Mapping[str, Sequence[str]]) -> list[int]:
    """Positions of the layers that the one at this position needs: earlier ones of its role, and of its role's needs.

    A role without an entry needs all before it.
    """
    role = roles[at]
    found = next((needs[pattern] for pattern in needs if matches(role, [pattern])), ["*"])
    return [before for before in range(at) if matches(roles[before], [role, *found])]


def matches(role: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns stands for a role."""
    return any(fnmatchcase(role, pattern) for pattern in patterns)


def stop(layers: Sequence[Layer]) -> None:
    """Stop the layers that need one that failed."""
    for layer in layers:
        if layer.seen.state == WAITS and any(layers[need].seen.state in (FAILED, STOPPED) for need in layer.needs):
            layer.seen = Visited(STOPPED)


def waits_for(layer: Layer, layers: Sequence[Layer]) -> str:
    """Why leftovers must stay: a role that leaves is not gone yet, so its programs are in use."""
    before = [layers[need] for need in layer.needs if layer.module == PLACED]
    pending = [text for it in before if it.seen.state == DONE for text in it.seen.result.get("pending", ())]
    return f"first {pending[0]}" if pending else ""


@functools.cache
def modules() -> dict[str, str]:
    """The visit's own sources, which a program on the node may have in common with it."""
    host = Path(__file__).parents[1] / "modules/node_visit_host.py"
    return imported(host.read_text(encoding="utf-8").replace("..module_utils.drawbridge", "drawbridge"), source)


def carried(path: str) -> str | None:
    """The source at this path, if the visit carries it."""
    return modules().get(path)


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
        shown = {name: taken_out(value, carried, texts) for name, value in options.items() if name not in secret}
        call = {"layer": layer.module, "options": shown, "needs": needs, "predict": layer.predicts}
        if why := layer.postponed or waits_for(layer, layers):
            call["postponed"] = why
        calls.append({**call, "leaves": layer.place.role} if layer.leaves else call)
        if secret:
            secrets[str(at)] = {name: options[name] for name in secret}
    return {"layers": calls, "secrets": secrets, "texts": texts}
