# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.own_name import marked, named


@pytest.mark.parametrize(
    ("text", "hosts", "shown"),
    [
        ("write gpu01", ["gpu01"], "write gpu01"),
        ("write gpu01", ["gpu01", "gpu02"], "write HOST"),
        ("write gpu01-a and x.gpu01", ["gpu01", "gpu02"], "write gpu01-a and x.gpu01"),
        # the sentence of another report, about several hosts
        ("can't reach HOST", ["gpu01"], "can't reach HOST"),
        ("write gpu01", [], "write HOST"),
    ],
)
def test_a_sentence_names_its_only_host(text: str, hosts: list[str], shown: str) -> None:
    assert named(marked(text, "gpu01"), hosts) == shown


def test_a_finding_of_no_host_has_no_name_to_mark() -> None:
    assert marked("write gpu01", "") == "write gpu01"
