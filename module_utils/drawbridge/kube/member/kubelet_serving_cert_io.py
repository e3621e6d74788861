# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kubelet's serving certificate, verified as the API server verifies it."""

from __future__ import annotations

import socket
import ssl
import time

PORT = 10250
TIMEOUT_S = 30.0
LEFT_S = 30 * 86400
"""A kubelet requests its next certificate long before. If less time is left, that request was not approved."""


def kubelet_serving_cert(address: str, ca_file: str, port: int = PORT) -> str:
    """Why the certificate is not valid; empty if it is."""
    try:
        context = ssl.create_default_context(cafile=ca_file)
        plain = socket.create_connection((address, port), timeout=TIMEOUT_S)
        with plain, context.wrap_socket(plain, server_hostname=address) as connection:
            ends = ssl.cert_time_to_seconds(str((connection.getpeercert() or {})["notAfter"]))
    except ssl.SSLCertVerificationError as err:
        return f"the kubelet's certificate is not valid for {address}: {err.verify_message}"
    except (OSError, KeyError) as err:
        return f"the kubelet shows no certificate at {address}: {err}"
    days = (ends - time.time()) / 86400
    return "" if ends - time.time() > LEFT_S else f"the kubelet's certificate ends in {days:.0f} days"
