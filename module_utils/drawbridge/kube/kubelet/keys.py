# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keys of KubeletConfiguration (kubelet.config.k8s.io/v1beta1), from the types of kubelet 1.36.3.

A kubelet silently ignores unknown keys, so Drawbridge refuses them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...core.faults import Fault

_KEYS = (
    "enableServer staticPodPath podLogsDir syncFrequency fileCheckFrequency httpCheckFrequency staticPodURL",
    "staticPodURLHeader address port readOnlyPort tlsCertFile tlsPrivateKeyFile tlsCipherSuites tlsCurvePreferences",
    "tlsMinVersion rotateCertificates serverTLSBootstrap authentication authorization registryPullQPS registryBurst",
    "imagePullCredentialsVerificationPolicy preloadedImagesVerificationAllowlist eventRecordQPS eventBurst",
    "enableDebuggingHandlers enableContentionProfiling healthzPort healthzBindAddress oomScoreAdj clusterDomain",
    "clusterDNS streamingConnectionIdleTimeout nodeStatusUpdateFrequency nodeStatusReportFrequency",
    "nodeLeaseDurationSeconds imageMinimumGCAge imageMaximumGCAge imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent volumeStatsAggPeriod kubeletCgroups systemCgroups cgroupRoot cgroupsPerQOS",
    "cgroupDriver cpuManagerPolicy singleProcessOOMKill cpuManagerPolicyOptions cpuManagerReconcilePeriod",
    "memoryManagerPolicy topologyManagerPolicy topologyManagerScope topologyManagerPolicyOptions qosReserved",
    "runtimeRequestTimeout hairpinMode maxPods podCIDR podPidsLimit resolvConf runOnce cpuCFSQuota",
    "cpuCFSQuotaPeriod nodeStatusMaxImages maxOpenFiles contentType kubeAPIQPS kubeAPIBurst serializeImagePulls",
    "maxParallelImagePulls evictionHard evictionSoft evictionSoftGracePeriod evictionPressureTransitionPeriod",
    "evictionMaxPodGracePeriod evictionMinimumReclaim mergeDefaultEvictionSettings podsPerCore",
    "enableControllerAttachDetach protectKernelDefaults makeIPTablesUtilChains iptablesMasqueradeBit",
    "iptablesDropBit featureGates failSwapOn memorySwap containerLogMaxSize containerLogMaxFiles",
    "containerLogMaxWorkers containerLogMonitorInterval configMapAndSecretChangeDetectionStrategy systemReserved",
    "kubeReserved reservedSystemCPUs showHiddenMetricsForVersion systemReservedCgroup kubeReservedCgroup",
    "enforceNodeAllocatable allowedUnsafeSysctls volumePluginDir providerID kernelMemcgNotification logging",
    "enableSystemLogHandler enableSystemLogQuery shutdownGracePeriod shutdownGracePeriodCriticalPods",
    "shutdownGracePeriodByPodPriority crashLoopBackOff reservedMemory enableProfilingHandler",
    "enableDebugFlagsHandler seccompDefault memoryThrottlingFactor memoryReservationPolicy registerWithTaints",
    "registerNode tracing localStorageCapacityIsolation containerRuntimeEndpoint imageServiceEndpoint failCgroupV1",
    "userNamespaces",
)
KEYS = frozenset(" ".join(_KEYS).split())

TAINTS = "registerWithTaints"
"""Role kube_node writes this key; where the site joins its nodes, kubelet_numa does."""

_NUMA = """
topologyManagerPolicy topologyManagerScope topologyManagerPolicyOptions cpuManagerPolicy
cpuManagerPolicyOptions reservedSystemCPUs memoryManagerPolicy systemReserved kubeReserved evictionHard
mergeDefaultEvictionSettings reservedMemory
"""
NUMA = frozenset(_NUMA.split())
"""Keys of role kubelet_numa. A drop-in's lists replace those of earlier files, so each key has one owner."""


def foreign_keys(config: Mapping[str, Any], where: str, own: Iterable[str], other: str) -> Iterator[Fault]:
    """Refuse keys that no kubelet has, and keys that belong to the variable `other` instead of `where`."""
    allowed = sorted(own)
    for key in sorted(set(config) - set(allowed)):
        if key in KEYS:
            reason = f"this key of the kubelet does not belong to {where}"
            yield Fault(f"{where}.{key}", config[key], reason, f"write it to {other}")
            continue
        near = difflib.get_close_matches(key, allowed, 1)
        repair = f"write {near[0]}" if near else f"use one of {', '.join(allowed)}"
        yield Fault(f"{where}.{key}", config[key], "the kubelet ignores unknown keys", repair)
