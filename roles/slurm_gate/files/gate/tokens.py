# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Short tokens in files: the job's, that its user alone may read, and the host's own, renewed before they end."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .api import Api, Unreachable
from .config import Job, Refused
from .processes import PROC
from .world import World

JOB_S = 3600
OWN_S = 86400
RENEW_S = 1200  # a job's token lasts three times as long
NOTE = "run"  # a job directory's file that says whose token is in it, and for which run
OVER = "over"  # the same once the run is over, until nothing of it is left here


def mint(api: Api, namespace: str, account: str, lifetime_s: int) -> str:
    """Ask for a token of a ServiceAccount. Raises Refused, Unreachable."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    answer = api.call("POST", path, {"spec": {"expirationSeconds": lifetime_s}})
    if not answer.ok:
        raise Refused(f"no token for {namespace}/{account}: {answer.message}")
    return str(answer.body["status"]["token"])


def write(file: Path, content: str, mode: int, uid: int, gid: int) -> None:
    """Replace a file at once; nobody else ever could read it. A prolog and the timer may do so at the same time."""
    for left in file.parent.glob(f".{file.name}.*.partial"):
        if not (PROC / left.name.split(".")[-2]).exists():
            left.unlink(missing_ok=True)  # of one that was killed
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(content)
        os.fchown(out.fileno(), uid, gid)
        os.fchmod(out.fileno(), mode)
        out.flush()
        os.fsync(out.fileno())  # or a power cut may leave the new name with nothing in it
    partial.rename(file)


def deliver(job: Job, world: World, api: Api) -> None:
    """Write the job's token and what its batch script must know beside it. Raises Refused, Unreachable.

    The token comes last: if the API server does not answer now, `renew_jobs` brings it as soon as it does.
    """
    home = world.jobs / str(job.owner.job)
    for folder in (world.jobs.parent, world.jobs, home):
        folder.mkdir(mode=0o755, exist_ok=True)
    lines = [f"{key}={value}\n" for key, value in variables(job, world).items()]
    write(home / "env", "".join(lines), 0o444, 0, 0)
    whose = {"namespace": job.owner.namespace, "account": job.account, "started": job.started}
    write(home / NOTE, json.dumps({**whose, "uid": job.uid, "gid": job.gid}), 0o400, 0, 0)
    write(home / "token", mint(api, job.owner.namespace, job.account, JOB_S), 0o400, job.uid, job.gid)
    world.log.event("token delivered", job=job.owner.job, account=job.account)


def variables(job: Job, world: World) -> Mapping[str, str]:
    """What a job needs to talk to Kubernetes, as lines of its env file."""
    return {
        "DRAWBRIDGE_API_SERVER": world.config.api_server,
        "DRAWBRIDGE_CA_FILE": world.config.ca_file,
        "DRAWBRIDGE_NAMESPACE": job.owner.namespace,
        "DRAWBRIDGE_SERVICE_ACCOUNT": job.account,
        "DRAWBRIDGE_TOLERATION": job.owner.held,
        **{f"DRAWBRIDGE_POD_{name.upper()}": value for name, value in world.config.pod_limits.items()},
    }


def note(job: int, world: World) -> Mapping[str, Any]:
    """Whose token is here, or was, and for which run; empty if there is none."""
    home = world.jobs / str(job)
    return _note(home / NOTE) or _note(home / OVER)


def _note(file: Path) -> Mapping[str, Any]:
    try:
        return dict(json.loads(file.read_text()))
    except (OSError, ValueError):
        return {}


def leftover(world: World, but: int = 0) -> str:
    """Another job's traces here: its epilog has not closed this node; "" if there are none."""
    left = [home.name for home in sorted(world.jobs.glob("[0-9]*")) if int(home.name) != but]
    return f"job {left[0]} has not been closed here yet" if left else ""


def remove(job: int, world: World) -> None:
    """Forget a job's token. That the job was here stays to be seen until `forget`."""
    home = world.jobs / str(job)
    with contextlib.suppress(OSError):
        (home / NOTE).rename(home / OVER)  # first, or the timer would bring another
    for name in ("token", "env"):
        with contextlib.suppress(OSError):
            (home / name).unlink(missing_ok=True)


def forget(job: int, world: World) -> None:
    """Forget a job of which nothing is left here."""
    home = world.jobs / str(job)
    with contextlib.suppress(OSError):
        for file in home.iterdir():
            file.unlink()
        home.rmdir()


def tidy(node: str, world: World) -> None:
    """Forget jobs that have left this node, which is closed: their epilog did not. Raises NoAnswer."""
    for home in sorted(world.jobs.glob("[0-9]*")):
        if not world.slurm.job(int(home.name)).has(node):
            forget(int(home.name), world)


def renew(file: Path, world: World, api: Api) -> bool:
    """Replace a ServiceAccount's own token, read from the file, when it is old. False if it can't be."""
    try:
        _, _, namespace, account = subject(file.read_text()).split(":")
        owner = file.stat()
    except (OSError, Refused) as err:
        world.log.event("token not renewed", file=str(file), cause=str(err))
        return False
    return _renewed(file, (namespace, account, OWN_S), (owner.st_uid, owner.st_gid), world, api)


def renew_jobs(world: World, api: Api) -> bool:
    """Bring the tokens of this node's jobs that are missing, replace those that are old. False if any can't be."""
    done = []
    for file in sorted(world.jobs.glob(f"*/{NOTE}")):
        # the job's epilog may take all of it away at any moment
        if found := _note(file):
            whose, owner = (found["namespace"], found["account"], JOB_S), (found["uid"], found["gid"])
            token = file.with_name("token")
            done.append(_renewed(token, whose, owner, world, api) or not file.exists())
            if not file.exists():
                token.unlink(missing_ok=True)
    return all(done)


def subject(token: str) -> str:
    """Who a token says it is: system:serviceaccount:<namespace>:<name>. Raises Refused. Nothing is verified here."""
    try:
        payload = token.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])
    except (IndexError, KeyError, ValueError) as err:
        raise Refused("a token file is damaged, as a power cut may leave it: run gate.yml") from err


def _renewed(file: Path, whose: tuple[str, str, int], owner: tuple[int, int], world: World, api: Api) -> bool:
    try:
        # a clock that was set back finds files of the future, and the API server's clock does not wait for them
        if file.exists() and 0 <= world.clock.wall() - file.stat().st_mtime < RENEW_S:
            return True
        write(file, mint(api, *whose), 0o400, *owner)
    except (OSError, Refused, Unreachable) as err:
        world.log.event("token not renewed", file=str(file), cause=str(err))
        return False
    return True
