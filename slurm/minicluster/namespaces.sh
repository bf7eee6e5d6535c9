# Part of minicluster: nodes in Linux namespaces (`minicluster up --network own`). Sourced by minicluster; uses its functions.
#
# A "switch", a network namespace with a bridge, connects the nodes and this machine:
#
#   node n1: eth0 PREFIX.1   node n2: eth0 PREFIX.2  ...  the switch, with slurmctld: br0 PREFIX.254   this machine: mcPID PREFIX.253
#
# Each node has its own host name (the name of the node, which /etc/hosts of all nodes resolves), network (lo and eth0), System V IPC,
# /dev/shm and /tmp; only the state directory and the folders of --share are those of this machine. All nodes share the process table
# of this machine. The namespaces have no names: they and their interfaces disappear with the last process in them.

readonly switch_number=254 machine_number=253

namespaces_obstacle() { # Prints why nodes cannot have namespaces on this machine; prints nothing if they can.
  local program output
  for program in ip:iproute2 unshare:util-linux nsenter:util-linux; do
    type -P "${program%:*}" >/dev/null || { echo "the program ${program%:*} is missing (package ${program#*:})"; return; }
  done
  output=$(unshare --net --mount --uts --ipc -- sh -ec 'mount -t tmpfs minicluster /dev/shm; mount -t sysfs sysfs /sys
    ip link add br0 type bridge; ip link add name veth0 type veth peer name veth1; echo minicluster >/proc/sys/kernel/hostname' 2>&1 >/dev/null) ||
    echo "cannot create namespaces (root is required): $(head -n 1 <<<"$output")"
}

free_prefix() { # Prints the first three numbers of a private /24 network (RFC 1918) to which this machine has no route.
  local prefix try
  for ((try = 0; try < 60; ++try)); do
    case $((try % 3)) in
      0) prefix=10.$((RANDOM % 256)).$((RANDOM % 256)) ;;
      1) prefix=172.$((RANDOM % 16 + 16)).$((RANDOM % 256)) ;;
      2) prefix=192.168.$((RANDOM % 256)) ;;
    esac
    { ip -4 route show table all match "$prefix.0/24"; ip -4 route show table all root "$prefix.0/24"; } | grep -qv '^default ' && continue
    echo "$prefix"
    return
  done
  return 1
}

pid_of() { sed -n "s/^$1 \([0-9]*\) .*/\1/p" "$state/daemons"; } # Prints the pid of a recorded daemon.

enter_words() { # Sets `entering` to the prefix of a command that runs in the namespaces of node $1, or of the switch.
  if [[ $1 == switch ]]; then
    entering=(nsenter -t "$(pid_of switch)" --net --)
  else
    entering=(nsenter -t "$(pid_of "holder.$1")" --net --mount --uts --ipc --)
  fi
}

hold() { # Arguments: role unshare-option... Starts a process that keeps new namespaces; returns when they exist.
  local role=$1 pid try
  shift
  launch "$role" unshare "$@" --propagation slave -- sleep infinity
  pid=$(pid_of "$role")
  for ((try = 0; try < 500; ++try)); do
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) == sleep ]] && return
    sleep 0.01
  done
  problem="$role does not start" guilty=$role
  return 1
}

write_hosts() {
  local node
  printf '127.0.0.1 localhost\n::1 localhost\n%s %s\n' "$prefix.$switch_number" "$host"
  for ((node = 1; node <= setting[nodes]; ++node)); do echo "$prefix.$node n$node"; done
}

own_folder() { # Arguments: path folder... Inside a node: mounts a tmpfs at `path`, in which only the given folders are shared.
  local path=$1 new=$state/new folder
  shift
  mount -t tmpfs -o mode=1777 minicluster "$new"
  for folder in "$@"; do
    [[ $folder != "$path" ]] || { umount "$new"; return; }
    if [[ $folder == "$path"/* ]]; then
      mkdir -p "$new/${folder#"$path"/}"
      mount --rbind "$folder" "$new/${folder#"$path"/}"
    fi
  done
  mount --move "$new" "$path"
}

prepare_node() { # Arguments: name state folder... Inside a node: sets its host name, mounts and loopback interface.
  local state=$2
  set -e
  echo "$1" >/proc/sys/kernel/hostname
  ip link set lo up
  shift
  mount --bind "$state/hosts" /etc/hosts
  mount -t sysfs sysfs "$state/new" # MPI looks for network devices there
  [[ ! -d /sys/fs/cgroup ]] || mount --rbind /sys/fs/cgroup "$state/new/fs/cgroup"
  mount --move "$state/new" /sys
  own_folder /dev/shm "$@"
  own_folder /tmp "$@"
}

plug_in() { # Arguments: name pid number interface... Connects the network of `pid` to the switch by an interface with an address.
  local label=$1 pid=$2 number=$3
  shift 3
  nsenter -t "$pid" --net -- ip -batch - <<BATCH && "${switch[@]}" ip link set "to-$label" master br0 up
link add name $* type veth peer name to-$label netns $(pid_of switch)
addr add $prefix.$number/24 dev $1
link set $1 up
BATCH
}

start_namespaces() { # Creates the switch, this machine's interface, and the nodes; returns 1 and sets problem and guilty on an error.
  local entering=() switch=() node pid
  write_hosts >"$state/hosts"
  chmod 644 "$state/hosts"
  mkdir "$state/new"
  hold switch --net || return
  enter_words switch
  switch=("${entering[@]}")
  guilty=switch problem="this machine cannot be connected to the cluster's network"
  {
    "${switch[@]}" ip -batch - <<<"link add br0 type bridge
link set lo up
addr add $prefix.$switch_number/24 dev br0
link set br0 up" && plug_in machine $$ $machine_number "mc$(pid_of switch)"
  } 2>>"$state/log/switch.out" || return
  for ((node = 1; node <= setting[nodes]; ++node)); do
    hold "holder.n$node" --net --mount --uts --ipc || return
    enter_words "n$node"
    guilty=holder.n$node problem="node n$node cannot be created"
    {
      plug_in "n$node" "$(pid_of "holder.n$node")" "$node" eth0 index 10 &&
        "${entering[@]}" bash -c ". '$BASH_SOURCE'; prepare_node \"\$@\"" bash "n$node" "$state" "${shared[@]}"
    } 2>>"$state/log/holder.n$node.out" || return
  done
}
