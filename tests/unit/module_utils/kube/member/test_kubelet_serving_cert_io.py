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


@pytest.mark.parametrize(
    ("names", "signed_by", "fault"),
    [
        (("gpu01", "127.0.0.1"), "pki", ""),
        (("gpu01", "192.0.2.1"), "pki", "the kubelet's certificate is not valid for 127.0.0.1: IP address mismatch"),
        (("127.0.0.1",), "other", "the kubelet's certificate is not valid for 127.0.0.1: "),
    ],
)
def test_it_must_be_the_clusters_and_for_this_address(
    kubelet: Any, names: tuple[str, ...], signed_by: str, fault: str
) -> None:
    serve, ca_file = kubelet
    found = adapter.kubelet_serving_cert("127.0.0.1", ca_file, serve(*names, signed_by=signed_by))
    assert found.startswith(fault) and bool(found) == bool(fault)


def test_one_that_ends_soon_and_one_that_does_not_answer(kubelet: Any, monkeypatch: Any) -> None:
    serve, ca_file = kubelet
    monkeypatch.setattr(pki, "VALID", datetime.timedelta(days=20))
    assert "ends in 20 days" in adapter.kubelet_serving_cert("127.0.0.1", ca_file, serve("127.0.0.1"))
    assert "shows no certificate at 127.0.0.1" in adapter.kubelet_serving_cert("127.0.0.1", ca_file, 1)
    assert adapter.PORT == 10250
