# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's verbs: open, end (on the controller), place, close (on a node), tend (on both, from a timer)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from . import log, slurm, tokens
from .api import Api, Unreachable
from .closer import close_job, close_node
from .config import Config, Job, NotGated, Refused
from .mend import mend_cluster, mend_node
from .opener import open_job

ETC = Path("/etc/drawbridge/gate")
OPENER, RECONCILER, NODE = ETC / "opener.token", ETC / "reconciler.token", ETC / "node.token"
LOCK = Path("/run/drawbridge/gate.lock")
PLACE_S = 20.0  # a node's prolog must not hold the job for the API server's sake


def main(argv: Sequence[str]) -> int:
    """Run one verb; the exit code is what Slurm acts on."""
    config = Config.read()
    if argv[0] == "tend":
        return tend(config)
    try:
        job = Job.of(os.environ, config)
    except NotGated:
        return 0
    except Refused as err:
        # Such a job never opened a node, so there is nothing to close after it.
        return fail(int(os.environ["SLURM_JOB_ID"]), err) if argv[0] == "open" else 0
    try:
        return VERBS[argv[0]](job, config)
    except (Refused, Unreachable) as err:
        return fail(job.owner.job, err)


def fail(job: int, err: Exception) -> int:
    """Tell the cause where people look for it: the job's comment, the drained nodes, the log."""
    log.event("refused", job=job, cause=str(err))
    slurm.comment(job, str(err))
    for node, reason in getattr(err, "drain", {}).items():
        slurm.drain(node, reason)
    return 1


def open_nodes(job: Job, config: Config) -> int:
    """PrologSlurmctld."""
    open_job(job, _api(config, OPENER, config.patience_s), _api(config, RECONCILER, 2 * config.patience_s))
    return 0


def end_job(job: Job, config: Config) -> int:
    """EpilogSlurmctld."""
    close_job(job, _api(config, RECONCILER, config.patience_s))
    return 0


def place_token(job: Job, config: Config) -> int:
    """Prolog of a node: without its token a job can't use Kubernetes, but it can run."""
    try:
        tokens.place(job, _api(config, NODE, PLACE_S), config)
    except (Refused, Unreachable, OSError) as err:
        log.event("token not placed", job=job.owner.job, cause=str(err))
    return 0


def close_this_node(job: Job, config: Config) -> int:
    """Epilog of a node."""
    tokens.remove(job.owner.job)
    api = _api(config, NODE, config.patience_s + config.empty_s)
    try:
        with locked(wait=True):
            close_node(job, _node(), api, config.empty_s, config.pod_grace_s)
    except Unreachable as err:
        raise Refused(str(err), {_node(): f"not proven empty, {err}"}) from err
    return 0


def tend(config: Config) -> int:
    """Renew the tokens of this host; do what epilogs did not."""
    done = []
    for file in sorted(ETC.glob("*.token")):
        api = _api(config, file, config.patience_s)
        done.append(tokens.renew(api, file))
        if file == NODE:
            done.append(tokens.renew_jobs(api))
            done.append(_mend(config, api, tokens.subject(file.read_text()).rpartition(":")[2]))
        if file == RECONCILER:
            done.append(_attempt(lambda api=api: mend_cluster(config.namespaces.values(), api)))
    return 0 if all(done) else 1


def _mend(config: Config, api: Api, node: str) -> bool:
    """Leave the node to an epilog that is at work."""
    with locked(wait=False) as free:
        return not free or _attempt(lambda: mend_node(node, api, config.pod_grace_s))


def _attempt(mend: Callable[[], bool]) -> bool:
    """The next run tries again, so a silent API server is only noted."""
    try:
        return mend()
    except Unreachable as err:
        log.event("not mended", cause=str(err))
        return False


@contextlib.contextmanager
def locked(wait: bool) -> Iterator[bool]:
    """Let one program at a time prove this node empty. False if another does and nobody wants to wait."""
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


VERBS = {"open": open_nodes, "end": end_job, "place": place_token, "close": close_this_node}


def _node() -> str:
    return os.environ["SLURMD_NODENAME"]


def _api(config: Config, token: Path, patience_s: float) -> Api:
    return Api(config.api_server, config.ca_file, str(token), patience_s)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
