# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A real slurmctld with the files of sites, then with those that replace them: only what the report names differs.

Accounting is left out, because there is no slurmdbd; so is the user, because all run as root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.scontrol import fields
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language import values
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.language.nodes import by_node
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.takeover.model import KEPT

from tests.slurm_daemons import STAGE, Place
from tests.takeovers import CONFIGURATIONS, Live, taken_over

pytestmark = pytest.mark.live

SITES = [name for name, site in CONFIGURATIONS.items() if "release" not in site]
"""Those for the lab's release, which later ones take too."""
WITHOUT = re.compile(
    r"^\s*(accountingstorage|jobcomp|slurmuser|slurmctldpidfile|plugindir|priorityflags|priorityweighttres|controladdr)\w*=.*\n",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines that need a slurmdbd, another user, or folders and addresses that this host lacks."""
ELSEWHERE = ("acctgatherenergytype", "mailprog")
"""Keys whose plugins or programs the lab's packages lack."""
SCENE = (
    STAGE
    + r"""
chroot "$R" sh -ec '
munged --force
for site in /sites/*; do
  rm -rf /etc/slurm /state $(cat "$site/folders")
  cp -r "$site/files" /etc/slurm
  printf "10.9.9.1 %s\n10.9.9.2 head2\n" "$(cat "$site/hosts")" > /etc/hosts
  hostname "$(cat "$site/controller")"
  mkdir -p /state $(cat "$site/folders")
  for program in $(cat "$site/programs"); do
    mkdir -p "${program%/*}"
    printf "#!/bin/sh\n" > "$program"
    chmod 755 "$program"
  done
  slurmctld -D -i > "$site/log" 2>&1 & daemon=$!
  until grep -q "Running as primary controller" "$site/log"; do
    kill -0 $daemon 2>/dev/null || break
    sleep 0.02
  done
  for kind in config partition node; do
    kill -0 $daemon 2>/dev/null && scontrol --oneliner show $kind > "$site/$kind" || :
  done
  kill $daemon 2>/dev/null || :
  wait $daemon || :
done
'
"""
)
SAID_AS = {
    **{f"{name}[0]": name.lower() for name in ("Prolog", "Epilog", "PrologSlurmctld", "EpilogSlurmctld")},
    **{
        "PreemptMode": "preemptmode",
        "PropagateResourceLimits": "propagateresourcelimitsexcept",
        "SlurmctldHost[1]": "(slurmctldhost|backupcontroller)",
    },
    **{"DefMemPerNode": "defmempercpu", "JobDefaults": "defmempergpu", "Sockets": "socketsperboard"},
    **dict.fromkeys(("CPUEfctv", "CfgTRES", "TRES"), "cpuspeclist"),
    **dict.fromkeys(("CPUTot", "TotalCPUs"), "cpus"),
}
"""Names in slurmctld's own words, and the keys that cause them: partitions without a PreemptMode have the cluster's."""
_OF_CGROUPS = r"(Constrain|Allowed|Ignore|Max|Memory|Min|Enable)(Cores|Devices|RAM\w*|Swap\w*|Systemd\w*|Controllers)"
NOT_COMPARED = re.compile(
    r"AccountingStorage.*|JobComp.*|SlurmUser|SlurmctldPidFile|PluginDir|BOOT_TIME|HASH_VAL|NEXT_JOB_ID|StateSaveLocation"
    r"|(Available|Active)Features|NodeSets|.*Time|Reason|Cgroup.*|SystemdTimeout|MemorySwappiness|" + _OF_CGROUPS
)


def prepared(folder: Path, files: Mapping[str, str], live: Live, controller: str) -> None:
    """The files of one run."""
    (folder / "files").mkdir(parents=True)
    paths: set[str] = set()
    for name, text in files.items():
        if text and name not in ("cgroup.conf", "slurmdbd.conf"):
            text = WITHOUT.sub("", text.replace("\\\n", ""))
            text = re.sub(r"(?im)^(slurmctldhost=[^(]+)\(.*\)", r"\1", text)
            text = re.sub(r"(?i)\b(allow|deny)?qos=\S+", "", text)  # Slurm 26.05 looks for it in slurmdbd
            text = "".join(line for line in text.splitlines(True) if not line.lower().startswith(ELSEWHERE))
            paths |= set(re.findall(r"=(/(?:opt|usr/local|usr/sbin|cm|etc/slurm)/[\w./-]+)", text))
            place = folder / "files" / name
            place.parent.mkdir(exist_ok=True)
            place.write_text(f"SlurmUser=root\n{text}" if name == "slurm.conf" else text)
    conf = (folder / "files/slurm.conf").read_text()
    if "StateSaveLocation" not in conf:
        (folder / "files/slurm.conf").write_text(f"StateSaveLocation=/state\n{conf}")
    (folder / "folders").write_text(" ".join(re.findall(r"StateSaveLocation=(\S+)", conf)))
    (folder / "programs").write_text("\n".join(sorted(path for path in paths if not path.endswith((".conf", "/")))))
    (folder / "hosts").write_text(" ".join([controller, "head.mgmt", *by_node(live.lines("slurm.conf"))]))
    (folder / "controller").write_text(controller)


@pytest.fixture(scope="module")
def runs(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for each run: what slurmctld showed, and its log."""
    scene = tmp_path_factory.mktemp("takeover")
    for name in ("root", "work", "upper/sites"):
        (scene / name).mkdir(parents=True)
    for name in SITES:
        live = Live(name, place.release)
        intent, _second = taken_over(live)
        site = load(intent)
        new = controller_files(site.slurm, site.nodes, True)
        for kind, files in (("old", live.files), ("new", new)):
            prepared(scene / "upper/sites" / f"{name}.{kind}", files, live, site.slurm.controller)
    place.run(SCENE, SCENE=scene)
    return scene / "upper/sites"


def shown(folder: Path) -> Iterator[tuple[str, str]]:
    """What slurmctld has read: values by key, those of partitions and nodes with their names before."""
    for line in (folder / "config").read_text().splitlines():
        if match := re.fullmatch(r"(\w+(?:\[[0-9]\])?) *= (.*)", line):
            yield match[1], match[2].strip()
    for kind, first in (("partition", "PartitionName"), ("node", "NodeName")):
        for line in (folder / kind).read_text().splitlines():
            values_of = fields(line)
            yield from ((f"{kind} {values_of[first]} {key}", value) for key, value in values_of.items())


@pytest.mark.parametrize("name", SITES)
def test_slurmctld_loads_the_new_files_and_differs_only_in_what_the_report_names(
    place: Place, runs: Path, name: str
) -> None:
    old, new = (dict(shown(runs / f"{name}.{kind}")) for kind in ("old", "new"))
    assert old and new
    _intent, second = taken_over(Live(name, place.release))
    changes = [it for found in second.values() for it in found if it.group != KEPT or it.note]
    lines = [text.lower() for it in changes for text in (it.old, it.new)]
    differs = [(key, before, new.get(key)) for key, before in old.items() if before != new.get(key)]
    assert [it for it in differs if not _same(*it) and not _named(it[0], lines)] == []


def _named(key: str, lines: Sequence[str]) -> bool:
    """Whether the report has the key: of a partition, in a line of its own, unless another line causes it."""
    *owner, bare = key.split(" ")
    begin = f"partitionname={owner[1]} ".lower() if owner[:1] == ["partition"] and bare not in SAID_AS else ""
    said = re.compile(rf"\b{SAID_AS.get(bare, bare).lower()}=")
    return bool(NOT_COMPARED.fullmatch(bare)) or any(said.search(it) for it in lines if it.startswith(begin))


def _same(key: str, old: str, new: str | None) -> bool:
    return new is not None and values.same(key.rpartition(" ")[2], old, new)


def test_slurm_takes_without_a_line_what_the_table_says(runs: Path) -> None:
    live = {key.lower(): value for key, value in shown(runs / "nothing_but_the_least.old") if " " not in key}
    live |= {key: re.sub(r"[ (].*", "", value) for key, value in live.items() if not value.startswith("(")}
    needs_slurmdbd = {"accountingstorageport"}
    other_names = {"defmempercpu": "defmempernode", "maxmempercpu": "maxmempernode"}
    wrong = {
        key: (expected, shown_as)
        for key, expected in values.OWN["slurm.conf"].items()
        if key not in needs_slurmdbd
        and not values.same(key, expected, shown_as := live[other_names.get(key, key)])
        and not (shown_as in ("(null)", "UNLIMITED") and re.fullmatch(r"0|none|\w+/none", expected))
    }
    assert wrong == {}
