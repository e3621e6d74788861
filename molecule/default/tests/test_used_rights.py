# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The rights of a run: the site was built, checked and grown with them. No run needed more, and each was needed.

The last test: the API server's audit log knows all runs before. The site has grown by two nodes.
"""

from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.installer_grants import grants

from tests import installer
from tests.growth import grow
from tests.running import Lab
from tests.unit.module_utils.site.test_refused import site

from .test_two_more_nodes import NEW

OF_THE_SITE = ("kube_node", "slurm_gate")
"""The lab's own site installs neither GPU operator nor RDMA plugin; their scenarios look at their rights."""


def test_runs_have_the_rights_that_they_use_and_no_others(lab: Lab, tmp_path: Path) -> None:
    inventory = grow(tmp_path / "more", *NEW)
    for name in ("kubernetes", "gate"):
        run = lab.playbook(name, *inventory)
        assert (run.code, run.changed()) == (0, []), run.output
    found = installer.events()
    assert {it["user"]["username"] for it in found} == {"drawbridge-installer"}
    assert {it["impersonatedUser"]["username"] for it in found} == {"drawbridge"}, "a run acts as the installer, always"
    assert installer.refused(found) == []
    needed = grants(*(part(name, site("lab")[f"drawbridge_{name}"]) for name in ("slurm", "kube")))
    elsewhere = {right for proven in installer.PROVEN_BY.values() for grant in proven for right in grant.rights()}
    unused = installer.unused([grant for role in OF_THE_SITE for grant in needed[role]], found)
    assert [it for it in unused if it not in elsewhere] == []
