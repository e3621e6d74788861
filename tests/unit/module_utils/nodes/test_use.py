# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import NOT_ASKED, ClusterUse

NODES = "NodeName=gpu01 State=IDLE+DRAIN \nNodeName=gpu02 State=ALLOCATED+DRAIN \nNodeName=gpu03 State=IDLE \n"
USE = ClusterUse.of(NODES, "7 gpu[02,04]\n8 \n")


def test_only_a_drained_node_without_a_job_is_free() -> None:
    assert USE.why_not("gpu01") == ""
    assert USE.why_not("gpu02") == "Slurm job 7 is on gpu02"
    assert USE.why_not("gpu03") == "gpu03 is not drained in Slurm"
    assert USE.why_not("gpu09") == "gpu09 is not drained in Slurm", "Slurm does not know it"


def test_no_answer_means_not_drained() -> None:
    assert ClusterUse().why_not("gpu01") == NOT_ASKED
    assert ClusterUse.from_dict({}) == ClusterUse()
    assert ClusterUse(frozenset({"gpu01"}), why_unknown="no answer").why_not("gpu01") == "no answer"


def test_it_survives_the_way_through_ansible() -> None:
    assert ClusterUse.from_dict(json.loads(json.dumps(USE.as_dict()))) == USE
    assert USE.as_dict() == {"drained": "gpu[01-02]", "jobs": {"7": "gpu[02,04]"}, "unknown": ""}
