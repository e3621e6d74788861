# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run may set, by the table of options that ships."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
import yaml
from ansible.parsing.splitter import parse_kv
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.playbook_options import (
    EXTRA,
    Given,
    Option,
    read,
    typed,
)

from tests.conformance.tree import ROOT

OPTIONS = read(yaml.safe_load((ROOT / "meta/options.yml").read_text()))
RENAMED = [(playbook, option) for option in OPTIONS if option.old for playbook in option.playbooks]
IMPORT = "vars of the playbook"


def run(playbook: str, extra: dict[str, Any], known: dict[str, Any] | None = None, place: str = EXTRA) -> Given:
    """A run with these variables, and with those that the site has for itself."""
    return Given(OPTIONS, playbook, {place: extra}, {**(known or {}), **extra})


def needed(playbook: str) -> dict[str, Any]:
    """The required options of a playbook."""
    return {option.name: option.example for option in OPTIONS if playbook in option.playbooks and option.required}


def said(given: Given) -> list[str]:
    return [str(fault) for fault in given.faults()]


@pytest.mark.parametrize(("playbook", "option"), RENAMED, ids=[f"{name}-{option.old}" for name, option in RENAMED])
def test_an_old_name_is_refused_with_the_new_one(playbook: str, option: Option) -> None:
    for place in (EXTRA, IMPORT):
        given = run(playbook, {**needed(playbook), option.old: "x"}, place=place)
        assert said(given) == [
            f'{option.old} ({place}) is "x", but {option.old} is now {option.name}; write -e {option.name}=x'
        ]


@pytest.mark.parametrize(("playbook", "option"), RENAMED, ids=[f"{name}-{option.old}" for name, option in RENAMED])
def test_a_sites_own_variable_may_have_an_old_name(playbook: str, option: Option) -> None:
    assert said(run(playbook, needed(playbook), {option.old: "the site's"})) == []
    elsewhere = next(name for name in ("fabric", "onboard") if (name, option.old) not in old_names())
    assert said(run(elsewhere, {**needed(elsewhere), option.old: "the site's"})) == []


def old_names() -> set[tuple[str, str]]:
    return {(playbook, option.old) for playbook, option in RENAMED}


def test_all_old_names_are_refused_at_once() -> None:
    given = run("rolling", {"nodes": "gpu[01-02]", "maintenance": "kernel", "what": "packages", "packages": ["a b"]})
    assert [sentence.partition("; ")[2] for sentence in said(given)] == [
        "write -e 'rolling_nodes=gpu[01-02]'",
        "write -e rolling_maintenance=kernel",
        "write -e rolling_what=packages",
        'write -e \'{"rolling_packages": ["a b"]}\'',
    ]
    assert given.selecting() == ""


@pytest.mark.parametrize("value", ["x", "gpu[01-02]", "a b", "", "it's", '"', 4, True, ["a"], {"gpu01": "SHA256:a+/="}])
def test_a_printed_option_has_the_value(value: Any) -> None:
    """A shell splits it, then Ansible reads it. It reads a number as text, unless it is in JSON."""
    _option, word = shlex.split(typed("rolling_what", value))
    read_back = json.loads(word) if word.startswith("{") else parse_kv(word)
    assert read_back in ({"rolling_what": value}, {"rolling_what": str(value)})


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("rolling_wat", "write rolling_what, or rename"),
        ("rolling_reboot_wait_s", "write rolling_reboot_timeout_s or rolling_job_wait_s, or rename"),
        ("onboard_node", "write onboard_nodes, or rename"),
        ("visit_layer", "write visit_layers, or rename"),
        ("retire_xyz", "write retire_nodes or retire_dead_nodes, or rename"),
        ("storage_leave_now", "write storage_leave_nodes, or rename"),
        ("rolling_view", "write rolling_nodes or rolling_maintenance or rolling_what or"),
    ],
)
def test_a_name_that_is_no_option_is_refused_with_the_nearest(name: str, near: str) -> None:
    """In each playbook: its run would otherwise do less than a person asked for. The value may be a secret."""
    (sentence,) = said(run("fabric", {name: "secret"}))
    assert sentence.startswith(f'{name} (--extra-vars) is "(not shown)", but no playbook has such an option')
    assert near in sentence
    assert "secret" not in sentence


