# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Short-lived tokens in files: a job's, which only its user can read, and the host's own; the timer renews both."""

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
NOTE = "run"  # file of a job's directory: account and run of its token
OVER = "over"  # its name after the run's end, until the node is closed


def mint(api: Api, namespace: str, account: str, lifetime_s: int) -> str:
    """Request a token of a ServiceAccount. Raises Refused, Unreachable."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    answer = api.call("POST", path, {"spec": {"expirationSeconds": lifetime_s}})
    if not answer.ok:
        raise Refused(f"no token for {namespace}/{account}: {answer.message}")
    return str(answer.body["status"]["token"])


def write(file: Path, content: str, mode: int, uid: int, gid: int) -> None:
    """Replace a file atomically, never readable by other users. Safe if a prolog and the timer do so at once."""
    for left in file.parent.glob(f".{file.name}.*.partial"):
        if not (PROC / left.name.split(".")[-2]).exists():
            left.unlink(missing_ok=True)  # its writer was killed
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(content)
        os.fchown(out.fileno(), uid, gid)
        os.fchmod(out.fileno(), mode)
        out.flush()
        os.fsync(out.fileno())  # or a power cut may leave an empty file
    partial.rename(file)


def deliver(job: Job, world: World, api: Api, groups: str) -> None:
    """Write the job's token, and the variables that its batch script needs. Raises Refused, Unreachable.

    `groups` are the user's other groups, with dots between them.

    The token is last: if the API server does not answer now, `renew_jobs` delivers it later.
    """
    directory = world.jobs / str(job.owner.job)
    for folder in (world.jobs.parent, world.jobs, directory):
        folder.mkdir(mode=0o755, exist_ok=True)
    lines = [f"{key}={value}\n" for key, value in variables(job, world, groups).items()]
    write(directory / "env", "".join(lines), 0o444, 0, 0)
    whose = {"namespace": job.owner.namespace, "account": job.account, "started": job.started}
    write(directory / NOTE, json.dumps({**whose, "uid": job.uid, "gid": job.gid}), 0o400, 0, 0)
    write(directory / "token", mint(api, job.owner.namespace, job.account, JOB_S), 0o400, job.uid, job.gid)
    world.log.event("token delivered", job=job.owner.job, account=job.account)


def variables(job: Job, world: World, groups: str) -> Mapping[str, str]:
    """Variables of the job's env file, for requests to Kubernetes."""
    return {
        "DRAWBRIDGE_API_SERVER": world.config.api_server,
        "DRAWBRIDGE_CA_FILE": world.config.ca_file,
        "DRAWBRIDGE_NAMESPACE": job.owner.namespace,
        "DRAWBRIDGE_SERVICE_ACCOUNT": job.account,
        "DRAWBRIDGE_TOLERATION": job.owner.held,
        "DRAWBRIDGE_GROUPS": groups.replace(".", ","),
        **{f"DRAWBRIDGE_POD_{name.upper()}": value for name, value in world.config.pod_limits.items()},
    }


def note(job: int, world: World) -> Mapping[str, Any]:
    """Account and run of the token that is or was here; empty without one."""
    directory = world.jobs / str(job)
    return _note(directory / NOTE) or _note(directory / OVER)


def _note(file: Path) -> Mapping[str, Any]:
    try:
        return dict(json.loads(file.read_text()))
    except (OSError, ValueError):
        return {}


def leftover(world: World, but: int = 0) -> str:
    """Why this host is not free: another job's epilog has not closed this node; "" if none is left."""
    left = [directory.name for directory in sorted(world.jobs.glob("[0-9]*")) if int(directory.name) != but]
    return f"job {left[0]} has not been closed here yet" if left else ""


def remove(job: int, world: World) -> None:
    """Delete a job's token. Its directory shows that the job was here until `forget`."""
    directory = world.jobs / str(job)
    with contextlib.suppress(OSError):
        (directory / NOTE).rename(directory / OVER)  # first, or the timer would deliver another token
    for name in ("token", "env"):
        with contextlib.suppress(OSError):
            (directory / name).unlink(missing_ok=True)


def forget(job: int, world: World) -> None:
    """Delete the directory of a job that has left this node."""
    directory = world.jobs / str(job)
    with contextlib.suppress(OSError):
        for file in directory.iterdir():
            file.unlink()
        directory.rmdir()


def tidy(node: str, world: World) -> None:
    """Delete directories that epilogs left behind, on this closed node. Raises NoAnswer."""
    for directory in sorted(world.jobs.glob("[0-9]*")):
        if not world.slurm.job(int(directory.name)).has(node):
            forget(int(directory.name), world)


def renew(file: Path, world: World, api: Api) -> bool:
    """Replace an old token of this host with one of the same ServiceAccount. False if that failed."""
    try:
        _unused, _unused, namespace, account = subject(file.read_text()).split(":")
        owner = file.stat()
    except (OSError, Refused) as err:
        world.log.event("token not renewed", file=str(file), cause=str(err))
        return False
    return _renewed(file, (namespace, account, OWN_S), (owner.st_uid, owner.st_gid), world, api)


def renew_jobs(world: World, api: Api) -> bool:
    """Deliver missing tokens of this node's jobs and replace old ones. False if any of that failed."""
    done = []
    for file in sorted(world.jobs.glob(f"*/{NOTE}")):
        # the job's epilog may delete all of it at any moment
        if found := _note(file):
            whose, owner = (found["namespace"], found["account"], JOB_S), (found["uid"], found["gid"])
            token = file.with_name("token")
            done.append(_renewed(token, whose, owner, world, api) or not file.exists())
            if not file.exists():
                token.unlink(missing_ok=True)
    return all(done)


def subject(token: str) -> str:
    """A token's own subject, not verified: system:serviceaccount:<namespace>:<name>. Raises Refused."""
    try:
        payload = token.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])
    except (IndexError, KeyError, ValueError) as err:
        raise Refused("a token file is damaged, as a power cut may leave it: run gate.yml") from err


def _renewed(file: Path, whose: tuple[str, str, int], owner: tuple[int, int], world: World, api: Api) -> bool:
    try:
        # if the clock was set back, files are from the future, but the API server's clock was not set back
        if file.exists() and 0 <= world.clock.wall() - file.stat().st_mtime < RENEW_S:
            return True
        write(file, mint(api, *whose), 0o400, *owner)
    except (OSError, Refused, Unreachable) as err:
        world.log.event("token not renewed", file=str(file), cause=str(err))
        return False
    return True
