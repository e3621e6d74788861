# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""On demand, on the hosts of this scenario: images by a mirror, and a site that makes its nodes members itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.view import kube_node
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from lab.kubernetes.pki import Authority
from tests.running import Lab, Run
from tests.unit.module_utils.site.test_refused import site

from .test_kube_node import kubernetes


def test_images_come_from_the_mirror_whose_authority_the_intent_names(lab: Lab, tmp_path: Path) -> None:
    """The registry itself does not exist; without the mirror's authority nothing is fetched either."""
    address = lab.ssh("gpu03", "hostname -I").split()[0]
    authority = Authority.ensure(tmp_path)
    pair = authority.server("mirror", (address,))
    lab.ssh("gpu03", "umask 077; cat > /run/mirror.pem", stdin=(pair.certificate + pair.key).decode())
    lab.ssh("gpu03", "cat > /run/registry.py", stdin=(Path(__file__).parent / "registry.py").read_text())
    serve = f"python3 /run/registry.py /usr/lib/lab/images/pause-1.tar /run/mirror.pem {address} 5443"
    lab.ssh("gpu03", f"systemd-run --unit=mirror {serve}")
    lab.wait("the mirror listens", lambda: lab.ssh("gpu03", "ss -Hltn 'sport = :5443'"))
    entry = {"name": "registry.invalid", "mirrors": [f"https://{address}:5443"]}
    pull = (
        "ctr -n k8s.io images pull --local --snapshotter native --hosts-dir /etc/containerd/certs.d"
        " registry.invalid/lab/pause:1 2>&1 || true"
    )
    try:
        assert mirrored(lab, {**entry, "ca": "", "fallback": False}).code == 0
        assert "certificate signed by unknown authority" in lab.ssh("gpu02", pull)
        run = mirrored(lab, {**entry, "ca": authority.ca.certificate.decode(), "fallback": False})
        assert run.code == 0, run.output
        lab.ssh("gpu02", pull)
        assert "registry.invalid/lab/pause:1" in lab.ssh("gpu02", "ctr -n k8s.io images ls -q")
    finally:
        lab.ssh("gpu03", "systemctl stop mirror; rm /run/mirror.pem")
        lab.ssh("gpu02", "ctr -n k8s.io images rm registry.invalid/lab/pause:1 || true")
    gone = kubernetes(lab, "gpu02")
    steps = [step for found in gone.steps().values() for step in found]
    assert sorted(steps) == [
        f"remove /etc/containerd/certs.d/registry.invalid/{name}" for name in ("ca.crt", "hosts.toml")
    ]


def mirrored(lab: Lab, registry: dict[str, Any]) -> Run:
    """Run the playbook with this registry in the intent."""
    sources = lab.ssh("gpu02", "cat /etc/apt/sources.list.d/drawbridge-kubernetes.sources")
    own = {"sources": sources, "registries": [registry]}
    return kubernetes(lab, "gpu02", kube_node_view=kube_node(part("kube", {**site("lab")["drawbridge_kube"], **own})))


def test_a_site_that_joins_nodes_itself_is_only_told(lab: Lab) -> None:
    view = {"join": False, "packages": {}, "runtime": {}, "member": {"join": False, "version": ""}, "kubelet": {}}
    good = kubernetes(lab, "gpu03", kube_node_view=view)
    assert (good.code, good.changed()) == (0, [])
    pem = "/var/lib/kubelet/pki/kubelet-client-current.pem"
    lab.ssh("gpu03", f"mv {pem} /run/")
    broken = kubernetes(lab, "gpu03", kube_node_view=view)
    lab.ssh("gpu03", f"mv /run/{pem.rpartition('/')[2]} {pem}")
    assert (broken.code != 0, broken.changed()) == (True, [])
    assert "gpu03 is no member of the cluster (it has no certificate); join it" in json.dumps(broken.report)
