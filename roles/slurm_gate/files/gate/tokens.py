# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Short tokens in files: the job's, that its user alone may read, and the host's own, renewed before they end."""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from . import log
from .api import Api, Unreachable
from .config import Config, Job, Refused

JOBS = Path("/run/drawbridge/jobs")
JOB_S = 3600
OWN_S = 86400
RENEW_S = 1200  # a job's token lasts three times as long
RENEWED = "renew"  # a job directory's file that says whose token is in it: namespace, account


def mint(api: Api, namespace: str, account: str, lifetime_s: int) -> str:
    """Ask for a token of a ServiceAccount. Raises Refused, Unreachable."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    answer = api.call("POST", path, {"spec": {"expirationSeconds": lifetime_s}})
    if not answer.ok:
        raise Refused(f"no token for {namespace}/{account}: {answer.message}")
    return str(answer.body["status"]["token"])


def write(file: Path, content: str, mode: int, uid: int, gid: int) -> None:
    """Replace a file at once; nobody else ever could read it."""
    partial = file.with_name(f".{file.name}.partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(content)
        os.fchown(out.fileno(), uid, gid)
        os.fchmod(out.fileno(), mode)
    partial.rename(file)


def place(job: Job, api: Api, config: Config, jobs: Path = JOBS) -> None:
    """Write the job's token and what its batch script must know beside it. Raises Refused, Unreachable."""
    home = jobs / str(job.owner.job)
    home.mkdir(mode=0o755, parents=True, exist_ok=True)
    write(home / "env", "".join(f"{key}={value}\n" for key, value in variables(job, config).items()), 0o444, 0, 0)
    write(home / RENEWED, f"{job.owner.namespace} {job.account}", 0o400, 0, 0)
    write(home / "token", mint(api, job.owner.namespace, job.account, JOB_S), 0o400, job.uid, job.gid)
    log.event("token placed", job=job.owner.job, account=job.account)


def variables(job: Job, config: Config) -> Mapping[str, str]:
    """What a job needs to talk to Kubernetes, as lines of its env file."""
    return {
        "DRAWBRIDGE_API_SERVER": config.api_server,
        "DRAWBRIDGE_CA_FILE": config.ca_file,
        "DRAWBRIDGE_NAMESPACE": job.owner.namespace,
        "DRAWBRIDGE_SERVICE_ACCOUNT": job.account,
        "DRAWBRIDGE_TOLERATION": job.owner.held,
        **{f"DRAWBRIDGE_POD_{name.upper()}": value for name, value in config.pod_limits.items()},
    }


def remove(job: int, jobs: Path = JOBS) -> None:
    """Forget a job's token."""
    shutil.rmtree(jobs / str(job), ignore_errors=True)


def renew(api: Api, file: Path) -> bool:
    """Replace a ServiceAccount's own token, read from the file, when it is old. False if it can't be."""
    _, _, namespace, account = subject(file.read_text()).split(":")
    return _replace(api, file, namespace, account, OWN_S)


def renew_jobs(api: Api, jobs: Path = JOBS) -> bool:
    """Replace the old ones of the tokens of this node's jobs. False if any can't be."""
    done = []
    for note in sorted(jobs.glob(f"*/{RENEWED}")):
        namespace, account = note.read_text().split()
        done.append(_replace(api, note.with_name("token"), namespace, account, JOB_S))
    return all(done)


def subject(token: str) -> str:
    """Who a token says it is: system:serviceaccount:<namespace>:<name>. Nothing is verified here."""
    payload = token.split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])


def _replace(api: Api, file: Path, namespace: str, account: str, lifetime_s: int) -> bool:
    try:
        old = file.stat()
        if time.time() - old.st_mtime < RENEW_S:
            return True
        write(file, mint(api, namespace, account, lifetime_s), old.st_mode & 0o777, old.st_uid, old.st_gid)
    except (OSError, Refused, Unreachable) as err:
        log.event("token not renewed", file=str(file), cause=str(err))
        return False
    return True
