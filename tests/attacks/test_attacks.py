# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Everything that must be refused, by its guard and for its reason; everything that must not. On a real API server."""

from __future__ import annotations

import pytest

from tests.attacks.client import Client, Json
from tests.attacks.scene import Scene, judged, refused_by
from tests.attacks.tables import attacks, permits

pytestmark = pytest.mark.live


def test_kubernetes_finds_no_fault_in_the_policies_types(client: Client, scene: Scene) -> None:
    """Strict validation was asked for when they were written; this is what the controllers found in their CEL."""
    found = judged(client)
    assert found and all(name.startswith("drawbridge-") for name in found)
    assert not {name: warnings for name, warnings in found.items() if warnings}


@pytest.mark.parametrize("row", attacks(), ids=lambda row: row["id"])
def test_refused(scene: Scene, row: Json) -> None:
    answer = scene.ask(row)
    assert refused_by(answer, row["guard"], row["saying"]), f"{answer.status}: {answer.message}"


@pytest.mark.parametrize("row", permits(), ids=lambda row: row["id"])
def test_let_in(scene: Scene, row: Json) -> None:
    answer = scene.ask(row)
    assert answer.status < 300 or answer.status == row.get("answer"), f"{answer.status}: {answer.message}"
