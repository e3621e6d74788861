# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The type of service on the wire: of queue pairs as NCCL makes them, and of those that RDMA-CM makes."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.filter.view import view

from tests.rxe.pair import NAMES, Pair, address
from tests.unit.module_utils.site.test_refused import site

pytestmark = pytest.mark.live
VIEW = view(site("lab"), "nic", name="gpu01")
NCCL_TC = int(VIEW["nccl"]["NCCL_IB_TC"])
"""What NCCL passes to its queue pairs, as --tclass does."""
CM_TOS = next(group["tos"] for group in VIEW["roce"]["groups"])
"""What role fabric_nic writes as RDMA-CM's default."""
COMMAND = "ib_write_bw --ib-dev=rxe0 --gid-index=1 --iters=20 --size=1024 --CPU-freq"
UNTIL_IT_LISTENS = "for attempt in $(seq 20); do {} && exit 0; sleep 1; done; exit 1"


CASES = {
    "plain": ("", {0}),
    "nccl": (f"--tclass={NCCL_TC}", {NCCL_TC}),
    # both ends tell of the measured queue pair in one that RDMA-CM made. With --rdma_cm, which measures such a one, the
    # client dies if it is ready before the server
    "rdma_cm": ("--comm_rdma_cm", {CM_TOS, 0}),
}


@pytest.mark.parametrize(("option", "sent"), CASES.values(), ids=CASES)
def test_the_intents_class_is_on_the_wire_where_a_queue_pair_asks_for_it(
    pair: Pair, option: str, sent: set[int]
) -> None:
    """RDMA-CM's default reaches what RDMA-CM makes, and nothing else."""
    server = f"{COMMAND} {option}"
    client = UNTIL_IT_LISTENS.format(f"{server} {address(NAMES[0])}")
    _listened, printed = pair.run((server, client))
    assert "#bytes" in printed
    assert pair.sent(0) == sent
