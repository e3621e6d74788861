# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import datetime
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member import (
    kubelet_serving_cert_io as adapter,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.kubelet_serving_cert_io import (
    kubelet_serving_cert,
)

from lab.kubernetes import pki
from lab.kubernetes.pki import Authority


@pytest.fixture
def kubelet(tmp_path: Path) -> Any:
    """A server with a certificate for these names, for one connection; its port, and whose certificates count."""
    authority, threads = Authority.ensure(tmp_path / "pki"), []

    def serve(*names: str, signed_by: str = "pki") -> int:
        pair = Authority.ensure(tmp_path / signed_by).server("system:node:gpu01", names)
        (tmp_path / "server.pem").write_bytes(pair.certificate + pair.key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(tmp_path / "server.pem")
        listener = socket.create_server(("127.0.0.1", 0))

        def answer() -> None:
            connection, _ = listener.accept()
            # the other side may not like it
            with contextlib.suppress(OSError):
                context.wrap_socket(connection, server_side=True).close()
            connection.close()
            listener.close()

        threads.append(threading.Thread(target=answer))
        threads[-1].start()
        return listener.getsockname()[1]

    (tmp_path / "ca.crt").write_bytes(authority.ca.certificate)
    yield serve, str(tmp_path / "ca.crt")
    for thread in threads:
        thread.join(5)


def test_a_certificate_that_the_cluster_signed_for_this_address(kubelet: Any) -> None:
    serve, ca_file = kubelet
    assert kubelet_serving_cert("127.0.0.1", ca_file, serve("gpu01", "127.0.0.1")) == ""


def test_one_for_another_address(kubelet: Any) -> None:
    serve, ca_file = kubelet
    assert "not valid for 127.0.0.1: IP address mismatch" in kubelet_serving_cert(
        "127.0.0.1", ca_file, serve("gpu01", "192.0.2.1")
    )


def test_one_that_somebody_else_signed(kubelet: Any) -> None:
    serve, ca_file = kubelet
    told = kubelet_serving_cert("127.0.0.1", ca_file, serve("127.0.0.1", signed_by="other"))
    assert told.startswith("the kubelet's certificate is not valid for 127.0.0.1: ")


def test_one_that_ends_soon(kubelet: Any, monkeypatch: Any) -> None:
    serve, ca_file = kubelet
    monkeypatch.setattr(pki, "VALID", datetime.timedelta(days=20))
    assert "ends in 20 days" in kubelet_serving_cert("127.0.0.1", ca_file, serve("127.0.0.1"))


def test_none(kubelet: Any) -> None:
    assert "shows no certificate at 127.0.0.1" in kubelet_serving_cert("127.0.0.1", kubelet[1], 1)
    assert adapter.PORT == 10250
