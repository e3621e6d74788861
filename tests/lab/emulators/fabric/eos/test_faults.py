# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults that only a terminal has, and a dropped connection. tests/unit/module_utils/fabric runs all others."""

import time

import pytest
from netmiko.exceptions import NetmikoBaseException

CHANGE = ["interface Ethernet1", "mtu 9214", "no switchport"]
EXEC = r"leaf1[>#]"


@pytest.fixture
def operator(leaf):
    return leaf.connect()


def stage(connection, **options):
    return connection.send_config_set(
        CHANGE, config_mode_command="configure session dbr-1", exit_config_mode=False, error_pattern="^% ", **options
    )


def impatient(connection):
    """Netmiko doesn't notice a dead connection while it waits for an answer: let it wait briefly for this one."""
    connection.read_timeout_override = 0.5
    return connection


def test_a_connection_that_drops_half_way(leaf, operator):
    leaf.fault("die", "mtu")
    operator.config_mode("configure session dbr-1")
    operator.send_config_set(CHANGE[:1], enter_config_mode=False, exit_config_mode=False)
    with pytest.raises((NetmikoBaseException, OSError)):
        impatient(operator).send_config_set(CHANGE[1:], enter_config_mode=False)
    leaf.wait(lambda state: state["candidates"]["dbr-1"]["instances"] == {})
    two = leaf.connect()
    diff = two.send_command("show session-config named dbr-1 diffs")
    assert "+   mtu 9214" in diff
    assert "no switchport" not in diff
    assert "mtu 9214" not in leaf.running()


def test_an_echo_that_crawls(leaf, operator):
    leaf.fault("slow", "show hostname")
    began = time.monotonic()
    assert operator.send_command("show hostname").startswith("Hostname: leaf1")
    assert time.monotonic() - began > 0.3


def test_a_log_line_bursts_in_unless_the_terminal_said_no(leaf, operator):
    leaf.fault("syslog", "show hostname", times=2)
    assert "%SYS-5-CONFIG_I" in operator.send_command("show hostname")
    operator.send_command("no terminal monitor")
    assert "%SYS-5-CONFIG_I" not in operator.send_command("show hostname")


def test_a_switch_that_leaves_answers_before(leaf, operator):
    leaf.fault("leave", "show hostname")
    assert operator.send_command("show hostname").startswith("Hostname: leaf1")
    with pytest.raises((NetmikoBaseException, OSError)):
        impatient(operator).send_command("show hostname")


def test_a_fault_for_writers_lets_readers_pass(leaf, operator):
    leaf.fault("lie")
    operator.send_command("show running-config")
    assert operator.send_command("write memory") == "Copy completed successfully."
    assert not any(call["writes"] for call in leaf.calls())


def test_a_restart_in_mid_change_brings_back_what_was_saved(leaf, operator):
    operator.send_config_set(["interface Ethernet2", "description saved"])
    operator.send_command("write memory")
    stage(operator)
    leaf.fault("reboot", "commit")
    with pytest.raises((NetmikoBaseException, OSError)):
        impatient(operator).send_command("commit timer 00:05:00", expect_string=EXEC)
    leaf.wait(lambda state: state["candidates"] == {})
    assert "description saved" in leaf.running()
    assert "mtu 9214" not in leaf.running()
    assert leaf.state["pending"] is None
    assert leaf.connect().send_command("show hostname").startswith("Hostname: leaf1")
