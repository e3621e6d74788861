# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Before Ansible starts a process for each host, what hosts have in common is evaluated once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils import shared, sharing
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.direct import parsed
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.play_tasks import Settled, arguments
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.releases import TRUSTED
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.sharing import Sharing

LOADER = DataLoader()
SITE = {
    "intent": {"ports": {"kube": 6443}},
    "port": "{{ intent.ports.kube }}",
    "own": "{{ inventory_hostname }}:{{ intent.ports.kube | default('x') }}",
    "mine": "{{ [inventory_hostname, port] }}",
    "left": "{{ intent.ports | length | random }}",
    "hosts": "{{ groups }}",
}


@pytest.fixture
def variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The site's own variables, the same objects for all hosts; nothing is shared yet."""
    for name in ("SHARED", "ARGUMENTS"):
        kept: dict[tuple[str, Any], Any] = {}
        for module in (shared, sharing):
            monkeypatch.setattr(module, name, kept)
    file = tmp_path / "site.json"
    file.write_text(json.dumps(SITE))
    site = LOADER.load_from_file(str(file), **TRUSTED)
    return lambda host, **more: {**site, "inventory_hostname": host, "groups": {}, "role_path": "/role", **more}


def task(words: Any) -> Any:
    made = MagicMock(args={"text": words}, when=[], loop=None)
    made.get_vars.return_value = {}
    return made


def test_a_host_gets_the_same_object_that_another_one_has(variables: Any) -> None:
    Sharing(LOADER).share(task("intent port"), variables("gpu01"))
    first, second = (Settled(LOADER).named("intent port", variables(host)) for host in ("gpu01", "gpu02"))
    assert first == second == {"intent": {"ports": {"kube": 6443}}, "port": 6443}
    assert first["intent"] is second["intent"]


def test_a_value_of_one_host_is_no_other_hosts(variables: Any) -> None:
    Sharing(LOADER).share(task("mine port"), variables("gpu01"))
    assert Settled(LOADER).named("mine", variables("gpu02"))["mine"] == ["gpu02", 6443]


def test_an_argument_is_evaluated_once_if_no_host_has_its_own(variables: Any) -> None:
    first, second = variables("gpu01"), variables("gpu02")
    common, own = task(first["port"]), task(first["mine"])
    for made in (common, own):
        Sharing(LOADER).share(made, first)
    found = [arguments(common, each, LOADER, values={"intent": {"ports": {"kube": 1}}}) for each in (first, second)]
    assert found == [{"text": 6443}] * 2, "the shared value, not one made of these"
    assert arguments(own, second, LOADER, values={"port": 1}) == {"text": ["gpu02", 1]}
    assert arguments(task([first["port"]]), second, LOADER, values={"intent": {"ports": {"kube": 1}}}) == {"text": [1]}


def test_a_variable_of_the_host_wins_also_where_another_one_names_it(variables: Any) -> None:
    Sharing(LOADER).share(task("port"), variables("gpu01"))
    other = variables("gpu02", intent={"ports": {"kube": 1}})
    assert Settled(LOADER).named("port", other)["port"] == 1


def test_what_may_differ_each_time_is_not_shared(variables: Any) -> None:
    Sharing(LOADER).share(task("left hosts own"), variables("gpu01"))
    assert not {name for _role, name in shared.SHARED} & {"left", "hosts", "own"}


def test_templates_of_tasks_are_parsed_once(variables: Any) -> None:
    Sharing(LOADER).share(task("{{ intent.ports.of_tests }}"), variables("gpu01"))
    before = parsed.cache_info().misses
    parsed("{{ intent.ports.of_tests }}")
    assert parsed.cache_info().misses == before


def test_other_tasks_share_nothing(variables: Any) -> None:
    other = MagicMock(action="ansible.builtin.ping")
    sharing.share(other)
    assert not other.get_play.called
