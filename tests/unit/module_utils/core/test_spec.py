# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import dataclass

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.options import option
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.spec import (
    bare,
    documented,
    elements,
    fragment,
)


@dataclass(frozen=True)
class Queue:
    """A queue."""

    depth: int = option("packets that it holds", low=1, high=9)
    kind: str = option("what it does", "drop", choices=("drop", "mark"))


@dataclass(frozen=True)
class Port:
    """A port.

    It has more to say.
    """

    queues: tuple[Queue, ...] = option("its queues", ())


DEPTH = {"type": "int", "description": "Packets that it holds (1 to 9).", "required": True}


def test_a_dataclass_documents_itself_with_bounds_choices_and_defaults() -> None:
    kind = {"type": "str", "description": "What it does.", "choices": ["drop", "mark"], "default": "drop"}
    assert documented(Queue) == {"type": "dict", "description": "A queue.", "options": {"depth": DEPTH, "kind": kind}}
    assert elements(Queue)["elements"] == "dict"


def test_an_argument_spec_has_no_descriptions_at_any_depth() -> None:
    found = bare(documented(Port))
    assert "description" not in json.dumps(found)
    assert found["options"]["queues"]["options"]["depth"] == {"type": "int", "required": True}


def test_a_page_calls_nested_options_suboptions() -> None:
    page = json.loads(fragment({"port": documented(Port)}))["options"]["port"]
    assert page["suboptions"]["queues"]["suboptions"]["depth"] == DEPTH
