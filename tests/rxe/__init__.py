# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real RDMA without an RDMA NIC: two virtual machines with the kernel's rdma_rxe, and what they send on the wire."""
