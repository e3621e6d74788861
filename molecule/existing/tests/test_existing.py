# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A live Slurm and nodes of kubeadm's: the comparison, the refusals, the takeover under a running job, further runs.

The tests build on each other in their order.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.hosts.paths import REPOSITORY, Paths
from tests.running import Lab, Run

APPLY = (
    "kubectl apply --server-side --force-conflicts --as drawbridge --as-group drawbridge:platform "
    "--as-group system:masters -f"
)
CONSENT = "slurm_controller_may_drop_lines"
ADD_FLAG = "kubelet_numa_may_add_config_dir"
CONSENTS = ("-e", f"{CONSENT}=true", "-e", f"{ADD_FLAG}=true")
KUBEADMS = (
    "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf",
    "/var/lib/kubelet/kubeadm-flags.env",
    "/var/lib/kubelet/config.yaml",
)
INVENTORY = Path(__file__).parents[1] / "inventory"
BUSY, NODES = "gpu01", ("gpu01", "gpu02")
KUBELET_STEPS = (
    "write the drop-in with 12 keys",
    "add --config-dir to the unit",
    "drain the node, restart the kubelet with it, resume; remove cpu_manager_state, memory_manager_state",
)
GUARD_STEP = "write /etc/containerd/conf.d/50-drawbridge-guard.toml"
"""containerd reads it at a start, which waits for the job."""
BEFORE = "/var/lib/drawbridge/before/slurm/etc/slurm"
LOST = {
    "SlurmctldTimeout=180": 'SlurmctldTimeout: "180"',
    "SchedulerParameters=bf_window=2880": 'SchedulerParameters: "bf_window=2880"',
    "NodeName=gpu[01-02] Feature=rack1": 'Feature: "rack1"',
    "PartitionName=debug Hidden=YES": 'Hidden: "YES"',
}
"""Lines of furnish.sh that the intent leaves out, and the keys that would keep them."""
KEPT = {
    "SlurmctldPort": "7817",
    "SlurmdPort": "7818",
    "StateSaveLocation": "/srv/slurm/state",
    "SlurmdSpoolDir": "/srv/slurm/spool",
    "SlurmctldLogFile": "/srv/slurm/log/slurmctld.log",
    "SlurmdTimeout": "600 sec",
    "KillWait": "45 sec",
    "MailProg": "/opt/site/mail",
    "JobSubmitPlugins": "lua,require_timelimit",
    "PrologFlags": "Alloc,Contain",
}


@dataclass(frozen=True)
class Takeover:
    """The runs, and the job that ran before the first and after the last."""

    job: str
    digest: str
    """Of slurm.conf before the first run."""
    kubeadms: str
    """Files of kubeadm on the nodes, before the first run."""
    no_rights: Run
    no_policies: Run
    checked: Run
    refused: Run
    digest_after_refusal: str
    first: Run
    second: Run


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab(Paths.of(), (str(INVENTORY),))


