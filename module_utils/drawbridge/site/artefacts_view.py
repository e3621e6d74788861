# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Files, commands and manifests of each module, from the arguments of its task.

One function per module. Its parameters name the arguments that it needs; the others are not evaluated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..core import ports
from ..core.artefact import Artefact, Json
from ..core.file_entry import Entry, entries
from ..core.host_files.text import with_block
from ..core.packages.plan import PackageState
from ..fabric.model import SwitchProfile
from ..fabric.nos.dialect import dialect
from ..fabric.plan import PORT
from ..gate.runtime import text as gate
from ..nic import dcb_text
from ..nic import plan as nic
from ..nic.links import plan as links
from ..nic.links.settings import pci_of, typed
from ..nic.queues import ONE_CLASS
from ..nic.roce import plan as roce
from ..nodes.gpus import instances_text
from ..nodes.nics import BROADCOM, INTEL, MELLANOX
from ..slurm.accounting.plan import AccountingState
from ..slurm.logins import text as logins
from ..slurm.logins.model import SITE
from ..storage.directories.model import Directory
from ..storage.directories.plan import wanted
from ..storage.kinds import KINDS
from ..telemetry import node_exporter_layer as exporter
from .kube_artefacts_view import KUBE

FACTORY = nic.NicPortQos("pcp", {}, frozenset(), "fw")
"""A port with factory settings."""
BY_DCB = replace(FACTORY, maps_with_trust=True)
"""One that dcb sets."""
PORTS = {
    MELLANOX: FACTORY,
    INTEL: replace(BY_DCB, queues=ONE_CLASS, ice=True),
    BROADCOM: replace(BY_DCB, bnxt=True),
}
"""Ports of NICs, by their PCI vendor."""


def switch_roce(profile: dict[str, Any]) -> Artefact:
    """All lines for an unconfigured switch; ports with the same lines are one range."""
    wanted = SwitchProfile.from_dict(profile)
    words = dialect(wanted.platform)
    alike: dict[tuple[str, ...], list[str]] = {}
    lines: list[str] = []
    for name, section in words.render(wanted).sections:
        typed = words.commands((), section)
        if name.startswith(PORT):
            own = tuple(line for line in typed if line != name)
            alike.setdefault(own, []).append(name.removeprefix(PORT))
        else:
            lines += typed
    on_ports = [words.on_ports([ports.compress(names)], typed) for typed, names in alike.items()]
    return Artefact([*lines, *itertools.chain.from_iterable(on_ports)])


def mlnx_qos(groups: Any) -> Artefact:
    """The commands for ports with factory settings, of the tool that fits the ports' vendor."""
    want = nic.wanted(groups)
    vendors = {name: str(it.get("pci_vendor") or MELLANOX) for it in groups for name in it["interfaces"]}
    have = {name: PORTS.get(vendors[name], BY_DCB) for name in want.ports}
    lines: list[str] = []
    for step in nic.plan(nic.NicQos(have), want):
        port, options = step.payload.interface, step.payload.options
        if vendors[port] == MELLANOX:
            lines.append(f"mlnx_qos -i {port} {' '.join(options)}")
        elif options[0] == "-d" and vendors[port] == INTEL:
            lines.append(f"ethtool --set-priv-flags {port} fw-lldp-agent off")
        else:
            lines.append(" ".join(["dcb", *dcb_text.command(port, options, want.ports[port])]))
    return Artefact(lines)


def nic_link(groups: Any) -> Artefact:
    """MTU and settings; rules, routes and the file for a manager of the network depend on the host."""
    want = links.wanted(groups)
    mtus = [f"ip link set dev {name} mtu {link.mtu}" for name, link in want.links.items()]
    settings = [typed(name, key, value) for (name, key), value in want.settings.items()]
    rails = [
        f"{name}: a rule with priority {rail.table} for its address, and table {rail.table} with the routes of its"
        f" subnet{f', through its {rail.gateway} address' if rail.gateway else ''}"
        for name, rail in want.rails.items()
    ]
    return Artefact([*mtus, *settings, *rails])


def nic_roce(groups: Any, firmware: Any = ()) -> Artefact:
    """All settings, whose paths depend on the host's driver, and parameters of firmware."""
    want = roce.wanted(groups)
    parameters = [
        f"mlxconfig -d {pci_of(port)} -y set {' '.join(it['parameters'])}"
        for it in firmware or ()
        for port in it["ports"]
    ]
    return Artefact([*want.lines(), *parameters])


def host_files(directory: str, program: Json, files: Any, blocks: Any) -> Artefact:
    """Files of a program, whose own text comes with Drawbridge, and blocks without the site's lines."""
    alone = {it["path"]: Entry(with_block("", it["content"]), it["mode"]) for it in blocks}
    return Artefact(_program(directory, program), {**entries(files)[0], **alone})


def gate_program(directory: str, program: Json, files: Any, hooks: Json, unit: str) -> Artefact:
    """The gate's program on a host, and the verb that each of Slurm's scripts calls."""
    calls = [f"{kind} calls gate {verb}" for kind, verb in hooks.items()]
    return Artefact([*_program(directory, program), *calls, f"run {unit}"], entries(files)[0])


