#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that take minutes: a line for each step, and how long it took.

# step TEXT: begins a step, and says how long the one before took; without TEXT it only says that.
step_began=
step() {
  if [[ -n $step_began ]]; then echo "   $((SECONDS - step_began)) s"; fi
  step_began=
  if (($# > 0)); then
    step_began=$SECONDS
    echo "== $1"
  fi
}

# quietly COMMAND...: its output matters only if it fails.
quietly() {
  local log
  if ! log=$("$@" 2>&1); then
    tail -n 60 <<<"$log" >&2
    echo "failed: $*" >&2
    return 1
  fi
}

# compile BUILD ARGUMENT...: by ninja, which shows its progress where somebody looks.
compile() {
  local quiet=(--quiet)
  if [[ -t 1 ]]; then quiet=(); fi
  ninja -C "$1" -j "$(nproc)" ${quiet[@]+"${quiet[@]}"} "${@:2}"
}
