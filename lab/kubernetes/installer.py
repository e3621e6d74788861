# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the lab's administrator applies for inventories/lab: rights before the site is built, then the gate's policies.

The lab's own site has GPUs and RDMA devices by other means. The rights are those of a site that installs the GPU
operator and the RDMA plugin, too, since scenarios do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import yaml

from module_utils.drawbridge.site.compose import part
from module_utils.drawbridge.site.installer_view import kube_installer

ROOT = Path(__file__).resolve().parents[2]
INTENT = ROOT / "inventories/lab/group_vars/all"
DOMAINS = ("nodes", "slurm", "storage", "kube", "health")
ROLE = ROOT / "roles/kube_installer"
API_SERVER = {"api_server": "https://ctl:6443"}
"""What the lab's own intent templates."""
EVERYTHING = {"gpu_operator": {}, "rdma": {}, **API_SERVER}
"""And what it leaves out."""
RIGHTS, POLICIES = "rights", "policies"
ADMINISTRATOR = ("drawbridge", ("drawbridge:platform", "system:masters"))
"""User and groups that the administrator acts as: the policies want the first group, RBAC the second."""

Json = dict[str, Any]


def objects(kind: str = RIGHTS) -> list[Json]:
    """The manifests, in the order in which they are applied."""
    view = _view(EVERYTHING if kind == RIGHTS else API_SERVER)
    return [*view[kind], *rendered(kind, view["names"])]


def _view(kube: Json) -> Json:
    texts = [path.read_text() for it in DOMAINS for path in INTENT.glob(f"{it}.yml")]
    said = {key: it for text in texts for key, it in yaml.safe_load(text).items()}
    said["drawbridge_kube"] |= kube
    nodes, slurm, gpfs, meant = (part(it, said[f"drawbridge_{it}"]) for it in ("nodes", "slurm", "gpfs", "kube"))
    health = part("health", said["drawbridge_health"]) if "drawbridge_health" in said else None
    return kube_installer(nodes, slurm, {"gpfs": gpfs}, meant, health)


def sources() -> dict[str, str]:
    """Texts of the role's templates."""
    return {path.name: path.read_text() for path in (ROLE / "templates/manifests").glob("*.j2")}


def rendered(kind: str, names: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> list[Json]:
    """The role's own manifests as Ansible renders them; also from templates with a defect."""
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(texts or sources()), trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["to_json"] = json.dumps
    files = yaml.safe_load((ROLE / "vars/main.yml").read_text())["__kube_installer_manifests"][kind]
    pages = [environment.get_template(it.removeprefix("manifests/")).render(names=names) for it in files]
    return [document for page in pages for document in yaml.safe_load_all(page) if document]


def handed(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Manifests for the administrator, each with a name: these files of a plan, or the lab's own policies."""
    if not files:
        yield POLICIES, text(POLICIES)
    for file in files:
        yield Path(file).stem, Path(file).read_text()


def text(kind: str) -> str:
    """The manifests as a file for kubectl."""
    return yaml.safe_dump_all(objects(kind), sort_keys=False)
