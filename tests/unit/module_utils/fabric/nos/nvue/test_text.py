# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import DialectError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import (
    DIALECT,
    parse,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    Config,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse

from lab.emulators.fabric.nvue import revisions
from tests.unit.emulated_switch import profile
from tests.unit.emulated_systems import Cumulus

LEAF = profile("nvue", 1)
STATUS = {
    "congestion-control": {"min-threshold": "156.00 KB", "max-threshold": "1.43 MB", "enabled-tc": "0,3"},
    "pfc": {"pfc-priority": "3", "rx-enabled": "yes", "tx-enabled": "yes"},
}
"""Keys and values of `nv show interface swp16 qos roce status`, NVIDIA's page on RoCE."""


def parsed(
    tree: Any = None, status: Any = STATUS, revisions: Any = None, header: str = "Cumulus Linux 5.11.0"
) -> Config:
    shown = json.dumps([{"header": {"version": header}}, {"set": tree or {}}])
    ports = {"swp1": {"qos": {"roce": {"status": status}}}}
    return parse((shown, shown, json.dumps(revisions or {}), json.dumps(ports)), LEAF)


def test_a_port_has_what_several_keys_say() -> None:
    tree = {"interface": {"swp1-4": {"link": {"mtu": 9214}}, "swp1": {"qos": {"pfc-watchdog": {"state": "enabled"}}}}}
    have, want = dict(parsed(tree).sections), dict(render(LEAF).sections)
    assert have["interface swp1"] == want["interface swp1"]


def test_a_port_without_a_line_has_the_default_mtu() -> None:
    assert "   link mtu 9216" in parsed().lines()


def test_hardware_that_rounds_thresholds_to_its_cells_is_proven() -> None:
    assert parsed().unproven == ()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"pfc": {}}, "swp1 does not pause priority 3 alone (priorities none, rx none, tx none)"),
        ({"pfc": {**STATUS["pfc"], "pfc-priority": "3,5"}}, "(priorities 3,5, rx yes, tx yes)"),
        ({"pfc": {**STATUS["pfc"], "tx-enabled": "no"}}, "(priorities 3, rx yes, tx no)"),
        (
            {"congestion-control": {**STATUS["congestion-control"], "min-threshold": "200.00 KB"}},
            "swp1 marks at a min-threshold of 200.00 KB, not at 150000 bytes",
        ),
        ({"congestion-control": {}}, "swp1 marks at a min-threshold of none"),
    ],
)
def test_hardware_that_does_not_follow_is_not_proven(changed: dict[str, Any], sentence: str) -> None:
    assert sentence in parsed(status={**STATUS, **changed}).unproven[0]


def test_revisions_that_wait_are_ours_by_their_message() -> None:
    config = parsed(revisions={"4": {"state": "confirm", "message": "drawbridge-a"}, "3": {"state": "pending"}})
    assert (config.waiting, config.foreign) == ("drawbridge-a", ())
    config = parsed(revisions={"4": {"state": "confirm", "message": "upgrade"}})
    assert (config.waiting, config.foreign) == ("", ("4 (upgrade)",))


def test_no_json_is_an_error_with_the_printed_text() -> None:
    with pytest.raises(DialectError, match="it printed no JSON, but 'nvued is not running'"):
        parse(("nvued is not running", "[]", "{}", "{}"), LEAF)


def test_buffers_of_these_switches_alone(cumulus: Cumulus) -> None:
    own = replace(profile("nvue"), cable_m=40, lossless_buffer_percent=60)
    assert cumulus.converge().error == ""
    predicted = cumulus.converge(check=True, want=own)
    done = cumulus.converge(want=own)
    assert (done.error, done.steps) == ("", predicted.steps)
    assert done.steps[0] == (
        "RoCE mode: nv set qos roce cable-length 40; nv set qos traffic-pool default-lossy memory-percent 40;"
        " nv set qos traffic-pool roce-lossless memory-percent 60"
    )
    assert cumulus.converge(want=own).steps == []
    before = cumulus.lines()
    assert cumulus.converge().steps == []
    assert cumulus.lines() == before, "without them in the intent they are the site's"
    used = Traffic({}, use=ClusterUse(frozenset(), why_unknown=""))
    [waits] = cumulus.converge(want=replace(own, cable_m=50), traffic=used).pending
    assert "divides the buffers of all ports anew" in waits


def test_edits_that_a_killed_run_left_are_not_part_of_the_next_change(cumulus: Cumulus) -> None:
    with cumulus.state() as state:
        revisions.edit(state, "admin", "set", ["interface", "swp4", "link", "mtu", "1500"])
    assert cumulus.converge().error == ""
    assert not any(line.startswith("interface swp4 link mtu") for line in cumulus.lines())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Failed to prepare to apply\n  Unrecoverable internal error\n", "Failed to prepare to apply Unrecoverable"),
        ("Error: The requested item does not exist.\n", "Error: The requested item does not exist."),
        ("Invalid config [rev_id: 12]\n  qos.roce: wrong\napplied [rev_id: 13]\n", "Invalid config [rev_id: 12] qos"),
    ],
)
def test_a_refusal_begins_with_one_of_several_words_and_has_its_reason_below(answer: str, said: str) -> None:
    match = re.search(DIALECT.refusal, answer, re.MULTILINE)
    assert match and " ".join(match[0].split()).startswith(said)
    assert "applied" not in match[0]


def test_what_a_change_that_was_made_prints_is_no_refusal() -> None:
    assert not re.search(DIALECT.refusal, "applied [rev_id: 13]\n", re.MULTILINE)


def test_a_pager_of_the_site_cuts_no_answer(cumulus: Cumulus) -> None:
    assert cumulus.converge().changed
    cumulus.type("nv set system cli pagination state enabled")
    cut = cumulus.emulator.cli("noc", "vty9", once=False).run
    with cumulus.state() as state:
        assert cut(state, "nv config show -o json", 0.0).endswith("--More--")
    for over_ssh in (False, True):
        cumulus.over_ssh = over_ssh
        again = cumulus.converge()
        assert (again.error, again.steps) == ("", [])
