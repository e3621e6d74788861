# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write what pyavd makes of the example sites' switches. It reads the intent as YAML, without Drawbridge's code."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "tests/transcripts/fabric/eos/avd"
SWITCHES = {
    "lab-leaf1": ("lab", "xgs", "Ethernet1"),
    "rails-leaf01": ("example-rails", "xgs", "Ethernet1/1"),
    "rails-spine1": ("example-rails", "jericho", "Ethernet1/1"),
}
"""Name of the file: the site, the switch's ASIC, and one of its ports."""
WORD = {"xgs": "uc_tx_queues", "jericho": "tx_queues"}


def structured(intent: dict[str, Any], asic: str, port: str) -> dict[str, Any]:
    """The intent in AVD's words."""
    roce, cnp, watchdog = (intent.get(key, {}) for key in ("roce", "cnp", "watchdog"))
    storage = intent.get("storage")
    weight = {"weight": 0} if asic == "xgs" else {}
    ecn = {
        "units": "kbytes",
        "min": roce.get("ecn_min_bytes", 150000) // 1000,
        "max": roce.get("ecn_max_bytes", 1500000) // 1000,
        "max_probability": roce.get("ecn_probability_percent", 100),
        **weight,
    }
    queues = [
        {
            "id": roce["priority"],
            "priority": "no priority",
            "bandwidth_percent": roce.get("bandwidth_percent", 50),
            "random_detect": {"ecn": {"threshold": ecn}},
        },
        {"id": cnp["priority"], "priority": "priority strict"},
    ]
    if storage:
        share = storage["bandwidth_percent"]
        queues.append({"id": storage["priority"], "priority": "no priority", "bandwidth_percent": share})
    classes = [roce, cnp, *([storage] if storage else [])]
    counts = {"id": roce["priority"], "random_detect": {"ecn": {"count": True}}}
    pausing = {"priorities": [{"priority": roce["priority"], "no_drop": True}], "watchdog": {"enabled": True}}
    return {
        "hostname": "switch",
        "qos": {
            "map": {
                "dscp": [f"{it['dscp']} to traffic-class {it['priority']}" for it in classes],
                "traffic_class": [f"{it['priority']} to tx-queue {it['priority']}" for it in classes],
            }
        },
        "qos_profiles": [
            {
                "name": "ROCE",
                "trust": "dscp",
                "priority_flow_control": {"enabled": True, **pausing},
                WORD[asic]: queues,
            }
        ],
        "priority_flow_control": {
            "watchdog": {
                "action": watchdog.get("action", "drop"),
                "timeout": f"{watchdog.get('detect_ms', 200) / 1000:g}",
                "recovery_time": f"{watchdog.get('restore_ms', 200) / 1000:g}",
                "polling_interval": f"{watchdog.get('poll_ms', 100) / 1000:g}",
            }
        },
        "ethernet_interfaces": [
            {"name": port, "mtu": intent.get("switch_mtu_bytes", 9214), "service_profile": "ROCE", WORD[asic]: [counts]}
        ],
    }


def main() -> None:
    """Write one file for each switch."""
    pyavd = importlib.import_module("pyavd")
    HOME.mkdir(exist_ok=True)
    for name, (site, asic, port) in SWITCHES.items():
        path = ROOT / "inventories" / site / "group_vars/all/fabric.yml"
        intent = yaml.safe_load(path.read_text())["drawbridge_fabric"]
        text = pyavd.get_device_config(structured(intent, asic, port))
        head = f"# {site}'s intent for EOS on {asic}, rendered by pyavd {pyavd.__version__} (python -m tests.avd)"
        (HOME / f"{name}.txt").write_text(f"{head}\n{text}")


if __name__ == "__main__":
    main()
