# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.describe_lines import ask, plain


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
