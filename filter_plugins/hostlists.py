# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm hostlists as filters; hostlist_*.yml beside this file document them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core import hostlist


def hostlist_expand(expression: str) -> list[str]:
    """Names of an expression."""
    try:
        return hostlist.expand(str(expression))
    except hostlist.HostlistError as err:
        raise AnsibleFilterError(str(err)) from err


def of_names(convert: Callable[[list[str]], str]) -> Callable[[Any], str]:
    """A filter that reads a list or an expression and returns an expression."""

    def converted(names: Any) -> str:
        try:
            return convert(hostlist.names(names))
        except (hostlist.HostlistError, TypeError) as err:
            raise AnsibleFilterError(f"{names!r} can't be read as names of hosts: {err}") from err

    return converted


class FilterModule:
    """The filters by name."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {
            "hostlist_expand": hostlist_expand,
            "hostlist_compress": of_names(hostlist.compress),
            "hostlist_sorted": of_names(hostlist.in_order),
        }
