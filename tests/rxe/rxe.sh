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
  # no loss on the cable may hit ARP
  peer=$((3 - end))
  ip neighbour replace "10.9.$rail.$peer" lladdr "02:00:00:00:0$rail:0$peer" dev "eth$rail" nud permanent
  rdma link add "rxe$rail" type rxe netdev "eth$rail"
  # RDMA-CM's default, as role fabric_nic writes it
  mkdir "/sys/kernel/config/rdma_cm/rxe$rail"
  echo "$tos" > "/sys/kernel/config/rdma_cm/rxe$rail/ports/1/default_roce_tos"
done
# what the worker runs, for an emulated processor. perftest's 67 ms until a retransmission are too short, and rxe may refuse
# repeated packets: 4.096 us * 2^20 are 4.3 s. The worker's seconds are also its limit, and perftest measures for 4
mount -t tmpfs tmpfs /usr/local/sbin
cat > /usr/local/sbin/ib_write_bw << 'end'
#!/bin/sh
exec /usr/bin/ib_write_bw --qp-timeout=20 $(echo "$@" | sed 's/ -D [0-9]*/ -D 4/')
end
chmod 755 /usr/local/sbin/ib_write_bw
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
