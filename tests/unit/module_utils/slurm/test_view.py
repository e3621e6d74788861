# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import (
    controller,
    login,
    node,
    scripts,
)

from tests.unit.module_utils.lab import NODES, SLURM


def test_the_controllers_scripts_come_before_slurm_conf() -> None:
    paths = [file["path"] for file in controller(SLURM, NODES, True)["slurmctld"]]
    assert paths.index("/usr/local/libexec/drawbridge/slurm-prolog_slurmctld") < paths.index("/etc/slurm/slurm.conf")
    assert paths[-1] == "/etc/slurm/slurm.conf"


def test_only_slurm_reads_slurmdbd_conf() -> None:
    (file,) = controller(SLURM, NODES, True)["slurmdbd"]
    assert (file["owner"], file["mode"]) == ("slurm", "0600")


def test_a_node_has_its_own_scripts_and_no_slurm_conf() -> None:
    view = node(NODES, SLURM, "gpu04", ["/gpfs/fs1"])
    paths = [file["path"] for file in view["slurmd"]]
    assert "/usr/local/libexec/drawbridge/slurm-epilog" in paths
    assert not [path for path in paths if path.startswith("/etc/slurm")]
    assert view["ready"]["gres"] == "gpu:h100:8"


def test_a_change_of_a_script_restarts_nothing() -> None:
    files = scripts(replace(SLURM, part_timeout_s=60), ("prolog",))
    assert [(file["path"], file.get("passive", False)) for file in files] == [
        ("/etc/drawbridge/slurm/prolog.d", False),
        ("/usr/local/libexec/drawbridge/slurm-prolog", True),
    ]
    assert files[1]["content"].splitlines()[-1].endswith("slurm-dispatch --timeout 60 prolog")


def test_jobs_are_named_for_the_metrics_of_gpus_where_a_node_has_some() -> None:
    files = {file["path"]: file for file in node(NODES, SLURM, "gpu04", [])["slurmd"]}
    ends = {kind: f"/etc/drawbridge/slurm/{kind}.d/60-job-gpus" for kind in ("prolog", "epilog")}
    run = "/usr/local/libexec/drawbridge/slurm-job-gpus"
    assert files[ends["prolog"]]["content"].splitlines()[-1] == f"exec {run} write"
    assert files[ends["epilog"]]["content"].splitlines()[-1] == f"exec {run} remove"
    own = NODES.class_of("gpu04")
    bare = replace(NODES, classes={**NODES.classes, "h100": replace(own, gpus=replace(own.gpus, numa=()))})
    assert not {file["path"] for file in node(bare, SLURM, "gpu04", [])["slurmd"]} & set(ends.values())


def test_settings_that_are_read_at_start_change_a_file_that_is_read_at_start() -> None:
    port = replace(SLURM, settings={"SlurmdPort": "6828", "SlurmdTimeout": "600", "AuthInfo": "ttl=60"})
    (changed,) = (file for file in node(NODES, port, "gpu01", [])["slurmd"] if file["path"] == "/etc/default/slurmd")
    assert changed["content"].splitlines()[1] == "# read at start: AuthInfo=ttl=60 SlurmdPort=6828"
    (own,) = (file for file in controller(port, NODES, True)["slurmctld"] if file.get("at_start"))
    assert own["path"] == "/etc/default/slurmctld"
    assert "# read at start: AuthInfo=ttl=60\n" in own["content"]


@pytest.mark.parametrize(("cgroups", "limit"), [(True, "12288M"), (False, "infinity")])
def test_systemd_has_the_memory_limit_that_slurmd_sets_itself(cgroups: bool, limit: str) -> None:
    files = {file["path"]: file for file in node(NODES, SLURM, "gpu04", [], cgroups)["slurmd"]}
    drop_in = files["/etc/systemd/system/slurmd.service.d/20-drawbridge-memory.conf"]
    assert drop_in["content"].splitlines()[-2:] == ["[Service]", f"MemoryMax={limit}"]
    assert drop_in["passive"], "a restart would not make systemd read it"


def test_the_health_check_gets_this_nodes_hardware() -> None:
    files = {file["path"]: file for file in node(NODES, SLURM, "gpu04", ["/gpfs/fs1"])["slurmd"]}
    look = files["/etc/drawbridge/slurm/health.json"]
    program = "/usr/local/libexec/drawbridge/slurm-job-gpus"
    wanted = {"mounts": ["/gpfs/fs1"], "gpus": 8, "gpu_files": "/dev/nvidia", "job_gpus": program}
    assert json.loads(look["content"]) == wanted
    assert look["passive"], "it is read anew each time, so no change of it restarts slurmd"


@pytest.mark.parametrize(
    ("packages", "manager", "options", "mariadb"),
    [
        ("debian", "apt", "/etc/default", "/etc/mysql/mariadb.conf.d"),
        ("schedmd_deb", "apt", "/etc/default", "/etc/mysql/mariadb.conf.d"),
        ("openhpc", "dnf", "/etc/sysconfig", "/etc/my.cnf.d"),
        ("schedmd_rpm", "dnf", "/etc/sysconfig", "/etc/my.cnf.d"),
    ],
)
def test_distributors_differ_in_manager_and_paths(packages: str, manager: str, options: str, mariadb: str) -> None:
    slurm = replace(SLURM, packages=packages)
    view = controller(slurm, NODES, True)
    views = (view, node(NODES, slurm, "gpu01", []), login(slurm))
    assert {part["packages"]["manager"] for part in views} == {manager}
    assert view["mariadb"] == f"{mariadb}/60-drawbridge.cnf"
    paths = {file["path"] for part in views for key in ("slurmctld", "slurmd", "sackd") for file in part.get(key, [])}
    assert {f"{options}/{daemon}" for daemon in ("slurmctld", "slurmd", "sackd")} <= paths
