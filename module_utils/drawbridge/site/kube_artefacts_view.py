# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files, commands and manifests of the modules for Kubernetes, from the arguments of their tasks."""

from __future__ import annotations

from typing import Any

from ..core.artefact import Artefact, Json
from ..core.file_entry import Entry
from ..core.pinned_packages.plan import PinnedState
from ..kube.kubelet.text import render
from ..kube.member import text as member
from ..kube.runtime import text as containerd

CA = "the certificates of the API server, which the run takes from the kubeconfig\n"


def kube_packages(packages: Json, sources: str, path: str) -> Artefact:
    """Packages with their versions, held back from upgrades."""
    versions = {name: str(version) for name, version in packages.items()}
    files = {path: Entry(sources)} if sources else {}
    return Artefact(PinnedState(versions, frozenset(versions)).lines(), files)


def kube_runtime(systemd_cgroup: bool, sandbox_image: str, registries: Any) -> Artefact:
    """Files of containerd."""
    texts = {
        containerd.CONFIG_FILE: containerd.config(systemd_cgroup, sandbox_image),
        containerd.DROP_IN: containerd.LIMITS,
    }
    texts |= {it["path"]: it["content"] for it in registries}
    return Artefact(["run containerd.service"], {path: Entry(text) for path, text in texts.items()})


def kubelet_config(path: str, config: Json) -> Artefact:
    """The kubelet's drop-in."""
    return Artefact(files={path: Entry("".join(f"{line}\n" for line in render(config)))})


def kube_member(join: bool, name: str, address: str, ca_file: str, config: Json, flags: Any, program: str) -> Artefact:
    """The kubelet's main configuration and its flags; nothing if the site joins its nodes itself."""
    if not join:
        return Artefact(["the site joins this node; the run only compares"])
    given = {"name": name, "address": address, "ca_file": ca_file, "config": config, "flags": flags}
    files = member.files({**given, "program": program, "ca": CA})
    secret = f"{member.BOOTSTRAP}: secret, a bootstrap token that the run makes and removes"
    return Artefact([secret, f"run {member.UNIT}"], files)


def helm_release(name: str, namespace: str, chart: str, version: str, source: str, values: Json) -> Artefact:
    """A release and its values."""
    return Artefact([f"helm release {namespace}/{name}: {chart} {version} from {source}"], values={name: values})


def k8s(definition: Any) -> Artefact:
    """Objects for the API server, by server-side apply."""
    return Artefact(objects=definition if isinstance(definition, list) else [definition])


def project_objects(objects: Any) -> Artefact:
    """Objects of projects. Those that an earlier run made for another one, and that are not here, are deleted."""
    return Artefact(objects=objects)


def installer_rights(objects: Any, manifest: str) -> Artefact:
    """Objects that an administrator applies. The run only compares them."""
    return Artefact(handed={manifest: objects})


KUBE = (kube_packages, kube_runtime, kubelet_config, kube_member, helm_release, installer_rights, k8s, project_objects)
