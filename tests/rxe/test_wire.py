# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The type of service on the wire: of queue pairs as NCCL makes them, and of those that RDMA-CM makes."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.filter.view import view

from tests.rxe.pair import Seen, run
from tests.unit.module_utils.site.test_refused import site

pytestmark = pytest.mark.live
SITE = site("lab")
VIEW = view(SITE, "nic", name="gpu01")
NCCL_TC = int(VIEW["nccl"]["NCCL_IB_TC"])
"""What NCCL passes to its queue pairs, as --tclass does."""
CM_TOS = next(group["tos"] for group in VIEW["roce"]["groups"])
"""What role fabric_nic writes as RDMA-CM's default."""
CASES = {
    "plain": (),
    "nccl": (f"--tclass={NCCL_TC}",),
    "rdma_cm": ("--rdma_cm",),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return run(tmp_path_factory.mktemp("rxe"), CM_TOS, CASES)


@pytest.mark.parametrize("case", CASES)
def test_perftest_passes_over_the_kernels_rdma(seen: Seen, case: str) -> None:
    assert f"rxe: {case} passed" in seen.printed, seen.printed


def test_the_intents_class_is_on_the_wire_where_a_queue_pair_asks_for_it(seen: Seen) -> None:
    assert seen.sent["nccl"] == {NCCL_TC}


def test_rdma_cms_default_reaches_what_rdma_cm_makes_and_nothing_else(seen: Seen) -> None:
    assert seen.sent["rdma_cm"] == {CM_TOS}
    assert seen.sent["plain"] == {0}
