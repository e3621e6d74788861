# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.question import (
    ask,
    members,
    plain,
    propose,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import NodeClass


@pytest.mark.parametrize(
    "value",
    ["gpu[01-02]", "0-3,64-67", "https://[fd00::1]:6443", "NVIDIA H100 80GB HBM3", "/dev/fs1", 8, True, -1.5, None],
)
def test_what_hosts_have_is_kept(value: Any) -> None:
    assert plain({"key": [value]}) == {"key": [value]}


@pytest.mark.parametrize(
    "text", ["{{x}}", "{%x%}", "a\nb", "a'b", 'a"b', "a\\b", "a #b", "&a", "*a", "!a", "a|b", "a>b"]
)
def test_what_could_be_evaluated_is_not(text: str) -> None:
    assert plain(text) == ""
    assert plain({text: 1, "other": (text, "b")}) == {"other": ["", "b"]}


def test_a_question_is_a_comment() -> None:
    assert ask(2, "cluster", "ClusterName") == "  # QUESTION: cluster: ClusterName"


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("0-3", '  reserved_cpus: "0-3"'),
        ("", "  # QUESTION: reserved_cpus: lscpu"),
        (None, "  # QUESTION: reserved_cpus: lscpu"),
        ("all", '  # QUESTION: reserved_cpus: lscpu; hosts have "all", but it is not a list of CPUs '),
    ],
)
def test_a_value_that_the_intent_refuses_is_a_question(value: Any, line: str) -> None:
    assert propose(2, NodeClass, "reserved_cpus", value, "lscpu").startswith(line)


@pytest.mark.parametrize(
    ("text", "names"), [("n[1-2],m", ["n1", "n2", "m"]), ("", []), ("n[1", ["n[1"]), ("n[1-9999][1-9999]", None)]
)
def test_the_lists_of_a_host_are_not_longer_than_a_cluster(text: str, names: Any) -> None:
    assert members(text) == ([text] if names is None else names)
