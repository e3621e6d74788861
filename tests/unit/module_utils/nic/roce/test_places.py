# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of Linux 6.12 (cong.c), of OFED's ecn tree and of mlxconfig's query, each written down from there."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import places

DEBUG = """
    rp_clamp_tgt_rate rp_clamp_tgt_rate_ati rp_time_reset rp_byte_reset rp_threshold rp_ai_rate rp_max_rate rp_hai_rate
    rp_min_dec_fac rp_min_rate rp_rate_to_set_on_first_cnp rp_dce_tcp_g rp_dce_tcp_rtt rp_rate_reduce_monitor_period
    rp_initial_alpha_value rp_gd np_min_time_between_cnps np_cnp_dscp np_cnp_prio
"""
ECN = """
    roce_rp/clamp_tgt_rate roce_rp/clamp_tgt_rate_after_time_inc roce_rp/rpg_time_reset roce_rp/rpg_byte_reset
    roce_rp/rpg_threshold roce_rp/rpg_max_rate roce_rp/rpg_ai_rate roce_rp/rpg_hai_rate roce_rp/rpg_gd
    roce_rp/rpg_min_dec_fac roce_rp/rpg_min_rate roce_rp/rate_to_set_on_first_cnp roce_rp/dce_tcp_g roce_rp/dce_tcp_rtt
    roce_rp/rate_reduce_monitor_period roce_rp/initial_alpha_value
    roce_np/min_time_between_cnps roce_np/cnp_dscp roce_np/cnp_802p_prio
"""
QUERY = """
    CLAMP_TGT_RATE_AFTER_TIME_INC_P1 CLAMP_TGT_RATE_P1 RPG_TIME_RESET_P1 RPG_BYTE_RESET_P1 RPG_THRESHOLD_P1
    RPG_MAX_RATE_P1 RPG_AI_RATE_P1 RPG_HAI_RATE_P1 RPG_GD_P1 RPG_MIN_DEC_FAC_P1 RPG_MIN_RATE_P1
    RATE_TO_SET_ON_FIRST_CNP_P1 DCE_TCP_G_P1 DCE_TCP_RTT_P1 RATE_REDUCE_MONITOR_PERIOD_P1 INITIAL_ALPHA_VALUE_P1
    MIN_TIME_BETWEEN_CNPS_P1 CNP_802P_PRIO_P1 CNP_DSCP_P1
"""


def test_every_setting_has_the_name_of_its_path() -> None:
    settings = (*places.RATES, places.CNP_DSCP, places.CNP_PRIORITY)
    for path, names in ((places.DEBUGFS, DEBUG), (places.OFED, ECN), (places.FIRMWARE, QUERY)):
        assert sorted(places.place(path, it) for it in settings) == sorted(names.split())


def test_only_ofed_has_a_switch_for_each_priority() -> None:
    paths, switch = (places.OFED, places.DEBUGFS, places.FIRMWARE), "reaction point of priority 3"
    assert [places.place(path, switch) for path in paths] == ["roce_rp/enable/3", "", ""]
