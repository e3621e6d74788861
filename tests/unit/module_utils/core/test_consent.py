# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.consent import Consent, variable

MAY = Consent("may_flap", "the link goes down; set")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"may_flap": True}, ""),
        ({"may_flap": False}, "the link goes down; set may_flap: true"),
        ({}, "the link goes down; set may_flap: true"),
        ({"variables": {"may_flap": "site_may_flap"}}, "the link goes down; set site_may_flap: true"),
        ({"may_flap": True, "variables": {"may_flap": "site_may_flap"}}, ""),
    ],
)
def test_the_line_is_in_the_words_of_who_reads_it(options: dict[str, Any], said: str) -> None:
    assert MAY.unless_given(options) == said


def test_an_option_that_no_variable_gives_is_called_by_its_name() -> None:
    assert variable({"variables": None}, "address") == "address"
