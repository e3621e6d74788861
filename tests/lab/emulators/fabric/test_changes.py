# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What all systems have in common that make a change for a time, or drop one. Each system has its own words for it."""

import json
from pathlib import Path

import pytest
import yaml

WORDS = {
    "eos": ("running", ["enable", "configure session a", "interface Ethernet1", "mtu 9000"]),
    "nvue": ("applied", ["nv set interface swp1 link mtu 9000"]),
    "nxos": ("running", ["configure dual-stage", "interface e1/1", "mtu 9000"]),
    "junos": ("active", ["configure exclusive", "set interfaces et-0/0/0 mtu 9000"]),
    "os10": ("running", ["start transaction", "configure terminal", "interface ethernet1/1/1", "mtu 9000"]),
}
"""Where the state has what runs, and the lines that prepare an MTU."""
TIMED = {
    "eos": "commit timer 00:05:00",
    "nvue": "nv config apply -y --confirm 300s",
    "nxos": "commit confirmed 300",
    "junos": "commit confirmed 5",
}
REFUSALS = yaml.safe_load((Path(__file__).parent / "refusals.yml").read_text())
ROWS = [(it.get("system", group), group, lines, words) for group, it in REFUSALS.items() for lines, words in it["rows"]]


def runs(room, system, which=""):
    return room.state[which or WORDS[system][0]]


@pytest.mark.parametrize("system", TIMED)
def test_a_change_for_a_time_goes_back_while_no_user_is_logged_in(room, system):
    before = runs(room, system)
    room.type(*WORDS[system][1])
    assert (runs(room, system), room.flaps()) == (before, [0, 0, 0, 0])
    room.type(TIMED[system])
    assert "9000" in json.dumps(runs(room, system))
    room.leave()
    room.pass_to(299)
    room.switch.tick()
    assert room.flaps() == [1, 0, 0, 0]
    room.pass_to(300)
    room.switch.tick()
    assert (runs(room, system), room.flaps()) == (before, [2, 0, 0, 0])
    assert (room.device.calls()[-1]["event"], room.device.calls()[-1]["writes"]) == (room.switch.expired, True)


@pytest.mark.parametrize(
    ("system", "line"),
    [
        ("eos", "configure session a commit"),
        ("nvue", "nv config apply --confirm-yes"),
        ("nxos", "commit"),
        ("junos", "commit"),
        ("junos", "commit check"),
    ],
)
def test_a_change_that_is_confirmed_stays(room, system, line):
    room.type(*WORDS[system][1], TIMED[system], line)
    room.pass_to(300)
    room.switch.tick()
    assert "9000" in json.dumps(runs(room, system))
    assert not room.state.get("pending") and not room.state.get("confirm")


@pytest.mark.parametrize(
    ("system", "lines"),
    [
        ("eos", [TIMED["eos"], "configure session a abort"]),
        ("eos", ["abort"]),
        ("nvue", [TIMED["nvue"], "nv config apply --confirm-no"]),
        ("nvue", ["nv config detach", "nv config apply -y"]),
        ("nxos", ["abort"]),
        ("nxos", ["end"]),
        ("junos", ["rollback", "commit"]),
        ("junos", ["commit", "rollback 1", "commit"]),
        ("os10", ["do discard", "do commit"]),
    ],
)
def test_a_change_can_be_taken_back(room, system, lines):
    before = runs(room, system)
    room.type(*WORDS[system][1], *lines)
    staged = [room.state[key] for key in room.switch.staged if key not in ("checkpoints", "lock")]
    assert (runs(room, system), any(staged)) == (before, False)


@pytest.mark.parametrize(("system", "timed"), [*((it, [TIMED[it]]) for it in TIMED), *((it, []) for it in WORDS)])
def test_a_restart_keeps_the_saved_lines_and_drops_pending_changes(room, system, timed):
    before = runs(room, system)
    room.type(*WORDS[system][1], *timed)
    room.type("show version", user="noc", effect="reboot")
    assert runs(room, system) == before
    lost = ["confirm", "candidates", "candidate", "lock", *(["pending"] if system != "nvue" else [])]
    assert not any(room.state.get(key) for key in lost), "NVUE alone keeps what users have prepared"


PROMPTS = {
    "eos": {
        "terminal length 0": "leaf1>",
        "enable": "leaf1#",
        "configure": "leaf1(config)#",
        "qos profile ROCE": "leaf1(config-qos-profile-ROCE)#",
        "uc-tx-queue 3": "leaf1(config-qos-profile-ROCE-uc-txq-3)#",
        "exit": "leaf1(config-qos-profile-ROCE)#",
        "interface Et 2": "leaf1(config-if-Et2)#",
        "uc-tx-queue 4": "leaf1(config-if-Et2-uc-txq-4)#",
        "hostname a": "a(config)#",
        "configure session dbr-1234": "a(config-s-dbr-12)#",
        "end": "a#",
    },
    "junos": {
        "": "{master:0}\nadmin@leaf1>",
        "configure": "{master:0}[edit]\nadmin@leaf1#",
        "set interfaces et-0/0/0 mtu 9000": "{master:0}[edit]\nadmin@leaf1#",
        "exit": "Exit with uncommitted changes? [yes,no] (yes)",
        "yes": "{master:0}\nadmin@leaf1>",
    },
    "nxos": {
        "configure dual-stage": "leaf1(config-dual-stage)#",
        "interface e1/1": "leaf1(config-dual-stage-if)#",
        "mtu 9000": "leaf1(config-dual-stage-if)#",
        "commit": "leaf1(config-dual-stage)#",
        "end": "leaf1#",
    },
    "os10": {
        "configure terminal": "leaf1(config)#",
        "interface ethernet 1/1/1": "leaf1(conf-if-eth1/1/1)#",
        "interface range ethernet1/1/1-1/1/3": "leaf1(conf-range-eth1/1/1-1/1/3)#",
        "interface mgmt1/1/1": "leaf1(conf-if-ma-1/1/1)#",
        "trust dscp-map M": "leaf1(config-tmap-dscp-map)#",
        "class-map type network-qos C": "leaf1(config-cmap-nqos)#",
        "policy-map type network-qos P": "leaf1(config-pmap-network-qos)#",
        "class C": "leaf1(config-pmap-c-nqos)#",
        "policy-map type queuing P": "leaf1(config-pmap-queuing)#",
        "end": "leaf1#",
    },
}


@pytest.mark.parametrize("system", PROMPTS)
def test_prompts_follow_the_mode(room, system):
    for line, prompt in PROMPTS[system].items():
        room.type(line)
        assert (room.prompt(), line) == (prompt, line)


@pytest.mark.parametrize(("system", "group", "lines", "words"), ROWS, ids=[f"{row[1]}: {row[2]}" for row in ROWS])
def test_a_refused_line_leaves_the_running_configuration(room, group, lines, words):
    it = REFUSALS[group]
    with room.device.state() as state:
        state.update({"version": it["version"]} if "version" in it else {})
    accepted = room.type(*it["first"]) if it["first"] else ""
    assert not accepted or accepted in ("commit complete", "Done") or accepted.startswith("Entering"), accepted
    *before, last = [*(f"{it.get('start', '')}{line}" for line in lines.split("; ")), *filter(None, [it.get("end")])]
    for line in before:
        room.type(line)
    shown = room.type(last)
    call = room.device.calls()[-1]
    assert words in shown
    assert (call["line"], call["rc"], call["writes"]) == (last, 1, False)
