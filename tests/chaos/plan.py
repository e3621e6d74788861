# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A seed decides everything about one case: the drift at its start, and how the run that repairs it is cut off."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.chaos.inventory import ADMIN, CONTROLLER, LEAF, NODE

ALL_SEEDS = range(1, 101)

BARE, DRIFTED = "bare", "drifted"
SITE = ("site",)
PLAYBOOKS = {
    "fabric_switch": "fabric",
    "fabric_nic": "nic",
    "gpfs_client": "storage",
    "slurm_controller": "slurm",
    "slurm_node": "slurm",
    "kubelet_numa": "kubernetes",
    "slurm_gate": "gate",
}
"""Where a role is used, in the order of the layers."""
NODE_ROLES = frozenset(PLAYBOOKS) - {"fabric_switch", "slurm_controller"}
"""Roles that a visit of a node runs."""
LONGEST_MS = 2500
PACKAGES_MS = 8000


@dataclass(frozen=True)
class Verb:
    """A call of a tool, by a regular expression for its arguments, that kills its caller.

    An emulated tool does half of its work and dies. A real one does nothing and kills the module that called it, too:
    whatever the module has written by then, it reports none of it.
    """

    host: str
    tool: str
    match: str

    @property
    def emulated(self) -> bool:
        """Whether the lab knows the tool, and its faults."""
        return self.tool in ("eos", "mlnx_qos") or self.tool.startswith("mm")


@dataclass(frozen=True)
class Drift:
    """A converged host after an administrator changed it; `mended_by` is the role whose task has work then."""

    host: str
    command: str
    mended_by: str
    verbs: tuple[Verb, ...] = ()


@dataclass(frozen=True)
class Kill:
    """SIGKILL for ansible-playbook and all its processes, so long after the start of a task.

    `role` narrows the tasks that are counted, empty for all of them; `share` from 0 to 1 picks the task among them.
    """

    role: str
    share: float
    milliseconds: int
    powerless: str = ""
    """A host whose power goes at the same moment, so that what runs there dies as well. Elsewhere modules live on."""


@dataclass(frozen=True)
class Plan:
    """One case. Either a run is killed, or a tool dies in it."""

    seed: int
    start: str
    drifts: tuple[str, ...]
    kill: Kill | None = None
    death: Verb | None = None

    @property
    def playbooks(self) -> tuple[str, ...]:
        """What has to be run: the layers that drifted, or everything where everything can be lost."""
        if not self.drifts or (self.kill and self.kill.powerless):
            return SITE
        used = {PLAYBOOKS[DRIFTS[name].mended_by] for name in self.drifts}
        return tuple(name for name in dict.fromkeys(PLAYBOOKS.values()) if name in used)

    @property
    def waits_for_slurm(self) -> bool:
        """Whether a port may have to wait for the run after the repair: for Slurm's word that no job is there.

        With another munge key than the controller's no client gets it, and layers above the ports repair that key.
        """
        return {"nic", "munge"} <= set(self.drifts)


def _restart(unit: str) -> str:
    return f"systemctl restart {unit}"


_ETC_SLURM = "/etc/slurm"
_DROP_IN = "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"
_STATES = "/var/lib/kubelet/cpu_manager_state /var/lib/kubelet/memory_manager_state"
_TIMER = "/etc/systemd/system/drawbridge-gate.timer"

INSTALLING = (Verb(NODE, "apt-get", "install"), Verb(NODE, "systemctl", "start slurmd"))

