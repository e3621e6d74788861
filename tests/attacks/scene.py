# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The cluster when the attacks begin: the role's objects, four nodes, two jobs, a tenant."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.gate_view import (
    infrastructure,
    namespaces,
    objects,
    open_nodes,
    project_objects,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.installer_view import rights
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.projects_kube_view import allowed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.kinds import storage_classes

from lab.hosts.paths import Paths
from lab.kubernetes.installer import ADMINISTRATOR, EVERYTHING
from lab.tools import definitions
from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.gate_names import GATE_NAMESPACE, NODES_NAMESPACE
from roles.slurm_gate.files.gate.states import Owner, dirtying, opening
from tests import waiting
from tests.attacks import tables
from tests.attacks.client import KINDS, Answer, Client, Json, Who, path_of
from tests.attacks.manifests import DRIVER, rendered
from tests.attacks.projects import PROJECTS, SLURM, SPACES, moved
from tests.attacks.tables import WAYS
from tests.unit.module_utils.kube.kubelet.test_check import merged
from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
# more file systems than the lab has: what an image can do with several, and with other depths
MOUNTS = ("/gpfs/fs1", "/gpfs/fs2", "/gpfs/deep/fs3", "/scratch/fs2", "/lake", "/lake/deep")
FILESYSTEMS = [{"device": f"fs{index}", "mount": mount} for index, mount in enumerate(MOUNTS)]
SITE = {**SITE, "drawbridge_gpfs": {**SITE["drawbridge_gpfs"], "filesystems": FILESYSTEMS, "csi": DRIVER}}
KUBE, GPFS = (part(domain, SITE[f"drawbridge_{domain}"]) for domain in ("kube", "gpfs"))
RIGHTS = rights(SLURM, {"gpfs": GPFS}, part("kube", {**SITE["drawbridge_kube"], **EVERYTHING}), None, PROJECTS)
CLASSES = storage_classes({"gpfs": GPFS})
DEPLOYER = Who("drawbridge", ("drawbridge:platform", "drawbridge:installer"))
"""Whom a run acts as. The lab has given it the rights of role kube_installer."""
ADMIN = Who(*ADMINISTRATOR)
JOBS = {4711: (2001, "gpu02"), 471: (2002, "gpu03")}
GID = 3001
OTHERS = {2001: (3011, 3012)}
"""Other groups of a user."""
READY_S = 180.0
NO_REQUEST = (400, 404, 405, 409, 415, 422)
SUBRESOURCE = re.compile(r"/(ephemeralcontainers|finalize|resize|scale|status)$")


