# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Cisco Nexus 9000 with NX-OS 10 or 9.3 behind real SSH: enough of its CLI to configure and prove a lossless class.

Sources: Cisco's configuration guides for NX-OS 10.5 (QoS; two-stage configuration commit; scheduler; rollback), public
captures of running configurations and of a two-stage commit. What NX-OS prints when it refuses is documented in part
only: the sentence of a commit that can't be verified is captured, others are modelled.

`lines`     the lines of each mode, as data                                   (pure).
`language`  what NX-OS refuses, and how it prints                             (pure).
`stages`    two-stage commits, checkpoints, jobs that roll back to them        (pure: works on the state dict).
"""
