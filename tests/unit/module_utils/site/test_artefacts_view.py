# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.artefacts_view import (
    PLACES,
    READS,
    mlnx_qos,
    slurm_accounting,
)

from tests.conformance.tree import MODULES

FOREIGN = {"k8s", "validate_argument_spec"}


def test_known_modules_exist() -> None:
    """The other direction is the action's: it fails for a module that is not known."""
    assert {*PLACES, *READS} - FOREIGN <= {path.stem for path in MODULES}


@pytest.mark.parametrize(
    ("dscp", "mapped"), [(26, []), (34, ["mlnx_qos -i rail0 --dscp2prio set,34,3"])], ids=["as the default", "other"]
)
def test_nics_start_as_they_left_the_factory(dscp: int, mapped: list[str]) -> None:
    assert mlnx_qos(
        [{"interfaces": ["rail0"], "lossless_priorities": [3], "dscp_priorities": [{"dscp": dscp, "priority": 3}]}]
    ).lines == [
        "mlnx_qos -i rail0 -d os",
        "mlnx_qos -i rail0 --trust dscp",
        *mapped,
        "mlnx_qos -i rail0 --pfc 0,0,0,1,0,0,0,0",
    ]


def test_accounting_reads_as_sacctmgr_calls_things() -> None:
    accounts: list[dict[str, Any]] = [{"name": "vision", "users": ["ada"], "terms": {"fairshare": 2}}]
    absent = {"accounts": ["old"], "qos": ["slow"]}
    assert slurm_accounting(accounts, [{"name": "normal", "terms": {"Priority": 10}}], absent).lines == [
        "qos normal Priority=10 PreemptMode=cluster",
        "account vision parent=root fairshare=2",
        "user ada account vision *",
        "no account old",
        "no qos slow",
    ]
