# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The controller and its accounting as Slurm's commands show them, after converge and a second run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Nodes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import Absent
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.view import accounting
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Slurm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import slurm_controller
from testinfra.backend.base import CommandResult
from testinfra.host import Host

from lab.hosts.paths import REPOSITORY, Paths

SSH_CONFIG = Paths.of().ssh_config
testinfra_hosts = [f"ssh://ctl?ssh_config={SSH_CONFIG}&timeout=60"]


@pytest.mark.parametrize("unit", ["munge", "mariadb", "slurmdbd", "slurmctld"])
def test_daemons_run_now_and_after_a_boot(host: Host, unit: str) -> None:
    assert host.check_output(f"systemctl is-active {unit}") == "active"
    assert host.check_output(f"systemctl is-enabled {unit}") == "enabled"


def test_the_controller_runs_with_the_files_as_they_are(host: Host) -> None:
    assert "UP" in host.check_output("scontrol ping")
    assert host.run_test("scontrol show config | grep -Eq '^HASH_VAL +. Match$'").rc == 0


def test_a_comment_alone_changes_the_hash_so_digests_of_other_files_count(host: Host) -> None:
    host.check_output("cp -p /etc/slurm/slurm.conf /run/slurm.conf.kept; echo '# x' >> /etc/slurm/slurm.conf")
    try:
        told = host.check_output("scontrol show config")
    finally:
        host.check_output("cp -p /run/slurm.conf.kept /etc/slurm/slurm.conf; rm /run/slurm.conf.kept")
    assert [line.split()[2] for line in told.splitlines() if line.startswith("HASH_VAL")] == ["Different"]


def test_the_accounting_holds_the_intent(host: Host) -> None:
    rows = host.check_output("sacctmgr -nP list assoc cluster=lab format=account,user").splitlines()
    assert sorted(row for row in rows if not row.startswith("root|")) == [
        *("chem|", "chem|dan", "speech|", "speech|cleo", "vision|", "vision|ada", "vision|ben"),
    ]
    assert "ada|vision" in host.check_output("sacctmgr -nP list user format=user,defaultaccount").splitlines()


def test_qos_shares_and_limits_are_in_the_accounting(host: Host) -> None:
    rows = host.check_output("sacctmgr -nP list qos format=name,priority,preempt,maxtrespu,maxwall").splitlines()
    assert sorted(rows) == ["normal|10|||", "urgent|100|normal|gres/gpu=16|04:00:00"]
    rows = host.check_output(
        "sacctmgr -nP list assoc cluster=lab user= format=account,user,share,qos,grptres"
    ).splitlines()
    assert sorted(row for row in rows if row.split("|")[1] == "" and not row.startswith("root|")) == [
        "chem||1|normal|gres/gpu=16",
        "speech||2|normal,urgent|",
        "vision||2|normal,urgent|",
    ]


def test_typed_gpus_can_be_accounted(host: Host) -> None:
    assert "gres|gpu:h100" in host.check_output("sacctmgr -nP list tres format=type,name").splitlines()


def test_secrets_are_private_and_the_database_has_no_password(host: Host) -> None:
    owner, mode = host.check_output("stat -c '%U %a' /etc/munge/munge.key").split()
    assert (owner, mode[1:]) == ("munge", "00")
    assert host.check_output("stat -c '%U %a' /etc/slurm/slurmdbd.conf") == "slurm 600"
    assert host.run("grep -q StoragePass /etc/slurm/slurmdbd.conf").rc == 1


def test_a_gated_partition_gives_whole_nodes(host: Host) -> None:
    told = host.check_output("scontrol show partition ai-train -o")
    assert "OverSubscribe=EXCLUSIVE" in told
    assert "OverSubscribe=NO" in host.check_output("scontrol show partition hpc -o")


def submitted(host: Host, options: str) -> CommandResult:
    """As ada, who may charge vision. The nodes are down, so accepted jobs wait."""
    return host.run(f"su ada -s /bin/sh -c 'cd /; sbatch --output=/dev/null {options}'")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("-N1 : -N1 --wrap=true", "heterogeneous jobs have one job id for each component"),
        ("-p hpc,ai-train -N1 : -p hpc -N1 --wrap=true", "partition ai-train is gated, but heterogeneous"),
        ("-N2 --no-kill --wrap=true", "a job with --no-kill goes on after it has lost a node"),
        ("-p ai-train -N2 -k --wrap=true", "leave --no-kill out, or use a partition without a gate"),
    ],
)
def test_what_pods_could_not_share_is_refused_at_submission(host: Host, options: str, reason: str) -> None:
    refused = submitted(host, options)
    assert refused.rc == 1
    assert reason in refused.stderr


@pytest.mark.parametrize("options", ["-N2", "-p hpc -N1 : -p hpc -N1", "-p hpc -N2 --no-kill"])
def test_everything_else_is_accepted(host: Host, options: str) -> None:
    accepted = submitted(host, f"{options} --wrap=true")
    assert accepted.rc == 0, accepted.stderr
    host.check_output(f"scancel {accepted.stdout.split()[-1]}")


def test_a_waiting_heterogeneous_job_does_not_move_to_a_gated_partition(host: Host) -> None:
    """A job of one component does, and this one can be changed otherwise: it is the script that refuses."""
    kinds = ("-p hpc -N1 : -p hpc -N1", "-p hpc -N1")
    pair, single = (submitted(host, f"{kind} --wrap=true").stdout.split()[-1] for kind in kinds)
    try:
        host.check_output(f"scontrol update jobid={single} partition=ai-train")
        host.check_output(f"scontrol update jobid={pair} comment=kept")
        moved = host.run(f"scontrol update jobid={pair} partition=ai-train")
        told = host.check_output(f"scontrol show job {pair} -o").splitlines()
    finally:
        host.check_output(f"scancel {pair} {single}")
    assert moved.rc == 1, moved
    assert [" Partition=hpc " in line for line in told] == [True, True]