def test_other_names_are_the_sites_and_so_is_any_name_in_its_inventory() -> None:
    names = ("rollings", "plan", "my_rolling_wat", "preflight_report", "slurm_node_view")
    assert said(run("fabric", dict.fromkeys(names, 1), {"rolling_wat": 1})) == []


@pytest.mark.parametrize("name", ["onboard_nodes", "onboard_wave"])
def test_what_a_playbook_hands_on_cant_be_set_beside_it(name: str) -> None:
    """-e onboard_nodes=gpu05 would bring in another node than the one whose host key was compared."""
    (sentence,) = said(run("rejoin", {**needed("rejoin"), name: "7"}))
    own = name.replace("onboard", "rejoin")
    assert sentence == (
        f'{name} (--extra-vars) is "7", but rejoin.yml gives {name} the value of {own}; write -e {own}=7'
    )
    assert said(run("rejoin", {**needed("rejoin"), name: "7"}, place=IMPORT)) == []


def test_required_options_are_named_with_what_to_add() -> None:
    assert said(run("replace_switch", {}, {"switch": "the site's"})) == [
        "replace_switch_name is missing, but replace_switch.yml needs it; add -e replace_switch_name=leaf1",
        "replace_switch_fingerprint is missing, but replace_switch.yml needs it; add"
        " -e replace_switch_fingerprint=SHA256:...",
    ]
    assert said(run("replace_switch", {}, needed("replace_switch"))) == []
    [sentence] = said(run("rolling", {"rolling_maintenance": "kernel"}))
    assert sentence == "rolling_nodes is missing, but rolling.yml needs it; add -e 'rolling_nodes=gpu[001-100]'"


@pytest.mark.parametrize(
    ("playbook", "known", "name"),
    [
        ("retire", {}, ""),
        ("retire", {"nodes": "the site's"}, ""),
        ("rejoin", {"rejoin_nodes": "gpu01"}, "rejoin_nodes"),
        ("site", {}, ""),
        ("", {}, ""),
    ],
)
def test_an_option_selects_the_nodes(playbook: str, known: dict[str, Any], name: str) -> None:
    """One that is absent is a fault of its own."""
    assert run(playbook, {}, known).selecting() == name


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"_raw_params": "own.yml"}, '--extra-vars is "own.yml", but a word without = sets no variable'),
        ({"_raw_params": "secret"}, '--extra-vars is "(not shown)", but a word without = sets no variable'),
        (
            {"plan_into": ""},
            "plan_into (--extra-vars) is \"\", but it has no value; write -e 'plan_into=~/plan', or leave",
        ),
        ({"retire_nodes": ""}, ""),
        (
            {"onboard_wave": "many"},
            'onboard_wave (--extra-vars) is "many", but it is not a whole number from 1; write -e onboard_wave=8',
        ),
        ({"onboard_wave": 0}, "onboard_wave (--extra-vars) is 0, but it is not a whole number"),
        ({"rolling_reserve": "ture"}, 'rolling_reserve (--extra-vars) is "ture", but it is neither true nor false'),
        ({"rolling_reserve": True, "rolling_boot": "no", "onboard_wave": "16"}, ""),
        ({"onboard_wave": "{{ mine }}"}, ""),
    ],
)
def test_words_and_options_without_a_right_value_are_refused(given: dict[str, Any], sentence: str) -> None:
    """The option that selects nodes has a sentence of its own."""
    found = said(run("retire", {"retire_nodes": "gpu01", **given}))
    assert [it.startswith(sentence) for it in found] == ([True] if sentence else [])


def test_an_option_names_a_host_of_its_group() -> None:
    assert run("replace_switch", needed("replace_switch")).naming() == [("replace_switch_name", "switches")]
    assert run("fabric", needed("replace_switch")).naming() == run("replace_switch", {}).naming() == []
