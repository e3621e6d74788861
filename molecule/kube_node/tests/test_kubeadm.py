# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that the site has joined by kubeadm: its unit, its flags file, its configuration.

The last file by its name, because all others know Drawbridge's own members.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.running import Lab, Run
from tests.stack import move

from .test_kube_node import CLOSED, DROP_IN, IDENTITY, kubernetes, ready, taints

NODE = "gpu04"
UNIT = "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
KUBEADM = """\
# Note: This dropin only works with kubeadm and kubelet v1.11+
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \
--kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""
"""As the package kubeadm has it."""
FLAGS = "/var/lib/kubelet/kubeadm-flags.env"
BECOME = f"""
systemctl stop kubelet
rm -r {DROP_IN} /etc/kubernetes/kubelet.conf.d
sed -i -e 1d -e /registerWithTaints/d /var/lib/kubelet/config.yaml
echo 'KUBELET_KUBEADM_ARGS="--hostname-override={NODE} --node-ip='$(hostname -I | cut -d' ' -f1)'"' > {FLAGS}
rm -f /var/lib/kubelet/cpu_manager_state /var/lib/kubelet/memory_manager_state
mkdir -p $(dirname {UNIT})
cat > {UNIT}
systemctl daemon-reload
systemctl start kubelet
"""
BACK = f"""
systemctl stop kubelet
rm -rf {UNIT} {FLAGS} {DROP_IN} {IDENTITY}
rm -rf /var/lib/kubelet/config.yaml /var/lib/kubelet/*_manager_state /var/lib/kubelet/pki
systemctl daemon-reload
"""
GO_BACK = f"""
systemctl stop kubelet
rm -f {DROP_IN} /etc/kubernetes/kubelet.conf.d/50-drawbridge.conf /var/lib/kubelet/*_manager_state
systemctl daemon-reload
systemctl start kubelet
"""
"""As docs/guides/kubeadm.md says."""
SITES = {"lab_way_to_join": {"join": "site"}}
STEPS = [
    "add --config-dir to the unit",
    "drain the node, restart the kubelet with it, resume; remove cpu_manager_state, memory_manager_state",
]


def run(lab: Lab, *options: str, consent: bool = False) -> Run:
    return kubernetes(lab, NODE, *options, **SITES, kubelet_numa_may_add_config_dir=consent)


def steps(found: Run) -> list[str]:
    return [step for here in found.steps().values() for step in here]


def cpus(api: Any) -> str:
    return api.read_node(NODE).status.allocatable["cpu"]


def command(lab: Lab) -> str:
    return lab.ssh(NODE, "tr '\\0' ' ' < /proc/$(systemctl show -P MainPID kubelet)/cmdline")


@pytest.fixture(scope="module")
def kubeadm(lab: Lab, api: Any) -> Iterator[None]:
    """The same member with the files of kubeadm; at the end it is Drawbridge's again."""
    lab.ssh(NODE, BECOME, stdin=KUBEADM)
    lab.wait(f"{NODE} has all its CPUs", lambda: ready(api.read_node(NODE)) and cpus(api) == "128")
    yield
    lab.ssh(NODE, BACK)
    again = kubernetes(lab, NODE)
    assert again.code == 0, again.output
    lab.wait(f"{NODE} is Ready", lambda: ready(api.read_node(NODE)) and cpus(api) == "120")


@pytest.mark.usefixtures("kubeadm")
def test_without_consent_nothing_changes(lab: Lab) -> None:
    before = command(lab)
    refused = run(lab)
    assert refused.code != 0
    assert "set kubelet_numa_may_add_config_dir: true" in json.dumps(refused.report)
    assert (command(lab), refused.changed()) == (before, [])
    assert lab.ssh(NODE, f"ls {DROP_IN} /etc/kubernetes/kubelet.conf.d 2>/dev/null || true") == ""


@pytest.mark.usefixtures("kubeadm")
def test_a_held_node_waits(lab: Lab, api: Any) -> None:
    move(api, NODE, "vision.7")
    waits = run(lab, consent=True)
    move(api, NODE, "closed")
    assert (waits.code, waits.changed()) == (0, []), waits.output
    assert "drawbridge.io/slurm=vision.7" in json.dumps(waits.report)
    assert "--config-dir" not in command(lab)


@pytest.mark.usefixtures("kubeadm")
def test_a_closed_node_gets_its_numa_policy_and_keeps_the_sites_files(lab: Lab, api: Any) -> None:
    sites = f"cat {UNIT} {FLAGS} /var/lib/kubelet/config.yaml"
    before = lab.ssh(NODE, sites)
    predicted = run(lab, "--check", "--diff", consent=True)
    done = run(lab, "--diff", consent=True)
    assert (predicted.code, done.code) == (0, 0), done.output
    assert steps(done)[-2:] == STEPS and (done.steps(), done.changed()) == (predicted.steps(), predicted.changed())
    assert "--config-dir=/etc/kubernetes/kubelet.conf.d" in command(lab)
    assert f"--hostname-override={NODE}" in command(lab), "kubeadm's flags stay"
    assert lab.ssh(NODE, sites) == before
    lab.wait(f"{NODE} reserves CPUs", lambda: ready(api.read_node(NODE)) and cpus(api) == "120")
    assert CLOSED in taints(api.read_node(NODE))
    second = run(lab)
    assert (second.code, second.changed()) == (0, []), "the consent is needed once"


@pytest.mark.usefixtures("kubeadm")
def test_the_way_back_is_the_guides(lab: Lab, api: Any) -> None:
    lab.ssh(NODE, GO_BACK)
    lab.wait(f"{NODE} has all its CPUs", lambda: ready(api.read_node(NODE)) and cpus(api) == "128")
    assert "--config-dir" not in command(lab)
    assert CLOSED in taints(api.read_node(NODE)), "the Node keeps its taint"
