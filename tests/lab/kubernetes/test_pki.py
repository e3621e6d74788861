# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Certificates, judged by the TLS library that will use them."""

import base64
import socket
import ssl
import stat
import threading

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from lab.kubernetes.pki import Authority


@pytest.fixture
def authority(tmp_path):
    return Authority.ensure(tmp_path / "pki")


def test_made_once_and_readable_by_its_owner_only(tmp_path, authority):
    assert Authority.ensure(tmp_path / "pki") == authority
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "pki").iterdir()} == {0o600}


def handshake(tmp_path, authority, server, client, name):
    """Return whom the server sees, over a real TLS connection with both sides verified."""
    contexts = []
    for role, pair, purpose in (("s", server, ssl.Purpose.CLIENT_AUTH), ("c", client, ssl.Purpose.SERVER_AUTH)):
        (tmp_path / f"{role}.pem").write_bytes(pair.certificate + pair.key)
        context = ssl.create_default_context(purpose, cadata=authority.ca.certificate.decode())
        context.load_cert_chain(tmp_path / f"{role}.pem")
        contexts.append(context)
    contexts[0].verify_mode = ssl.CERT_REQUIRED
    ends, seen = socket.socketpair(), []

    def serve():
        with contexts[0].wrap_socket(ends[0], server_side=True) as connection:
            seen.append(dict(part[0] for part in connection.getpeercert()["subject"]))
            connection.sendall(b"x")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with contexts[1].wrap_socket(ends[1], server_hostname=name) as connection:
            connection.recv(1)
    finally:
        thread.join(5)
    return seen[0]


@pytest.mark.parametrize("name", ["ctl", "10.77.1.11"])
def test_a_node_talks_to_the_server_by_name_and_by_address(tmp_path, authority, name):
    server = authority.server("kube-apiserver", ("ctl", "10.77.1.11"))
    client = authority.client("system:node:gpu01", "system:nodes")
    seen = handshake(tmp_path, authority, server, client, name)
    assert seen == {"organizationName": "system:nodes", "commonName": "system:node:gpu01"}


def test_a_client_certificate_cannot_serve(authority):
    used = x509.load_pem_x509_certificate(authority.client("admin").certificate)
    usage = used.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_kubeconfig_carries_the_identity(authority):
    pair = authority.client("admin")
    config = yaml.safe_load(authority.kubeconfig("https://10.77.1.11:6443", pair))
    assert config["clusters"][0]["cluster"]["server"] == "https://10.77.1.11:6443"
    assert base64.b64decode(config["users"][0]["user"]["client-key-data"]) == pair.key
    assert config["current-context"] == config["contexts"][0]["name"]
