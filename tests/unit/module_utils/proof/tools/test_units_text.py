# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools.units_text import states

UNIT = "Id={}.service\nLoadState={}\nActiveState={}\nSubState={}\n"


def test_states_of_units_that_are_installed() -> None:
    rows = (
        ("a", "loaded", "active", "running"),
        ("b", "not-found", "inactive", "dead"),
        ("c", "loaded", "activating", "auto-restart"),
        ("d", "loaded", "inactive", "dead"),
    )
    assert states("\n".join(UNIT.format(*row) for row in rows)) == {"a": "active", "c": "failed", "d": "inactive"}


@pytest.mark.parametrize("text", ["", "news", f"{UNIT.format('a', 'loaded', 'active', 'running')}\nId=b.service\n"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        states(text)