def test_only_the_database_servers_owner_is_let_in_as_slurm(host: Host) -> None:
    assert host.run("su ada -s /bin/sh -c 'mariadb -u slurm -e \"SELECT 1\"'").rc != 0
    assert host.run("su slurm -s /bin/sh -c 'mariadb -e \"SELECT 1\" slurm_acct_db'").rc == 0


def test_a_broken_file_ends_every_command_but_not_the_daemon(host: Host) -> None:
    """Why new files are tried first and replaced atomically."""
    pid = host.check_output("systemctl show --property MainPID --value slurmctld")
    host.check_output("cp -p /etc/slurm/slurm.conf /run/slurm.conf.kept; echo PrologFlags= >> /etc/slurm/slurm.conf")
    try:
        broken = [host.run(command).rc for command in ("scontrol ping", "squeue", "sinfo", "sbatch --wrap=true")]
    finally:
        host.check_output("mv /run/slurm.conf.kept /etc/slurm/slurm.conf")
    assert 0 not in broken
    assert "UP" in host.check_output("scontrol ping")
    assert host.check_output("systemctl show --property MainPID --value slurmctld") == pid


def test_sacctmgr_calls_what_it_did_not_do_a_success(host: Host) -> None:
    """Why only what it lists counts."""
    for words in ("account where name=chem cluster=lab set parent=nosuch", "account where name=chem set fairshare=1"):
        done = host.run(f"sacctmgr -i modify {words}")
        assert (done.rc, "Modified" in done.stdout) == (0, True)
    stored = host.run("sacctmgr -i add account junk cluster=lab GrpTRES=gres/gpu=abc")
    try:
        told = host.check_output(
            "sacctmgr -nP list assoc cluster=lab account=chem,junk user= format=account,parentname,grptres"
        )
    finally:
        host.check_output("sacctmgr -i delete account junk")
    assert sorted(told.splitlines()) == ["chem|root|gres/gpu=16", "junk|root|gres/gpu=0"], stored


def ours(module: str, arguments: dict[str, Any], *options: str) -> dict[str, Any]:
    """The result of one of our modules on the controller, run as a role does."""
    ansible = str(Path(sys.executable).parent / "ansible")
    words = ["-i", "inventories/lab", "-m", f"drawbridge.drawbridge.{module}", "-a", json.dumps(arguments), *options]
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": "ansible.cfg",
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_STDOUT_CALLBACK": "minimal",
    }
    env["ANSIBLE_CALLBACK_RESULT_FORMAT"] = "json"
    done = subprocess.run(
        [ansible, "ctl", *words], cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout.partition("=> ")[2])


def site() -> tuple[Nodes, Slurm]:
    """The intent of the lab."""
    folder = REPOSITORY / "inventories/lab/group_vars/all"
    raw = {name: yaml.safe_load((folder / f"{name}.yml").read_text()) for name in ("slurm", "nodes")}
    return part("nodes", raw["nodes"]["drawbridge_nodes"]), part("slurm", raw["slurm"]["drawbridge_slurm"])


def tried(broken: str = "") -> dict[str, Any]:
    """What a slurmctld of its own says of production's files; `broken` joins cgroup.conf."""
    files = slurm_controller(*site(), cgroups=True)["slurmctld"]
    for file in files:
        if file["path"] == "/etc/slurm/cgroup.conf":
            file["content"] += broken
    return ours("slurm_config", {"files": files}, "--check")


def test_slurmctld_would_serve_with_the_files_of_production(host: Host) -> None:
    """It reads cgroup.conf too, and would die of a key that its release doesn't know."""
    found = tried()
    assert "write /etc/slurm/cgroup.conf" in found["steps"], found
    assert "ConstrainKmemSpace" in tried("ConstrainKmemSpace=yes\n")["msg"]
    assert "CgroupPlugin=disabled" in host.check_output("cat /etc/slurm/cgroup.conf")


def test_absent_entries_go_but_not_those_that_others_need(host: Host) -> None:
    for words in (
        *("qos gold", "account old", "account below parent=old", "user ben account=old,below"),
        *("account theirs",),
    ):
        host.check_output(f"sacctmgr -i add {words}")
    host.check_output("sacctmgr -i modify user where name=ben set defaultaccount=old")
    host.check_output("sacctmgr -i modify account where name=theirs set qos+=gold")
    slurm = replace(site()[1], absent=Absent(accounts=("old",), qos=("gold",)))
    kept = ours("slurm_accounting", accounting(slurm))
    assert [line.split(":")[0] for line in kept["pending"]] == ["remove account old", "remove qos gold"], kept
    assert "account below is below it" in kept["pending"][0]
    assert "account theirs may use it" in kept["pending"][1]
    slurm = replace(slurm, absent=Absent(accounts=("old", "below", "theirs"), qos=("gold",)))
    predicted, gone = (
        ours("slurm_accounting", accounting(slurm), "--check"),
        ours("slurm_accounting", accounting(slurm)),
    )
    assert gone["steps"] == predicted["steps"], gone
    assert gone["steps"][-4:] == [
        "remove account below",
        "remove account theirs",
        "remove account old",
        "remove qos gold",
    ]
    assert not ours("slurm_accounting", accounting(slurm))["changed"]
    left = host.check_output(
        "sacctmgr -nP list assoc cluster=lab format=account; sacctmgr -nP list qos format=name"
    ).split()
    assert not {"old", "below", "theirs", "gold"} & set(left)
    assert "ben|vision" in host.check_output("sacctmgr -nP list user format=user,defaultaccount").splitlines()
