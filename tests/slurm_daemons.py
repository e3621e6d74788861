# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's Slurm in namespaces of its own, without a lab; with SLURM_SUITE=sid that of another suite of Debian."""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.releases import of_version

from lab.hosts.paths import Paths
from lab.image import build
from lab.image.recipe import packages

SCENE_S = 600
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
TOO_LARGE = ("mariadb-client", "mariadb-server_", "galera", "perl", "libperl", "nfs", "libx")
"""Packages of the lab that Slurm does not need."""
UNPACK = """
mount -t overlay overlay -o "lowerdir=$TREE,upperdir=$WORK/slurm,workdir=$WORK/unpacking" "$WORK/root"
mount --bind "$PACKAGES" "$WORK/root/mnt"
for deb in $DEBS; do chroot "$WORK/root" dpkg-deb -x "/mnt/$deb" /; done
cd "$WORK/root/usr/sbin"
for daemon in slurmctld slurmd slurmstepd; do ln -sf $daemon-wlm $daemon; done
chroot "$WORK/root" slurmctld -V > "$WORK/release"
"""
STAGE = """
R=$SCENE/root
mount -t overlay overlay -o "lowerdir=$WORK/slurm:$TREE,upperdir=$SCENE/upper,workdir=$SCENE/work" "$R"
mount -t proc proc "$R/proc"
for place in run dev tmp; do mount -t tmpfs tmpfs "$R/$place"; done
for device in 'null 1 3' 'zero 1 5' 'random 1 8' 'urandom 1 9'; do
  set -- $device; mknod -m 666 "$R/dev/$1" c "$2" "$3"
done
ip link set lo up
ip address add 10.9.9.1/32 dev lo
mkdir -p "$R/run/munge" "$R/etc/munge" "$R/var/lib/munge" "$R/var/log/munge"
chmod 700 "$R/etc/munge" "$R/var/lib/munge" "$R/var/log/munge"
head -c 1024 /dev/urandom > "$R/etc/munge/munge.key"
chmod 400 "$R/etc/munge/munge.key"
"""
"""A root with Slurm at $R, above the folder $SCENE/upper, for daemons that need munge and one address."""
SCENE = f"""{STAGE}
hostname ctl
echo '10.9.9.1 ctl' > "$R/etc/hosts"
mkdir -p "$R/var/spool/slurmctld"
chroot "$R" sh -e /out/script
"""
"""One host `ctl` with the daemons of CONF, on which the program /out/script runs."""
CONF = """
ClusterName=demo
SlurmctldHost=ctl(10.9.9.1)
SlurmUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd-%n
SlurmdLogFile=/out/%n.log
SlurmctldLogFile=/out/slurmctld
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MailProg=/bin/true
MpiDefault=none
"""
"""Lines of slurm.conf without nodes and partitions."""
ACCOUNTING = """
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=ctl
PriorityType=priority/multifactor
"""
"""More lines, for a site with slurmdbd."""
DBD_CONF = """
AuthType=auth/munge
DbdHost=ctl
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
LogFile=/out/slurmdbd.log
PidFile=/run/slurmdbd.pid
"""
DATABASE = """
# libraries of different releases look for the socket in one of two places
mkdir -p /run/mysqld /var/lib/mysql
ln -s mysqld /run/mariadbd
tables=$(ls /usr/share/mysql/mariadb_system_tables.sql /usr/share/mariadb/*_system_tables.sql 2> /dev/null || true)
mariadb() { mariadbd --no-defaults --user=root --datadir=/var/lib/mysql --innodb-flush-method=nosync "$@"; }
(echo 'create database mysql;'; echo 'use mysql;'; cat $tables) | mariadb --bootstrap > /out/bootstrap.log 2>&1
# a first connection that finds no database breaks Debian's library 11.8.9
mkdir /var/lib/mysql/slurm_acct_db
mariadb --socket=/run/mysqld/mysqld.sock --skip-networking --skip-grant-tables > /out/mariadb.log 2>&1 &
come '[ -S /run/mysqld/mysqld.sock ]'
chmod 600 /etc/slurm/slurmdbd.conf
slurmdbd
come 'sacctmgr -nP list cluster > /dev/null 2>&1'
"""
"""Starts MariaDB and slurmdbd, after munged. It needs a function `come`, which waits for a condition."""
SUITE = (
    *("mmdebstrap", "--mode=root", "--variant=minbase", "--format=directory"),
    "--include=munge,python3-minimal,slurm-client,slurmctld,slurmd,slurmdbd,slurm-wlm-mysql-plugin,mariadb-server-core",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    # a mirror may be a snapshot of an older day
    *('--aptopt=APT::Install-Recommends "false"', '--aptopt=Acquire::Check-Valid-Until "false"'),
)


