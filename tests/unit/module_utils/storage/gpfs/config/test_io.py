# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names that a class may have for its members. The rest is in test_mm_config.py."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.config.io import Config
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.config.plan import (
    ConfigState,
    NodeClass,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members.io import Names

from tests.unit.module_utils.answers import Answers

CLUSTER = (Path(__file__).resolve().parents[5] / "transcripts/storage/gpfs/mmlscluster_y.txt").read_text()
ANSWERS = {
    "/mm/mmlscluster": CLUSTER + "mmlscluster:clusterNode:0:1:::9:gpu01-data.site:10.0.0.9:gpu01-adm:::::\n",
    "/mm/mmlsnodeclass": "mmlsnodeclass:nodeclass:HEADER:version:reserved:reserved:"
    "nodeClassName:memberClasses:memberNodes:\n"
    "mmlsnodeclass:nodeclass:0:1:::drawbridge_h100::gpu01-adm,old:\n"
    "mmlsnodeclass:nodeclass:0:1:::others::server-1:\n",
    "/mm/mmlsconfig": "mmlsconfig::HEADER:version:reserved:reserved:configParameter:value:nodeList:\n"
    "mmlsconfig::0:1:::pagepool:16G:drawbridge_h100:\nmmlsconfig::0:1:::pagepool:1G::\n",
}


def test_members_have_the_intents_names_and_other_classes_are_left_alone() -> None:
    wanted = ConfigState({"drawbridge_h100": NodeClass(frozenset({"gpu01", "gpu02"}))})
    device = Config(Mm(Answers(ANSWERS), "/mm"), wanted, Names(daemon_suffix="-data"))
    found = device.read()
    assert found.classes == {"drawbridge_h100": NodeClass(frozenset({"gpu01", "old"}), {"pagepool": "16G"})}
    assert device.members() == {"gpu01"}
