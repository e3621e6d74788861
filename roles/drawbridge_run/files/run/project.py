# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a project gives its pods: claims, and which images they may have. The gate's policies refuse the rest. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..gate.config import Refused
from ..gate.gate_names import CLAIMS_FOLDER

Json = dict[str, Any]

DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


def chosen_claims(names: Sequence[str], known: Mapping[str, bool], classes: Sequence[str] = ()) -> dict[str, bool]:
    """The claims of --claim, and whether each is read-only. Raises Refused.

    With storage classes people have claims of their own, which Kubernetes alone knows.
    """
    for name in names:
        if name not in known and not classes:
            have = ", ".join(f"{it} (read only)" if read_only else it for it, read_only in known.items()) or "none"
            raise Refused(f"--claim {name}: the project has no such claim; it has: {have}")
    return {name: known.get(name, False) for name in names}


def place(claim: str) -> str:
    """Where pods mount a claim."""
    return f"{CLAIMS_FOLDER}/{claim}"


def volumes(claims: Mapping[str, bool]) -> list[Json]:
    """The pod's volumes of these claims."""
    return [
        {"name": f"claim{index}", "persistentVolumeClaim": {"claimName": name, **_mode(read_only)}}
        for index, (name, read_only) in enumerate(claims.items())
    ]


def mounts(claims: Mapping[str, bool]) -> list[Json]:
    """A container's mounts of these volumes."""
    return [
        {"name": f"claim{index}", "mountPath": place(name), **_mode(read_only)}
        for index, (name, read_only) in enumerate(claims.items())
    ]


def _mode(read_only: bool) -> Json:
    return {"readOnly": True} if read_only else {}


def require_image(image: str, allow: Sequence[str], digests_only: bool) -> None:
    """Raises Refused, in the words of the policy, for an image that pods of the namespace may not have."""
    if allow and not any(_begins(image, prefix) for prefix in allow):
        raise Refused(
            f"--image {image}: images of this namespace begin with {' or '.join(allow)}: write the registry, too, "
            "such as docker.io/library/alpine for alpine (drawbridge_projects, images)"
        )
    if digests_only and not DIGEST.search(image):
        raise Refused(f"--image {image}: images of this namespace name a digest: NAME@sha256:...")


def _begins(image: str, prefix: str) -> bool:
    """Whether a prefix ends where a part of the name does: nvcr.io is neither nvcr.io.example nor nvcr.io:5000."""
    signs = ("/", ":", "@") if "/" in prefix else ("/",)
    return (image == prefix and "/" in prefix) or image.startswith(tuple(f"{prefix}{sign}" for sign in signs))
