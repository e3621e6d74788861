# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Projects on a real Slurm, with filesets whose limits hold. The tests build on each other in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab, Run
from tests.waiting import until

OWN = REPOSITORY / "molecule/project/inventory"
LIMIT = ("--limit", "ctl,login1,nsd1,gpu01,gpu02,localhost")
MM, ROOT = "/usr/lpp/mmfs/bin", "/gpfs/fs1/projects"
CONTACTED = {"ctl", "login1", "nsd1"}
"""All hosts that projects.yml needs: no node."""


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the scenario's inventory, in which projects change."""
    folder = tmp_path_factory.mktemp("inventory") / "group_vars/all"
    folder.mkdir(parents=True)
    for file in (OWN / "group_vars/all").glob("*.yml"):
        (folder / file.name).write_text(file.read_text())
    return folder


@pytest.fixture(scope="module")
def lab(inventory: Path) -> Iterator[Lab]:
    yield Lab(Paths.of(), ("inventories/lab", str(inventory.parents[1])), ssh_s=300)


@dataclass(frozen=True)
class Done:
    """A run of projects.yml: the hosts that it contacted, and steps by host."""

    hosts: frozenset[str]
    steps: Mapping[str, list[str]]


def play(lab: Lab, *arguments: str) -> Run:
    return lab.playbook("projects", *LIMIT, *arguments)


def projects(lab: Lab, *arguments: str) -> Done:
    run = play(lab, *arguments)
    assert run.code == 0, run.output
    steps: dict[str, list[str]] = {}
    contacted = set()
    for task, host, result in run.results():
        for each in result.get("results", [result]):
            contacted |= set() if each.get("skipped") else {host}
            if each.get("changed"):
                steps.setdefault(host, []).extend(each.get("steps") or [task])
    return Done(frozenset(contacted), steps)


def set_in(inventory: Path, file: str, **values: object) -> None:
    """Change keys of the only project of a file."""
    path = inventory / file
    content = yaml.safe_load(path.read_text())
    [name] = content
    content[name].update(values)
    path.write_text(yaml.safe_dump(content))


def top(lab: Lab, name: str, host: str = "gpu01") -> str:
    return lab.ssh(host, f"stat -c '%a %U:%G' {ROOT}/{name}").strip()


def as_user(lab: Lab, host: str, user: str, command: str) -> str:
    """The last line that a user's command prints; its error is one, too."""
    return lab.ssh(host, f"cd /; runuser -u {user} -- sh -c '{command}' 2>&1 || true").strip().splitlines()[-1]


def accounts(lab: Lab) -> set[str]:
    """Accounts of this cluster. Those of others in the same database may have the same names."""
    return set(lab.ssh("ctl", "sacctmgr -nP list association format=account").split())


def test_a_second_run_only_reads(lab: Lab) -> None:
    run = projects(lab)
    assert run.steps == {} and run.hosts == CONTACTED


def test_people_write_within_their_quota_and_not_beyond(lab: Lab) -> None:
    write = "head -c {}M /dev/zero > {}/{}"
    lab.ssh("nsd1", f"rm -f {ROOT}/genome/*")
    assert as_user(lab, "gpu01", "ada", f"{write.format(600, f'{ROOT}/genome', 'a')} && echo done") == "done"
    said = as_user(lab, "gpu02", "ben", write.format(600, f"{ROOT}/genome", "b"))
    assert "No space left on device" in said or "quota" in said
    lab.ssh("nsd1", f"rm -f {ROOT}/genome/*")


def test_files_count_too(lab: Lab) -> None:
    many = f"cd {ROOT}/solvent && seq -f f%g 1100 | xargs touch"
    said = as_user(lab, "gpu01", "dan", many)
    assert "No space left on device" in said or "quota" in said
    as_user(lab, "gpu01", "dan", f"find {ROOT}/solvent -type f -delete; echo done")


def test_others_reach_no_directory_of_a_project(lab: Lab) -> None:
    for user, name in (("cleo", "genome"), ("ada", "voice"), ("dan", "genome"), ("cleo", "solvent")):
        assert "Permission denied" in as_user(lab, "gpu01", user, f"ls {ROOT}/{name}")


def test_partitions_that_a_project_does_not_name_are_closed_to_it(lab: Lab) -> None:
    submit = "cd /; runuser -u {} -- sbatch -A {} -p {} --wrap=true --output=/dev/null 2>&1 || true"
    said = lab.ssh("ctl", submit.format("ada", "genome", "hpc"))
    assert "Invalid account or account/partition combination specified" in said, said


def test_a_fourth_project_contacts_no_node(lab: Lab, inventory: Path) -> None:
    content = {
        "name": "weather",
        "users": ["ben"],
        "partitions": ["hpc"],
        "directory": {"group": "vision", "quota_gib": 1},
    }
    (inventory / "weather.yml").write_text(yaml.safe_dump({"drawbridge_project_weather": content}))
    run = projects(lab, "-e", '{"projects_only": ["weather"]}')
    assert run.hosts == CONTACTED and set(run.steps) == CONTACTED
    assert top(lab, "weather") == "2770 root:vision" and "weather" in accounts(lab)
    assert as_user(lab, "gpu01", "ben", f"touch {ROOT}/weather/x && echo done") == "done"
    assert projects(lab).steps == {}


