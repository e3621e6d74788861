# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command of a run without secrets, and the real run that a check advises. Ansible's own parser is the judge."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

import pytest
from ansible.cli.playbook import PlaybookCLI
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.command import (
    FLAGS,
    VALUED,
    real,
    shown,
)

SECRET = "hunter2"
OPTIONS = {"onboard_nodes", "onboard_wave"}
P = "ansible-playbook "
CHECKS = {
    # what a person typed: what a report shows, and the command without check mode
    "site.yml -C": ("site.yml -C", "site.yml"),
    "-Ce database_pw=hunter2 x": ("-Ce database_pw=... x", "-e database_pw=... x"),
    "-Cedatabase_pw=hunter2 x": ("-Cedatabase_pw=... x", "-edatabase_pw=... x"),
    "-Ce=a=hunter2 x": ("-Ce=a=... x", "-e=a=... x"),
    "-DCe a=hunter2 x": ("-DCe a=... x", "-De a=... x"),
    "-vvCe a=hunter2 -D x": ("-vvCe a=... -D x", "-vve a=... -D x"),
    "-vC -CD x": ("-vC -CD x", "-v -D x"),
    "x -Cv -f5 -i inv": ("x -Cv -f5 -i inv", "x -v -f5 -i inv"),
    "x --chec --diff": ("x --chec --diff", "x --diff"),
    "x --check -l gpu01": ("x --check -l gpu01", "x -l gpu01"),
    "x -CDlgpu01": ("x -CDlgpu01", "x -Dlgpu01"),
    "x --start-at-task 'Write -C' -C": ("x --start-at-task 'Write -C' -C", "x --start-at-task 'Write -C'"),
    "-C -- -x -e": ("-C -- -x -e", "-- -x -e"),
    "x -Ce onboard_nodes=gpu01 -e onboard_wave=8": (
        "x -Ce onboard_nodes=gpu01 -e onboard_wave=8",
        "x -e onboard_nodes=gpu01 -e onboard_wave=8",
    ),
    "x -Ce@v.yml": ("x -Ce@v.yml", "x -e@v.yml"),
    "x --ssh-c=hunter2 --sft hunter2 --scp-extra-args=hunter2 -C": (
        "x --ssh-c=... --sft ... --scp-extra-args=... -C",
        "x --ssh-c=... --sft ... --scp-extra-args=...",
    ),
}
RUNS = {
    # what a person typed: what a report shows
    "site.yml -i inv": "site.yml -i inv",
    "x -lCe": "x -lCe",
    "x -iC": "x -iC",
    "x --skip-tags=-C": "x --skip-tags=-C",
    "x -e a=hunter2": "x -e a=...",
    "x -ea=hunter2": "x -ea=...",
    "x -e=a=hunter2": "x -e=a=...",
    "x --extra-vars=a=hunter2": "x --extra-vars=a=...",
    "x --extra-v a=hunter2": "x --extra-v a=...",
    "x --e a=hunter2 --ext=b=hunter2": "x --e a=... --ext=b=...",
    "x -e 'a=hunter2 onboard_nodes=gpu[1-2]'": "x -e 'a=... onboard_nodes=gpu[1-2]'",
    "x -e 'a=\"my hunter2\" b=1'": "x -e ...",
    "x -e 'a=\"b onboard_nodes=hunter2\"'": "x -e ...",
    'x -e \'{"a": "hunter2"}\'': "x -e ...",
    "x -e '[hunter2]'": "x -e ...",
    "x -De '{a: hunter2, nodes: gpu1}'": "x -De ...",
    "x -e 'hunter2 a=1'": "x -e ...",
    "x -e ''": "x -e ...",
    "x -e 'onboard_nodes=gpu[065-066]'": "x -e 'onboard_nodes=gpu[065-066]'",
    "x -e may=true -e no=False": "x -e may=true -e no=False",
    "x -e pin=4711": "x -e pin=...",
    "x -e '@vars/secret file.yml'": "x -e '@vars/secret file.yml'",
    "x --vault-id a@prompt --vault-password-file f": "x --vault-id a@prompt --vault-password-file f",
    "x --private-key k -kK": "x --private-key k -kK",
    "x --ssh-extra-args '-o ProxyCommand=\"sshpass -p hunter2 ssh b\"'": "x --ssh-extra-args ...",
    "x -i https://me:hunter2@inventory/": "x -i 'https://<hidden>@inventory/'",
}
ROWS = {**CHECKS, **{typed: (same, same) for typed, same in RUNS.items()}}


@pytest.mark.parametrize("typed", ROWS)
def test_a_command_is_shown_without_values_that_may_be_secret(typed: str) -> None:
    assert shown(shlex.split("/x/bin/" + P + typed), OPTIONS) == P + ROWS[typed][0]


@pytest.mark.parametrize("typed", ROWS)
def test_the_real_run_is_the_same_command_without_the_check(typed: str) -> None:
    assert real(P + ROWS[typed][0]) == P + ROWS[typed][1]


@pytest.mark.parametrize("typed", ROWS)
def test_ansible_reads_the_command_as_the_report_does(typed: str) -> None:
    was, is_shown, is_real = (_parsed(text) for text in (P + typed, P + ROWS[typed][0], P + ROWS[typed][1]))
    assert is_real == {**is_shown, "check": False}
    hidden = {"extra_vars", "inventory", *(name for name in was if name.endswith(("_extra_args", "_common_args")))}
    assert {name: is_shown[name] for name in is_shown.keys() - hidden} == {
        name: was[name] for name in was.keys() - hidden
    }
    assert len(is_shown["extra_vars"] or ()) == len(was["extra_vars"] or ())


@pytest.mark.parametrize(
    "words", [["--pass", SECRET, "x"], [f"--pass={SECRET}", "x"], ["-z", SECRET], [f"-Cz{SECRET}"]]
)
def test_values_of_options_that_a_later_ansible_may_have_are_hidden(words: list[str]) -> None:
    assert SECRET not in shown(["ansible-playbook", *words], OPTIONS)
    assert "..." in shown(["ansible-playbook", *words], OPTIONS)


def test_the_options_are_those_of_the_installed_ansible() -> None:
    actions = [action for action in _parser()._actions if action.option_strings]
    for names, takes_a_value in ((FLAGS, False), (VALUED, True)):
        assert {
            name for action in actions if (action.nargs is None) == takes_a_value for name in action.option_strings
        } == {*names}


def _parser() -> argparse.ArgumentParser:
    cli = PlaybookCLI(["ansible-playbook"])
    cli.init_parser()
    assert cli.parser
    return cli.parser


def _parsed(command: str) -> dict[str, Any]:
    return vars(_parser().parse_args(shlex.split(command)[1:]))
