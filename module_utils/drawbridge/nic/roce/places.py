# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Where each setting of congestion control is: in OFED's files, the kernel's debug files, and the firmware."""

from __future__ import annotations

OFED, DEBUGFS, FIRMWARE = "ecn", "cc_params", "mlxconfig"
"""Where a port's congestion control is set: OFED's files, the kernel's debug files, or its firmware, read only."""
CNP_DSCP, CNP_PRIORITY = "CNP DSCP", "CNP priority"
POINTS = {"notification point": "roce_np", "reaction point": "roce_rp"}
"""The two ends of DCQCN and OFED's names for them. Other paths have no switch for each priority."""
OF_PRIORITY = " of priority "
MARKS = {
    OFED: {CNP_DSCP: "roce_np/cnp_dscp", CNP_PRIORITY: "roce_np/cnp_802p_prio"},
    DEBUGFS: {CNP_DSCP: "np_cnp_dscp", CNP_PRIORITY: "np_cnp_prio"},
    FIRMWARE: {CNP_DSCP: "CNP_DSCP_P1", CNP_PRIORITY: "CNP_802P_PRIO_P1"},
}
RATES = (
    "clamp_tgt_rate",
    "clamp_tgt_rate_after_time_inc",
    "dce_tcp_g",
    "dce_tcp_rtt",
    "initial_alpha_value",
    "min_time_between_cnps",
    "rate_reduce_monitor_period",
    "rate_to_set_on_first_cnp",
    "rpg_ai_rate",
    "rpg_byte_reset",
    "rpg_gd",
    "rpg_hai_rate",
    "rpg_max_rate",
    "rpg_min_dec_fac",
    "rpg_min_rate",
    "rpg_threshold",
    "rpg_time_reset",
)
"""Parameters of DCQCN, by OFED's names."""
NOTIFICATION = "min_time_between_cnps"
"""The parameter of the end that sends notifications."""
SHORT = {"clamp_tgt_rate_after_time_inc": "clamp_tgt_rate_ati"}
"""The kernel's other names."""


def switched(setting: str) -> bool:
    """Whether this is a switch of one priority, which only OFED has."""
    return OF_PRIORITY in setting


def place(path: str, setting: str) -> str:
    """Its file below the path's directory, or its parameter of the firmware; "" if the path has none."""
    if setting in MARKS[path]:
        return MARKS[path][setting]
    if switched(setting):
        point, _sep, priority = setting.partition(OF_PRIORITY)
        return f"{POINTS[point]}/enable/{priority}" if path == OFED else ""
    if path == FIRMWARE:
        return f"{setting.upper()}_P1"
    if path == OFED:
        return f"roce_{'np' if setting == NOTIFICATION else 'rp'}/{setting}"
    if setting == NOTIFICATION:
        return f"np_{setting}"
    name = SHORT.get(setting, setting)
    return f"rp_{name[4:] if name.startswith('rpg_') else name}"
