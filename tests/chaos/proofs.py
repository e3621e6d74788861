# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What daemons, devices and switches are really like, asked of themselves, against the files and the intent.

Nothing here asks our modules. A proof that fails is one sentence.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import yaml
from kubernetes.utils.quantity import parse_quantity

from roles.slurm_gate.files.gate.gate_names import TAINT
from tests.chaos.inventory import ADMIN, CONTROLLER, LEAF, NODE
from tests.chaos.lab import Lab

DROP_IN = "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"
CACHE = "/run/slurm/conf"
"""What slurmd has fetched and lets Slurm's commands on the node read."""
LEAF_PORTS = 20

# The whole seconds of systemctl and stat: one second of doubt is the file's.
_NEWER = 'started() { date -d "$(systemctl show -P InactiveExitTimestamp $1)" +%s; }\n'
# Some of it comes about in a daemon's own time. A gate that failed tries again at its next tick. After a minute or two,
# Slurm asks a node that has missed an answer again.
_LATE = (
    'within() { over=$(($(date +%s) + $1)); until said=$(eval "$2" 2>&1); do'
    ' [ $(date +%s) -lt $over ] || { echo "$said"; return 1; }; sleep 1; done; }\n'
)
_DAEMONS = "for unit in {}; do systemctl is-active --quiet $unit && systemctl is-enabled --quiet $unit || exit 1; done"
_LOADED = "! systemctl show -P NeedDaemonReload drawbridge-gate.timer drawbridge-gate.service | grep yes"
_ANY = {
    "no unit has failed": "within 120 '! systemctl list-units --failed --plain --no-legend | grep .'",
    "no package is half installed": "! dpkg --audit | grep .",
    "packages' services may start": "! test -e /usr/sbin/policy-rc.d",
    # the gate's timer and its jobs write such files, for a moment
    "nothing half-written is left": (
        "within 60 '! find /etc /usr/local /usr/sbin /run/drawbridge -xdev"
        ' \\( -name ".*.drawbridge" -o -name "*.partial" \\) 2>/dev/null | grep .\''
    ),
    "nobody waits for a lock": "! ps -eo args= | grep -E 'AnsiballZ|apt-get|dpkg ' | grep -v grep",
}
_GATE = {
    "systemd knows the gate's units as they are": _LOADED,
    "the gate's timer runs": _DAEMONS.format("drawbridge-gate.timer"),
    "the gate's timer started after its unit file": (
        "[ $(started drawbridge-gate.timer) -ge $(stat -c %Z /etc/systemd/system/drawbridge-gate.timer) ]"
    ),
    "the gate's service ends well": "within 120 'systemctl start drawbridge-gate.service'",
}
ON_HOSTS = {
    CONTROLLER: {
        **_ANY,
        **_GATE,
        "the controller's daemons run": _DAEMONS.format("munge mariadb slurmdbd slurmctld"),
        "slurmctld runs with slurm.conf as it is": "scontrol show config | grep -Eq '^HASH_VAL +. Match$'",
        "slurmdbd started after its file": "[ $(started slurmdbd) -ge $(stat -c %Z /etc/slurm/slurmdbd.conf) ]",
        "mariadb has its log size": "[ $(mariadb -Ne 'SELECT @@innodb_log_file_size/1048576') = 64.0000 ]",
        "the accounting database hold the intent": (
            "[ \"$(sacctmgr -nP list assoc cluster=lab format=account,user | grep -v ^root | sort | paste -sd' ')\" ="
            " 'chem| chem|dan speech| speech|cleo vision| vision|ada vision|ben' ]"
        ),
    },
    ADMIN: {
        "the node is a client with a licence": (
            f"/usr/lpp/mmfs/bin/mmlslicense -L -Y | cut -d: -f7,9 | grep -qx {NODE}:client"
        ),
        "no node is half-joined": "! test -e /var/lib/drawbridge/gpfs/mmaddnode",
    },
    NODE: {
        **_ANY,
        **_GATE,
        "the node's daemons run": _DAEMONS.format("munge slurmd kubelet"),
        "slurmd started after its options": "[ $(started slurmd) -ge $(stat -c %Z /etc/default/slurmd) ]",
        "slurmd has slurmctld's configuration": "scontrol show config | grep -Eq '^HASH_VAL +. Match$'",
        "the node takes jobs": f"within 300 'sinfo -h -p hpc -n {NODE} -o %t | grep -x idle'",
        "a job runs": f"runuser -u ada -- srun -D /tmp -p hpc -w {NODE} --immediate=240 true",
        "the file system is mounted": "mountpoint -q /gpfs/fs1",
        "GPFS runs": "/usr/lpp/mmfs/bin/mmgetstate -Y | grep -q :active:",
        "NCCL uses the class": "grep -qx NCCL_IB_TC=106 /etc/nccl.conf",
        "the class is lossless on all rails": (
            "for rail in 0 1 2 3 4 5 6 7; do mlnx_qos -i rail$rail | tr -d '\\n' | grep -q"
            " 'trust state: dscp.*enabled     0   0   0   1   0   0   0   0' || exit 1; done"
        ),
    },
}


