# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Membership and licences: the commands that read and change who belongs to the cluster."""

from __future__ import annotations

import getopt
import sys
from typing import TYPE_CHECKING, Any

from ...common import DIE, DRIFT, LIE
from .model import Cluster, Failed, listed
from .states import addresses
from .text import LICENSE_WARNING, PROPAGATING, dated, header, row

if TYPE_CHECKING:
    from collections.abc import Iterable

SUMMARY = (
    "clusterName clusterId uidDomain rshPath rshSudoWrapper rcpPath rcpSudoWrapper"
    " repositoryType primaryServer secondaryServer"
)
NODE = "nodeNumber daemonNodeName ipAddress adminNodeName designation otherNodeRoles adminLoginName otherNodeRolesAlias"
EMPTY_SECTIONS = (
    ("cnfsSummary", "cnfsSharedRoot cnfsMountdPort cnfsNFSDprocs cnfsReboot cnfsMonitorEnabled"),
    ("cnfsNode", "nodeNumber daemonNodeName ipAddress cnfsState cnfsGroupId cnfsIplist"),
    ("cesSummary", "cesSharedRoot EnabledServices logLevel addressPolicy"),
    ("cesNode", "nodeNumber daemonNodeName ipAddress cesGroup cesState cesIpList"),
)
NEWER_SECTIONS = (("commentNode", "nodeNumber daemonNodeName comment_enc"),)
LICENSE = (
    "nodeName requiredLicense designatedLicense totalNodes licensedServers licensedClients"
    " unlicensedServers unlicensedClients licensedFpo"
)
HUMAN_DESIGNATION = {"quorumManager": "quorum-manager"}
SIZES = {"none": 0, "client": 1, "server": 2}


def options(argv: list[str], short: str, *long: str) -> tuple[dict[str, str], list[str]]:
    """Parse a command line; what can't be parsed is a usage error."""
    try:
        pairs, rest = getopt.gnu_getopt(argv, short, list(long))
    except getopt.GetoptError as error:
        raise Failed(f"Incorrect option: -{error.opt}") from None
    return dict(pairs), rest


