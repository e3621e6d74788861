# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.status import (
    Seen,
    fault,
    late,
)

Json = dict[str, Any]
READY: Json = {"status": {"availableReplicas": 1}}


def resource(status: str, reason: str = "CSIConfigured", message: str = "created") -> Json:
    condition = {"type": "Success", "status": status, "reason": reason, "message": message}
    return {"spec": {"clusters": [{"secrets": "own-a"}]}, "status": {"conditions": [condition]}}


def daemons(ready: int, wanted: int = 2, secret: str = "own-a") -> Json:
    pod = {"volumes": [{"secret": {"secretName": secret}}]}
    status = {"desiredNumberScheduled": wanted, "numberReady": ready}
    return {"spec": {"template": {"spec": pod}}, "status": status}


WORKS = Seen(resource("True"), READY, daemons(2), {"attacher": READY})


def test_all_that_works_has_no_fault() -> None:
    assert (fault(WORKS), late(WORKS)) == ("", "")


def test_some_nodes_may_be_late() -> None:
    seen = replace(WORKS, daemons=daemons(1))
    assert (fault(seen), late(seen)) == ("", "the driver is ready on 1 of 2 nodes")


@pytest.mark.parametrize(
    ("change", "saying"),
    [
        ({"operator": None}, "no pod of Deployment ibm-spectrum-scale-csi-operator is ready"),
        ({"operator": {"status": {}}}, "no pod of Deployment ibm-spectrum-scale-csi-operator is ready"),
        ({"resource": None}, "the operator says nothing"),
        ({"resource": resource("Unknown", "Unknown", "")}, "the operator says nothing"),
        (
            {"resource": resource("False", "GUIConnFailed", "x 401: Unauthorized.")},
            "Unauthorized; set user and password",
        ),
        ({"resource": resource("False", "GUIConnFailed", "x 403: Forbidden")}, "unlock the GUI's user"),
        ({"resource": resource("False", "GUIConnFailed", "no route")}, "hosts and ports of the GUI, and the CA"),
        ({"resource": resource("False", "ClusterIDMismatch", "x")}, "csi.cluster.id as mmlscluster prints it"),
        ({"resource": resource("False", "GetFailed", "x")}, "reports GetFailed: x; read the operator's log"),
        ({"daemons": None}, "reports success, but DaemonSet ibm-spectrum-scale-csi does not exist"),
        ({"daemons": daemons(2, secret="own-b")}, "has not taken over the new settings"),
        ({"daemons": daemons(0, 0)}, "no node has the driver"),
        ({"daemons": daemons(0)}, "no pod of DaemonSet ibm-spectrum-scale-csi is ready"),
        ({"sidecars": {"attacher": None, "resizer": READY}}, "no pod of Deployment attacher is ready"),
    ],
)
def test_each_fault_has_its_words(change: Json, saying: str) -> None:
    assert saying in fault(replace(WORKS, **change))