@dataclass(frozen=True)
class Scene:
    """People and things by the names that rows use."""

    client: Client
    people: dict[str, Who]
    things: dict[str, Json]

    def ask(self, row: Json, dry: bool = True) -> Answer:
        """Do what a row says, as whom it says; nothing stays."""
        if "impersonating" in row:
            return self.client.bear(self.token(self.people[row["as"]]), row["get"], row["impersonating"])
        row = self._in_its_way(row) if "way" in row else row
        return self._ask(self.people[row["as"]], row, "?dryRun=All" if dry else "")

    def _in_its_way(self, row: Json) -> Json:
        """A neighbour as a row with a request of its own."""
        own, way = {"as": row["as"]}, row["way"]
        if way == "deletecollection":
            place, _, name = row["delete"].rpartition("/")
            return {**own, "delete": f"{place}?fieldSelector=metadata.name%3D{name}", "body": row.get("body")}
        if way == "generateName":
            path, body = self._made(row)
            metadata = {key: value for key, value in body["metadata"].items() if key != "name"}
            return {
                **own,
                "post": path,
                "body": {**body, "metadata": {**metadata, way: f"{body['metadata']['name']}-"}},
            }
        return {**own, **self._written(row, way)} if way in WAYS["merge"] else row

    def _written(self, row: Json, way: str) -> Json:
        """The request that leaves an object as a row says."""
        if "create" in row:
            path, whole = self._made(row)
            path, part = f"{path}/{whole['metadata']['name']}", whole
        else:
            path, part = row["patch"], row["merge"]
            there = self.client.ask("GET", SUBRESOURCE.sub("", path)).body
            whole = merged(there, part)
        name = {
            "apiVersion": whole["apiVersion"],
            "kind": whole["kind"],
            "metadata": {"name": whole["metadata"]["name"]},
        }
        return {
            "apply": {"patch": f"{path}?fieldManager=other&force=true", "apply": merged(name, part)},
            "json": {"patch": path, "json": [{"op": "add", "path": f"/{top}", "value": whole[top]} for top in part]},
            "merge": {"patch": path, "merge": part},
            "strategic": {"patch": path, "strategic": part},
            "update": {"put": path, "body": whole},
        }[way]

    def _made(self, row: Json) -> tuple[str, Json]:
        """Where a row's object is made, and the object."""
        thing, space = self.things[row["create"]], row.get("in", "vision")
        body = self._with_uids(merged(moved(thing["body"], space), row.get("with", {})))
        body = moved(inside(body, thing["pod"], row["pod"]), space) if "pod" in row else body
        return thing["path"].replace("/vision/", f"/{space}/"), body

    def _ask(self, who: Who, row: Json, dry: str) -> Answer:
        if "create" in row:
            path, body = self._made(row)
            return self.client.ask("POST", path + dry, body, who)
        if "move" in row:
            return self.client.ask("PATCH", f"/api/v1/nodes/{row['move']}{dry}", edge(row), who, KINDS["json"])
        method = next(verb for verb in ("get", "post", "put", "patch", "delete") if verb in row)
        kind = next((kind for kind in KINDS if kind in row), "")
        body = row[kind] if kind else row.get("body")
        if method == "delete" and body:  # with a body, the server ignores the query
            body = {**body, "dryRun": ["All"]}
        path = row[method]
        if method == "get" or "/exec?" in path:  # which know no dry run, and change nothing
            dry = ""
        suffix = dry.replace("?", "&") if "?" in path else dry
        return self.client.ask(method.upper(), path + suffix, body, who, KINDS.get(kind, ""))

    def do(self, rows: list[Json]) -> None:
        """Do what rows say, for good."""
        for row in rows:
            done(lambda row=row: self.ask(row, dry=False), row)

    def _with_uids(self, body: Json) -> Json:
        """A kubelet's pod says which node it belongs to, by uid."""
        text = json.dumps(body)
        for node in set(re.findall(r"uid of (\w+)", text)):
            uid = self.client.ask("GET", f"/api/v1/nodes/{node}").body["metadata"]["uid"]
            text = text.replace(f"uid of {node}", uid)
        return json.loads(text)

    def token(self, who: Who) -> str:
        """A real token; a node requests its job's, and a run requests the gate's."""
        namespace, name = who.user.split(":")[2:]
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        asks = DEPLOYER if namespace in (GATE_NAMESPACE, NODES_NAMESPACE) else None
        asks = self.people["node gpu03"] if name.startswith("slurm-") else asks
        answer = self.client.ask("POST", path, {"spec": {"expirationSeconds": 600}}, asks)
        assert answer.status < 300, answer.message
        return answer.body["status"]["token"]


def edge(row: Json) -> list[Json]:
    """A change of a node's state as the gate's own program writes it: the taint's value, and a row's label."""
    patch: list[Json] = [{"op": "replace", "path": "/spec/taints/0/value", "value": row["to"]}]
    label = "/metadata/labels/drawbridge.node-restriction.kubernetes.io~1slurm-job"
    if "label" in row:
        added: Json = {"op": "add", "path": label, "value": str(row["label"])}
        patch.append(added if row["label"] else {"op": "remove", "path": label})
    return patch


def inside(body: Json, path: list[str | int], patch: Json) -> Json:
    """A body with a patch at a place in its depths: that of a workload's last pod."""
    *outer, last = path
    changed = copy.deepcopy(body)
    place: Any = changed
    for key in outer:
        place = place[key]
    place[last] = merged(place[last], patch)
    return changed


