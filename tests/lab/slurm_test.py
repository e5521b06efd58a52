#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks under Slurm, whose daemons this test starts for two nodes on this machine. Usage: slurm_test.py PROGRAM CHORALE_INFO

PROGRAM is examples/03_allreduce. Each node has its own host name, temporary folder, /dev/shm and System V memory, so that ranks on different nodes share nothing but the loopback
interface. Skipped (77), with the reason, where Slurm is missing or root may not make such nodes.
"""
import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PACKAGES = "slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge"
SKIPPED = 77
SECONDS = 60
NODES = 2
CPUS = 8

CONFIGURATION = """
ClusterName=chorale
SlurmctldHost={host}({address})
SlurmctldPort={controller}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge/socket
CredType=cred/munge
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool-%n
TmpFS={place}/tmp
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd-%n.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def free_ports(count):
    """So many ports that are free on the loopback interface."""
    with contextlib.ExitStack() as held:
        return [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(count)]


class Cluster:
    """The daemons of NODES nodes on this machine, with all their files in one folder. Ends them on exit."""

    device = "soft0"
    address = "127.0.0.1"  # of this machine
    minutes = 1            # of a job step

    def __init__(self, place):
        self.place = place
        self.controller, *ports = free_ports(1 + NODES)
        self.host = socket.gethostname().split(".")[0]
        self.nodes = {f"n{node}": (self.host, self.address, port) for node, port in enumerate(ports)}
        self.environment = dict(os.environ, SLURM_CONF=str(place / "slurm.conf"))

    def __enter__(self):
        for name in ("munge", "state", "tmp", *(f"spool-{node}" for node in self.nodes)):
            (self.place / name).mkdir()
        # munged and Slurm refuse folders that others may write to, and users other than root have to reach the socket.
        self.place.chmod(0o755)
        (self.place / "munge" / "key").write_bytes(os.urandom(128))
        (self.place / "munge" / "key").chmod(0o400)
        nodes = "\n".join(f"NodeName={name} NodeHostname={of_host} NodeAddr={address} Port={port} CPUs={CPUS} State=UNKNOWN"
                          for name, (of_host, address, port) in self.nodes.items())
        text = CONFIGURATION.format(host=self.host, address=self.address, controller=self.controller, place=self.place, nodes=nodes)
        (self.place / "slurm.conf").write_text(text, encoding="utf-8")
        (self.place / "cgroup.conf").write_text("CgroupAutomount=no\nIgnoreSystemd=yes\n", encoding="utf-8")
        try:
            self.start(*self.munged())
            self.start("slurmctld")
            for node in self.nodes:
                self.start_node(node)
            self.wait_until_idle()
        except BaseException:
            self.end()
            raise
        return self

    def munged(self):
        return ["munged", "--force", *(f"--{what}-file={self.place}/munge/{what}" for what in ("key", "pid", "log", "seed")), f"--socket={self.place}/munge/socket"]

    def start_node(self, node):
        self.start("unshare", "--uts", "--ipc", "--mount", "sh", "-c",
                   f"hostname {node}; for of_node in /dev/shm {self.place}/tmp; do mount -t tmpfs -o mode=1777 tmpfs $of_node; done; exec slurmd -N {node}")

    def start(self, *words):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)} ended with status {done.returncode}\n{done.stdout}{done.stderr}{self.logs()}")

    def logs(self):
        return "\n".join([f"{log.name}:\n{log.read_text(errors='replace')}" for log in sorted(self.place.glob("*.log"))])

    def wait_until_idle(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            said = subprocess.run(["sinfo", "--noheader", "--format=%T %D"], env=self.environment, capture_output=True, text=True, check=False).stdout
            if said.split() == ["idle", str(len(self.nodes))]:
                return
            time.sleep(0.2)
        sys.exit(f"the nodes are not idle after {SECONDS} s, but: {said}\n{self.logs()}")

    def end(self):
        for file in (*self.place.glob("slurmd-*.pid"), self.place / "slurmctld.pid", self.place / "munge" / "pid"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(file.read_text(encoding="utf-8")), signal.SIGTERM)
        end = time.monotonic() + SECONDS
        while any(self.place.glob("*.pid")) and time.monotonic() < end:
            time.sleep(0.05)

    def __exit__(self, *_):
        self.end()

    def srun(self, *words):
        """Status and output of a job step, which may not wait for long."""
        done = subprocess.run(["srun", f"--time={self.minutes}", *words], env=dict(self.environment, CHORALE_DEVICE=self.device), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=3 * SECONDS)
        return done.returncode, done.stdout


def check(what, condition, said):
    print(f"{'ok' if condition else 'WRONG'}: {what}")
    if not condition:
        print(said)
    return condition


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("info")
    options = parser.parse_args()
    for program in ("munged", "slurmctld", "slurmd", "srun"):
        if shutil.which(program) is None:
            skip(f"there is no {program} ({PACKAGES}; tools/install-dependencies --ci)")
    if os.geteuid() != 0:
        skip("Slurm's daemons are started by root here")
    if subprocess.run(["unshare", "--uts", "--ipc", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], capture_output=True, check=False).returncode != 0:
        skip("this root may not make namespaces, as in a container without CAP_SYS_ADMIN")
    good = True
    with tempfile.TemporaryDirectory(prefix="chorale-slurm-") as folder, Cluster(pathlib.Path(folder)) as cluster:
        for ranks in (1, 4):
            status, said = cluster.srun("--mpi=pmix", "-N1", f"-n{ranks}", options.program)
            good &= check(f"{ranks} ranks on a node", status == 0 and f"over {ranks} rank" in said and "(right)" in said, said)
        status, said = cluster.srun("--mpi=pmix", "-N2", "-n2", options.program)
        good &= check("ranks on two nodes cannot use soft0, and say so", status != 0 and re.search(r"soft0.*host", said) is not None, said)
        status, said = cluster.srun("-N1", "-n2", options.program)
        good &= check("without PMIx there is no job of singletons", status != 0 and "srun --mpi=pmix" in said and "(right)" not in said, said)
        status, said = cluster.srun("-N1", "-n1", options.info, "--check")
        good &= check("chorale-info says what is missing", status != 0 and re.search(r"WRONG +launcher +started by Slurm", said) is not None and "srun --mpi=pmix" in said, said)
        status, said = cluster.srun("--mpi=pmix", "-N1", "-n1", options.info, "--check")
        good &= check("chorale-info finds PMIx", re.search(r"ok +launcher", said) is not None, said)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