DRIFTS = (
    ("ctl", "sacctmgr -i modify account where name=solvent set fairshare=9", "set account solvent"),
    ("ctl", "sacctmgr -i modify qos where name=project-genome set GrpTRESMins=gres/gpu=1", "set qos project-genome"),
    ("ctl", "sacctmgr -i modify qos where name=project-genome set Flags=-1", "set qos project-genome"),
    ("ctl", "sacctmgr -i delete user where name=dan account=solvent", "let dan charge solvent"),
    ("nsd1", f"{MM}/mmsetquota fs1:voice --block 5G:5G --files 2000:2000", "limit fileset voice"),
    ("nsd1", f"{MM}/mmunlinkfileset fs1 solvent", "link fileset solvent"),
    ("nsd1", f"chmod 777 {ROOT}/genome", f"give {ROOT}/genome"),
    ("nsd1", f"chown dan {ROOT}/voice", f"give {ROOT}/voice"),
)
"""A host, what a person does there, and how the step begins that corrects it."""
PLATFORM = ("--as=platform", "--as-group=drawbridge:platform", "--as-group=system:masters")
"""Admission lets these people alone change what a namespace says of its project, and its claims."""
KUBE_DRIFTS = (
    (("annotate", "namespace", "genome", "--overwrite", "drawbridge.io/claims=files,other"), "Say which namespaces"),
    (("delete", "pvc", "files", "--namespace", "genome"), "make PersistentVolumeClaim genome/files"),
)


def test_drift_of_all_kinds_is_named_and_corrected_in_one_run(lab: Lab) -> None:
    for host, drift, _step in DRIFTS:
        lab.ssh(host, drift)
    for drift, _step in KUBE_DRIFTS:
        lab.kubectl(*drift, *PLATFORM)
    predicted = projects(lab, "--check").steps
    found = {(host, line) for host, lines in predicted.items() for line in lines}
    for host, drift, step in (*DRIFTS, *(("ctl", drift, step) for drift, step in KUBE_DRIFTS)):
        assert [line for at, line in found if at == host and step in line], (drift, predicted)
    assert projects(lab).steps == predicted
    assert projects(lab).steps == {}


def test_a_closed_project_has_no_jobs_and_no_access(lab: Lab, inventory: Path) -> None:
    lab.ssh(
        "ctl",
        "cd /; runuser -u dan -- sbatch -A solvent -p hpc -n1 --job-name=last --output=/dev/null --wrap='sleep 900'",
    )
    until(lambda: lab.ssh("ctl", "squeue -h -n last -o %T").strip() == "RUNNING", 300, "the job runs")
    set_in(inventory, "project-solvent.yml", state="closed")
    run = projects(lab)
    assert "nsd1" not in run.steps, "its last job still runs"
    assert top(lab, "solvent") == "2770 root:chem"
    said = lab.ssh(
        "ctl", "cd /; runuser -u dan -- sbatch -A solvent -p hpc --wrap=true --output=/dev/null 2>&1 || true"
    )
    assert "AssocGrpSubmitJobsLimit" in said
    lab.ssh("ctl", "scancel -n last")
    until(lambda: lab.ssh("ctl", "squeue -h -n last") == "", 300, "the job ends")
    projects(lab)
    assert top(lab, "solvent") == "500 root:root"
    assert "Permission denied" in as_user(lab, "gpu01", "dan", f"touch {ROOT}/solvent/x")
    assert projects(lab).steps == {}


def test_a_closed_project_opens_again_with_its_data(lab: Lab, inventory: Path) -> None:
    lab.ssh("nsd1", f"echo kept > {ROOT}/solvent/data; chown dan:chem {ROOT}/solvent/data")
    set_in(inventory, "project-solvent.yml", state="open")
    projects(lab)
    assert as_user(lab, "gpu01", "dan", f"cat {ROOT}/solvent/data") == "kept"


def test_the_last_day_closes_it_without_a_person(lab: Lab, inventory: Path) -> None:
    day = lab.ssh("ctl", "date -d yesterday +%F").strip()
    set_in(inventory, "project-solvent.yml", ends=day)
    projects(lab)
    assert top(lab, "solvent") == "500 root:root"
    assert "solvent" in lab.ssh("ctl", "cat /etc/drawbridge/budget.json")


def test_an_archived_project_keeps_its_data(lab: Lab, inventory: Path) -> None:
    set_in(inventory, "project-solvent.yml", state="archived", ends="")
    projects(lab)
    assert "solvent" not in accounts(lab)
    assert lab.ssh("gpu01", f"ls {ROOT}").split() == ["genome", "voice", "weather"]
    assert "Unlinked" in lab.ssh("nsd1", f"{MM}/mmlsfileset fs1 solvent")
    assert projects(lab).steps == {}


def test_data_is_deleted_only_by_name(lab: Lab, inventory: Path) -> None:
    set_in(inventory, "project-solvent.yml", state="removed")
    refused = play(lab)
    assert refused.code and "project_delete" in refused.output
    assert "Unlinked" in lab.ssh("nsd1", f"{MM}/mmlsfileset fs1 solvent")
    projects(lab, "-e", '{"project_delete": ["solvent"]}')
    assert "does not exist" in lab.ssh("nsd1", f"{MM}/mmlsfileset fs1 solvent 2>&1", check=False)
    (inventory / "project-solvent.yml").unlink()
    forgotten = projects(lab).steps
    assert forgotten.keys() == {"ctl", "login1"} and forgotten["login1"] == ["write /etc/drawbridge/projects.json"]
    assert projects(lab).steps == {}
