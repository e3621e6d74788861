# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller's side of a visit. tests/collection/test_node_visit.py runs whole plays."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action import node_visit
from ansible_collections.drawbridge.drawbridge.plugins.action.node_visit import (
    Layer,
    chosen_tasks,
    leftovers,
    message,
    needed,
    short,
    unread,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.text import Item
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit import Visited
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_report import Place


class Token:
    """The controller's side of a layer that needs a token."""

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken
        self.log: list[str] = []

    def predicts(self, options: Any) -> bool:
        return True

    @contextlib.contextmanager
    def provide(self, options: Any, predicted: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if self.broken:
            raise DeviceError("the API server does not answer")
        self.log.append("begin")
        yield {"token": "fresh"}
        self.log.append("end")

    def conclude(self, options: Any, predicted: dict[str, Any], done: dict[str, Any]) -> dict[str, Any]:
        return {**done, "asked": predicted["steps"]}


def layer(role: str, module: str = "host_files", side: Any = None, needs: Any = (), **options: Any) -> Layer:
    return Layer(Place(role, "do it"), module, side, options, options, list(needs))


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Visit a host that answers as told: the messages that it got, and the result."""

    def made(layers: list[Layer], *told: list[tuple[str, dict[str, Any]]]) -> Any:
        sent: list[dict[str, Any]] = []
        answers = list(told)
        action = node_visit.ActionModule(*(MagicMock() for _ in range(6)))

        def execute(name: str, args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
            assert name == "drawbridge.drawbridge.node_visit_host"
            sent.append(args)
            return {"layers": [{"state": state, "result": result} for state, result in answers.pop(0)]}

        monkeypatch.setattr(action, "_execute_module", execute)
        lost = action._visit(layers, {})
        assert not answers
        return sent, lost

    return made


DONE, WAITS = ("done", {"changed": False}), ("waits", {"changed": True, "steps": ["write a token"]})


def test_a_node_that_needs_nothing_is_visited_once(visit: Any) -> None:
    layers = [layer("one"), layer("two", side=Token())]
    sent, _ = visit(layers, [DONE, DONE])
    assert [call["predict"] for call in sent[0]["layers"]] == [False, True]
    assert [it.seen.state for it in layers] == ["done", "done"]


def test_who_needs_the_controller_is_visited_again_with_what_it_gives(visit: Any) -> None:
    side = Token()
    layers = [layer("one"), layer("two", "gate_token_host", side, path="/t"), layer("three", needs=[0, 1])]
    sent, _ = visit(layers, [DONE, WAITS, ("waits", {})], [("done", {"changed": True}), DONE])
    first, second = sent
    assert [call["needs"] for call in first["layers"]] == [[], [], [0, 1]]
    assert second["layers"] == [
        {"layer": "gate_token_host", "options": {"path": "/t"}, "needs": [], "predict": False},
        {"layer": "host_files", "options": {}, "needs": [0], "predict": False},
    ]
    assert second["secrets"] == {"0": {"token": "fresh"}}
    assert layers[1].seen.result == {"changed": True, "asked": ["write a token"]}
    assert side.log == ["begin", "end"]


def test_a_controller_that_can_not_help_fails_that_layer_and_stops_what_needs_it(visit: Any) -> None:
    layers = [layer("two", side=Token(broken=True)), layer("three", needs=[0]), layer("four", needs=[1])]
    sent, _ = visit(layers, [WAITS, ("waits", {}), ("waits", {})])
    assert len(sent) == 1
    assert [it.seen.state for it in layers] == ["failed", "stopped", "stopped"]
    assert layers[0].seen.result["msg"] == "the API server does not answer"


def test_a_host_that_is_lost_is_reported_as_ansible_does(monkeypatch: pytest.MonkeyPatch) -> None:
    action = node_visit.ActionModule(*(MagicMock() for _ in range(6)))
    lost = {"unreachable": True, "msg": "no route"}
    monkeypatch.setattr(action, "_execute_module", lambda *args, **kwargs: lost)
    assert action._visit([layer("one")], {}) == lost


def test_secrets_travel_apart() -> None:
    layers = [layer("one", "slurm_munge_key", key="c2VjcmV0"), layer("two", path="/x")]
    sent = message(layers, layers, {})
    assert sent["secrets"] == {"0": {"key": "c2VjcmV0"}}
    assert "c2VjcmV0" not in str(sent["layers"])


def test_a_text_of_several_layers_travels_once() -> None:
    program = "import gate\n" * 1000
    layers = [layer("one", program={"a.py": program}), layer("two", program={"b.py": program})]
    sent = message(layers, layers, {})
    assert list(sent["texts"].values()) == [program]
    assert program not in str(sent["layers"])


def test_a_layer_that_is_held_takes_its_reason_along() -> None:
    layers = [layer("one"), layer("two")]
    layers[1].postponed = "leaf1 is pending"
    assert [call.get("postponed", "") for call in message(layers, layers, {})["layers"]] == ["", "leaf1 is pending"]


def test_a_layer_in_effect_is_needed_no_more() -> None:
    layers = [layer("one"), layer("two", needs=[0])]
    layers[0].seen = Visited("done", {})
    assert message(layers, layers[1:], {})["layers"][0]["needs"] == []


ROLES = ["nic", "kube", "numa", "a_client", "b_client", "kube", "slurm", "slurm"]
NEEDS = {"nic": [], "kube": ["numa", "*_client"], "numa": ["kube"], "*_client": ["kube"]}


@pytest.mark.parametrize(
    ("at", "them"),
    [
        *[(0, []), (1, []), (2, [1]), (3, [1]), (4, [1]), (5, [1, 2, 3, 4])],
        *[(6, [0, 1, 2, 3, 4, 5]), (7, [0, 1, 2, 3, 4, 5, 6])],
    ],
)
def test_a_layer_needs_its_role_those_named_or_all_before(at: int, them: list[int]) -> None:
    assert needed(at, ROLES, NEEDS) == them


def task(action: str = "drawbridge.drawbridge.mm_mount") -> Any:
    found = MagicMock(action=action, tags=["never", "apart"], _role=None)
    found.name = "Mount"
    return found


def test_only_layers_can_be_visited() -> None:
    assert short(task()) == "mm_mount"
    with pytest.raises(DeviceError, match=r"task Mount: module ansible.builtin.command can't be part of a visit"):
        short(task("ansible.builtin.command"))


def test_an_unknown_layer_is_refused_with_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_visit, "tasks", lambda play: [task()])
    assert [len(list(chosen_tasks(MagicMock(), "apart", named))) for named in ([], ["play*"])] == [1, 1]
    with pytest.raises(DeviceError, match="layers is nick, but this play has playbook"):
        chosen_tasks(MagicMock(), "apart", ["nick"])


def reading(**fields: Any) -> Any:
    found = task()
    found.when, found.loop, found.args = fields.get("when", []), fields.get("loop"), fields.get("args", {})
    found.get_vars.return_value = fields.get("vars", {})
    return found


@pytest.mark.parametrize(
    ("fields", "reads"),
    [
        ({"when": ["found.changed"]}, True),
        ({"when": ["not (x or found is changed)"]}, True),
        ({"loop": "{{ found.items }}"}, True),
        ({"args": {"files": [{"content": "is {{ x ~ found }}"}]}}, True),
        ({"vars": {"other": "{% if found %}x{% endif %}"}}, True),
        ({"when": ["it.found", "foundry", "not_found", "x == 'found'"]}, False),
        ({"args": {"path": "/srv/found", "found": "yes"}}, False),
        ({"args": {"content": "found: {{ x['found'] }}"}, "vars": {"y": "{{ x.found }}"}}, False),
    ],
)
def test_a_layer_that_reads_an_earlier_layers_result_is_refused(fields: dict[str, Any], reads: bool) -> None:
    if not reads:
        return unread(reading(**fields), {"found": task()})
    with pytest.raises(DeviceError, match="it reads found, but a visit evaluates all layers before task Mount runs"):
        unread(reading(**fields), {"found": task()})


NIC = Item("file", "/etc/drawbridge/nic.json")


def leaving(role: str) -> Layer:
    return replace(layer(role), leaves=True)


def test_the_last_layer_knows_what_each_role_places_and_which_roles_place_nothing() -> None:
    layers = [leaving("gate"), replace(layer("nic"), places=[NIC]), layer("nic"), layer("slurm")]
    last = leftovers(layers, ["gate", "nic", "nfs", "slurm"])
    assert last.options["placed"] == {"nic": [["file", NIC.path]], "slurm": []}
    assert last.options["gone"] == ["gate", "nfs"]
    assert last.needs == [0]
    call = message([*layers, last], [*layers, last], {})["layers"]
    assert [it.get("leaves", "") for it in call] == ["gate", "", "", "", ""]
    assert call[-1]["layer"] == "placed_files"


@pytest.mark.parametrize("first", [leaving("kube_node"), layer("kube_node", state="absent")])
def test_leftovers_stay_while_a_role_could_not_leave(first: Layer) -> None:
    first.seen = Visited("done", {"pending": ["stop the kubelet: job 7 runs"]})
    last = leftovers([first], ["gate"])
    [call] = message([first, last], [last], {})["layers"]
    assert call["postponed"] == "first stop the kubelet: job 7 runs"
