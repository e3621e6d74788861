# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_texts import (
    LONG,
    OWN,
    put_back,
    taken_out,
)

PROGRAM = "import gate\n" * LONG
SOURCES = {"nic/plan.py": "import nic\n" * LONG}


def source(path: str) -> str | None:
    return SOURCES.get(path)


OPTIONS = [
    pytest.param({"program": {"a.py": PROGRAM, "b.py": PROGRAM}}, 1, id="the same text twice"),
    pytest.param({"program": {"nic/plan.py": SOURCES["nic/plan.py"]}}, 0, id="a source of the visit"),
    pytest.param({"program": {"nic/plan.py": PROGRAM}}, 1, id="another text with a source's name"),
    pytest.param({"files": [{"path": "/x", "content": PROGRAM, "mode": "0600"}]}, 1, id="in a list"),
    pytest.param({"short": "x", "count": 3, "none": None, "on": True, "list": [1, "y"]}, 0, id="nothing long"),
    pytest.param({"short": "drawbridge-text:0000"}, 0, id="a text that only looks like a word for one"),
]


@pytest.mark.parametrize(("options", "sent"), OPTIONS)
def test_texts_that_are_taken_out_are_put_back(options: dict[str, Any], sent: int) -> None:
    texts: dict[str, str] = {}
    short = taken_out(options, source, texts)
    assert len(texts) == sent
    assert PROGRAM not in str(short)
    assert put_back(short, source, texts) == options


def test_a_source_that_the_visit_does_not_carry_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"nic/gone\.py is not part of the visit"):
        put_back({"program": {"a.py": f"{OWN}nic/gone.py"}}, source, {})
