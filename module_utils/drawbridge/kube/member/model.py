# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages and registries that a node needs to join the cluster."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import option


@dataclass(frozen=True)
class Package:
    """A package of the operating system, pinned."""

    name: str = option("name of the package", pattern=r"[a-z0-9][a-z0-9+.-]+")
    version: str = option("its full version, as the package manager writes it", pattern=r"[0-9][0-9A-Za-z.+:~-]*")


@dataclass(frozen=True)
class Registry:
    """A registry of images, and its mirrors."""

    name: str = option(
        "its name in image names, such as nvcr.io; _default: all registries that are not listed",
        pattern=r"_default|[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?",
    )
    mirrors: tuple[str, ...] = option("URLs of its mirrors, in order of use", (), pattern=r"https?://[^\s\"]+")
    ca: str = option("CA certificates of the mirrors, or of the registry, in PEM (empty: the host's own)", "")
    fallback: bool = option("true: pull from the registry itself when no mirror has an image", False)
