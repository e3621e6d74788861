#!/bin/sh
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
# One end of perftest over rdma_rxe. The kernel's command line has the end, and the cases: name, port, options.
set -e
trap 'busybox poweroff -f' EXIT
for word in $(cat /proc/cmdline); do
  case $word in
    rxe.end=*) end=${word#rxe.end=} ;;
    rxe.tos=*) tos=${word#rxe.tos=} ;;
    rxe.cases=*) cases=$(echo "${word#rxe.cases=}" | tr ';' ' ') ;;
  esac
done
server=10.9.0.1
ip link set lo up
ip link set eth0 up
ip address add "10.9.0.$end/24" dev eth0
modprobe -a rdma_rxe rdma_ucm
rdma link add rxe0 type rxe netdev eth0
mount -t configfs none /sys/kernel/config

# RDMA-CM's default, as role fabric_nic writes it
mkdir /sys/kernel/config/rdma_cm/rxe0
echo "$tos" > /sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos

perftest() {
  port=$1
  shift
  ib_write_bw --ib-dev=rxe0 --gid-index=1 --iters=20 --size=1024 --CPU-freq --port="$port" "$@" > "/tmp/$port" 2>&1
}

for case in $cases; do
  name=${case%%:*} rest=${case#*:}
  port=${rest%%:*} options=$(echo "${rest#*:}" | tr , ' ')
  if [ "$end" = 1 ]; then
    perftest "$port" $options &
    continue
  fi
  for attempt in $(seq 20); do
    # the packets of a case follow its name on the wire
    python3 -c "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'$name', ('$server', 9))"
    if perftest "$port" $options "$server"; then
      echo "rxe: $name passed"
      break
    fi
    sleep 1
  done
  cat "/tmp/$port"
done
wait