def mmlscluster(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> None:
    """Print the cluster and its nodes; works on a member with GPFS down."""
    print(*(_cluster_records(cluster.state) if "-Y" in given else _cluster_text(cluster.state)), sep="\n")


def _cluster_records(state: dict[str, Any]) -> Iterable[str]:
    """Yield all headers, also of sections without rows, and then the rows."""
    yield header("mmlscluster", "clusterSummary", SUMMARY)
    yield header("mmlscluster", "clusterNode", NODE)
    for record, names in (*EMPTY_SECTIONS, *(NEWER_SECTIONS if state["version"] != "5.1" else ())):
        yield header("mmlscluster", record, names)
    name = state["name"]
    shells = ("/usr/bin/ssh", "no", "/usr/bin/scp", "no")
    yield row("mmlscluster", "clusterSummary", (name, state["id"], name, *shells, "CCR", state["primary"], ""))
    for node in state["nodes"].values():
        roles = (node.get("roles", ""), "", node.get("roles_alias", ""))
        fields = (node["number"], node["daemon"], node["ip"], node["admin"], node["designation"], *roles)
        yield row("mmlscluster", "clusterNode", fields)


def _cluster_text(state: dict[str, Any]) -> Iterable[str]:
    yield from ("", "GPFS cluster information", "========================")
    for label, value in (
        ("GPFS cluster name:", state["name"]),
        ("GPFS cluster id:", state["id"]),
        ("GPFS UID domain:", state["name"]),
        ("Remote shell command:", "/usr/bin/ssh"),
        ("Remote file copy command:", "/usr/bin/scp"),
        ("Repository type:", "CCR"),
    ):
        yield f"  {label:<27}{value}"
    nodes = list(state["nodes"].values())
    daemon = max(len("Daemon node name"), *(len(node["daemon"]) for node in nodes))
    admin = max(len("Admin node name"), *(len(node["admin"]) for node in nodes))
    title = f" Node  {'Daemon node name':<{daemon}}  {'IP address':<15}  {'Admin node name':<{admin}}  Designation"
    yield from ("", title, "-" * (len(title) + 1))
    for node in nodes:
        names = f"{node['daemon']:<{daemon}}  {node['ip']:<15}  {node['admin']:<{admin}}"
        kind = HUMAN_DESIGNATION.get(node["designation"], node["designation"])
        yield f"{node['number']:>4}   {names}  {kind}".rstrip()


def mmaddnode(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Add hosts; those that can't be added are listed, and the command succeeds when it could add one."""
    if "-N" not in given or rest:
        raise Failed("Missing arguments.", "Usage: mmaddnode -N {NodeDesc[,NodeDesc...] | NodeFile} [--accept]")
    wanted = [_descriptor(text) for text in listed(given["-N"])]
    added, failed = [], []
    for name, designation, admin, license_ in cluster.half(wanted):
        print(dated(cluster.now(), f"mmaddnode: Processing node {name}"))
        trouble = _cannot_join(cluster, name)
        if trouble:
            print(f"mmaddnode: {trouble}", file=sys.stderr)
            failed.append(name)
            continue
        cluster.add(name, admin or name, designation, license_ if "--accept" in given and license_ else "none")
        cluster.state["pushes"][name] = cluster.state["lag_calls"]
        added.append(name)
    if cluster.effect == DIE and added:
        del cluster.state["pushes"][added[-1]]  # the last one is in the cluster and will never learn of it
    if cluster.effect == DRIFT and added:
        cluster.nodes[added[-1]]["designation"] = "quorum"
    _tell_failures(failed)
    if not added:
        raise Failed("None of the specified nodes could be added.")
    print("mmaddnode: Command successfully completed")
    if any(node["license"] == "none" for node in cluster.nodes.values()):
        print(LICENSE_WARNING.format("mmaddnode"))


def _descriptor(text: str) -> tuple[str, str, str, str]:
    """Parse NodeName:NodeDesignations:AdminNodeName:LicenseType; all but the name may be left out."""
    name, designations, admin, license_ = [*text.split(":"), "", "", ""][:4]
    words = set(designations.split("-")) - {""}
    if not name or words - {"quorum", "nonquorum", "client", "manager"} or license_ not in ("", "client", "server"):
        raise Failed(f"Incorrect node descriptor: {text}")
    quorum, manager = "quorum" in words, "manager" in words
    designation = "quorumManager" if quorum and manager else "quorum" if quorum else "manager" if manager else ""
    return name, designation, admin, license_


def _cannot_join(cluster: Cluster, name: str) -> str | None:
    if cluster.find(name):
        return f"Node {name} already belongs to the GPFS cluster."
    if not cluster.reachable(name):
        return f"{name} cannot be reached."
    if not cluster.installed(name):
        return f"GPFS is not installed on node {name}."
    if cluster.of_others(name):
        return f"Node {name} belongs to another GPFS cluster."
    if name in cluster.state["leftovers"]:
        return f"Node {name} appears to already belong to a GPFS cluster."
    return None


def _tell_failures(names: list[str]) -> None:
    if names:
        lines = "\n".join(f"\t\t{name}" for name in names)
        print(f"mmaddnode: The following nodes could not be added to the GPFS cluster:\n{lines}", file=sys.stderr)
        print(
            "   Correct the problems and use the mmaddnode command to add these nodes\n   to the cluster.",
            file=sys.stderr,
        )


def mmdelnode(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> int:
    """Remove nodes that are down; a host that can't be reached keeps its copy of the configuration.

    With -f alone it removes the copy of a host that no cluster lists.
    """
    if "-f" in given and not given.keys() & {"-N", "-a"}:
        return _forget(cluster)
    cluster.require_admin()
    names = cluster.select(given.get("-N"), "-a" in given)
    print("Verifying GPFS is stopped on all affected nodes ...")
    for name in names:
        if name == cluster.state["primary"] and len(names) < len(cluster.nodes):
            raise Failed(f"Node {name} is an NSD server and cannot be deleted.")
        if cluster.reachable(name) and cluster.state["daemons"][name]["state"] != "down":
            raise Failed(f"GPFS is still active on node {name}.")
        if cluster.reachable(name) and not cluster.manageable(name):
            raise Failed(f"The state of node {name} is unknown, and the node can be reached.")
    for name in cluster.half(names):
        cluster.remove(name)
        cluster.state["removals" if cluster.reachable(name) else "leftovers"].append(name)
    if cluster.effect == DRIFT:
        cluster.add(names[-1], names[-1], "", "none")
    print(PROPAGATING.format("mmdelnode"), "mmdelnode: Command successfully completed", sep="\n")
    return 0


def _forget(cluster: Cluster) -> int:
    if cluster.me in cluster.nodes:
        raise Failed(f"Node {cluster.me} belongs to the cluster {cluster.state['name']}.")
    if cluster.effect != LIE:
        cluster.local_file.unlink(missing_ok=True)
    if cluster.me in cluster.state["leftovers"]:
        cluster.state["leftovers"].remove(cluster.me)
    print("mmdelnode: All GPFS configuration files on this node have been removed.")
    return 0


def mmchnode(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> None:
    """Change a node's interfaces and designation, by options or by lines of a file."""
    changes = [given]
    if "-S" in given:
        lines = [line.split() for line in listed(given["-S"])]
        changes = [{**options(words, "", *NODE_OPTIONS)[0], "-N": name} for name, *words in lines]
    for change in changes:
        for name in cluster.half(cluster.select(change["-N"])):
            _change_node(cluster, name, change)
    if cluster.effect == DRIFT:
        cluster.nodes[cluster.select(changes[-1]["-N"])[-1]]["admin"] = "other-interface"


NODE_OPTIONS = ("client", "manager", "quorum", "nonquorum", "admin-interface=", "daemon-interface=")


def _change_node(cluster: Cluster, name: str, change: dict[str, str]) -> None:
    node = cluster.nodes[name]
    if address := change.get("--daemon-interface"):
        if cluster.state["daemons"][name]["state"] != "down":
            raise Failed(f"GPFS is still active on node {name}.")
        node.update(daemon=address, ip=addresses().get(address, ""))
    node["admin"] = change.get("--admin-interface", node["admin"])
    if change.keys() & {"--nonquorum", "--client"}:
        node["designation"] = ""


def mmsdrrestore(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> None:
    """Give a rebuilt member its copy of the configuration back: run on that host, or with -N by an admin."""
    if given.keys() & {"-N", "-a"}:
        cluster.require_admin()
        names = cluster.select(given.get("-N"), "-a" in given)
        lost = [name for name in names if not (cluster.reachable(name) and cluster.installed(name))]
        names = [name for name in names if name not in lost]
        cluster.state["pushes"].update(dict.fromkeys(cluster.half(names), 0))
        for name in cluster.half(names):
            cluster.state["unconfigured"] = [it for it in cluster.state["unconfigured"] if it != name]
        if lost:
            raise Failed(*(f"{name} cannot be reached, or GPFS is not installed there." for name in lost))
    else:
        names = [cluster.me]
        primary = str(given.get("-p", cluster.state["primary"]))
        if cluster.me not in cluster.nodes or cluster.find(primary) is None:
            raise Failed(f"Node {cluster.me} is not a member of the cluster of node {primary}.")
        if cluster.effect != LIE:
            cluster.write_local()
    if cluster.effect == DRIFT:
        cluster.state["removals"] += names
    for name in names:
        print(dated(cluster.now(), f"mmsdrrestore: Processing node {name}"))
        print(f"mmsdrrestore: Node {name} successfully restored.")


def mmchlicense(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Designate licences; a server licence on a client is allowed. Without --accept the tool asks for an answer."""
    if "-N" not in given or rest not in (["client"], ["server"]):
        raise Failed("Missing arguments.", "Usage: mmchlicense {client | server} [--accept] -N {Node[,Node...] | ...}")
    names = cluster.select(given["-N"])
    print(f"\nThe following nodes will be designated as possessing {rest[0]} licenses:")
    print(*(f"\t{name}" for name in names), sep="\n")
    if "--accept" not in given:
        print("Do you accept the license agreement? (yes or no)", flush=True)
        if sys.stdin.readline().strip() != "yes":
            raise Failed("The license agreement was not accepted.")
    for name in cluster.half(names):
        cluster.nodes[name]["license"] = rest[0]
    if cluster.effect == DRIFT:
        cluster.nodes[names[-1]]["license"] = "client" if rest[0] == "server" else "server"
    print("mmchlicense: Command successfully completed")


def mmlslicense(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> None:
    """Print which licences nodes need and have."""
    rows = [(name, _required(cluster, name), node["license"]) for name, node in cluster.nodes.items()]
    lacking = [required for _, required, designated in rows if SIZES[designated] < SIZES[required]]
    licenses = [designated for _, _, designated in rows]
    counts = [
        len(rows),
        licenses.count("server"),
        licenses.count("client"),
        lacking.count("server"),
        lacking.count("client"),
    ]
    if "-Y" in given:
        print(header("mmlslicense", "", LICENSE))
        print(*(row("mmlslicense", "", (*fields, *counts, 0)) for fields in rows), sep="\n")
        return
    if "-L" in given:
        print(" Node name                      Required license   Designated license", "-" * 69, sep="\n")
        for name, required, designated in rows:
            star = " *" if SIZES[designated] < SIZES[required] else ""
            print(f"{name:<35}{required:<20}{designated}{star}")
        print()
    print(" Summary information", "-" * 21, sep="\n")
    print(
        *(f"{label + ':':<60}{count:>6}" for label, count in zip(_license_labels(), [*counts[:2], 0, *counts[2:]])),
        sep="\n",
    )


def _required(cluster: Cluster, name: str) -> str:
    return "server" if cluster.nodes[name]["designation"] or name == cluster.state["primary"] else "client"


def _license_labels() -> list[str]:
    kinds = [f"with {kind} license designation" for kind in ("server", "FPO", "client")]
    kinds += [f"still requiring {kind} license designation" for kind in ("server", "client")]
    return ["Number of nodes defined in the cluster", *(f"Number of nodes {kind}" for kind in kinds)]
