# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed list against what each supported release of Kubernetes publishes."""

from __future__ import annotations

import pytest

from tests.attacks.published import RELEASES, SPECS, schemas
from tests.attacks.schema import gaps


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize("release", RELEASES)
def test_every_field_of_a_release_has_a_row(release: str, kind: str) -> None:
    assert list(gaps(kind, SPECS[kind], schemas(release))) == []


def test_releases_differ() -> None:
    fields = [set(schemas(release)["PodSpec"]["properties"]) for release in RELEASES]
    assert [sorted(later - earlier) for earlier, later in zip(fields, fields[1:], strict=False)] == [
        ["workloadRef"],
        ["schedulingGroup"],
        ["evictionResponders"],
    ]
    assert fields[1] - fields[2] == {"workloadRef"}


@pytest.mark.parametrize(("type_", "field"), [("PodSpec", "hostSecrets"), ("SecurityContext", "superuser")])
def test_a_field_of_a_later_release_is_noticed(type_: str, field: str) -> None:
    later = schemas(RELEASES[-1])
    later[type_]["properties"][field] = {"type": "string"}
    assert any(gap.endswith(f".{field} has no row") for gap in gaps("Pod", SPECS["Pod"], later))
