# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""IBM Storage Scale (GPFS) as the mm* commands show it: clusters whose states all hosts of the lab share.

No capture confirms these texts; nothing may depend on their words: adding a node that is already a member, of another
cluster or without packages. Starting without a licence. Mounting with the daemon down or in maintenance mode. Deleting
an active node or an NSD server. A caller who is not root or not an admin; mmsdrrestore. All refusals of mmchconfig but
6027-3960, of node classes, mmauth, mmremotecluster, mmremotefs. `mmbuildgpl` without headers. Errors of mmpmon, and the
name that it has for a file system of another cluster. Filesets, quotas and policies: see there.
"""

from __future__ import annotations

import contextlib
import copy
import fcntl
import io
import os
import sys
import time
from typing import TYPE_CHECKING, Callable, NamedTuple

from ...common import DIE, LIE, READ_EFFECTS, REFUSE, Call, Device, Killed, host_device
from . import (
    config,
    daemon,
    fileset_list,
    filesets,
    members,
    mounts,
    performance,
    policies,
    pools,
    quota_list,
    quotas,
    remote,
)
from .model import Bare, Cluster, Failed, founder_here
from .states import default_state
from .text import PROPAGATING

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMBER, ADMIN = Cluster.require_member, Cluster.require_admin


class Verb(NamedTuple):
    """What a command does, its options as getopt has them, and what it asks of its host before all else."""

    act: Callable[[Cluster, dict[str, str], list[str]], int | None]
    short: str | None = ""
    """None: it parses its command line itself."""
    long: tuple[str, ...] = ()
    needs: Callable[[Cluster], None] = MEMBER


def _anywhere(_: Cluster) -> None:
    """Ask nothing of a host."""


READERS: dict[str, Verb] = {
    "mmdf": Verb(pools.mmdf, "dFmP:Y"),
    "mmdiag": Verb(performance.mmdiag, "Y", ("config", "waiters")),
    "mmgetstate": Verb(daemon.mmgetstate, "LsvYaN:", ("fqdn",)),
    "mmlscluster": Verb(members.mmlscluster, "Y"),
    "mmlsconfig": Verb(config.mmlsconfig, "Y"),
    "mmlsfileset": Verb(fileset_list.mmlsfileset, "J:diLXY", ("afm", "deleted", "iam-mode")),
    "mmlsfs": Verb(mounts.mmlsfs, None),
    "mmlslicense": Verb(members.mmlslicense, "LY"),
    "mmlsmount": Verb(mounts.mmlsmount, "LYC:"),
    "mmlsnodeclass": Verb(config.mmlsnodeclass, "Y", ("user", "system", "all")),
    "mmlspolicy": Verb(policies.mmlspolicy, "L"),
    "mmlspool": Verb(pools.mmlspool, "L"),
    "mmlsquota": Verb(quota_list.mmlsquota, "u:g:j:vqeY", ("block-size=",)),
    "mmpmon": Verb(performance.mmpmon, "i:ps"),
    "mmrepquota": Verb(quota_list.mmrepquota, "ugjaenqvY", ("block-size=",)),
}
MUTATORS: dict[str, Verb] = {
    "mmaddnode": Verb(members.mmaddnode, "N:", ("accept",), ADMIN),
    "mmauth": Verb(remote.mmauth, "k:l:f:a:r:C:"),
    "mmcheckquota": Verb(quotas.mmcheckquota, "v", (), ADMIN),
    "mmchconfig": Verb(config.mmchconfig, "iIN:", ("force",), ADMIN),
    "mmchfileset": Verb(filesets.mmchfileset, "j:t:p:", filesets.CHANGE, ADMIN),
    "mmchfs": Verb(quotas.mmchfs, "Q:", quotas.CHANGE_FS, ADMIN),
    "mmchlicense": Verb(members.mmchlicense, "N:", ("accept",), ADMIN),
    "mmchnode": Verb(members.mmchnode, "N:S:", members.NODE_OPTIONS, ADMIN),
    "mmchnodeclass": Verb(config.mmchnodeclass, "N:", (), ADMIN),
    "mmchpolicy": Verb(policies.mmchpolicy, "t:I:", (), ADMIN),
    "mmcrfileset": Verb(filesets.mmcrfileset, "t:p:J:", filesets.CREATE, ADMIN),
    "mmcrnodeclass": Verb(config.mmcrnodeclass, "N:", (), ADMIN),
    "mmdelfileset": Verb(filesets.mmdelfileset, "f", (), ADMIN),
    "mmdelnode": Verb(members.mmdelnode, "N:af", (), _anywhere),
    "mmdelnodeclass": Verb(config.mmdelnodeclass, "", (), ADMIN),
    "mmlinkfileset": Verb(filesets.mmlinkfileset, "J:", (), ADMIN),
    "mmremotecluster": Verb(remote.mmremotecluster, "n:k:C:"),
    "mmremotefs": Verb(remote.mmremotefs, "f:C:T:A:o:", ("mount-priority=", "force")),
    "mmsdrrestore": Verb(members.mmsdrrestore, "p:F:R:N:a", (), _anywhere),
    "mmsetquota": Verb(quotas.mmsetquota, "", quotas.SET, ADMIN),
    "mmunlinkfileset": Verb(filesets.mmunlinkfileset, "J:f", (), ADMIN),
}
"""Change the cluster's configuration, and therefore take its lock."""
ACTIONS: dict[str, Verb] = {
    "mmbuildgpl": Verb(config.mmbuildgpl, "v", ("quiet", "build-package"), _anywhere),
    "mmmount": Verb(mounts.mmmount, "o:aN:"),
    "mmshutdown": Verb(daemon.mmshutdown, "t:aN:", ("accept",)),
    "mmstartup": Verb(daemon.mmstartup, "aN:E:"),
    "mmumount": Verb(mounts.mmumount, "faN:"),
}
ALSO_LIES = (*READ_EFFECTS, LIE)
"""Effects of mmpmon, which can end with 0 after an error."""
VERBS = {**READERS, **MUTATORS, **ACTIONS}
SILENT = (
    *("mmdelnode", "mmsdrrestore", "mmcheckquota", "mmchpolicy", "mmsetquota"),
    *("mmcrfileset", "mmlinkfileset", "mmchfileset", "mmunlinkfileset", "mmdelfileset"),
)
"""Mutators that do not end with the word that all nodes will learn of it."""
LOCK_BUSY = "Unable to obtain the GPFS configuration file lock. Retrying ..."
LOCK_LOST = "Timed out waiting for lock. Try again later."
NO_QUORUM = "get file failed: Not enough CCR quorum nodes available (err 809)"


