# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.drawbridge.drawbridge.plugins.lookup.view import LookupModule, is_plain
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.releases import TRUSTED

from tests.unit.module_utils.site.test_refused import site

LOADER = DataLoader()
MOUNTS = {"mounts": [{"server": "filer", "export": "/export/{{ room }}", "mount": "/data"}]}
OWN = {"inventory_hostname": "gpu01", "room": "first", "lab_network": "10.77.1"}
LAB = {**site("lab"), **OWN, "drawbridge_nfs": MOUNTS}


@pytest.fixture
def view(tmp_path: Path) -> Any:
    """A view of a host's variables, whose templates are the site's own."""

    def made(*terms: str, variables: dict[str, Any] = LAB, **arguments: Any) -> Any:
        file = tmp_path / str(len(list(tmp_path.iterdir())))
        file.write_text(json.dumps(variables))
        own = LOADER.load_from_file(str(file), **TRUSTED)
        [found] = LookupModule(loader=LOADER, templar=Templar(LOADER, own)).run(list(terms), own, **arguments)
        return found

    return made


def test_a_view_is_that_of_the_host(view: Any) -> None:
    one, two = view("nic"), view("nic", variables={**LAB, "inventory_hostname": "gpu02"})
    assert (one["qos"]["slurm_node"], two["qos"]["slurm_node"]) == ("gpu01", "gpu02")


def test_templates_of_the_intent_are_evaluated_for_each_host(view: Any) -> None:
    exports = [
        view("nfs_client", variables={**LAB, "room": room})["mounts"]["mounts"][0]["export"] for room in ("a", "b")
    ]
    assert exports == ["/export/a", "/export/b"]


def test_an_argument_replaces_a_variable_or_is_the_views_own(view: Any) -> None:
    assert view("nfs_client", nfs={"mounts": []})["mounts"]["mounts"] == []
    assert view("node_switches", chosen="gpu01") == ["leaf1"]


@pytest.mark.parametrize(
    ("gone", "layers"),
    [("kube", {"kube": False}), ("gpfs", {"gpfs": False, "filesystems": ["nfs"]})],
)
def test_a_site_may_lack_a_part(view: Any, gone: str, layers: dict[str, bool]) -> None:
    lacking = {name: value for name, value in LAB.items() if name != f"drawbridge_{gone}"}
    whole, part = view("node_layers"), view("node_layers", variables=lacking)
    assert part == {**whole, **layers} != whole


@pytest.mark.parametrize(
    ("terms", "arguments", "message"),
    [
        (["nick"], {}, "is not the name of one view; use one of .* nic,"),
        (["nic", "switch"], {}, "is not the name of one view"),
        (["nic"], {"nods": {}}, "view nic: it has no argument nods; it has fabric, nodes, name"),
        (["switch"], {"fabric": None}, "drawbridge_fabric is missing"),
        (["nic"], {"name": "gpu99"}, "no range has this node"),
        (["slurm_node"], {}, "view slurm_node: it needs the argument cgroups"),
    ],
)
def test_mistakes_are_named(view: Any, terms: list[str], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(AnsibleError, match=message):
        view(*terms, **arguments)


@pytest.mark.parametrize(
    ("raw", "plain"),
    [({"a": ["b", 1, None, True, 2.5]}, True), ({"a": ["{{ b }}"]}, False), ([{"a": "{% x %}"}], False), ("{#", False)],
)
def test_only_what_holds_a_template_is_given_to_the_templar(raw: Any, plain: bool) -> None:
    assert is_plain(raw) is plain
