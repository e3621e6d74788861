# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Statements as Junos keeps and prints them; candidate, lock and history, typed line by line by several users."""

from __future__ import annotations

from lab.emulators.fabric.junos import schema, statements

COS = "class-of-service"
MTU = "set interfaces et-0/0/0 mtu 9000"
PFC = (
    f"set {COS} congestion-notification-profile X input dscp code-point 011010 pfc",
    f"set {COS} interfaces et-0/0/1 congestion-notification-profile X",
)


def typed(*lines: str) -> statements.Config:
    config: statements.Config = []
    for line in lines:
        verb, *words = schema.split(line)
        {"set": statements.set_, "delete": statements.delete}.get(
            verb, lambda config, words, on=verb == "activate": statements.switch(config, words, on=on)
        )(config, words)
    return config


def test_a_value_replaces_the_old_one_and_a_list_grows_at_its_end():
    levels = [f"set {COS} drop-profiles X interpolate fill-level {level}" for level in (55, 90, 20)]
    assert statements.printed(typed(*levels)) == levels
    queue = f"{COS} forwarding-classes class X queue-num"
    assert typed(f"set {queue} 3", f"set {queue} 4") == [f"{queue} 4"]


def test_an_object_without_statements_keeps_its_name_until_it_is_deleted():
    lines = [f"set {COS} schedulers X priority low", f"delete {COS} schedulers X priority low"]
    assert statements.printed(typed(*lines)) == [f"set {COS} schedulers X"]
    assert typed(*lines, f"delete {COS} schedulers X") == []
    again = f"set {COS} schedulers X priority strict-high"
    assert statements.printed(typed(*lines, again)) == [again]
    assert statements.delete(typed(), ["system", "host-name"]) == "warning: statement not found"


def test_ports_are_printed_by_their_numbers_before_class_of_service():
    ports = [f"set interfaces et-0/0/{number} mtu 9000" for number in (2, 10)]
    classes = f"set {COS} forwarding-classes class X no-loss"
    assert statements.printed(typed(classes, ports[1], ports[0])) == [*ports, classes]


def test_a_deactivated_line_is_written_down_and_not_in_force():
    line = f"{COS} schedulers X priority low"
    config = typed(f"set {line}", f"deactivate {COS} schedulers X")
    assert statements.printed(config) == [f"set {line}", f"deactivate {COS} schedulers X"]
    assert statements.in_force(config) == []
    assert statements.switch(config, [COS, "schedulers", "X"], on=True) == ""
    assert statements.in_force(config) == [line]


def test_a_group_gives_what_a_port_does_not_have():
    config = typed(
        "set groups fabric interfaces <et-*> mtu 9000",
        "set apply-groups fabric",
        "set interfaces et-0/0/0 description one",
        "set interfaces et-0/0/1 mtu 1500",
    )
    mtus = [statements.value(statements.in_force(config), f"interfaces et-0/0/{number} mtu") for number in range(2)]
    assert mtus == ["9000", "1500"]


def test_a_change_of_pfc_blocks_the_ports_that_use_the_profile(room):
    room.type("configure", *PFC, "commit")
    assert [port["blocked"] for port in room.state["ports"].values()] == [0, 1, 0, 0]
    room.type(PFC[0].replace("011010", "100010"), "commit")
    assert room.state["ports"]["et-0/0/1"]["blocked"] == 2


def test_all_users_edit_one_candidate_and_a_commit_takes_all_of_it(room):
    room.type("configure", MTU, user="noc")
    assert room.type("configure").endswith("changed but not committed")
    assert room.type("commit") == "commit complete"
    assert room.type("exit", "show configuration interfaces et-0/0/0 | display set | match mtu") == MTU


def test_exclusive_needs_a_candidate_without_edits_and_locks_it(room):
    room.type("configure", MTU, user="noc")
    assert room.type("configure exclusive") == "error: configuration database modified"
    room.type("rollback", user="noc")
    assert room.type("configure exclusive").startswith("warning: uncommitted changes will be discarded on exit")
    assert room.type("commit", user="noc").startswith("error: configuration database locked by")
    assert room.type("exit", "configure exclusive", user="noc").startswith("error: configuration database locked by")


def test_only_an_exclusive_terminal_takes_its_edits_with_it(room):
    room.type("configure exclusive", MTU)
    room.leave()
    assert room.state["candidate"] is None
    room.type("configure", MTU)
    assert room.type("exit") == "The configuration has been changed but not committed"
    assert room.type("yes") == "Exiting configuration mode"
    assert room.state["candidate"] is not None


def test_the_history_says_which_commit_waits_and_which_went_back(room):
    answer = room.type("configure", MTU, "commit confirmed 5 comment ours")
    assert answer.startswith("commit confirmed will be automatically rolled back in 5 minutes unless confirmed")
    assert "rollback in 5mins\n    ours\n    rollback pending\n1 " in room.type("exit", "show system commit")
    room.pass_to(301)
    history = room.type("show system commit")
    assert "by root via other" in history.splitlines()[0]
    assert "rollback pending" not in history
    assert "commit confirmed, rollback in 5mins" in history


def test_class_of_service_of_a_port(room):
    room.type(
        "configure",
        *PFC,
        f"set {COS} classifiers dscp X import default",
        f"set {COS} interfaces et-* unit * classifiers dscp X",
        "commit",
        "exit",
    )
    answer = room.type(f"show {COS} interface et-0/0/1")
    assert "Congestion-notification: Enabled, Name: X" in answer
    assert "Scheduler map: <default>" in answer
    assert "Classifier              X " in answer
    assert "Disabled" in room.type(f"show {COS} interface et-0/0/0")
