# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of the API server and of the manifest's source. test_gpfs_csi.py of the action has whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.manifests import (
    differences,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.csi.io import (
    ScaleDriver,
    Wanted,
    fetched,
)

from tests.unit.module_utils.storage.gpfs.csi.server import CREDENTIALS, CSI, Json, Server, manifest, view


def test_a_manifest_that_can_not_be_read_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"text")
    assert fetched(str(tmp_path / "a"), "own") == b"text"
    with pytest.raises(DeviceError, match=r"own .*/b can't be read"):
        fetched(str(tmp_path / "b"), "own")
    with pytest.raises(DeviceError, match="without Internet copy the file and set own to its path"):
        fetched("http://127.0.0.1:1/operator.yaml", "own")


@pytest.mark.parametrize("refused", ["/api/v1/nodes", "/apis/csi.ibm.com"])
def test_a_refusal_is_no_absence(refused: str) -> None:
    server = Server()
    server.forbidden = (refused,)
    wanted = Wanted(manifest(), [], view()["resource"], CREDENTIALS)
    with pytest.raises(DeviceError, match="can't be read: no right"):
        ScaleDriver(server, differences, wanted, 0).read()


def test_an_operator_that_does_not_end_its_resource_is_an_error() -> None:
    server = Server()
    device = ScaleDriver(server, differences, Wanted(manifest(), [], view()["resource"], CREDENTIALS), 0)
    device.read()
    for key in [*device.read().items]:
        device.apply([_step("APPLY", key)])
    server.delete = lambda *_unused: (200, {})  # type: ignore[method-assign] # because a finalizer keeps the object
    with pytest.raises(
        DeviceError, match="the operator has not ended CSIScaleOperator ibm-spectrum-scale-csi within 0 s"
    ):
        device.apply([_step("DELETE", ("CSIScaleOperator", "ibm-spectrum-scale-csi"))])


def test_the_schema_of_the_table_judges_the_resource() -> None:
    """A release before 3.0 refuses what later ones require, and the other way round."""
    server = Server()
    old = {**CSI, "release": "2.14.3", "primary": "fs1"}
    for items, csi, saying in ((manifest(), old, "localScaleCluster: required"), (manifest("2.14.3"), CSI, "unknown")):
        device = ScaleDriver(server, differences, Wanted(items, [], view(csi)["resource"], CREDENTIALS), 0)
        with pytest.raises(DeviceError, match=saying):
            for key in [*device.read().items]:
                device.apply([_step("APPLY", key)])


def _step(verb: str, key: Any) -> Any:
    class Step:
        payload = (verb, key)

    return Step()


def test_objects_are_accepted_by_every_release() -> None:
    for release in ("2.12.1", "2.13.2", "2.14.3", "3.0.0"):
        csi: Json = {**CSI, "release": release, **({} if release == "3.0.0" else {"primary": "fs1"})}
        server = Server()
        device = ScaleDriver(server, differences, Wanted(manifest(release), [], view(csi)["resource"], CREDENTIALS), 0)
        for key in [*device.read().items]:
            device.apply([_step("APPLY", key)])
        assert server.items
