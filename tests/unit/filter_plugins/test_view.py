# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.view import view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import may_be_none, reads
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import VIEWS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.kinds import KINDS

from tests.unit.module_utils.site.test_refused import site

MOUNTS = {"mounts": [{"server": "filer", "export": "/export/data", "mount": "/data"}]}
SITE = {**site("lab"), "drawbridge_nfs": MOUNTS, "inventory_hostname": "gpu01"}
FURTHER = {
    "chosen": "gpu[01-02]",
    "cgroups": True,
    "mounts": ["/gpfs/fs1"],
    "names": ["gpu01"],
    "today": "2026-11-30",
    "wave": 0,
}


def derived(name: str, variables: dict[str, Any] = SITE) -> Any:
    """The view with the arguments that it takes, of a host that it is for."""
    given = {key: value for key, value in FURTHER.items() if key in inspect.signature(VIEWS[name]).parameters}
    if name in ("switch", "switch_traffic"):
        given["name"] = "leaf1"
    return view(variables, name, **given)


@pytest.mark.parametrize("name", VIEWS)
def test_variables_become_plain_data(name: str) -> None:
    assert json.dumps(derived(name))
    assert isinstance(derived(name), (dict, list))


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_without_a_domain_works_or_names_the_variable(name: str) -> None:
    names = inspect.signature(VIEWS[name]).parameters
    for domain in reads(VIEWS[name]):
        lacking = {key: value for key, value in SITE.items() if key != f"drawbridge_{domain}"}
        if (domain in KINDS and domain not in names) or may_be_none(VIEWS[name], domain):
            assert isinstance(derived(name, lacking), (dict, list))
        else:
            with pytest.raises(AnsibleFilterError, match=f"view {name}: drawbridge_{domain} is missing"):
                derived(name, lacking)


REFUSED = {
    "unknown view": (lambda: view(SITE, "nics"), "'nics' is not the name of one view; use one of drawbridge_run"),
    "unknown argument": (
        lambda: view(SITE, "nic", wave=1),
        "it has no argument wave; it has fabric, nodes, name",
    ),
    "missing argument": (lambda: view(SITE, "slurm_node"), "view slurm_node: it needs the argument cgroups"),
    "missing host": (lambda: view(site("lab"), "nic"), "view nic: it needs the argument name"),
    "no variables": (lambda: view([], "nic"), "view nic is derived from variables, not from list"),
    "unknown node": (lambda: view(SITE, "nic", name="gpu99"), "no range has this node; add it to a range"),
    "no hostlist": (lambda: view(SITE, "node_switches", chosen="gpu[01"), "gpu\\[01"),
}


@pytest.mark.parametrize(("made", "said"), REFUSED.values(), ids=REFUSED)
def test_a_view_is_refused_in_words(made: Any, said: str) -> None:
    with pytest.raises(AnsibleFilterError, match=said):
        made()