# Daemons run on with their drifted files: to correct the file alone repairs nothing. A daemon that needs what another
# drift took from it may not run: both ways back have "start" in common.
DRIFTS = {
    "switch": Drift(
        LEAF,
        "enable\nconfigure\ninterface Ethernet1\nno priority-flow-control on\ninterface Ethernet2\nmtu 1500\nend\n"
        "write memory\n",
        "fabric_switch",
        (
            Verb(LEAF, "eos", "^interface Ethernet"),
            Verb(LEAF, "eos", "^commit timer"),
            Verb(LEAF, "eos", "^configure session .* commit"),
            Verb(LEAF, "eos", "^write"),
        ),
    ),
    "nic": Drift(
        NODE,
        "mlnx_qos -i rail3 --pfc 0,0,0,0,0,1,0,0; mlnx_qos -i rail5 --trust pcp",
        "fabric_nic",
        (Verb(NODE, "mlnx_qos", "rail3 --pfc"), Verb(NODE, "mlnx_qos", "rail5 --trust")),
    ),
    "nccl": Drift(NODE, "rm /etc/nccl.conf", "fabric_nic"),
    "mount": Drift(NODE, "/usr/lpp/mmfs/bin/mmumount fs1", "gpfs_client", (Verb(NODE, "mmmount", "fs1"),)),
    "gpfs": Drift(
        ADMIN,
        f"/usr/lpp/mmfs/bin/mmshutdown -N {NODE}",
        "gpfs_client",
        (Verb(ADMIN, "mmstartup", "-N"), Verb(NODE, "mmmount", "fs1")),
    ),
    "munge": Drift(
        NODE,
        f"head -c 1024 /dev/urandom > /etc/munge/munge.key; {_restart('munge')}",
        "slurm_node",
        (Verb(NODE, "systemctl", "restart munge"),),
    ),
    "slurmd": Drift(
        NODE,
        # without a wait: with another munge key, slurmd does not finish its start until a run repairs the key
        "sed -i 's/^SLURMD_OPTIONS=\"/&-v /' /etc/default/slurmd; systemctl restart --no-block slurmd",
        "slurm_node",
        (Verb(NODE, "systemctl", "start slurmd"),),
    ),
    "slurm.conf": Drift(
        CONTROLLER,
        f"echo 'KillWait=44' >> {_ETC_SLURM}/slurm.conf; scontrol reconfigure",
        "slurm_controller",
        (Verb(CONTROLLER, "scontrol", "reconfigure"),),
    ),
    "slurmdbd": Drift(
        CONTROLLER,
        f"echo 'MessageTimeout=11' >> {_ETC_SLURM}/slurmdbd.conf; {_restart('slurmdbd')}",
        "slurm_controller",
        (Verb(CONTROLLER, "systemctl", "start slurmdbd"),),
    ),
    "mariadb": Drift(
        CONTROLLER,
        f"sed -i s/=64M/=32M/ /etc/mysql/mariadb.conf.d/60-drawbridge.cnf; {_restart('mariadb')}",
        "slurm_controller",
        (Verb(CONTROLLER, "systemctl", "restart mariadb"),),
    ),
    "books": Drift(
        CONTROLLER,
        # where another drift has just restarted slurmdbd
        "timeout 120 sh -c 'until sacctmgr -n show cluster; do sleep 0.5; done' > /run/books 2>&1;"
        " sacctmgr -i remove user where name=ben; sacctmgr -i remove user where name=dan",
        "slurm_controller",
        (Verb(CONTROLLER, "sacctmgr", "add user"),),
    ),
    "kubelet": Drift(
        NODE,
        f"systemctl stop kubelet; rm -f {_STATES}; sed -i s/best-effort/restricted/ {_DROP_IN};"
        " systemctl start kubelet",
        "kubelet_numa",
        (Verb(NODE, "systemctl", "stop kubelet"), Verb(NODE, "systemctl", "start kubelet")),
    ),
    "gate": Drift(
        NODE,
        f"sed -i s/=30s/=33s/ {_TIMER}; systemctl daemon-reload; {_restart('drawbridge-gate.timer')};"
        " rm /var/lib/drawbridge/gate/node.token /usr/local/lib/drawbridge/gate/__main__.py",
        "slurm_gate",
        (Verb(NODE, "systemctl", "daemon-reload"), Verb(NODE, "systemctl", "restart drawbridge-gate")),
    ),
    "gate service": Drift(
        CONTROLLER,
        "sed -i s/5min/6min/ /etc/systemd/system/drawbridge-gate.service; systemctl daemon-reload;"
        " rm /var/lib/drawbridge/gate/opener.token",
        "slurm_gate",
        (Verb(CONTROLLER, "systemctl", "daemon-reload"),),
    ),
    # the last, since others restart what it removes
    "node packages": Drift(NODE, "apt-get -q --yes remove munge libmunge2", "slurm_node", INSTALLING),
}

FIRST_VERBS = (
    *(verb for name in ("switch", "mount", "gpfs") for verb in DRIFTS[name].verbs),
    Verb(NODE, "mlnx_qos", "--trust"),
    Verb(NODE, "mlnx_qos", "--pfc"),
    *INSTALLING,
    Verb(CONTROLLER, "sacctmgr", "add user"),
    Verb(CONTROLLER, "systemctl", "start slurmdbd"),
    Verb(ADMIN, "mmaddnode", "-N"),
    Verb(ADMIN, "mmchlicense", "client"),
)
"""Verbs that a run over bare hosts uses."""


def plan_of(seed: int) -> Plan:
    """The same seed is the same case, always."""
    dice = random.Random(seed)
    start = dice.choices((BARE, DRIFTED), (1, 5))[0]
    chosen = dice.sample(sorted(DRIFTS), dice.randint(2, 4)) if start == DRIFTED else []
    drifts = tuple(name for name in DRIFTS if name in chosen)
    verbs = [verb for name in drifts for verb in DRIFTS[name].verbs] if drifts else list(FIRST_VERBS)
    if verbs and dice.random() < 0.45:
        return Plan(seed, start, drifts, death=dice.choice(verbs))
    return Plan(seed, start, drifts, kill=_kill(dice, drifts))


def _kill(dice: random.Random, drifts: tuple[str, ...]) -> Kill:
    """Mostly where there is work to do, sometimes anywhere."""
    aim = DRIFTS[dice.choice(drifts)] if drifts else None
    if aim and dice.random() < 0.2:
        aim = None
    long = aim is DRIFTS["node packages"] or not drifts
    powerless = aim.host if aim and aim.host != LEAF else dice.choice((NODE, CONTROLLER))
    return Kill(
        role=aim.mended_by if aim else "",
        share=round(dice.random(), 3),
        milliseconds=dice.randint(0, PACKAGES_MS if long else LONGEST_MS),
        powerless=powerless if dice.random() < 0.4 else "",
    )
