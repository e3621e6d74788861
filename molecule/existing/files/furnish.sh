#!/bin/sh
# A live Slurm as its administrators have made it, by hand: furnish.sh accounting|controllers|nodes|login
set -eux
kind=$1
export DEBIAN_FRONTEND=noninteractive

install_packages() {
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    apt-get -q update
    apt-get -qy --no-install-recommends install "$@"
    rm /usr/sbin/policy-rc.d
}

shared_key() {
    seq 1 400 | head -c 1024 > /etc/munge/munge.key
    chown munge:munge /etc/munge/munge.key
    chmod 400 /etc/munge/munge.key
    systemctl enable -q --now munge
}

programs() {
    mkdir -p /opt/site /srv/slurm
    printf '#!/bin/sh\necho "$SLURM_JOB_ID" >> /run/site-prolog\n' > /opt/site/prolog
    printf '#!/bin/sh\n[ ! -e /run/site-ill ] || { echo "the site says so"; exit 1; }\n' > /opt/site/health
    printf '#!/bin/sh\nexit 0\n' > /opt/site/mail
    chmod 755 /opt/site/*
}

slurm_conf() {
    cat > /etc/slurm/slurm.conf <<'END'
# slurm.conf of the old cluster. Ask Grace before you change it!
ClusterName=old_cluster
SlurmctldHost=ctl
SlurmUser=slurm
SlurmctldPort=7817
SlurmdPort=7818          # the firewall knows these
StateSaveLocation=/srv/slurm/state
SlurmdSpoolDir=/srv/slurm/spool
SlurmctldLogFile=/srv/slurm/log/slurmctld.log
SlurmdLogFile=/srv/slurm/log/slurmd.log
SlurmctldTimeout=180
SlurmdTimeout=600
KillWait=45
ReturnToService=2
MailProg=/opt/site/mail
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PrologFlags=Alloc,Contain
Prolog=/opt/site/prolog
HealthCheckProgram=/opt/site/health
HealthCheckInterval=60
JobSubmitPlugins=lua,require_timelimit
SchedulerParameters=bf_continue,\
bf_window=2880
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db1
AccountingStorageEnforce=associations
AccountingStorageTRES=gres/gpu
GresTypes=gpu
Include nodes.conf
include /etc/slurm/partitions.conf
END
    cat > /etc/slurm/nodes.conf <<'END'
NodeName=DEFAULT Sockets=2 CoresPerSocket=32 ThreadsPerCore=2 RealMemory=2000000 State=UNKNOWN
NodeName=gpu[01-02] Gres=gpu:h100:8 Feature=ib,rack1 Weight=10
END
    cat > /etc/slurm/partitions.conf <<'END'
PartitionName=DEFAULT State=UP MaxTime=2-00:00:00
PartitionName=AI_Train Nodes=ALL Default=YES DefaultTime=1:00:00 PriorityTier=10 MaxNodes=4 LLN=YES
PartitionName=vision_lab Nodes=gpu01 MaxTime=UNLIMITED AllowAccounts=vision_lab AllowGroups=vision
PartitionName=debug Nodes=gpu01 MaxTime=30 Hidden=YES
END
    echo 'CgroupPlugin=disabled' > /etc/slurm/cgroup.conf
    printf 'AutoDetect=off\nName=gpu Type=h100 File=/dev/nvidia[0-7]\n' > /etc/slurm/gres.conf
}

database() {
    systemctl enable -q --now mariadb
    mariadb -e "CREATE DATABASE old_accounting; CREATE USER accounting@localhost IDENTIFIED BY 'p#w one'; \
        GRANT ALL ON old_accounting.* TO accounting@localhost"
    cat > /etc/slurm/slurmdbd.conf <<'END'
AuthType=auth/munge
DbdHost=db1
SlurmUser=slurm
PidFile=/run/slurmdbd/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=accounting
StoragePass="p\#w one"
StorageLoc=old_accounting
PurgeJobAfter=24month
ArchiveJobs=no
END
    chown slurm: /etc/slurm/slurmdbd.conf
    chmod 600 /etc/slurm/slurmdbd.conf
    systemctl enable -q --now slurmdbd
}

case $kind in
accounting)
    install_packages munge mariadb-server slurm-client slurm-wlm-basic-plugins slurm-wlm-mysql-plugin slurmdbd
    shared_key
    database
    ;;
controllers)
    install_packages munge slurm-client slurm-wlm-basic-plugins slurmctld
    shared_key
    programs
    slurm_conf
    install -d -o slurm -g slurm /srv/slurm/state /srv/slurm/log
    install -m 644 /dev/stdin /etc/slurm/job_submit.lua < /opt/site/job_submit.lua
    timeout 300 sh -c 'until sacctmgr -nP list cluster > /dev/null 2>&1; do sleep 0.2; done'
    systemctl enable -q --now slurmctld
    timeout 300 sh -c 'until sacctmgr -nP list cluster format=cluster | grep -qx old_cluster; do sleep 0.2; done'
    sacctmgr -iQ add account vision_lab cluster=old_cluster
    sacctmgr -iQ add user ada,ben account=vision_lab cluster=old_cluster
    ;;
nodes)
    install_packages munge slurm-client slurm-wlm-basic-plugins slurmd
    shared_key
    programs
    slurm_conf
    mkdir -p /srv/slurm/log /srv/slurm/spool
    systemctl enable -q --now slurmd
    ;;
login)
    install_packages munge slurm-client slurm-wlm-basic-plugins
    shared_key
    slurm_conf
    ;;
esac
mkdir -p /opt/site
touch /opt/site/furnished