def faults(lab: Lab) -> list[str]:
    """Sentences about all that is not as it should be."""
    found = [sentence for host, proofs in ON_HOSTS.items() for sentence in _on_host(lab, host, proofs)]
    return [*found, *_key(lab), *_kubelet(lab), *_switch(lab)]


def _on_host(lab: Lab, host: str, proofs: dict[str, str]) -> Iterator[str]:
    script = (
        _NEWER
        + _LATE
        + "\n".join(
            f'said=$( ( {command} ) 2>&1 ) || echo "{host}: not so: {title}: $(echo "$said" | head -n 3)"'
            for title, command in proofs.items()
        )
    )
    done = lab.sh(host, f"{script}\necho all were tried\n")
    *told, last = done.stdout.splitlines() or [""]
    yield from told
    if last != "all were tried":
        yield f"{host}: the proofs broke off: {last} {done.stderr.strip()}"


def _key(lab: Lab) -> Iterator[str]:
    """Both munged have loaded the same key: files can be equal and daemons not."""
    credential = lab.sh(NODE, "munge -n").stdout
    if lab.sh(CONTROLLER, f"unmunge <<'END'\n{credential}END\n").returncode:
        yield f"{CONTROLLER}: munged can't decode what that of {NODE} encodes"


def _kubelet(lab: Lab) -> Iterator[str]:
    """The configuration that the running kubelet tells, against its drop-in."""
    told = lab.kubectl("get", "--raw", f"/api/v1/nodes/{NODE}/proxy/configz")
    running: dict[str, Any] = json.loads(told)["kubeletconfig"] if told else {}
    for key, value in yaml.safe_load(lab.sh(NODE, f"cat {DROP_IN}").stdout).items():
        if key not in ("apiVersion", "kind") and not _contains(running.get(key), value):
            yield f"{NODE}: the kubelet runs with {key} {running.get(key)!r}, but its file says {value!r}"
    # Kubernetes adds and removes its own taints by the node's reports
    ours = f'jsonpath={{.spec.taints[?(@.key=="{TAINT}")].value}}'
    taints = lab.kubectl("get", "node", NODE, "-o", shlex.quote(ours))
    if taints != "closed":
        yield f"{NODE}: its taints are {taints!r}, not closed"


def _contains(running: Any, wanted: Any) -> bool:
    """Maps of the drop-in are merged with those of the main file, and 6144Mi is 6Gi."""
    if isinstance(wanted, dict) and isinstance(running, dict):
        return all(_contains(running.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(running, list):
        return len(running) == len(wanted) and all(map(_contains, running, wanted))
    return running == wanted or _amount(running) == _amount(wanted)


def _amount(text: Any) -> Any:
    try:
        return parse_quantity(text)
    except ValueError:
        return text


def _switch(lab: Lab) -> Iterator[str]:
    """Ports pause the class and no other, a restart would keep it, and no session is open."""
    shown = {
        command: lab.sh(LEAF, f"enable\nterminal length 0\n{command}\n").stdout.replace("\r", "")
        for command in ("show priority-flow-control", "show running-config", "show startup-config")
    }
    ports = re.findall(r"^Ethernet(\d+) +Yes +3 +Yes", shown["show priority-flow-control"], re.MULTILINE)
    if [int(port) for port in ports] != list(range(1, LEAF_PORTS + 1)):
        yield f"{LEAF}: only ports {', '.join(ports) or 'none'} pause priority 3"
    running, startup = (_lines(shown[f"show {which}-config"]) for which in ("running", "startup"))
    if not running or running != startup:
        yield f"{LEAF}: a restart would change {sorted(set(running) ^ set(startup))[:3]}"
    answer = lab.sh(LEAF, "enable\nshow configuration sessions | json\n").stdout
    states = set(re.findall(r'"state": "(\w+)"', answer))
    if not answer or states - {"completed"}:
        yield f"{LEAF}: its configuration sessions are {', '.join(sorted(states))}"


def _lines(shown: str) -> list[str]:
    """A configuration without echo, prompt and heading."""
    return [line for line in shown.splitlines() if line and not re.match(r"!|\S+[>#]|show |enable|terminal", line)]
