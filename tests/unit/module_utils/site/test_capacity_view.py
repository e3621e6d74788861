# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.capacity_view import capacity
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part

from tests.unit.module_utils.site.test_refused import site


def test_the_labs_infra_capacity() -> None:
    found = capacity(*(part(domain, site("lab")[f"drawbridge_{domain}"]) for domain in ("slurm", "kube")))
    assert found == {
        "infra": ["infra1"],
        "gated": ["gpu01", "gpu02", "gpu03", "gpu04"],
        "job_namespaces": ["vision", "speech", "chem"],
    }
