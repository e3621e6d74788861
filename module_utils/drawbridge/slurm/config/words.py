# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The keys of Slurm's files, and the words of lists in which Slurm silently ignores unknown words.

From the sources and manuals of Slurm 23.11.11, 24.05.8, 24.11.7, 25.05.8, 25.11.7 and 26.05.3. `>=` and `<` give the
releases that have a word; without them all have it.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"(\w+)(?:>=([0-9.]+))?(?:<([0-9.]+))?")

KEYS = """
AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost
AccountingStorageLoc<25.11 AccountingStorageParameters AccountingStoragePass AccountingStoragePort
AccountingStorageTRES AccountingStorageType AccountingStorageUser<25.11 AccountingStoreFlags AccountingStoreJobComment
AcctGatherEnergyType AcctGatherFilesystemType AcctGatherInfinibandType AcctGatherInterconnectType AcctGatherNodeFreq
AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters AuthAltTypes AuthInfo AuthType BackupAddr
BackupController BatchStartTimeout BcastExclude BcastParameters BurstBufferParameters BurstBufferType
CertgenParameters>=25.05 CertgenType>=25.05 CertmgrParameters>=24.11 CertmgrType>=24.11 CliFilterParameters>=25.11
CliFilterPlugins ClusterName CommunicationParameters CompleteWait ControlAddr ControlMachine CoreSpecPlugin<24.05
CpuFreqDef CpuFreqGovernors CredType CryptoType DataParserParameters>=24.11 DebugFlags DefCpuPerGPU DefMemPerCPU
DefMemPerGPU DefMemPerNode DependencyParameters DisableRootJobs EioTimeout EnforcePartLimits Epilog EpilogMsgTime
EpilogSlurmctld EpilogTimeout>=25.05 FairShareDampeningFactor FastSchedule FederationParameters FirstJobId
GetEnvTimeout<25.05 GpuFreqDef GresTypes GroupUpdateForce GroupUpdateTime HashPlugin>=24.05 HealthCheckInterval
HealthCheckNodeState HealthCheckProgram HealthCheckTimeout>=26.05 HttpParserType>=25.11 InactiveLimit
InteractiveStepOptions JobAcctGatherFrequency JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc
JobCompParams JobCompPass JobCompPassScript>=25.11 JobCompPort JobCompType JobCompUser JobContainerType JobFileAppend
JobRequeue JobSubmitPlugins KeepAliveTime KillOnBadExit KillWait LaunchParameters LaunchType LicenseParameters>=26.05
Licenses LogTimeFormat MailDomain MailProg MaxArraySize MaxBatchRequeue MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU
MaxMemPerNode MaxNodeCount MaxStepCount MaxTasksPerNode MCSParameters MCSPlugin MessageTimeout MetricsAuthUsers>=26.05
MetricsParameters>=26.05 MetricsType>=25.11 MinJobAge MpiDefault MpiParams NamespaceType>=25.11 NodeFeaturesPlugins
OverTimeLimit PluginDir PlugStackConfig PowerParameters<24.05 PowerPlugin<24.05 PreemptExemptTime PreemptMode
PreemptParameters PreemptType PrEpParameters PrEpPlugins PriorityCalcPeriod PriorityDecayHalfLife PriorityFavorSmall
PriorityFlags PriorityMaxAge PriorityParameters PrioritySiteFactorParameters PrioritySiteFactorPlugin PriorityType
PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize
PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES PrivateData ProctrackType Prolog PrologEpilogTimeout
PrologFlags PrologSlurmctld PrologTimeout>=25.05 PropagatePrioProcess PropagateResourceLimits
PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit RequeueExitHold ResumeFailProgram ResumeProgram
ResumeRate ResumeTimeout ResvEpilog ResvOverRun ResvProlog ReturnToService RoutePlugin SallocDefaultCommand
SbcastParameters SchedulerParameters SchedulerTimeSlice SchedulerType ScronParameters SelectType SelectTypeParameters
SlurmctldAddr SlurmctldDebug SlurmctldHttpAuthParameters>=26.05 SlurmctldLogFile SlurmctldParameters SlurmctldPidFile
SlurmctldPort SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug
SlurmdHttpAuthParameters>=26.05 SlurmdLogFile SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir
SlurmdSyslogDebug SlurmdTimeout SlurmdUser SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SrunEpilog SrunPortRange
SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts SuspendExcStates SuspendProgram SuspendRate SuspendTime
SuspendTimeout SwitchParameters SwitchType TaskEpilog TaskPlugin TaskPluginParam TaskProlog TCPTimeout
TLSParameters>=24.05 TLSType>=24.05 TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram
UnkillableStepTimeout UrlParserType>=25.11 UsePAM VSizeFactor WaitTime X11Parameters
"""
"""Keys of slurm.conf with a line of their own; keys of nodes and partitions are not settings."""

