# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The admission policies against the table of attacks, without a cluster: nothing is refused that no attack tries."""

from __future__ import annotations

import pytest

from tests.attacks.manifests import rendered
from tests.attacks.tables import attacks

MANIFESTS = rendered()
POLICIES = {it["metadata"]["name"]: it["spec"] for it in MANIFESTS if it["kind"] == "ValidatingAdmissionPolicy"}
BINDINGS = [it["spec"] for it in MANIFESTS if it["kind"] == "ValidatingAdmissionPolicyBinding"]


def test_every_policy_is_bound_and_denies() -> None:
    assert {binding["policyName"] for binding in BINDINGS} == set(POLICIES)
    assert all("Deny" in binding["validationActions"] for binding in BINDINGS)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_kubernetes_can_not_evaluate_refuses(name: str) -> None:
    assert POLICIES[name]["failurePolicy"] == "Fail"


@pytest.mark.parametrize("name", POLICIES)
def test_every_line_of_a_policy_refuses_some_attack(name: str) -> None:
    """A row that is refused in a line's own words would not be refused so without that line."""
    said = {row["saying"] for row in attacks() if row["guard"] == name.removeprefix("drawbridge-") and row["saying"]}
    for line in POLICIES[name]["validations"]:
        words = line.get("message") or " ".join(part for part in line["messageExpression"].split("'") if part)
        assert any(saying in words or saying.startswith(("from ", "to ")) for saying in said), words


@pytest.mark.parametrize("name", POLICIES)
def test_no_two_lines_of_a_policy_say_the_same(name: str) -> None:
    words = [line.get("message") or line["messageExpression"] for line in POLICIES[name]["validations"]]
    assert len(set(words)) == len(words)
