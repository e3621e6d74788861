# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.values import (
    combined,
    parse,
    unread,
)

OUTLINE = """# chart: shop v1
cdi
  enabled
daemonsets
  tolerations *
operator
  metrics
"""


def test_an_outline_is_a_tree() -> None:
    assert parse(OUTLINE) == {
        "cdi": {"enabled": {}},
        "daemonsets": {"tolerations": {"*": {}}},
        "operator": {"metrics": {}},
    }


@pytest.mark.parametrize(
    ("values", "paths"),
    [
        ({"cdi": {"enabled": True}}, []),
        ({"daemonsets": {"tolerations": [{"key": "a"}]}}, []),
        ({"daemonsets": {"tolerations": {"deep": {"down": 1}}}}, []),
        ({"cdi": {"enable": True}}, ["cdi.enable"]),
        ({"rdma": {"enabled": True, "useHostMofed": True}}, ["rdma.enabled", "rdma.useHostMofed"]),
        ({"cdi": True}, ["cdi"]),
        ({"cdi": {}}, ["cdi"]),
        ({"operator": {"metrics": {"port": 1}}}, ["operator.metrics.port"]),
    ],
)
def test_what_the_chart_never_looks_at(values: dict[str, object], paths: list[str]) -> None:
    assert [*unread(values, parse(OUTLINE))] == paths


def test_values_combine_as_helm_combines_files() -> None:
    base = {"a": {"b": 1, "c": [1, 2]}, "d": 3}
    assert combined(base, {"a": {"c": [3]}, "e": 4}) == {"a": {"b": 1, "c": [3]}, "d": 3, "e": 4}
    assert combined(base, {"a": 5}) == {"a": 5, "d": 3}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": 3}
