#!/bin/sh
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
# One machine of tests/rxe: a rail for each cable, then the programs that the host puts into the shared directory.
set -e
trap 'busybox poweroff -f' EXIT
for word in $(cat /proc/cmdline); do
  case $word in
    rxe.end=*) end=${word#rxe.end=} ;;
    rxe.tos=*) tos=${word#rxe.tos=} ;;
  esac
done
mount -t 9p -o trans=virtio,version=9p2000.L,cache=none jobs /mnt
mount -t configfs none /sys/kernel/config
modprobe -a rdma_rxe rdma_ucm sch_netem
ip link set lo up
for rail in 0 1; do
  ip link set "eth$rail" mtu 9000 up
  ip address add "10.9.$rail.$end/24" dev "eth$rail"
  rdma link add "rxe$rail" type rxe netdev "eth$rail"
  # RDMA-CM's default, as role fabric_nic writes it
  mkdir "/sys/kernel/config/rdma_cm/rxe$rail"
  echo "$tos" > "/sys/kernel/config/rdma_cm/rxe$rail/ports/1/default_roce_tos"
done
export SLURMD_NODENAME="n$end"
number=1
while true; do
  job=/mnt/$number
  if [ -e "$job" ]; then
    cp "$job" /tmp/job
    chmod 700 /tmp/job
    code=0
    /tmp/job > "$job.out" 2>&1 || code=$?
    echo $code > "$job.part"
    mv "$job.part" "$job.code"
    number=$((number + 1))
  fi
  sleep 0.2
done