def gate_runtime(guard: bool) -> Artefact:
    """The guard before the OCI runtime, whose program depends on the host."""
    if not guard:
        return Artefact(["containerd's own runtime, on file systems that squash root"])
    return Artefact(["run containerd.service"], {gate.DROP_IN: Entry(gate.drop_in(gate.GUARD))})


def gate_token(path: str, namespace: str, name: str) -> Artefact:
    """A token, which only the run can request."""
    return Artefact([f"{path}: secret, a token of ServiceAccount {namespace}/{name} that the run requests"])


def gate_guards(path: str) -> Artefact:
    """The policies in force, which only the run can read."""
    return Artefact([f"{path}: the admission policies as the API server has them after this run"])


def node_exporter(unit: str, flags: Any, files: Any) -> Artefact:
    """Flags, as far as the host's release takes them; the drop-in has the site's own command."""
    return Artefact([f"add flags to {unit}"], {**entries(files)[0], exporter.FLAGS: Entry(exporter.lines(flags))})


def slurm_munge_key() -> Artefact:
    """The key of the controller, which makes one if it has none."""
    return Artefact(["/etc/munge/munge.key: secret, the controller's own; if it has none, its first run makes one"])


def slurm_packages(names: Any, user_id: int) -> Artefact:
    """Packages, in the versions of the system's sources."""
    return Artefact(PackageState(frozenset(names), user_id=user_id).lines())


def slurm_database(database: str, user: str) -> Artefact:
    """One database, one user, no password."""
    return Artefact([f"database {database} for the user {user}"])


def slurm_daemon(unit: str, files: Any) -> Artefact:
    """A daemon's files."""
    return Artefact([f"run {unit}"], entries(files)[0])


def gpu_instances(gpus: Any) -> Artefact:
    """Instances of each GPU."""
    divided = [(index, instances_text.words(layout)) for index, layout in enumerate(gpus) if layout]
    return Artefact([f"divide GPU {index} into {layout}" for index, layout in divided] or ["all GPUs stay whole"])


def gpu_modes(gpu_modes: Mapping[str, str]) -> Artefact:
    """Partition modes of all GPUs."""
    return Artefact([f"set the {part} partition of the GPUs to {mode}" for part, mode in gpu_modes.items()])


def slurm_node_logins(policy: str, admins: Any, admin_groups: Any, name: str) -> Artefact:
    """PAM's block for sshd; those of programs that run commands later depend on the host."""
    if policy == SITE:
        return Artefact(["logins: as the site has them"])
    block = with_block("", logins.sshd_lines(policy, name, admins, admin_groups))
    return Artefact([f"mask {logins.LOGIND}"], {f"{logins.FOLDER}/{logins.SSHD}": Entry(block)})


def slurmdbd_config(files: Any) -> Artefact:
    """slurmdbd's file; the run puts the password there."""
    return slurm_daemon("slurmdbd.service", files)


def slurm_config(files: Any, release: str) -> Artefact:
    """All files of slurmctld."""
    return Artefact([f"run slurmctld.service{f', release {release}' if release else ''}"], entries(files)[0])


def slurm_accounting(accounts: Any, qos: Any, absent: Any) -> Artefact:
    """The accounting database in sacctmgr's words."""
    users = {account["name"]: account.get("users", []) for account in accounts}
    limits, services = (
        {item["name"]: {key: str(value) for key, value in item["terms"].items()} for item in part}
        for part in (accounts, qos)
    )
    people = [f"group {group} account {it['name']}" for it in accounts for group in it.get("groups", ())]
    ends = [f"account {it['name']} ends {it['ends']}" for it in accounts if it.get("ends")]
    gone = [f"no {kind} {name}" for kind, key in (("account", "accounts"), ("qos", "qos")) for name in absent[key]]
    return Artefact([*AccountingState.of(users, limits, services).lines(), *people, *ends, *gone])


def shared_directories(directories: Any) -> Artefact:
    """Directories as `ls -ld` orders them."""
    return Artefact([f"{wanted(it)} {it.path}" for it in (Directory(**each) for each in directories)])


_FUNCTIONS = (
    *(switch_roce, mlnx_qos, nic_link, nic_roce, host_files, gate_program, gate_runtime, gate_token, gate_guards),
    *(node_exporter, slurm_munge_key, slurm_packages, slurm_database, slurm_daemon, slurm_node_logins),
    *(slurmdbd_config, slurm_config, slurm_accounting, shared_directories, gpu_instances),
    gpu_modes,
    *(*KUBE, *(function for kind in KINDS.values() for function in kind.artefacts)),
)
PLACES: Mapping[str, Callable[..., Artefact]] = {function.__name__: function for function in _FUNCTIONS}
"""These functions by the module's name."""
READS = {
    *("cluster_intent", "gate_adoption", "infra_capacity", "node_visit", "validate_argument_spec"),
    *("slurm_node_hardware", "slurm_node_ready", "slurm_node_use", "slurm_account_jobs"),
    *(name for kind in KINDS.values() for name in kind.reads),
}
"""Modules that write nothing."""


def _program(directory: str, program: Json) -> list[str]:
    return [f"program {directory}"] if program else []