def build(client: Client, quiet: Callable[[], object]) -> Scene:
    """Everything that the role makes; then nodes and jobs, made by whom they are made by.

    `quiet` stops the controllers, which would go on playing on the stage.
    """
    cast = tables.scene()
    scene = Scene(client, {name: Who.of(row) for name, row in cast["people"].items()}, cast["things"])
    for path in definitions.ensure(Paths.of().cache):
        body = yaml.load(path.read_text(), yaml.CSafeLoader)
        client.apply(path_of(body), body)
    for body in cast["before"]:
        client.apply(path_of(body), body)
    for body in (*infrastructure(KUBE), open_nodes(KUBE), allowed(SLURM, PROJECTS, CLASSES), *rendered()):
        client.apply(path_of(body), body, ADMIN)
    quiet()
    scene.do(cast["early"])
    for body in RIGHTS:
        client.apply(path_of(body), body, ADMIN)
    for body in (*namespaces(SLURM, PROJECTS), *objects(SLURM, None, PROJECTS), *project_objects(SLURM, PROJECTS)):
        done(lambda body=body: _applied(client, body), body)
    for row in cast["in_force"]:
        until(lambda row=row: refused_by(scene.ask(row), row["guard"]), f"{row['guard']} is in force")
    scene.do(cast["nodes"])
    for job, (uid, node) in JOBS.items():
        _open(scene, Owner("vision", job), uid, node)
    for space in SPACES:
        _identify(scene, Owner(space, 4711), 2001, "gpu02")
    scene.do(cast["then"])
    return scene


def until(true: Callable[[], Any], what: str) -> None:
    """Ask again until it is so: the API server reads policies a second after they were written."""
    waiting.until(true, READY_S, what)


def meets(answer: Answer, guard: str) -> bool:
    """Whether a request was let in, was none that the API server has, or was refused by this guard."""
    if guard == "none":
        return answer.status < 300
    no_request = answer.status in NO_REQUEST and "ValidatingAdmissionPolicy" not in answer.message
    return no_request if guard == "server" else refused_by(answer, guard)


def refused_by(answer: Answer, guard: str, saying: str = "") -> bool:
    """Whether a guard refused, and with these words."""
    if guard in ("rbac", "kubelets"):
        by_it = answer.status == 403 and "ValidatingAdmissionPolicy" not in answer.message
    else:
        names = [f"ValidatingAdmissionPolicy 'drawbridge-{name}'" for name in guard.split(" or ")]
        by_it = any(name in answer.message for name in names)
    return by_it and saying in answer.message


def _open(scene: Scene, owner: Owner, uid: int, node: str) -> None:
    """Open a node and make a job's identity, with the gate's own words and rights."""
    patch, kind = opening(owner).patch(), KINDS["json"]
    opener, at = scene.people["opener"], f"/api/v1/nodes/{node}"
    done(lambda: scene.client.ask("PATCH", at, patch, opener, kind), owner)
    _identify(scene, owner, uid, node)
    if node == "gpu03":
        dirty, own = dirtying(owner).patch(), scene.people["node gpu03"]
        done(lambda: scene.client.ask("PATCH", at, dirty, own, kind), owner)


def _identify(scene: Scene, owner: Owner, uid: int, node: str) -> None:
    """Make a job's identity as the opener does."""
    opener, account = scene.people["opener"], identity.name(owner.job, uid, GID)
    for resource, body in identity.objects(owner, account, (node,), OTHERS.get(uid, ())):
        path = identity.path(owner.namespace, resource)
        done(lambda path=path, body=body: scene.client.ask("POST", path, body, opener), body)


def _applied(client: Client, body: Json) -> Answer:
    """What a run applies."""
    asked = f"{path_of(body)}?fieldManager=drawbridge&force=true&fieldValidation=Strict"
    return client.ask("PATCH", asked, body, DEPLOYER, KINDS["apply"])


def done(ask: Callable[[], Answer], what: object) -> None:
    """The scene must stand: rights, too, are in force a while after they were written."""

    def so() -> bool:
        answer = ask()
        assert answer.status < 300, f"{what}: {answer.message}"
        return True

    until(so, str(what))
