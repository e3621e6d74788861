# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The fabric as an operator sees it over SSH, and what the runs did to it as the switches noted it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lab.hosts.paths import Paths

ROOT = Path(os.environ["MOLECULE_PROJECT_DIRECTORY"])
PATHS = Paths.of()
PORTS = {"leaf1": 20, "leaf2": 20, "spine1": 4}
CUMULUS = {"leaf3": 8}
SONIC = {"leaf4": 4}
NEXUS = {"leaf5": 4}
JUNOS = {"leaf6": 8}
OS10 = {"leaf7": 6}
READS = ("show", "nv show", "nv config", "sonic-", "sudo sonic-cfggen", "systemctl list-units")
ALL = {**PORTS, **CUMULUS, **SONIC, **NEXUS, **JUNOS, **OS10}


def shown(switch: str, command: str) -> str:
    argv = ["ssh", "-F", str(PATHS.ssh_config), switch, command]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def runs(switch: str) -> list[list[dict[str, Any]]]:
    """What each logged-in user did, one list a connection; two can be open at the same time."""
    found: list[list[dict[str, Any]]] = []
    connected: dict[str, list[dict[str, Any]]] = {}
    for line in (PATHS.state / "switches" / switch / "journal.jsonl").read_text().splitlines():
        call = json.loads(line)
        if call.get("event") == "connect":
            connected[call["vty"]] = []
            found.append(connected[call["vty"]])
        elif "line" in call:
            connected[call["vty"]].append(call)
    return found


@pytest.mark.parametrize("switch", PORTS)
def test_every_port_of_the_fabric_pauses_priority_3_and_no_other(switch: str) -> None:
    pausing = re.findall(r"^Ethernet(\d+) +Yes +3 +Yes", shown(switch, "show priority-flow-control"), re.MULTILINE)
    assert [int(port) for port in pausing] == list(range(1, PORTS[switch] + 1))


@pytest.mark.parametrize(("switch", "queue"), [("leaf1", "uc-tx-queue 3"), ("spine1", "tx-queue 3")])
def test_the_class_is_marked_from_150_to_1500_kilobytes(switch: str, queue: str) -> None:
    assert re.search(r"^3 +kbytes +150 +1500$", shown(switch, "show qos interfaces ethernet 1 ecn"), re.MULTILINE)
    assert f"   {queue}\n" in shown(switch, "show running-config").replace("\r", "")


@pytest.mark.parametrize("switch", PORTS)
def test_a_restart_keeps_it(switch: str) -> None:
    running, startup = (shown(switch, f"show {which}-config").splitlines()[1:] for which in ("running", "startup"))
    assert running == startup
    sessions = json.loads(shown(switch, "show configuration sessions | json"))["sessions"]
    assert {session["state"] for session in sessions.values()} == {"completed"}


@pytest.mark.parametrize("switch", PORTS)
def test_links_flapped_once_and_only_where_the_class_runs(switch: str) -> None:
    ports = json.loads(shown(switch, "show interfaces | json"))["interfaces"]
    flaps = {name: port["interfaceCounters"]["linkStatusChanges"] for name, port in ports.items()}
    assert {name for name, count in flaps.items() if count} == {f"Ethernet{n + 1}" for n in range(PORTS[switch])}
    assert max(flaps.values()) == 1


@pytest.mark.parametrize(("switch", "ports"), CUMULUS.items())
def test_every_cumulus_port_pauses_priority_3_and_no_other_and_marks(switch: str, ports: int) -> None:
    shown_ports = json.loads(shown(switch, "nv show interface qos-roce-status -o json"))
    status = {name: it["qos"]["roce"]["status"] for name, it in shown_ports.items()}
    assert len(status) == ports
    assert {it["pfc"]["pfc-priority"] for it in status.values()} == {"3"}
    assert {(it["pfc"]["rx-enabled"], it["pfc"]["tx-enabled"]) for it in status.values()} == {("yes", "yes")}
    assert {it["congestion-control"]["min-threshold"] for it in status.values()} == {"156.00 KB"}
    commands = shown(switch, "nv config show -o commands").replace("\r", "").splitlines()
    assert f"nv set interface swp1-{ports} link mtu 9214" in commands
    assert "nv set qos egress-scheduler default-global traffic-class 6 mode strict" in commands
    assert commands == shown(switch, "nv config show -r startup -o commands").replace("\r", "").splitlines()


