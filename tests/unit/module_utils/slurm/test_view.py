# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Mig, MigException
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm import view as slurm_view
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.logins.model import NodeLogins

from tests.unit.module_utils.lab import NODES, SLURM


def test_a_change_of_a_script_restarts_nothing() -> None:
    files = slurm_view.scripts(replace(SLURM, part_timeout_s=60), ("prolog",))
    assert [(file["path"], file.get("passive", False)) for file in files] == [
        ("/etc/drawbridge/slurm/prolog.d", False),
        ("/usr/local/libexec/drawbridge/slurm-prolog", True),
    ]
    assert files[1]["content"].splitlines()[-1].endswith("slurm-dispatch --timeout 60 prolog")


def test_settings_that_are_read_at_start_change_a_file_that_is_read_at_start() -> None:
    port = replace(SLURM, settings={"SlurmdPort": "6828", "SlurmdTimeout": "600", "AuthInfo": "ttl=60"})
    (changed,) = (
        file
        for file in slurm_view.slurm_node(NODES, port, "gpu01", True)["slurmd"]
        if file["path"] == "/etc/default/slurmd"
    )
    assert changed["content"].splitlines()[1] == "# read at start: AuthInfo=ttl=60 SlurmdPort=6828"
    (own,) = (file for file in slurm_view.slurm_controller(NODES, port, True)["slurmctld"] if file.get("at_start"))
    assert own["path"] == "/etc/default/slurmctld"
    assert "# read at start: AuthInfo=ttl=60\n" in own["content"]


@pytest.mark.parametrize(
    "path", ["systemd/system/slurmd.service.d/20-drawbridge-memory.conf", "drawbridge/slurm/health.json"]
)
def test_a_file_that_slurmd_reads_anew_each_time_restarts_nothing(path: str) -> None:
    files = {file["path"]: file for file in slurm_view.slurm_node(NODES, SLURM, "gpu04", True, ["/gpfs/fs1"])["slurmd"]}
    assert files[f"/etc/{path}"]["passive"]


def test_a_node_is_ready_with_the_gpus_of_its_class() -> None:
    assert slurm_view.slurm_node(NODES, SLURM, "gpu04", True)["ready"]["gres"] == "gpu:h100:8"


def test_checks_count_all_gpus_and_jobs_are_mapped_to_their_device_files() -> None:
    """Four GPUs for jobs, of which the second and third have their files in turn, and one for a display."""
    gpus = replace(NODES.classes["h100"].gpus, numa=(0, 0, 0, 0), minors=(0, 2, 1, 3), others=1)
    nodes = replace(NODES, classes={"h100": replace(NODES.classes["h100"], gpus=gpus)})
    view = slurm_view.slurm_node(nodes, SLURM, "gpu04", True)
    files = {file["path"]: file.get("content", "") for file in view["slurmd"]}
    assert view["hardware"]["machine"]["gpus"] == json.loads(files["/etc/drawbridge/slurm/health.json"])["gpus"] == 5
    assert view["ready"]["gres"] == "gpu:h100:4"
    part = files["/etc/drawbridge/slurm/prolog.d/60-job-gpus"]
    assert part.splitlines()[-1].endswith("slurm-job-gpus --devices 0,2,1,3 write")


def test_a_node_with_instances_has_the_plugin_that_detects_them_and_a_check_of_each_gpu() -> None:
    gpus = replace(NODES.classes["h100"].gpus, mig=Mig({"3g.40gb": 2}, (MigException((0, 1)),)))
    nodes = replace(NODES, classes={"h100": replace(NODES.classes["h100"], gpus=gpus)})
    view = slurm_view.slurm_node(nodes, SLURM, "gpu04", True)
    files = {file["path"]: file.get("content", "") for file in view["slurmd"]}
    listing = json.loads(files["/etc/drawbridge/slurm/health.json"])["gpu_list"]
    assert listing["instances"] == [{}, {}, *[{"3g.40gb": 2}] * 6]
    assert view["ready"]["gres"] == "gpu:h100:2,gpu:3g.40gb:12"
    assert "slurm-wlm-nvml-plugin" in view["packages"]["names"]
    assert view["hardware"]["machine"]["gpus"] == 8, "an instance has no device file /dev/nvidiaN of its own"
    assert files["/etc/drawbridge/slurm/prolog.d/60-job-gpus"].endswith("/slurm-job-gpus --instances write\n")
    assert files["/etc/drawbridge/slurm/epilog.d/60-job-gpus"].endswith("/slurm-job-gpus remove\n")