@dataclass(frozen=True)
class Place:
    """A tree with Slurm in it."""

    work: Path
    environment: dict[str, str]

    @property
    def release(self) -> str:
        """That of its Slurm, such as 24.11."""
        return of_version((self.work / "release").read_text())

    def run(self, script: str, **environment: object) -> None:
        """Run a shell script as root of namespaces that end with it."""
        argv = ["unshare", "--mount", "--net", "--pid", "--fork", "--uts", "--kill-child", "sh", "-ec", script]
        everything = {**self.environment, **{key: str(value) for key, value in environment.items()}}
        done = subprocess.run(argv, env=everything, capture_output=True, text=True, timeout=SCENE_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def unpacked(work: Path) -> Place:
    """The place, in an empty folder."""
    for name in ("slurm", "unpacking", "root"):
        (work / name).mkdir()
    return _of_suite(work, suite) if (suite := os.environ.get("SLURM_SUITE")) else _of_lab(work)


def _of_suite(work: Path, suite: str) -> Place:
    # a test may still run in the tree of an earlier recipe
    recipe = hashlib.sha256(" ".join(SUITE).encode()).hexdigest()[:8]
    tree = Paths.of().cache / "suites" / f"{suite}-{recipe}"
    if not tree.is_dir():
        tree.parent.mkdir(parents=True, exist_ok=True)
        partial = tree.with_suffix(".partial")
        subprocess.run([*SUITE, suite, str(partial)], check=True, timeout=SCENE_S)
        partial.rename(tree)
    found = Place(work, {"PATH": PATH, "TREE": str(tree), "WORK": str(work)})
    found.run('chroot "$TREE" slurmctld -V > "$WORK/release"')
    return found


def _of_lab(work: Path) -> Place:
    image = build.ensure(Paths.of().cache, print)
    debs = " ".join(deb.name for deb in image.packages.glob("*.deb") if not deb.name.startswith(TOO_LARGE))
    environment = {"PATH": PATH, "TREE": str(image.tree), "WORK": str(work)}
    found = Place(work, {**environment, "PACKAGES": str(image.packages), "DEBS": debs})
    found.run(UNPACK)
    return found


def package(place: Place, name: str, component: str) -> Path:
    """A package of the suite's that the place lacks, kept for later runs; `component` is its part of the archive."""
    suite = os.environ.get("SLURM_SUITE") or packages()["suite"]
    # a plugin fits one release
    release = (place.work / "release").read_text().split()[-1]
    folder = Paths.of().cache / "suites" / f"{suite}-{name}-{release}"
    if not folder.is_dir():
        partial = folder.with_suffix(".partial")
        partial.mkdir(parents=True, exist_ok=True)
        hook = f'cd {partial} && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get --quiet download {name}'
        argv = [*SUITE[:2], "--variant=custom", "--format=null", f"--components={component}", *SUITE[-1:]]
        mirror = [it] if (it := os.environ.get("LAB_MIRROR")) else []
        subprocess.run([*argv, f"--customize-hook={hook}", suite, "-", *mirror], check=True, timeout=SCENE_S)
        partial.rename(folder)
    (found,) = folder.glob("*.deb")
    return found