@pytest.mark.parametrize(("switch", "ports"), SONIC.items())
def test_every_sonic_port_pauses_priority_3_and_no_other_flapped_once_and_marks(switch: str, ports: int) -> None:
    names = [f"Ethernet{number * 4}" for number in range(ports)]
    pausing = re.findall(r"^(Ethernet\d+) +3 *\r?$", shown(switch, "show pfc priority"), re.MULTILINE)
    assert pausing == names
    flaps = re.findall(r"^(Ethernet\d+) +1 *\r?$", shown(switch, "show interfaces flap"), re.MULTILINE)
    assert flaps == names
    assert re.search(r"^green_min_threshold +150000\r?$", shown(switch, "show ecn"), re.MULTILINE)
    assert len(re.findall(r"Ethernet\d+ +drop +200 +200", shown(switch, "show pfcwd config"))) == ports
    running = shown(switch, "sonic-cfggen -d --print-data")
    assert json.loads(running)["SCHEDULER"]["ROCE_CNP"] == {"type": "STRICT"}
    assert running == shown(switch, "cat /etc/sonic/config_db.json")


@pytest.mark.parametrize(("switch", "ports"), NEXUS.items())
def test_every_nexus_port_pauses_priority_3_and_no_other_and_marks(switch: str, ports: int) -> None:
    table = shown(switch, "show interface priority-flow-control")
    pausing = re.findall(r"^Ethernet1/(\d+) +On +On +\(8\)", table, re.MULTILINE)
    assert [int(port) for port in pausing] == list(range(1, ports + 1))
    running = shown(switch, "show running-config").replace("\r", "")
    assert re.search(
        r"c-out-8q-q3\n    bandwidth.*\n    random-detect minimum-threshold 150000 bytes .* ecn\n", running
    )
    assert "class type queuing c-out-8q-q7\n    priority level 1\n" in running
    assert running.count("\n  mtu 9214\n") == ports
    startup = shown(switch, "show startup-config").replace("\r", "")
    assert running.partition("\nversion ")[2] == startup.partition("\nversion ")[2]
    assert "drawbridge-" not in running


@pytest.mark.parametrize("switch", NEXUS)
def test_a_nexus_change_was_confirmed_where_it_was_made_after_a_proof_over_another_session(switch: str) -> None:
    typing = [[call["line"] for call in run] for run in runs(switch) if any(call["writes"] for call in run)]
    changes = [run for run in typing if "configure dual-stage" in run]
    assert len(changes) == 2, "what interrupts no traffic, then by consent the rest"
    assert not any("interface Ethernet" in line or "system qos" in line for line in changes[0])
    tried = changes[1]
    assert next(line for line in tried if line.startswith("commit")) == "commit confirmed 300"
    assert [line for line in tried if line.startswith("commit")][1:] == ["commit", "commit"]


@pytest.mark.parametrize(("switch", "ports"), JUNOS.items())
def test_every_junos_port_uses_the_class_and_flapped_once(switch: str, ports: int) -> None:
    names = [f"et-0/0/{number}" for number in range(ports)]
    answer = shown(switch, "show class-of-service interface")
    assert re.findall(r"Physical interface: ([^,]+),", answer) == names
    assert len(re.findall(r"Congestion-notification: Enabled, Name: ROCE,", answer)) == ports
    assert len(re.findall(r"^Classifier +ROCE +dscp ", answer, re.MULTILINE)) == ports
    classes = shown(switch, "show class-of-service forwarding-class")
    assert re.findall(r"^ +(\S+) +\d+ +\d+ +normal +Enabled +(\d)\r?$", classes, re.MULTILINE) == [("ROCE", "3")]
    for name in names:
        state = shown(switch, f"show interfaces {name} extensive")
        assert ("MTU: 9214," in state, "Carrier transitions: 1," in state) == (True, True)
    config = shown(switch, "show configuration class-of-service drop-profiles | display set").split()
    assert [config[at + 1] for at, word in enumerate(config) if word == "fill-level"] == ["2", "19"]
    newest = shown(switch, "show system commit").splitlines()[:3]
    assert not any("rollback pending" in line for line in newest)


