# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch at its worst: each fault, as a client meets it."""

import time

import pytest
from netmiko.exceptions import ConfigInvalidException, NetmikoBaseException, ReadTimeout

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


def test_refuse_a_line(leaf, operator):
    leaf.fault("refuse", "mtu", times=2)
    with pytest.raises(ConfigInvalidException, match="command: mtu 9214"):
        stage(operator)
    refusal = "% Unavailable command (not supported on this hardware platform)"
    assert operator.send_command("mtu 9214", expect_string="#").startswith(refusal)


def test_refuse_a_commit(leaf, operator):
    stage(operator)
    leaf.fault("refuse", "commit")
    assert operator.send_command("commit timer 00:05:00", expect_string="#").startswith("% Cannot commit")
    assert leaf.state["sessions"]["dbr-1"]["state"] == "pending"


def test_refuse_to_save(leaf, operator):
    leaf.fault("refuse", "write")
    assert "No space left on device" in operator.send_command("write memory")


def test_a_line_that_is_taken_and_not_kept(leaf, operator):
    leaf.fault("lie", "mtu")
    stage(operator)
    operator.send_command("commit", expect_string=EXEC)
    assert "no switchport" in leaf.running()
    assert "mtu 9214" not in leaf.running()


def test_a_commit_that_does_nothing(leaf, operator):
    stage(operator)
    leaf.fault("lie", "^commit")
    assert operator.send_command("commit", expect_string=EXEC) == ""
    assert operator.find_prompt() == "leaf1#"
    assert "mtu 9214" not in leaf.running()


def test_a_confirmation_that_does_nothing(leaf, operator):
    stage(operator)
    operator.send_command("commit timer 00:05:00", expect_string=EXEC)
    leaf.fault("lie", "commit")
    assert operator.send_command("configure session dbr-1 commit") == ""
    leaf.pass_time(301)
    leaf.wait(lambda state: state["pending"] is None)
    assert "mtu 9214" not in leaf.running()


def test_a_command_that_never_answers(leaf, operator):
    leaf.fault("hang", "show running")
    with pytest.raises(ReadTimeout):
        impatient(operator).send_command("show running-config", expect_string=EXEC)
    assert leaf.connect().send_command("show hostname").startswith("Hostname: leaf1")


def test_a_connection_that_drops_half_way(leaf, operator):
    leaf.fault("die", "mtu")
    operator.config_mode("configure session dbr-1")
    operator.send_config_set(CHANGE[:1], enter_config_mode=False, exit_config_mode=False)
    with pytest.raises((NetmikoBaseException, OSError)):
        impatient(operator).send_config_set(CHANGE[1:], enter_config_mode=False)
    leaf.wait(lambda state: state["sessions"]["dbr-1"]["instances"] == {})
    two = leaf.connect()
    diff = two.send_command("show session-config named dbr-1 diffs")
    assert "+   mtu 9214" in diff
    assert "no switchport" not in diff
    assert "mtu 9214" not in leaf.running()


def test_a_connection_that_drops_on_commit_leaves_the_timer_running(leaf, operator):
    stage(operator)
    leaf.fault("die", "commit timer")
    with pytest.raises((NetmikoBaseException, OSError)):
        impatient(operator).send_command("commit timer 00:05:00", expect_string=EXEC)
    assert leaf.wait(lambda state: state["pending"])["session"] == "dbr-1"
    assert "mtu 9214" in leaf.running()


def test_another_hand_after_the_commit(leaf, operator):
    stage(operator)
    leaf.fault("drift", "^commit")
    operator.send_command("commit", expect_string=EXEC)
    assert "mtu 9214" in leaf.running()
    assert "no switchport" not in leaf.running()


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


def test_somebody_elses_timed_commit_is_already_waiting(leaf, operator):
    stage(operator)
    leaf.fault("stale", "^commit")
    assert "another session maintenance is pending commit timer" in operator.send_command("commit", expect_string="#")
    operator.send_command("end", expect_string=EXEC)
    assert operator.send_command("configure session maintenance abort") == ""


def test_a_fault_for_writers_lets_readers_pass(leaf, operator):
    leaf.fault("lie")
    operator.send_command("show running-config")
    assert operator.send_command("write memory") == "Copy completed successfully."
    assert not any(call["writes"] for call in leaf.calls())
