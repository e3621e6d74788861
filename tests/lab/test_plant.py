# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab import plant
from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.site import Site

README = Path(__file__).parents[2] / "lab/README.md"


@pytest.mark.parametrize(
    ("words", "file", "state"),
    [
        ("gpu02 slow-cable rail3 60", "hosts/gpu02/emu/proof", {"rails": {"rail3": {"percent": 60}}}),
        ("gpu02 missing-gpu 2", "hosts/gpu02/emu/proof", {"missing": [2]}),
        ("gpu02 nvls-off", "hosts/gpu02/emu/proof", {"nvls": False}),
        (
            "leaf1 slow-path leaf2 40",
            "shared/fabric",
            {"flows": {}, "steps": 0, "slow": {"leaf1>leaf2": 40}, "ranks": {}},
        ),
        (
            "gpu02 swapped-cables rail0 rail1",
            "hosts/gpu02/emu/lldpctl",
            {"neighbours": {"rail0": ["leaf1", "Ethernet10"], "rail1": ["leaf1", "Ethernet9"]}},
        ),
    ],
)
def test_a_fault_lies_where_the_tools_find_it(
    room_site: Site, paths: Paths, words: str, file: str, state: object
) -> None:
    name, kind, *rest = words.split()
    plant.plant(room_site, paths, name, kind, rest)
    found = paths.state / file / "state.json"
    assert json.loads(found.read_text()) == state
    plant.clear(paths)
    assert not any(json.loads(found.read_text()).values())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("gpu99 nvls-off", "gpu99"),
        ("gpu02 rust", "use one of slow-cable"),
        ("gpu02 slow-cable rail3", "plant NAME slow-cable rail3 60"),
        ("gpu02 slow-cable rail3 100", "plant NAME slow-cable"),
        ("gpu02 slow-path leaf2 40", "gpu02 is no leaf"),
        ("leaf1 nvls-off", "leaf1 is no host"),
    ],
)
def test_what_does_not_exist_is_refused(room_site: Site, paths: Paths, words: str, why: str) -> None:
    name, kind, *rest = words.split()
    with pytest.raises(LabError, match=why):
        plant.plant(room_site, paths, name, kind, rest)


def test_the_readme_has_every_kind_with_its_words() -> None:
    assert [
        kind
        for kind, example in plant.EVERY.items()
        if f"`{kind} {example.partition(' (')[0]}".strip() not in README.read_text()
    ] == []