PARTITION_KEYS = """
AllocNodes AllowAccounts AllowGroups AllowQos Alternate CpuBind Default DefaultTime DefCpuPerGPU DefMemPerCPU
DefMemPerGPU DefMemPerNode DenyAccounts DenyQos DisableRootJobs Exclusive>=26.05 ExclusiveTopo>=24.05 ExclusiveUser
GraceTime Hidden LLN MaxCPUsPerNode MaxCPUsPerSocket MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes
OverSubscribe OverTimeLimit PowerDownOnIdle PreemptMode PriorityJobFactor PriorityTier QOS ReqResv ResumeTimeout
RootOnly SelectTypeParameters State SuspendTime SuspendTimeout Topology>=25.05 TRESBillingWeights
"""
"""Keys of a partition's line."""

NODE_KEYS = """
BcastAddr Boards CoresPerSocket CoreSpecCount CpuBind CPUs CpuSpecList Feature Gres GresConf>=25.11 MemSpecLimit
NodeAddr NodeHostname Parameters>=25.11 Port RealMemory Reason RestrictedCoresPerGPU>=24.05 Sockets SocketsPerBoard
State SuspendTime>=26.05 ThreadsPerCore TmpDisk Topology>=25.05 TRESWeights Weight
"""
"""Keys of a node's line."""

CGROUP_KEYS = """
AllowedRAMSpace AllowedSwapSpace CgroupJobIdPaths>=26.05 CgroupMountpoint CgroupPlugin CgroupSlice>=25.11
ConstrainCores ConstrainDevices ConstrainRAMSpace ConstrainSwapSpace EnableControllers EnableExtraControllers>=25.05
IgnoreSystemd IgnoreSystemdOnFailure MaxRAMPercent MaxSwapPercent MemorySwappiness MinRAMSpace
SignalChildrenProcesses SystemdTimeout>=24.05
"""
"""Keys of cgroup.conf."""

DBD_KEYS = """
AllowNoDefAcct AllResourcesAbsolute ArchiveDir ArchiveEvents ArchiveJobEnv>=26.05 ArchiveJobs ArchiveJobScript>=26.05
ArchiveResvs ArchiveScript ArchiveSteps ArchiveSuspend ArchiveTXN ArchiveUsage AuthAltParameters AuthAltTypes AuthInfo
AuthType CommitDelay CommunicationParameters DbdAddr DbdBackupHost DbdHost DbdPort DebugFlags DebugLevel
DebugLevelSyslog DefaultQOS DisableArchiveCommands>=25.11 DisableCoordDBD>=24.05 DisableRollups>=26.05
HashPlugin>=24.05 LogFile LogTimeFormat MaxPurgeLimit>=25.11 MaxQueryTimeRange MessageTimeout Parameters PidFile
PluginDir PrivateData PurgeEventAfter PurgeJobAfter PurgeJobEnvAfter>=26.05 PurgeJobScriptAfter>=26.05 PurgeResvAfter
PurgeStepAfter PurgeSuspendAfter PurgeTXNAfter PurgeUsageAfter SlurmUser StorageBackupHost StorageHost StorageLoc
StorageParameters StoragePass StoragePassScript>=25.11 StoragePort StorageType StorageUser TCPTimeout
TLSParameters>=24.05 TLSType>=24.05 TrackSlurmctldDown TrackWCKey
"""
"""Keys of slurmdbd.conf."""

