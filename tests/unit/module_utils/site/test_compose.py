# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Domains are read one by one, expansions add to them, and views get what they read."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Optional, Union

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import Fault, IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import compose, load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import viewed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Account, Slurm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.nfs.model import Export, Nfs

from tests.unit.module_utils.site.test_refused import site

Lacking = Optional[Nfs]
MOUNTS = {"mounts": [{"server": "filer", "export": f"/export/{name}", "mount": f"/{name}"} for name in ("one", "two")]}
SITE = {**site("lab"), "drawbridge_nfs": MOUNTS}
RAW = {key.removeprefix("drawbridge_"): value for key, value in SITE.items()}


class NoneToMount(Nfs):
    """A type whose name has None in it."""


def _view(hint: Any) -> Any:
    def view(nfs: Any) -> bool:
        return nfs is None

    view.__annotations__["nfs"] = hint
    return view


@pytest.mark.parametrize("hint", [Lacking, Union[None, Nfs], "Nfs | None", "Optional[Nfs]", "Lacking"], ids=str)
@pytest.mark.parametrize("lacking", [{}, {"nfs": None}], ids=["missing", "none"])
def test_a_part_that_may_be_none_may_be_missing(hint: Any, lacking: dict[str, Any]) -> None:
    assert compose.derive(_view(hint), lacking, {}) is True


@pytest.mark.parametrize("hint", [Nfs, "Nfs", "NoneToMount"], ids=str)
def test_a_part_without_none_is_required(hint: Any) -> None:
    with pytest.raises(IntentError, match="drawbridge_nfs is missing, but it is required"):
        compose.derive(_view(hint), {}, {})


def test_an_empty_variable_of_the_intent_is_refused() -> None:
    with pytest.raises(IntentError, match="drawbridge_fabric is missing, but it is required"):
        load.load({**SITE, "drawbridge_fabric": None})


def users(slurm: Slurm, nfs: Nfs | None = None) -> Slurm:
    """An expansion of a test: each export has an account."""
    names = [mount.mount.strip("/") for mount in nfs.mounts] if nfs else []
    if "refused" in names:
        raise IntentError([Fault("drawbridge_nfs.mounts", "refused", "there can be no such account", "rename it")])
    return replace(slurm, accounts=(*slurm.accounts, *(Account(name=name, namespace=name) for name in names)))


def homes(nfs: Nfs | None = None, slurm: Slurm | None = None) -> Nfs:
    """Another one: accounts have homes, also on a site without NFS of its own."""
    return replace(nfs or Nfs(()), mounts=(Export("filer", "/export/home", "/home"),))


@pytest.fixture
def expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "EXPANSIONS", (users,))
    monkeypatch.setattr(compose, "KEPT", {})


def accounts(slurm: Slurm) -> list[str]:
    return [account.name for account in slurm.accounts]


@pytest.mark.usefixtures("expanded")
class TestExpansion:
    """What one domain adds to another."""

    def test_views_and_rules_see_what_it_adds(self) -> None:
        [*_, one, two] = compose.derive(accounts, RAW, {})
        assert (one, two) == ("one", "two")
        assert accounts(load.load(SITE).slurm)[-2:] == [one, two]

    def test_a_view_depends_on_all_that_it_is_composed_of(self) -> None:
        assert compose.needed(["slurm"]) == ["slurm", "nfs"]
        assert compose.needed(["nfs"]) == ["nfs"]
        other = {**RAW, "nfs": {"mounts": [{**MOUNTS["mounts"][0], "mount": "/other"}]}}
        found = [compose.derive(accounts, raw, {})[-1] for raw in (RAW, other, RAW)]
        assert found == ["two", "other", "two"]

    def test_a_site_may_lack_what_it_reads(self) -> None:
        lacking = {name: value for name, value in RAW.items() if name != "nfs"}
        assert compose.derive(accounts, lacking, {}) == [it["name"] for it in RAW["slurm"]["accounts"]]

    def test_a_node_has_the_layers_of_a_domain_that_only_an_expansion_makes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lacking = {key: value for key, value in SITE.items() if key != "drawbridge_nfs"}
        assert not viewed("node_layers", lacking, {"name": "gpu01"})["nfs"]
        monkeypatch.setattr(compose, "EXPANSIONS", (homes,))
        compose.KEPT.clear()
        assert viewed("node_layers", lacking, {"name": "gpu01"})["filesystems"] == ["gpfs", "nfs"]

    def test_its_refusal_is_one_of_all_faults(self) -> None:
        broken = copy.deepcopy(SITE)
        broken["drawbridge_nfs"]["mounts"][0]["mount"] = "/refused"
        broken["drawbridge_kube"]["ifra"] = "infra1"
        with pytest.raises(IntentError, match="no such account") as caught:
            load.load(broken)
        assert "drawbridge_kube.ifra" in {fault.key for fault in caught.value.faults}


def test_one_run_names_faults_of_broken_sound_and_joined_domains() -> None:
    broken = copy.deepcopy(SITE)
    broken["drawbridge_fabric"]["roce"]["priority"] = "three"
    broken["drawbridge_nodes"]["ranges"][0]["node_class"] = "h1oo"
    broken["drawbridge_slurm"]["partitions"][0]["nodes"] = "gpu[01-09]"
    with pytest.raises(IntentError) as caught:
        load.load(broken)
    keys = [fault.key for fault in caught.value.faults]
    assert len(keys) == len({*map(str, caught.value.faults)})
    assert {
        "drawbridge_fabric.roce.priority",
        "drawbridge_nodes.ranges[0].node_class",
        "drawbridge_slurm.partitions[0].nodes",
    } <= {*keys}


def test_a_view_of_a_node_without_a_class_says_so() -> None:
    broken = copy.deepcopy(RAW)
    broken["nodes"]["ranges"][0]["node_class"] = "h1oo"
    with pytest.raises(IntentError, match="no class has that name; use one of: "):
        compose.derive(lambda nodes: nodes.class_of("gpu01"), broken, {})
