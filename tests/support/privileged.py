# SPDX-License-Identifier: Apache-2.0
"""Commands of other users and with other mounts, for tests that run as root."""
import os
import shutil
import subprocess

NOBODY = 65534


def as_user(uid, command):
    """The command run as that user, with no supplementary groups."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all", "env", "HOME=/tmp", *command]


def why_not_as(uid, *programs):
    """Why these programs cannot run as that user here; None if they can."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        return "needs root and setpriv to become another user"
    for program in programs:
        if subprocess.run(as_user(uid, ["test", "-x", os.path.abspath(program)]), check=False).returncode != 0:
            return f"user {uid} cannot run {program}"
    return None


def in_mount_namespace(script, command):
    """The command run after a shell script in a separate mount namespace."""
    return ["unshare", "-m", "sh", "-c", script + ' && exec "$@"', "sh", *command]


def why_no_mount_namespace(script="true"):
    """Why that cannot be done here; None if it does."""
    tried = subprocess.run(in_mount_namespace(script, ["true"]), capture_output=True, text=True, check=False)
    return f"no mounts of its own are permitted here: {tried.stderr.strip()}" if tried.returncode != 0 else None