WORDS = {
    "PrologFlags": """
        Alloc Contain DeferBatch ForceRequeueOnFail NoHold RunInJob>=24.05 Serial X11
    """,
    "SchedulerParameters": """
        allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_allow_magnetic_slot>=24.11
        bf_busy_nodes bf_continue bf_hetjob_immediate bf_hetjob_prio bf_interval bf_job_part_count_reserve
        bf_licenses bf_max_job_array_resv bf_max_job_assoc bf_max_job_part bf_max_job_start bf_max_job_test
        bf_max_job_user bf_max_job_user_part bf_max_time bf_min_age_reserve bf_min_prio_reserve
        bf_node_space_size bf_one_resv_per_job bf_resolution bf_running_job_reserve bf_topopt_enable>=24.11
        bf_topopt_iterations>=24.11 bf_window bf_window_linear bf_yield_interval bf_yield_rpc_cnt>=25.05
        bf_yield_sleep build_queue_timeout correspond_after_task_cnt default_queue_depth defer defer_batch
        delay_boot disable_hetjob_steps disable_job_shrink enable_hetjob_steps
        enable_job_state_cache>=24.05<26.05 enable_user_top extra_constraints
        ignore_constraint_validation>=24.11 Ignore_NUMA ignore_prefer_validation max_array_tasks max_rpc_cnt
        max_sched_time max_script_size max_submit_line_size max_switch_wait no_backup_scheduling
        no_env_cache<25.05 nohold_on_prolog_fail pack_serial_at_end partition_job_depth reduce_completing_frag
        requeue_delay>=25.11 requeue_on_resume_failure>=25.05 requeue_setup_env_fail<25.05 salloc_wait_nodes
        sbatch_wait_nodes sched_interval sched_max_job_start sched_min_interval spec_cores_first
        step_retry_count step_retry_time time_min_as_soft_limit whole_hetjob
    """,
    "SlurmctldParameters": """
        allow_user_triggers cloud_dns cloud_reg_addrs conmgr_connect_timeout>=24.11
        conmgr_max_connections>=24.11 conmgr_quiesce_timeout>=25.05 conmgr_read_timeout>=24.11
        conmgr_threads>=24.11 conmgr_use_poll>=24.11 conmgr_wait_write_delay>=24.11
        conmgr_write_timeout>=24.11

        disable_triggers enable_async_reply>=25.11 enable_configless
        enable_expedited_requeue>=25.11 enable_job_state_cache<24.05 enable_rpc_queue enable_stepmgr>=24.05
        idle_on_node_suspend max_dbd_msg_action max_powered_nodes>=24.05 no_quick_restart node_reg_mem_percent
        power_save_interval power_save_min_interval preempt_send_user_signal reboot_from_controller
        reconfig_on_restart>=25.11 rl_bucket_size rl_enable rl_log_freq rl_refill_period rl_refill_rate
        rl_table_size user_resv_delete validate_nodeaddr_threads
    """,
    "SlurmdParameters": """
        allow_ecores config_overrides conmgr_connect_timeout>=24.11 conmgr_max_connections>=24.11
        conmgr_quiesce_timeout>=25.05 conmgr_read_timeout>=24.11 conmgr_threads>=24.11 conmgr_use_poll>=24.11
        conmgr_wait_write_delay>=24.11 conmgr_write_timeout>=24.11 contain_spank>=24.05 l3cache_as_socket
        numa_node_as_socket shutdown_on_reboot
    """,
    "LaunchParameters": """
        batch_step_set_cpu_freq disable_send_gids enable_nss_slurm lustre_no_flush<24.05 mem_sort<26.05
        mpir_use_nodeaddr slurmstepd_memlock slurmstepd_memlock_all srun_exclusive_allocation>=26.05 test_exec
        ulimit_pam_adopt use_interactive_step
    """,
    "PreemptParameters": """
        min_exempt_priority reclaim_licenses reorder_count send_user_signal strict_order suspend_grace_time
        youngest_first
    """,
    "TopologyParam": """
        BlockAsNodeRank>=25.11 Dragonfly RoutePart RouteTree SwitchAsNodeRank TopoMaxSizeUnroll>=24.11
        TopoOptional
    """,
    "CommunicationParameters": """
        block_null_hash CheckGhalQuiesce<24.05 disable_http>=25.11 DisableIPv4 EnableIPv6
        getnameinfo_cache_timeout host_unreach_retry_count>=25.05 keepaliveinterval keepaliveprobes
        keepalivetime NoAddrCache NoCtldInAddrAny NoInAddrAny
    """,
    "DependencyParameters": """
        disable_remote_singleton kill_invalid_depend max_depend_depth
    """,
    "JobAcctGatherParams": """
        DisableGPUAcct<25.11 no_file_cache>=25.11 NoShared>=25.11 OverMemoryKill UsePss
    """,
    "AccountingStoreFlags": """
        job_comment job_env job_extra job_script no_stdio>=24.05
    """,
    "BcastParameters": """
        Compression send_libs
    """,
}
"""Lists in which Slurm ignores unknown words, by key."""


def known(words: str, release: str) -> set[str]:
    """The words of `words` that this release has, in lower case: Slurm ignores case."""
    return {
        name.lower()
        for name, since, until in (match.groups() for match in map(_WORD.fullmatch, words.split()) if match)
        if (not since or since <= release) and (not until or release < until)
    }


def spelled(words: str) -> list[str]:
    """The words of all releases as Slurm's manual spells them."""
    return [re.split("[<>]", word)[0] for word in words.split()]