@pytest.mark.parametrize(("switch", "ports"), OS10.items())
def test_every_os10_port_pauses_priority_3_and_no_other_and_other_ports_are_as_before(switch: str, ports: int) -> None:
    details = shown(switch, "show interface priority-flow-control details").replace("\r", "")
    pausing = re.findall(r"^(ethernet\S+)\n.*: true\n.*Operstatus: true\n.*PFC Priorities: 3$", details, re.MULTILINE)
    assert pausing == [f"ethernet1/1/{number}" for number in range(1, ports + 1)]
    running = shown(switch, "show running-configuration").replace("\r", "")
    marked = " random-detect color green minimum-threshold 150 maximum-threshold 1500 drop-probability 100"
    assert f"\nwred ROCE\n{marked}\n random-detect ecn\n" in running
    assert "\n class ROCE-Q6\n  priority\n" in running
    assert running.count("\n mtu 9214\n flowcontrol receive off\n priority-flow-control mode on\n") == ports
    assert running.count("\n no shutdown\n switchport access vlan 1\n flowcontrol receive on\n") == 8 - ports
    startup = shown(switch, "show startup-configuration").replace("\r", "")
    assert running.splitlines()[2:] == startup.splitlines()[2:]
    assert shown(switch, "show diff candidate-configuration running-configuration").strip() == ""


def follow(lines: list[str], *patterns: str) -> bool:
    """Whether lines that begin with these come one after the other."""
    rest = iter(lines)
    return all(any(re.match(pattern, line) for line in rest) for pattern in patterns)


CHANGES = {
    **dict.fromkeys(
        PORTS, (("commit timer",), ("show running-config", r"configure session \S+ commit$", "write memory"))
    ),
    "leaf3": (
        ("nv set interface swp1-8 link mtu 9214$", "nv config apply -y --confirm 300s -m drawbridge-"),
        ("nv config show -o json", "nv config apply --confirm-yes", "nv config save"),
    ),
    "leaf4": (
        ("sudo systemd-run", "sudo config apply-patch"),
        ("sonic-cfggen -d --print-data", "sudo systemctl stop", "sudo config save -y"),
    ),
    "leaf6": (
        ("configure exclusive", "set interfaces et-0/0/7 mtu 9214", "commit confirmed 5 comment drawbridge-"),
        ("show class-of-service interface", "configure exclusive", "commit$"),
    ),
    "leaf7": (
        ("lock", "start transaction", "interface range ethernet1/1/1-1/1/6", "commit$"),
        ("show running-configuration", "write memory"),
    ),
}


@pytest.mark.parametrize("switch", CHANGES)
def test_a_change_was_tried_over_one_session_and_confirmed_from_another(switch: str) -> None:
    typing = [[call["line"] for call in run] for run in runs(switch) if any(call["writes"] for call in run)]
    assert len(typing) == 4, "what interrupts no traffic, then by consent the rest"
    assert not any(line.startswith("interface") or "roce mode" in line or "mtu" in line for line in typing[0])
    (tried, proven) = typing[2:]
    assert follow(tried, *CHANGES[switch][0])
    assert follow(proven, *CHANGES[switch][1])


def test_a_switch_that_is_right_is_only_read_over_one_session() -> None:
    before = {switch: len(runs(switch)) for switch in ALL}
    inventories = ["-i", "inventories/lab", "-i", "molecule/fabric_switch/inventory"]
    command = ["ansible-playbook", *inventories, "playbooks/fabric.yml"]
    env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "changed=1" not in done.stdout
    for switch, count in before.items():
        (run,) = runs(switch)[count:]
        assert not any(call["writes"] or call["stages"] for call in run)
        reads = [call for call in run if call["line"].startswith(READS)]
        assert 4 <= len(reads) <= 5


def test_the_state_of_all_systems_is_data_with_the_neighbours_that_are_cabled() -> None:
    view = "{{ lookup('drawbridge.drawbridge.view', 'switch', chosen='') }}"
    inventories = ["-i", "inventories/lab", "-i", "molecule/fabric_switch/inventory"]
    reading = ["ansible", ",".join(ALL), *inventories, "-o", "-m", "drawbridge.drawbridge.switch_state"]
    plain = {key: value for key, value in os.environ.items() if key != "ANSIBLE_FORCE_COLOR"}
    env = {**plain, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_NOCOLOR": "1"}
    command = [*reading, "-a", json.dumps({"profile": view})]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [line.split(" | SUCCESS => ") for line in done.stdout.splitlines() if " | SUCCESS => " in line]
    found = {name: json.loads(text) for name, text in answers}
    assert sorted(found) == sorted(ALL)
    for switch, state in found.items():
        cabled = json.loads((PATHS.state / "cabling" / f"{switch}.json").read_text())
        assert (state["changed"], state["unknown"], len(state["ports"])) == (False, [], ALL[switch])
        assert {port: it["neighbour"] for port, it in state["ports"].items()} == {
            port: cabled.get(port, []) for port in state["ports"]
        }
        assert {it["priorities"]["3"]["rx_pause"] for it in state["ports"].values()} == {0}
