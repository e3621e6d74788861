# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A token in a file, and the check that the API server accepts it."""

from __future__ import annotations

import base64
import json
import os
import pwd
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from ...core import files
from ...core.api.host import Server
from ...core.converge import DeviceError, Step
from .plan import TokenState

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class TokenFile:
    """One file; `apply` writes `token` and creates the directory."""

    def __init__(self, file: Path, server: Server, want: TokenState, min_left_s: int, token: str) -> None:
        self._file, self._server, self._want = file, server, want
        self._min_left_s, self._token = min_left_s, token

    @property
    def name(self) -> str:
        """The file's path."""
        return str(self._file)

    def read(self) -> TokenState:
        """Query the API server for the bearer: only the server knows whether a token is valid."""
        try:
            token, status = files.read_own(self._file)
        except FileNotFoundError:
            return TokenState("", False, "none", "none", why="there is none")
        except OSError as err:
            return TokenState("", False, "none", "none", why=f"it can't be read: {err.strerror}")
        token = token.strip()
        subject = self._bearer(token)
        owner, mode = _login(status.st_uid), f"{status.st_mode & 0o7777:04o}"
        if not subject:
            return TokenState("", False, owner, mode, why="the API server does not accept the present token")
        return TokenState(subject, _ends(token) - time.time() >= self._min_left_s, owner, mode)

    def apply(self, steps: Sequence[Step[TokenState]]) -> None:
        """Replace the file atomically; only its owner can read it at any moment."""
        if not self._token:
            raise DeviceError(f"{self.name} needs a new token, and the action sent none")
        try:
            found = pwd.getpwnam(self._want.owner)
        except KeyError:
            raise DeviceError(
                f"{self.name} must belong to {self._want.owner}, but this host has no such user"
            ) from None
        self._file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        partial = self._file.with_name(f".{self._file.name}.partial")
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(f"{self._token}\n")
            # the group, too: the owner renews the file later and can't set another group
            os.fchown(out.fileno(), found.pw_uid, found.pw_gid)
            os.fchmod(out.fileno(), int(self._want.mode, 8))
        partial.rename(self._file)

    def _bearer(self, token: str) -> str:
        """The server's name for the token's bearer; "" if it does not accept the token."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._server.url + REVIEW, json.dumps(body).encode(), headers)
        try:
            return self._server.ask(request)["status"]["userInfo"]["username"]
        except urllib.error.HTTPError as err:
            if err.code == 401:
                return ""
            raise DeviceError(f"{self._server.url} does not report whose token {self.name} has: {err}") from err
        except (OSError, ValueError) as err:
            raise DeviceError(f"{self._server.url} does not answer whose token {self.name} has: {err}") from err


def _ends(token: str) -> float:
    payload = token.split(".")[1]
    return float(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"])


def _login(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
