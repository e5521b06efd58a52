#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that try this tree in a fresh Debian: creates one, mounts what programs need in it, and copies the tree. All of
# that is removed when the script ends.

# shellcheck source=tools/steps.bash
. tools/steps.bash

made=()
mounted=()
clean() {
  local folder i
  for ((i = ${#mounted[@]} - 1; i >= 0; --i)); do umount "${mounted[i]}"; done
  for folder in ${made[@]+"${made[@]}"}; do rm -rf --one-file-system "$folder"; done
}
trap clean EXIT

# need_for_debian SCRIPT PACKAGE...: ends the script, with the remedy, if a package or the right to use a chroot is missing.
need_for_debian() {
  local packages=("${@:2}" debootstrap)
  if [[ $(dpkg-query --show --showformat='${db:Status-Status}\n' "${packages[@]}" 2>&1 | sort -u) != installed ]]; then
    echo "$1 needs packages that are not here: apt-get install ${packages[*]}" >&2
    exit 1
  fi
  if ((EUID != 0)); then
    echo "$1 needs root: it installs packages in a chroot" >&2
    exit 1
  fi
}

# make_debian MIRROR LOG: installs this release with only the required packages; sets `debian` to its folder.
make_debian() {
  local place release
  place=$(mktemp --directory /var/tmp/chorale-chroot.XXXXXX)
  made+=("$place")
  debian=$place/root
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && echo "$VERSION_CODENAME")
  if ! debootstrap --variant=minbase "$release" "$debian" "$1" >"$2" 2>&1; then
    tail -n 20 "$2" >&2
    return 1
  fi
}

# mount_in DEBIAN: mounts what every running system has. soft0 finds the members of its fabric in /proc; mpirun looks for cores in /sys, and needs terminals, as does
# apt-get. The root must be a mount for tools/with-default-packages to create a mount namespace.
mount_in() {
  local kind folder
  mount --bind "$1" "$1"
  mounted+=("$1")
  for kind in proc:/proc sysfs:/sys devpts:/dev/pts tmpfs:/dev/shm; do
    folder=$1${kind#*:}
    if ! mountpoint --quiet "$folder"; then
      mkdir -p "$folder"
      mount -t "${kind%%:*}" "${kind%%:*}" "$folder"
      mounted+=("$folder")
    fi
  done
}

# copy_tree FOLDER: copies the files that Git tracks, as they are in the working tree, into a new folder.
copy_tree() {
  mkdir "$1"
  git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$1"
}

# enter_debian MIRROR LOGS: makes a Debian unless `debian` names one, mounts what programs need in it, and copies the tree into the folder `tree` of it.
enter_debian() {
  logs=$2
  if [[ -z $debian ]]; then
    step "debootstrap (a minute): $logs/debootstrap.log"
    make_debian "$1" "$logs/debootstrap.log"
  fi
  debian=$(cd "$debian" && pwd)
  mount_in "$debian"
  tree=$(mktemp --directory "$debian/var/tmp/chorale.XXXXXX")
  made+=("$tree")
  chmod 755 "$tree"  # some tests run programs as other users
  copy_tree "$tree/chorale"
}

# inside NAME COMMAND...: runs it in the tree in that Debian, with an environment of only `environment`; if it fails, prints the end of its output and sets
# `status` to 1.
status=0 environment=()
inside() {
  local log=$logs/$1.log
  step "${*:2}: $log"
  if ! env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 ${environment[@]+"${environment[@]}"} chroot "$debian" env --chdir="${tree#"$debian"}/chorale" "${@:2}" \
    >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log"
    echo "failed: ${*:2}"
    # shellcheck disable=SC2034  # the scripts read it
    status=1
    return 1
  fi
}