def reads(name: str, argv: list[str]) -> bool:
    """Say whether a call changes nothing."""
    return name in READERS or (name in ("mmauth", "mmremotecluster", "mmremotefs") and argv[:1] == ["show"])


def main(name: str, argv: list[str]) -> int:
    """Run an mm* command and return its exit code."""
    if name == "mmfsd":
        return daemon.mmfsd()
    shared = daemon.device_here()
    if name not in VERBS:
        print(f"{name}: the lab doesn't emulate this command; it knows {', '.join(sorted(VERBS))}", file=sys.stderr)
        return 127
    with Call(host_device("gpfs"), name, argv) as call:
        effect = call.fault(writes=not reads(name, argv), among=ALSO_LIES if name == "mmpmon" else None)
        try:
            with _lock(shared, name, argv):
                call.rc = _run(shared, name, argv, effect)
        except Failed as failure:
            closing = f"{name}: Command failed.  Examine previous error messages to determine cause."
            start = "" if isinstance(failure, Bare) else f"{name}: "
            print(*(f"{start}{line}" for line in failure.args), closing, sep="\n", file=sys.stderr)
            call.rc = failure.rc
        if effect == DIE:
            raise Killed
    return call.rc or 0


def _run(shared: Device, name: str, argv: list[str], effect: str | None) -> int:
    """Run the command on the locked state; what it did before it failed stays done."""
    rc, failure = 0, None
    with shared.state(default_state(founder_here())) as state:
        cluster = Cluster(copy.deepcopy(state) if effect == LIE else state, shared, name, effect)
        cluster.arrive()
        if state["noise"]:
            print(state["noise"])
        try:
            _check(cluster, argv)
            verb = VERBS[name]
            given, rest = ({}, argv) if verb.short is None else members.options(argv, verb.short, *verb.long)
            verb.needs(cluster)
            with _cut(name in state["truncated"] and "-Y" in argv):
                rc = verb.act(cluster, given, rest) or 0
            if name in MUTATORS and name not in SILENT and not reads(name, rest):
                print(PROPAGATING.format(name))
        except Failed as error:
            failure = error
    rc = max(rc, cluster.wait_for_requests())
    if failure:
        raise failure
    return rc


def _check(cluster: Cluster, argv: list[str]) -> None:
    changes = not reads(cluster.command, argv)
    if changes and os.geteuid() != 0:
        raise Failed("This command can only be run by the root user.")
    if cluster.effect == REFUSE:
        raise Failed(f"Make sure that the following nodes are available:\n\t{cluster.founder()}")
    if changes and cluster.command in MUTATORS and cluster.state["quorum_lost"]:
        raise Failed(NO_QUORUM)


@contextlib.contextmanager
def _cut(wanted: bool) -> Iterator[None]:
    """Let the output end in the middle of its last line, as that of a command does that was killed."""
    if not wanted:
        yield
        return
    with contextlib.redirect_stdout(io.StringIO()) as buffer:
        yield
    text = buffer.getvalue().rstrip("\n")
    print(text[: len(text) - len(text.rpartition("\n")[2]) // 2], end="")


@contextlib.contextmanager
def _lock(shared: Device, name: str, argv: list[str]) -> Iterator[None]:
    """Hold the cluster's lock while the configuration changes; give up after the state's `lock_timeout_s`.

    The state's `lock_held_until` (lab clock) stands for a holder outside of the lab: the GUI, CSI, another admin.
    """
    if name not in MUTATORS or reads(name, argv) or argv == ["-f"]:
        yield
        return
    with shared.state(default_state(founder_here())) as state:
        timeout, held_until, work = state["lock_timeout_s"], state["lock_held_until"], state["change_takes_s"]
    deadline = time.monotonic() + timeout
    told = False
    with (shared.directory / ".cluster.lock").open("w") as handle:
        while shared.now() < held_until or not _taken(handle.fileno()):
            if not told:
                print(f"{name}: {LOCK_BUSY}", file=sys.stderr)
                told = True
            if time.monotonic() > deadline:
                raise Failed(LOCK_LOST)
            time.sleep(0.02)
        time.sleep(work)
        yield


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
