# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Cumulus Linux switch behind real SSH: enough of NVUE to configure and prove a lossless class.

From NVIDIA's NVUE reference and the pages on RoCE, QoS and the NVUE CLI (Cumulus Linux 5.5 to 5.17).

`tree`       the paths that `nv set` takes; set, unset, print as JSON or commands (pure).
`revisions`  pending, applied, startup; apply under a timer, confirm, expiry (pure: works on the state dict).
"""
