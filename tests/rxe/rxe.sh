#!/bin/sh
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
# One machine: rdma_rxe on each cable, then the programs that the host puts into the shared directory.
set -e
trap 'busybox poweroff -f' EXIT
for word in $(cat /proc/cmdline); do
  case $word in
    rxe.end=*) end=${word#rxe.end=} ;;
    rxe.name=*) export SLURMD_NODENAME="${word#rxe.name=}" ;;
    rxe.tos=*) tos=${word#rxe.tos=} ;;
  esac
done
mount -t 9p -o trans=virtio,version=9p2000.L,cache=none jobs /mnt
mount -t configfs none /sys/kernel/config
modprobe -a rdma_rxe rdma_ucm
# the usual queue marks packets of a slow machine as a congested switch does
echo pfifo_fast > /proc/sys/net/core/default_qdisc
ip link set lo up
for rail in 0 1; do
  ip link set "eth$rail" mtu 9000 up
  ip address add "10.9.$rail.$end/24" dev "eth$rail"
  rdma link add "rxe$rail" type rxe netdev "eth$rail"
  # RDMA-CM's default, as role fabric_nic writes it
  mkdir "/sys/kernel/config/rdma_cm/rxe$rail"
  echo "$tos" > "/sys/kernel/config/rdma_cm/rxe$rail/ports/1/default_roce_tos"
done
number=1
while true; do
  if [ -e "/mnt/$number" ]; then
    cp "/mnt/$number" /tmp/program
    chmod 700 /tmp/program
    code=0
    /tmp/program > "/mnt/$number.out" 2>&1 || code=$?
    echo $code > "/mnt/$number.part"
    mv "/mnt/$number.part" "/mnt/$number.code"
    number=$((number + 1))
  fi
  sleep 0.2
done
