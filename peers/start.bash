# What the peers' start scripts share: their arguments, and how they refuse. Sourced, not run.
#
#   start --port N --root DIR --workers N [--dir WORKDIR] [--stock]
#
# The script ends in `exec`: the server has the script's process id, runs in the foreground and ends on SIGTERM. It
# listens on 127.0.0.1 only. What it writes lies below WORKDIR, by default one folder for each peer and port in the
# user's cache, which each start empties of the last run's logs.
#
# Exit status: 2 for wrong arguments, 69 (EX_UNAVAILABLE of sysexits.h) if a package is missing, else the server's own.

set -euo pipefail
umask 022
export LC_ALL=C.UTF-8      # from here Java has the encoding of file names: in the locale C it opens none beyond ASCII
PATH=$PATH:/usr/sbin:/sbin # where Debian keeps nginx, and not in the PATH of a plain user

peer=$(cd "$(dirname "$0")" && pwd -P) # the folder of the script that was called
name=${peer##*/}
options=(port root workers dir) # those with a value; a script may have further ones
port="" root="" workers="" dir="" stock=""

refuse() {
  printf '%s: %s\n' "$name" "$2" >&2
  exit "$1"
}

read_arguments() {
  local usage="start --port N --root DIR --workers N [--dir WORKDIR] [--stock]"
  while [ $# -gt 0 ]; do
    if [ "$1" = --help ]; then echo "usage: $usage" && exit 0; fi
    if [ "$1" = --stock ]; then stock=yes && shift && continue; fi
    [[ $1 == --* && " ${options[*]} " == *" ${1#--} "* ]] || refuse 2 "there is no argument $1; usage: $usage"
    [ $# -ge 2 ] || refuse 2 "$1 needs a value"
    printf -v "${1#--}" %s "$2"
    shift 2
  done
  [[ $port =~ ^[1-9][0-9]{0,4}$ && $port -le 65535 ]] || refuse 2 "--port must be from 1 to 65535, not '$port'"
  [[ $workers =~ ^[1-9][0-9]{0,2}$ ]] || refuse 2 "--workers must be from 1 to 999, not '$workers'"
  [ -d "$root" ] || refuse 2 "--root must be a folder, not '$root'"
  root=$(cd "$root" && pwd -P) # Jetty takes a path through a symbolic link for an alias, and answers 404
  # With SO_REUSEPORT, which nginx uses, two servers of one user may listen on one port, and each gets half the clients.
  if listens "$port"; then refuse 1 "port $port is taken"; fi
  dir=${dir:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/quintain/peers/$name-$port}
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd -P)
}

# Whether somebody listens on a port.
listens() {
  (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# need PACKAGE FILE...: the files by which the package is known to be there.
need() {
  local package=$1 file
  shift
  for file; do
    [ -e "$file" ] || refuse 69 "$file is missing; on Debian: apt-get install $package"
  done
}

# The virtual machine sizes its collector, its compiler threads and each library's default pools by the CPUs that it
# sees: --workers. A fixed heap and the throughput collector keep the growing of the heap out of a measurement.
java_flags() {
  need default-jre-headless "$(type -P java || echo /usr/bin/java)"
  flags=(-XX:ActiveProcessorCount="$workers" -Djava.io.tmpdir="$dir/temp" -Djava.awt.headless=true
    -Dpeer.port="$port" -Dpeer.root="$root")
  if [ -z "$stock" ]; then flags+=(-Xms512m -Xmx512m -XX:+UseParallelGC); fi
  mkdir -p "$dir/temp"
}
