#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that take minutes: prints a line for each step, with the time it took.

# step TEXT: begins a step, and prints the time of the previous one; without TEXT only the latter.
step_began=
step() {
  if [[ -n $step_began ]]; then echo "   $((SECONDS - step_began)) s"; fi
  step_began=
  if (($# > 0)); then
    step_began=$SECONDS
    echo "== $1"
  fi
}

# quietly COMMAND...: prints the command's output only if it fails.
quietly() {
  local log
  if ! log=$("$@" 2>&1); then
    tail -n 60 <<<"$log" >&2
    echo "failed: $*" >&2
    return 1
  fi
}

# compile BUILD ARGUMENT...: runs ninja, which shows its progress on a terminal.
compile() {
  local quiet=(--quiet)
  if [[ -t 1 ]]; then quiet=(); fi
  ninja -C "$1" -j "$(nproc)" ${quiet[@]+"${quiet[@]}"} "${@:2}"
}
