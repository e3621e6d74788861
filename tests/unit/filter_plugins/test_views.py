# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.drawbridge.drawbridge.plugins.filter.views import FilterModule
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import DOMAINS

from tests.unit.module_utils.site.test_refused import site

SITE = {**site("lab"), "drawbridge_nfs": {"mounts": [{"server": "filer", "export": "/export/data", "mount": "/data"}]}}
FILTERS = FilterModule().filters()
FURTHER = {
    **{"name": "gpu01", "chosen": "gpu[01-02]", "cgroups": True, "mounts": ["/gpfs/fs1"]},
    **{"names": ["gpu01"], "wave": 0, "defined": ["fabric", "gpfs"]},
}


def arguments(door: Any) -> dict[str, Any]:
    """What a role hands in, by parameter."""
    names = inspect.signature(door).parameters
    values = {name: SITE[f"drawbridge_{name}"] if name in DOMAINS else FURTHER[name] for name in names}
    return {**values, "name": "leaf1"} if door.__name__ == "switch" else values


@pytest.mark.parametrize("name", FILTERS)
def test_raw_variables_become_plain_data(name: str) -> None:
    derived = FILTERS[name](*arguments(FILTERS[name]).values())
    assert json.dumps(derived)
    assert isinstance(derived, (dict, list))


@pytest.mark.parametrize("name", FILTERS)
def test_parts_come_in_one_order_and_before_everything_else(name: str) -> None:
    order = [*DOMAINS, "name", *FURTHER]
    names = list(inspect.signature(FILTERS[name]).parameters)
    assert names == sorted(names, key=order.index)


@pytest.mark.parametrize("name", FILTERS)
def test_a_part_of_the_wrong_shape_is_refused_by_its_name(name: str) -> None:
    door = FILTERS[name]
    for part, parameter in inspect.signature(door).parameters.items():
        lacking = {**arguments(door), part: None}
        if "None" in str(parameter.annotation):
            assert isinstance(door(**lacking), (dict, list))
        elif part in DOMAINS:
            with pytest.raises(AnsibleFilterError, match=f"drawbridge_{part} is missing"):
                door(**lacking)


def test_a_node_that_no_range_has_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match="no range has this node; add it to a range"):
        FILTERS["slurm_node_view"](SITE["drawbridge_nodes"], SITE["drawbridge_slurm"], "gpu99", True)


def test_a_choice_that_is_no_hostlist_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match="gpu\\[01"):
        FILTERS["node_switches_view"](SITE["drawbridge_fabric"], SITE["drawbridge_nodes"], "gpu[01")
