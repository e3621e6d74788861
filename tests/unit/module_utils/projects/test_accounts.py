# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import (
    Account,
    Budget,
    Qos,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Partition, Slurm

from tests.unit.module_utils.site.test_refused import patched, site

BIO = {"name": "bio", "users": ["dan"], "partitions": ["ai-train"], "directory": {"group": "chem"}}
PAID = {**BIO, "budget": {"gpu_hours": 100, "period": "month"}}


def slurm(*projects: dict[str, Any], **patch: Any) -> Slurm:
    whole = {"filesystem": "/gpfs/fs1", "projects": [*projects]}
    return load(patched({"drawbridge_projects": whole, **patch})).slurm


def account(found: Slurm, name: str = "bio") -> Account:
    [it] = [it for it in found.accounts if it.name == name]
    return it


def qos(found: Slurm, name: str) -> Qos:
    [it] = [it for it in found.qos if it.name == name]
    return it


def partition(found: Slurm, name: str) -> Partition:
    [it] = [it for it in found.partitions if it.name == name]
    return it


def test_a_site_without_projects_is_as_it_was() -> None:
    assert slurm() == load(site("lab")).slurm


def test_a_project_is_an_account_with_a_namespace_and_its_own_directory() -> None:
    found = account(slurm({**BIO, "name": "bio_2", "groups": ["chem"], "fair_share": 3, "ends": "2099-12-31"}), "bio_2")
    assert (found.namespace, found.mounts) == ("bio-2", ("/gpfs/fs1/projects/bio_2",))
    assert (found.users, found.groups, found.fair_share) == (("dan",), ("chem",), 3)
    assert (found.qos, found.default_qos, found.ends, found.closed) == ((), "", "2099-12-31", False)


def test_pods_of_a_project_without_directory_see_no_file_system() -> None:
    assert account(slurm({"name": "bio"})).mounts == ("none",)
    assert account(slurm({**BIO, "mounts": ["/gpfs/fs1"]})).mounts == ("/gpfs/fs1", "/gpfs/fs1/projects/bio")


def test_partitions_that_a_project_does_not_name_are_closed_to_it() -> None:
    found = slurm(BIO, {"name": "med", "partitions": ["hpc"]})
    assert partition(found, "ai-train").settings["DenyAccounts"] == "med"
    assert partition(found, "hpc").settings["DenyAccounts"] == "bio"


def test_slurm_refuses_a_job_that_no_partition_lets_in() -> None:
    assert slurm(BIO).settings["EnforcePartLimits"] == "ANY"
    own = {"drawbridge_slurm.settings": {"EnforcePartLimits": "ALL"}}
    assert slurm(BIO, **own).settings["EnforcePartLimits"] == "ALL"


def test_accounts_that_a_site_denies_stay_denied() -> None:
    found = slurm(BIO, **{"drawbridge_slurm.partitions.1.settings": {"DenyAccounts": "chem"}})
    assert partition(found, "hpc").settings["DenyAccounts"] == "chem,bio"


def test_a_partition_with_a_list_of_accounts_gets_projects_that_name_it() -> None:
    found = slurm(BIO, **{"drawbridge_slurm.partitions.0.allow_accounts": ["vision"]})
    assert partition(found, "ai-train").allow_accounts == ("vision", "bio")
    assert "DenyAccounts" not in partition(found, "ai-train").settings
    found = slurm(BIO, **{"drawbridge_slurm.partitions.1.allow_accounts": ["vision"]})
    assert partition(found, "hpc").allow_accounts == ("vision",)


def test_a_budget_is_a_qos_with_the_settings_of_another_one() -> None:
    found = slurm({**PAID, "qos": ["urgent"]})
    own, urgent = qos(found, "project-bio"), qos(found, "urgent")
    assert own.budget == Budget(gpu_hours=100, period="month") and own.flags == ("NoDecay",)
    assert (own.priority, own.preempt, own.max_time) == (urgent.priority, ("normal",), urgent.max_time)
    assert account(found).qos == ("project-bio",) and account(found).default_qos == "project-bio"


def test_what_preempts_and_allows_a_qos_does_so_with_its_copies() -> None:
    found = slurm(PAID, **{"drawbridge_slurm.partitions.0.allow_qos": ["normal"]})
    assert qos(found, "urgent").preempt == ("normal", "project-bio")
    assert partition(found, "ai-train").allow_qos == ("normal", "project-bio")
    assert qos(found, "project-bio").priority == qos(found, "normal").priority


def test_a_closed_project_keeps_its_account() -> None:
    found = account(slurm({**PAID, "state": "closed"}))
    assert found.closed and found.namespace == "bio"


def test_an_archived_project_has_neither_account_nor_qos() -> None:
    for state in ("archived", "removed"):
        found = slurm({**PAID, "state": state})
        assert "bio" not in [it.name for it in found.accounts] and "project-bio" not in [it.name for it in found.qos]
        assert (found.absent.accounts, found.absent.qos) == (("bio",), ("project-bio",))
        assert partition(found, "hpc").settings["DenyAccounts"] == "bio", "until its account is gone"


def test_a_site_without_gated_partitions_has_no_namespaces() -> None:
    patch = {"drawbridge_slurm.partitions.0.gate": False, "drawbridge_slurm.accounts": []}
    assert account(slurm(BIO, **patch)).namespace == ""
