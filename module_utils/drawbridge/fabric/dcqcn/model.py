# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of DCQCN, the congestion control of RoCE NICs, by OFED's names."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Optional

from ...core.options import option

MOST_US = 131071
"""NVIDIA's firmware has 17 bits for times."""
MOST_MBPS = 800000
"""The rate of the fastest port."""


def parameter(doc: str, low: int, high: int) -> Any:
    """A parameter that stays as the NIC has it, unless the site sets it."""
    return option(doc, None, low=low, high=high)


@dataclass(frozen=True)
class Dcqcn:
    """Parameters of DCQCN that differ from the NIC's own; all others stay."""

    clamp_tgt_rate: Optional[int] = parameter("1: each notification lowers the target rate too", 0, 1)
    clamp_tgt_rate_after_time_inc: Optional[int] = parameter(
        "1: it does so if the rate had been raised by the timer", 0, 1
    )
    rpg_time_reset: Optional[int] = parameter("microseconds without a notification until the rate rises", 1, MOST_US)
    rpg_byte_reset: Optional[int] = parameter("data sent without a notification until the rate rises", 0, 32767)
    rpg_threshold: Optional[int] = parameter("rises until the next phase of increase", 1, 31)
    rpg_max_rate: Optional[int] = parameter("Mb/s from which a flow is no longer limited; 0: the port's", 0, MOST_MBPS)
    rpg_ai_rate: Optional[int] = parameter("Mb/s of one additive rise", 1, MOST_MBPS)
    rpg_hai_rate: Optional[int] = parameter("Mb/s of one hyper rise", 1, MOST_MBPS)
    rpg_gd: Optional[int] = parameter("logarithm to base 2 of the divisor of alpha", 0, 15)
    rpg_min_dec_fac: Optional[int] = parameter("percent of its rate that a flow keeps at least", 1, 100)
    rpg_min_rate: Optional[int] = parameter("Mb/s that a flow keeps at least", 1, MOST_MBPS)
    rate_to_set_on_first_cnp: Optional[int] = parameter("Mb/s after the first notification; 0: computed", 0, MOST_MBPS)
    dce_tcp_g: Optional[int] = parameter("weight of the old alpha, in 1024ths", 0, 1023)
    dce_tcp_rtt: Optional[int] = parameter("microseconds between updates of alpha", 1, MOST_US)
    rate_reduce_monitor_period: Optional[int] = parameter("microseconds between two reductions of a flow", 1, MOST_US)
    initial_alpha_value: Optional[int] = parameter("alpha of a new flow, in 1024ths", 1, 1023)
    min_time_between_cnps: Optional[int] = parameter("microseconds between notifications of a port", 0, MOST_US)

    @property
    def rates(self) -> dict[str, int]:
        """The parameters that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}
