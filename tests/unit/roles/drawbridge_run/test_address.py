# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The address that ranks meet at, on hosts that map their own name as they like."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run import address as module
from roles.drawbridge_run.files.run.address import reachable

HERE = "127.0.0.1"


def given(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """The name gpu01 has these addresses, and no other name has any."""
    real = socket.getaddrinfo

    def resolve(host: str, *words: Any, **named: Any) -> Any:
        if host == HERE:
            return real(host, *words, **named)
        if host != "gpu01" or not addresses:
            raise socket.gaierror("unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(module.socket, "getaddrinfo", resolve)


@pytest.mark.parametrize(
    "addresses", [("10.0.0.21",), ("127.0.1.1", "10.0.0.21"), ("::1", "fe80::1%2", "10.0.0.21", "10.1.0.21")]
)
def test_the_first_address_that_other_nodes_reach_is_taken(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    given(monkeypatch, *addresses)
    assert reachable("gpu01", "https://api:6443", alone=False) == "10.0.0.21"


def test_a_host_whose_name_is_loopback_has_the_address_towards_the_api_server(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, "127.0.1.1")
    monkeypatch.setattr(module, "_source", lambda url: ["10.0.0.21"] if url == "https://api:6443" else [])
    assert reachable("gpu01", "https://api:6443", alone=False) == "10.0.0.21"


@pytest.mark.parametrize("server", [f"https://{HERE}:6443", f"https://{HERE}", "https://api:6443"])
def test_without_such_an_address_only_one_node_can_have_pods(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    """As where a proxy on the node leads to the API server."""
    given(monkeypatch, "127.0.1.1")
    assert reachable("gpu01", server, alone=True) == "127.0.1.1"
    with pytest.raises(Refused, match=r"gpu01 is 127.0.1.1 here, .* map the name to the node's real address"):
        reachable("gpu01", server, alone=False)


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch)
    with pytest.raises(Refused, match="the address of gpu01 can't be found"):
        reachable("gpu01", "https://api:6443", alone=True)


def test_the_source_is_an_address_of_this_host() -> None:
    assert module._source(f"https://{HERE}:6443") == [HERE]
    assert module._source("https://[::1%nowhere]:6443") == []