def test_gpus_that_the_kernel_lists_are_checked_by_number_and_their_jobs_mapped_in_its_order() -> None:
    minors = tuple(range(128, 192, 8))
    gpus = replace(NODES.classes["h100"].gpus, type="mi300x", vendor="amd", minors=minors)
    nodes = replace(NODES, classes={"h100": replace(NODES.classes["h100"], gpus=gpus)})
    view = slurm_view.slurm_node(nodes, SLURM, "gpu04", True)
    files = {file["path"]: file.get("content", "") for file in view["slurmd"]}
    health = json.loads(files["/etc/drawbridge/slurm/health.json"])
    assert (view["hardware"]["gpu_vendor"], view["hardware"]["gpu_numbers"]) == ("amd", [*minors])
    assert health["gpu_list"]["numbers"] == [*minors] and "command" not in health["gpu_list"]
    last = [files[f"/etc/drawbridge/slurm/{kind}.d/60-job-gpus"].splitlines()[-1] for kind in ("prolog", "epilog")]
    assert health["job_gpus_options"] == ["--vendor", "amd"]
    assert files["/etc/tmpfiles.d/drawbridge-exporter.conf"].splitlines()[-1] == "d /run/exporter 0755 root root -"
    assert {"path": "/run/exporter", "mode": "0755"} in view["slurmd"], "the exporter may start before the next boot"
    numbers = ",".join(map(str, minors))
    assert [line.partition("slurm-job-gpus ")[2] for line in last] == [
        f"--vendor amd --devices {numbers} write",
        "--vendor amd remove",
    ]


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
    view = slurm_view.slurm_controller(NODES, slurm, True)
    views = (view, slurm_view.slurm_node(NODES, slurm, "gpu01", True), slurm_view.slurm_login(slurm))
    assert {part["packages"]["manager"] for part in views} == {manager}
    assert view["mariadb"] == f"{mariadb}/60-drawbridge.cnf"
    paths = {file["path"] for part in views for key in ("slurmctld", "slurmd", "sackd") for file in part.get(key, [])}
    assert {f"{options}/{daemon}" for daemon in ("slurmctld", "slurmd", "sackd")} <= paths


def test_logins_are_adopted_only_where_cgroups_hold_them() -> None:
    adopting = replace(SLURM, node_logins=NodeLogins("adopt"))
    assert "libpam-slurm-adopt" in slurm_view.slurm_node(NODES, adopting, "gpu01", True)["packages"]["names"]
    with pytest.raises(IntentError, match="let nodes confine jobs"):
        slurm_view.slurm_node(NODES, adopting, "gpu01", False)


def test_gpus_are_divided_now_and_at_each_boot() -> None:
    """A product without a layout is made whole: its layout may have left the intent. Others are left alone."""
    gpus = replace(NODES.classes["h100"].gpus, product="NVIDIA H100 80GB HBM3")
    exceptions = (MigException((0,), {}), MigException((1,), {"7g.80gb": 1}))
    layouts = [{}, {"7g.80gb": 1}, *[{"3g.40gb": 2}] * 6]
    for mig, wanted, allowed in ((Mig(), [], "used"), (Mig({"3g.40gb": 2}, exceptions), layouts, "any")):
        nodes = replace(NODES, classes={"h100": replace(NODES.classes["h100"], gpus=replace(gpus, mig=mig))})
        view = slurm_view.slurm_node(nodes, SLURM, "gpu04", True)
        assert view["instances"] == {"name": "gpu04", "gpu_vendor": "nvidia", "gpus": wanted}
        assert view["hardware"]["gpu_instances"] == allowed, (
            "the hardware check fails for no instance that a task removes"
        )
        boot = [json.loads(file["content"]) for file in view["instances_boot"]]
        assert boot == ([view["instances"]] if wanted else [])
    unknown = replace(NODES, classes={"h100": replace(NODES.classes["h100"], gpus=replace(gpus, product="NVIDIA T4"))})
    view = slurm_view.slurm_node(unknown, SLURM, "gpu04", True)
    assert (view["instances"], view["instances_boot"]) == ({}, [])
    assert "gpu_instances" not in view["hardware"]