@pytest.fixture(scope="module")
def takeover(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Takeover:
    job = submitted(lab, f"-p AI_Train -w {BUSY} -t 60", "until [ -e /run/site-go ]; do sleep 0.2; done")
    lab.wait("the job runs", lambda: state(lab, job) == "RUNNING")
    digest = lab.ssh("ctl", "sha256sum /etc/slurm/slurm.conf")
    kubeadms = files_of_kubeadm(lab)
    no_rights = lab.playbook("site")
    folder = tmp_path_factory.mktemp("plan") / "plan"
    lab.administrator(folder, "kube_installer")
    no_policies = lab.playbook("gate")
    lab.administrator(folder, "kube_policies")
    checked = lab.playbook("site", "--check", "--diff", *CONSENTS)
    refused = lab.playbook("site")
    left = lab.ssh("ctl", "sha256sum /etc/slurm/slurm.conf")
    first = lab.playbook("site", *CONSENTS)
    second = lab.playbook("site")
    return Takeover(job, digest, kubeadms, no_rights, no_policies, checked, refused, left, first, second)


def files_of_kubeadm(lab: Lab) -> str:
    return "".join(lab.ssh(node, f"cat {' '.join(KUBEADMS)}") for node in NODES)


def submitted(lab: Lab, options: str, script: str = "true") -> str:
    command = f"cd /tmp; sbatch --parsable -A vision_lab -o /dev/null {options} --wrap '{script}'"
    return lab.ssh("login1", f"su ada -s /bin/sh -c {quoted(command)}").strip()


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def state(lab: Lab, job: str) -> str:
    return lab.ssh("login1", f"squeue -h -t all -j {job} -o %T", check=False).strip()


def comparison(run: Run) -> str:
    """What the controller's task shows of the site's files."""
    shown = [result.get("diff") for task, _, result in run.results() if task.endswith("intent's configuration")]
    (diff,) = shown
    return (diff or {})["prepared"]


def test_what_the_kubeconfig_may_not_do_is_named_before_any_change(takeover: Takeover) -> None:
    (message,) = (result["msg"] for _, _, result in takeover.no_rights.results() if result.get("failed"))
    assert "namespaces vision-lab" in message
    assert f"{APPLY} plan/kubernetes/kube_installer.yml" in message
    assert takeover.no_rights.changed() == []


def test_what_a_run_may_not_write_is_named_before_a_node_is_closed(takeover: Takeover) -> None:
    """The run has looked for conflicts with the policies, and says that the administrator may apply them."""
    (message,) = (result["msg"] for _, _, result in takeover.no_policies.results() if result.get("failed"))
    assert "ValidatingAdmissionPolicyBinding drawbridge-elsewhere" in message
    assert f"{APPLY} plan/kubernetes/kube_policies.yml" in message
    assert not any("guards" in name or "Adopt" in name for name, _, _ in takeover.no_policies.results())


def test_check_mode_shows_every_line_in_its_group(takeover: Takeover) -> None:
    assert takeover.checked.code == 0, takeover.checked.output
    conf = comparison(takeover.checked).partition("/etc/slurm/slurm.conf\n")[2]
    ours, kept, lost = (
        conf.partition(f"    {begin}:")[2].partition(end)[0]
        for begin, end in (("ours", "    kept:"), ("kept", "    dropped:"), ("dropped", "to keep dropped lines"))
    )
    assert "- ReturnToService=2   # a lost node comes back only when it is proved ready\n" in ours
    assert "SlurmctldPort=7817\n" in kept
    assert "Prolog=/opt/site/prolog   # it runs as a part\n" in kept
    assert [line for line in LOST if f"- {line}   # drawbridge_slurm." not in lost] == []


def test_without_consent_nothing_changes(takeover: Takeover) -> None:
    assert takeover.refused.code != 0
    (message,) = (result["msg"] for _, _, result in takeover.refused.results() if result.get("failed"))
    assert f"set {CONSENT}: true" in message
    assert [key for key in LOST.values() if key not in message] == []
    assert takeover.digest_after_refusal == takeover.digest


def test_passwords_are_in_no_output(takeover: Takeover) -> None:
    runs = (takeover.no_rights, takeover.checked, takeover.refused, takeover.first, takeover.second)
    assert [run for run in runs if "#w one" in f"{run.report}{run.output}"] == []


def test_a_second_run_changes_nothing_and_the_kubelet_of_the_busy_node_waits(takeover: Takeover) -> None:
    assert takeover.first.code == 0, takeover.first.output
    assert takeover.second.code == 0, takeover.second.output
    assert takeover.second.changed() == []
    assert takeover.second.steps() == {}
    waits = [(host, found["pending"]) for _, host, found in takeover.second.results() if found.get("pending")]
    assert {host for host, _ in waits} == {BUSY}
    waiting = [step for _, pending in waits for step in pending]
    assert [step for step in (*KUBELET_STEPS, GUARD_STEP) if not any(step in each for each in waiting)] == []


def test_the_site_keeps_its_settings(takeover: Takeover, lab: Lab) -> None:
    rows = (line.partition("=") for line in lab.ssh("ctl", "scontrol show config").splitlines())
    shown = {key.strip(): value.strip() for key, _, value in rows}
    assert {key: shown[key] for key in KEPT} == KEPT
    assert "PurgeJobAfter=24month" in lab.ssh("db1", "cat /etc/slurm/slurmdbd.conf")


def test_partitions_keep_their_keys(takeover: Takeover, lab: Lab) -> None:
    shown = lab.ssh("ctl", "scontrol show partition -o")
    train, vision = sorted(shown.splitlines())
    assert {"DefaultTime=01:00:00", "PriorityTier=10", "MaxNodes=4", "LLN=YES", "Default=YES"} <= {*train.split()}
    assert {"AllowAccounts=vision_lab", "AllowGroups=vision", "MaxTime=UNLIMITED"} <= {*vision.split()}


def test_copies_of_the_files_are_for_root_alone(takeover: Takeover, lab: Lab) -> None:
    assert takeover.digest.split()[0] == lab.ssh("ctl", f"sha256sum {BEFORE}/slurm.conf").split()[0]
    assert lab.ssh("db1", f"stat -c '%U %a' {BEFORE}/slurmdbd.conf").strip() == "root 600"


def test_nodes_and_login_hosts_read_the_controllers_file(takeover: Takeover, lab: Lab) -> None:
    for host in ("gpu01", "login1"):
        assert lab.ssh(host, "test -e /etc/slurm/slurm.conf || echo gone").strip() == "gone"
        assert "UP" in lab.ssh(host, "scontrol ping")


def test_the_job_has_run_on(takeover: Takeover, lab: Lab) -> None:
    """It ends with its own exit code: slurmd after the takeover finds the steps of the one before."""
    assert state(lab, takeover.job) == "RUNNING"
    lab.ssh("gpu01", "touch /run/site-go")
    assert lab.booked(takeover.job) == ["COMPLETED", "0:0"]
    assert lab.ssh("ctl", f"sacct -n -X -D -j {takeover.job} -o job").split() == [takeover.job]


def test_scripts_of_the_site_run_on(takeover: Takeover, lab: Lab) -> None:
    job = submitted(lab, "-p vision_lab -t 5")
    lab.wait("the prolog of the site has run", lambda: job in lab.ssh("gpu01", "cat /run/site-prolog").split())
    assert lab.booked(job) == ["COMPLETED", "0:0"]
    assert "set by the site's script" in lab.ssh("ctl", f"scontrol show job {job} | grep AdminComment")


def test_a_plugin_of_the_site_refuses_on(takeover: Takeover, lab: Lab) -> None:
    """require_timelimit stands beside lua."""
    refused = lab.ssh("login1", "cd /tmp; su ada -s /bin/sh -c 'sbatch --wrap true' 2>&1", check=False)
    assert "Time limit specification required" in refused


def test_users_of_the_account_are_the_sites(takeover: Takeover, lab: Lab) -> None:
    rows = lab.ssh("ctl", "sacctmgr -nP list assoc account=vision_lab format=user").split()
    assert sorted(rows) == ["ada", "ben"]


def test_the_free_nodes_kubelet_waits_no_more_once_the_job_is_over(takeover: Takeover, lab: Lab) -> None:
    refused = lab.playbook("site")
    assert f"set {ADD_FLAG}: true" in json.dumps(refused.report)
    third, fourth = lab.playbook("site", "-e", f"{ADD_FLAG}=true"), lab.playbook("site")
    assert (third.code, fourth.code) == (0, 0), f"{third.output}{fourth.output}"
    assert {host for _, host in third.steps()} == {BUSY}
    assert (fourth.changed(), fourth.steps()) == ([], {})
    assert files_of_kubeadm(lab) == takeover.kubeadms


@pytest.mark.usefixtures("takeover")
def test_nodes_of_kubeadm_are_closed_and_reserve_cpus(lab: Lab) -> None:
    shown = "jsonpath={range .items[*]}{.metadata.name} {.spec.taints[*].value} {.status.allocatable.cpu};{end}"
    lab.wait(
        "both nodes are closed and reserve CPUs",
        lambda: lab.kubectl("get", "node", *NODES, "-o", shown) == "gpu01 closed 120;gpu02 closed 120;",
    )


@pytest.mark.usefixtures("takeover")
def test_a_job_borrows_the_nodes_through_the_gate(lab: Lab) -> None:
    script = (REPOSITORY / "examples/allreduce.sbatch").read_text()
    words = "sbatch --parsable --wait -A vision_lab -p AI_Train --chdir=/tmp --output=/tmp/%j.out"
    job = lab.ssh("login1", f"runuser -u ada -- {words}", stdin=script).strip()
    assert lab.booked(job) == ["COMPLETED", "0:0"]
    told = "".join(lab.ssh(node, f"cat /tmp/{job}.out 2>/dev/null || true") for node in NODES)
    assert told.count("with 8 GPUs: sum 3.0, expected 3.0") == 2


@pytest.mark.usefixtures("takeover")
def test_a_slurmdbd_that_others_run_is_left_alone(lab: Lab, tmp_path: Path) -> None:
    """The same live cluster, in the words of a site whose database team keeps slurmdbd."""
    shutil.copytree(INVENTORY, tmp_path / "inventory")
    shutil.copytree(INVENTORY.parent / "files", tmp_path / "files")
    edit(tmp_path / "inventory/hosts.yml", lambda text: text["all"]["children"].update(accounting={}))
    edit(
        tmp_path / "inventory/group_vars/all/slurm.yml",
        lambda text: text["drawbridge_slurm"].update(accounting={"slurmdbd": "site", "host": "db1"}),
    )
    lab.ssh("db1", "echo '# of the database team' >> /etc/slurm/slurmdbd.conf")
    run = Lab(lab.paths, (str(tmp_path / "inventory"),)).playbook("slurm")
    assert run.code == 0, run.output
    assert "db1" not in {host for _, host, _ in run.results()}
    assert (run.changed(), run.steps()) == ([], {})


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    text = yaml.safe_load(path.read_text())
    change(text)
    path.write_text(yaml.safe_dump(text, sort_keys=False))  # slurm.conf has the order of the intent


def test_the_sites_health_check_counts(takeover: Takeover, lab: Lab) -> None:
    look = "/usr/local/libexec/drawbridge/slurm-health --look"
    assert "the site says so" not in lab.ssh("gpu01", look, check=False)
    lab.ssh("gpu01", "touch /run/site-ill")
    assert "the site says so" in lab.ssh("gpu01", look, check=False)
