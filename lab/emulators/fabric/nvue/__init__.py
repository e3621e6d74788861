# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Cumulus Linux switch behind real SSH: enough of NVUE to configure and prove a lossless class.

From NVIDIA's NVUE reference and the pages on RoCE, QoS and the NVUE CLI (Cumulus Linux 5.5 to 5.17).

schema      the paths that `nv set` takes, with types, as data               (pure)
tree        a configuration: set, unset, print as JSON or commands           (pure)
revisions   pending, applied, startup; apply under a timer, confirm, expiry  (pure: works on the state dict)
shows       the hardware's state as `nv show ... -o json` prints it          (pure)
counters    what it counts, and whom LLDP sees                              (pure)
cli         one logged-in user: a shell in which `nv` is the only program
switch      the device on disk, its faults and its journal
"""
