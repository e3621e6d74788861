# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Arguments have the values that Ansible's own templating gives them, and a variable is evaluated once."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.action import ActionBase
from ansible_collections.drawbridge.drawbridge.plugins.action import switch_roce, switch_state
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils import play_tasks
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.direct_arguments import DirectArguments
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.direct_filters import plain
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.releases import TRUSTED, templar_of

LOADER = DataLoader()
SITE = {
    "site": {"ports": ["Ethernet1", "Ethernet2"], "name": "lab"},
    "traffic": "{{ {'behind': site.name, 'links': site.ports + ['Ethernet3']} }}",
    "shouted": "{{ site.name | upper }}",
}
ARGUMENTS = {
    "behind": "{{ traffic.behind }}",
    "links": "{{ traffic.links }}",
    "plain": {"name": "leaf1", "number": 4},
    "left": "{{ site.ports | first }}",
    "nested": "{{ shouted }}",
}


@pytest.fixture
def load(tmp_path: Path) -> Any:
    """Make values the site's own, whose templates Ansible evaluates."""

    def made(values: Any) -> Any:
        file = tmp_path / str(len(list(tmp_path.iterdir())))
        file.write_text(json.dumps(values))
        return LOADER.load_from_file(str(file), **TRUSTED)

    return made


def finalized(arguments: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
    templar = templar_of(LOADER, variables)
    with DirectArguments.get_finalize_task_args_context() as known:
        return {name: DirectArguments.finalize_task_arg(name, raw, templar, known) for name, raw in arguments.items()}


def test_arguments_have_the_values_that_ansible_finds(load: Any) -> None:
    arguments, variables = load(ARGUMENTS), load(SITE)
    templar = templar_of(LOADER, variables)
    expected = {name: plain(templar.template(raw)) for name, raw in arguments.items()}
    assert {name: plain(value) for name, value in finalized(arguments, variables).items()} == expected
    assert expected["links"] == ["Ethernet1", "Ethernet2", "Ethernet3"]
    assert (expected["left"], expected["nested"]) == ("Ethernet1", "LAB")


def test_a_variable_of_several_arguments_is_evaluated_once(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[str] = []
    value = play_tasks._value
    monkeypatch.setattr(play_tasks, "_value", lambda raw, *more: evaluated.append(str(raw)) or value(raw, *more))
    finalized(load(ARGUMENTS), load(SITE))
    assert evaluated.count(SITE["traffic"]) == 1


def test_a_missing_variable_is_an_error_in_ansibles_words(load: Any) -> None:
    with pytest.raises(Exception, match="absent"):
        str(finalized(load({"profile": "{{ absent.view }}"}), {}))


@pytest.mark.parametrize("action", [switch_roce, switch_state])
def test_actions_on_switches_evaluate_their_arguments_so(action: Any) -> None:
    assert issubclass(action.ActionModule, DirectArguments)


def test_the_release_asks_actions_for_the_values_of_their_arguments() -> None:
    """Ansible calls that experimental. Where it no longer asks, the values are right, but each costs a compilation."""
    assert hasattr(ActionBase, "finalize_task_arg") is bool(TRUSTED), "releases before 2.19 don't"
    asks = getattr(ActionBase, "finalize_task_arg", DirectArguments.finalize_task_arg)
    assert [*inspect.signature(asks).parameters] == ["name", "value", "templar", "context"]
