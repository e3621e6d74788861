# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import IntentError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import (
    controller,
    login,
    node,
    scripts,
)

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
NODES, SLURM = part("nodes", SITE["drawbridge_nodes"]), part("slurm", SITE["drawbridge_slurm"])


def test_the_controllers_scripts_stand_there_before_slurm_conf_names_them() -> None:
    paths = [file["path"] for file in controller(SLURM, NODES, True)["slurmctld"]]
    assert paths.index("/usr/local/libexec/drawbridge/slurm-prolog_slurmctld") < paths.index("/etc/slurm/slurm.conf")
    assert paths[-1] == "/etc/slurm/slurm.conf"


def test_nobody_but_slurm_reads_the_configuration_of_the_books() -> None:
    (file,) = controller(SLURM, NODES, True)["slurmdbd"]
    assert (file["owner"], file["mode"]) == ("slurm", "0600")


def test_a_node_has_its_own_scripts_and_no_slurm_conf() -> None:
    view = node(NODES, SLURM, "gpu04", ["/gpfs/fs1"])
    paths = [file["path"] for file in view["slurmd"]]
    assert "/usr/local/libexec/drawbridge/slurm-epilog" in paths
    assert not [path for path in paths if path.startswith("/etc/slurm")]
    assert view["gres"] == "gpu:h100:8"


def test_an_unknown_node_is_an_error() -> None:
    with pytest.raises(IntentError):
        node(NODES, SLURM, "gpu99", [])


def test_a_change_of_a_script_restarts_nothing() -> None:
    files = scripts(("prolog",), 60)
    assert [(file["path"], file.get("passive", False)) for file in files] == [
        ("/etc/drawbridge/slurm/prolog.d", False),
        ("/usr/local/libexec/drawbridge/slurm-prolog", True),
    ]
    assert files[1]["content"].splitlines()[-1].endswith("slurm-dispatch --timeout 60 prolog")


def test_clients_ask_the_controller_for_their_configuration() -> None:
    (file,) = login(SLURM)["sackd"]
    assert file["path"] == "/etc/default/sackd"
    assert file["content"].splitlines()[1:] == ['SACKD_OPTIONS="--conf-server ctl:6817"']


def test_what_daemons_read_only_when_they_start_changes_a_file_that_they_read_then() -> None:
    port = replace(SLURM, settings={"SlurmdPort": "6828", "SlurmdTimeout": "600", "AuthInfo": "ttl=60"})
    (changed,) = (file for file in node(NODES, port, "gpu01", [])["slurmd"] if file["path"] == "/etc/default/slurmd")
    assert changed["content"].splitlines()[1] == "# read at start: AuthInfo=ttl=60 SlurmdPort=6828"
    (own,) = (file for file in controller(port, NODES, True)["slurmctld"] if file.get("at_start"))
    assert own["path"] == "/etc/default/slurmctld"
    assert "# read at start: AuthInfo=ttl=60\n" in own["content"]


def test_the_health_check_looks_for_what_this_node_has() -> None:
    files = {file["path"]: file for file in node(NODES, SLURM, "gpu04", ["/gpfs/fs1"])["slurmd"]}
    look = files["/etc/drawbridge/slurm/health.json"]
    assert json.loads(look["content"]) == {"mounts": ["/gpfs/fs1"], "gpus": 8, "gpu_files": "/dev/nvidia"}
    assert look["passive"], "it is read anew each time, so no change of it restarts slurmd"


def rendered(packages: str) -> dict[str, list[str]]:
    """Packages and paths of all hosts as this distributor's."""
    slurm = replace(SLURM, packages=packages)
    own, views = controller(slurm, NODES, True), (node(NODES, slurm, "gpu01", []), login(slurm))
    files = [*own["slurmctld"], *own["slurmdbd"], *views[0]["slurmd"], *views[1]["sackd"]]
    return {
        "paths": [own["mariadb"], *(file["path"] for file in files)],
        "manager": sorted({view["packages"]["manager"] for view in (own, *views)}),
        "names": sorted({name for view in (own, *views) for name in view["packages"]["names"]}),
    }


@pytest.mark.parametrize("packages", ["debian", "schedmd_deb"])
def test_debian_and_ubuntu_have_options_in_default(packages: str) -> None:
    found = rendered(packages)
    assert found["manager"] == ["apt"]
    assert {f"/etc/default/{daemon}" for daemon in ("slurmctld", "slurmd", "sackd")} <= set(found["paths"])
    assert "/etc/mysql/mariadb.conf.d/60-drawbridge.cnf" in found["paths"]
    assert not [path for path in found["paths"] if path.startswith(("/etc/sysconfig", "/etc/my.cnf.d"))]


@pytest.mark.parametrize("packages", ["openhpc", "schedmd_rpm"])
def test_the_rhel_family_has_options_in_sysconfig(packages: str) -> None:
    found = rendered(packages)
    assert found["manager"] == ["dnf"]
    assert {f"/etc/sysconfig/{daemon}" for daemon in ("slurmctld", "slurmd", "sackd")} <= set(found["paths"])
    assert "/etc/my.cnf.d/60-drawbridge.cnf" in found["paths"]
    assert not [path for path in found["paths"] if path.startswith(("/etc/default", "/etc/mysql"))]


def test_distributors_differ_in_packages_and_those_paths_alone() -> None:
    theirs = rendered("debian"), rendered("openhpc")
    common = set(theirs[0]["paths"]) & set(theirs[1]["paths"])
    assert [len(set(found["paths"]) - common) for found in theirs] == [4, 4]
    assert set(theirs[0]["names"]) & set(theirs[1]["names"]) == {"mariadb-server", "munge"}
