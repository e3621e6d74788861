# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A SONiC switch behind real SSH: a shell with the programs that a lossless class needs.

From sonic-utilities (generic_config_updater, pfcwd, the command reference), SONiC's YANG models, and a run of both
against a real redis. What orchagent makes of a configuration is modelled after sonic-swss' own tests.

`yang`      what the YANG models take; `config apply-patch`, flaps of ports  (pure: works on the state dict).
`configdb`  ConfigDB of a new switch, redis' view of it, saved files        (pure).
`shows`     what `show` prints for people, and what it counts.
`programs`  config, sonic-cfggen, sonic-db-cli, sonic-db-dump, systemctl and its transient timers.
"""
