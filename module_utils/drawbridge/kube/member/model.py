# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node needs to become a member of the cluster: packages and registries."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import option


@dataclass(frozen=True)
class Package:
    """A package of the operating system, pinned."""

    name: str = option("name of the package", pattern=r"[a-z0-9][a-z0-9+.-]+")
    version: str = option("its version, in full, as the package manager writes it", pattern=r"[0-9][0-9A-Za-z.+:~-]*")


@dataclass(frozen=True)
class Registry:
    """A registry of images, and who is asked in its place."""

    name: str = option(
        "what images call it, such as nvcr.io; _default: all that are not listed",
        pattern=r"_default|[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?",
    )
    mirrors: tuple[str, ...] = option(
        "URLs that are asked in its place, in this order", (), pattern=r"https?://[^\s\"]+"
    )
    ca: str = option("CA certificates of the mirrors, or of the registry, in PEM (empty: the host's own)", "")
    fallback: bool = option("true: the registry itself is asked when no mirror has an image", False)
