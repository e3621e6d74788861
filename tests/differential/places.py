# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The play that reads each case from each place of a variable."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from tests.differential.files import Site, layer_task, visit_task
from tests.differential.runs import different

PLAY = "places"
PLACES = ("group", "host", "param", "call", "fact", "result", "extra", "argument")
"""Group variable, host variable, role parameter, variable of import_role, set_fact, registered and extra variable, and
the argument itself.
"""
TYPED = ("group", "fact", "result")
"""Places of which a second file shows the type of each value."""
BATCH = 40
"""Cases of one layer: a plain task costs one module run for each of them."""
APART = ["never", "apart"]


def batches(cases: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The cases in parts, one for each layer."""
    return [dict(part) for part in itertools.batched(cases.items(), BATCH)]


def write(site: Site, cases: Mapping[str, Any]) -> dict[str, Any]:
    """Write variables and roles of all places; return the play."""
    parts = batches(cases)
    in_place = {place: {f"{place}_{name}": value for name, value in cases.items()} for place in PLACES}
    site.write("group_vars/nodes/cases.yml", in_place["group"])
    for host in ("one", "two"):
        site.write(f"host_vars/{host}/cases.yml", in_place["host"])
    for place in PLACES:
        site.role(f"place_{place}", [_task(place, at, part) for at, part in enumerate(parts)])
    site.role("prepare", [task for at, part in enumerate(parts) for task in _prepare(at, part)])
    entry = {"role": "place_param", "tags": APART, **in_place["param"]}
    others = [place for place in PLACES if place not in ("param", "call")]
    calls = [{"ansible.builtin.import_role": {"name": f"place_{place}"}, "tags": APART} for place in others]
    call = {"ansible.builtin.import_role": {"name": "place_call"}, "vars": in_place["call"], "tags": APART}
    prepare = {"ansible.builtin.import_role": {"name": "prepare"}, "tags": ["always"]}
    steps = {"pre_tasks": [prepare, visit_task()], "roles": [entry], "tasks": [*calls, call]}
    return {"name": PLAY, "hosts": "nodes", "gather_facts": False, "connection": "local", **steps}


def _task(place: str, at: int, part: Mapping[str, Any]) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for name, value in part.items():
        if place == "argument":
            files[f"{name}.raw"] = value
            continue
        variable = f"result_{at}.msg['{name}']" if place == "result" else f"{place}_{name}"
        files[f"{name}.raw"] = f"{{{{ {variable} }}}}"
        if place in TYPED:
            files[f"{name}.typed"] = f"{{{{ {variable} | type_debug }}}} {{{{ {variable} | to_json }}}}"
    return layer_task(f"Write part {at} of {place}", {f"{place}/{name}": value for name, value in files.items()})


def _prepare(at: int, part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Tasks that set facts, and one that registers the same values as a result."""
    facts = {f"fact_{name}": value for name, value in part.items()}
    return [
        {"name": f"Set part {at}", "ansible.builtin.set_fact": facts},
        {"name": f"Register part {at}", "ansible.builtin.debug": {"msg": dict(part)}, "register": f"result_{at}"},
    ]


def compare(name: str, plain: Mapping[str, str], visit: Mapping[str, str]) -> list[str]:
    """Differences of one case at all places, hosts and kinds of its files."""
    files = [*(f"{place}/{name}.raw" for place in PLACES), *(f"{place}/{name}.typed" for place in TYPED)]
    return different([f"{host}/{file}" for host in ("one", "two") for file in files], plain, visit)
