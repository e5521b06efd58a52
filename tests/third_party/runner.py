# SPDX-License-Identifier: Apache-2.0
"""Runs one case of cases.py: alone, as server and client, or under mpirun."""
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import cases

LISTENING = "0A"


class Setup:
    """Where and how the programs run."""

    def __init__(self, build, device="soft0", preload=True, gid=0, timeout=150):
        self.build, self.device, self.preload, self.gid, self.timeout = build, device, preload, gid, timeout

    def wrapper(self):
        return [os.path.join(self.build, "tools", "chorale-soft")] if self.preload else []

    def place(self, _side):
        """Words before the wrapper that say where the server (0) or the client (1) runs."""
        return []

    def environment(self, extra):
        env = dict(os.environ)
        if self.preload:  # no other programs are in the fabric
            env["CHORALE_SOFT_FABRIC"] = f"test-{os.getpid()}-{time.monotonic_ns()}"
        env["UCX_NET_DEVICES"] = f"{self.device}:1"
        env.setdefault("UCX_WARN_UNUSED_ENV_VARS", "n")
        env.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
        env.update(extra)
        return env


class Result:
    """What became of a case: `state` is works, refused, fails or missing."""

    def __init__(self, state, detail="", output=""):
        self.state, self.detail, self.output = state, detail, output

    def text(self):
        return self.state if not self.detail else f"{self.state}: {self.detail}"


def all_cases(groups=cases.GROUPS):
    """(group, kind, options, what, text) of each case; `text` is for a single program what it must say, for a pair the
    refusal that is expected, or None."""
    for group in groups:
        for kind, table in (("single", cases.SINGLE), ("pair", cases.PAIRS), ("mpi", cases.MPI)):
            for case in table.get(group, ()):
                yield group, kind, case[0], case[1], case[2] if len(case) > 2 else None


def split(setup, options):
    """Leading VARIABLE=VALUE words, the program, and its arguments."""
    words = shlex.split(options.format(device=setup.device, gid=setup.gid))
    variables = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return variables, words[0], words[1:]


def free_port():
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


def is_listening(port):
    wanted = f":{port:04X}"
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(name, encoding="ascii") as table:
                for line in table:
                    fields = line.split()
                    if len(fields) > 3 and fields[1].endswith(wanted) and fields[3] == LISTENING:
                        return True
        except OSError:
            pass
    return False


def pair_arguments(setup, program, arguments, port):
    common = ["-p", str(port)] + arguments
    if program == "ucx_perftest":
        if "-x" in arguments:
            common += ["-d", f"{setup.device}:1"]
        return common + ([] if "-n" in arguments else ["-n", "100"]) + ["-w", "10"]
    common += ["-d", setup.device]
    if program.startswith("ibv_"):
        if not setup.preload and "-g" not in arguments:
            common += ["-g", str(setup.gid)]  # RoCE has no LIDs
        return common + ([] if "-n" in arguments else ["-n", "100"])
    if not setup.preload:
        common += ["-x", str(setup.gid)]
    return common + ["-F"] + ([] if "-n" in arguments else ["-n", "200"])


def start(command, env, output):
    return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                            start_new_session=True)


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def wait(process, deadline):
    try:
        return process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        stop(process)
        return None


def last_words(text):
    """The line that says most about why a program ended."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" -+|*\t")]
    telling = [line for line in lines if re.search(r"fail|couldn|error|not supp|unable|doesn't|no such", line, re.I)]
    return re.sub(r"\s+", " ", (telling or lines or ["says nothing"])[-1])[:120]


def judge(codes, output, refusal):
    if refusal is not None and all(code not in (0, None) for code in codes) and re.search(refusal, output):
        return Result("refused", last_words(output), output)
    if None in codes:
        return Result("fails", "does not end", output)
    if any(code != 0 for code in codes):
        return Result("fails", f"exit status {codes[-1]}: {last_words(output)}", output)
    return Result("works", "", output)


def run_pair(setup, variables, program, arguments, refusal):
    port = free_port()
    command = setup.wrapper() + [program] + pair_arguments(setup, program, arguments, port)
    env = setup.environment(variables)
    deadline = time.monotonic() + setup.timeout
    with tempfile.TemporaryFile("w+") as server_says, tempfile.TemporaryFile("w+") as client_says:
        server = start(setup.place(0) + command, env, server_says)
        client = None
        try:
            while not is_listening(port) and server.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            client = start(setup.place(1) + command + ["127.0.0.1"], env, client_says)
            code = wait(client, deadline)
            codes = [wait(server, min(deadline, time.monotonic() + 10)), code]
        finally:
            for process in (server, client):
                if process is not None and process.poll() is None:
                    stop(process)
        texts = []
        for says in (server_says, client_says):
            says.seek(0)
            texts.append(says.read())
    return judge(codes, "\n".join(texts), refusal)


def run_alone(setup, command, env, expected):
    with tempfile.TemporaryFile("w+") as says:
        process = start(command, env, says)
        code = wait(process, time.monotonic() + setup.timeout)
        says.seek(0)
        output = says.read()
    result = judge([code], output, None)
    if result.state == "works" and not re.search(expected, output):
        return Result("fails", f"does not say '{expected}'", output)
    return result


def run_mpi(setup, variables, arguments):
    arguments = list(arguments)
    ring = os.path.join(setup.build, "tests", "third_party", "mpi_ring")
    if not os.path.exists(ring):
        return Result("missing", "mpi_ring was not built: libopenmpi-dev is not installed (tools/install-dependencies --ci)")
    forwarded = [word for name in list(variables) + ["UCX_NET_DEVICES"] for word in ("-x", name)]
    # Open MPI's own list of devices that it thinks UCX is good for does not know soft0.
    chosen = ["--oversubscribe", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"]
    command = ["mpirun.openmpi"] + chosen + forwarded + arguments[:-1] + setup.wrapper() + [ring]
    return run_alone(setup, command, setup.environment(variables), r"\b0 wrong")


def run_case(setup, kind, options, text):
    variables, program, arguments = split(setup, options)
    needed = "mpirun.openmpi" if kind == "mpi" else program
    if shutil.which(needed) is None:
        return Result("missing", f"{needed} is not installed (tools/install-dependencies --ci)")
    if kind == "mpi":
        return run_mpi(setup, variables, arguments)
    if kind == "single":
        expected = text.format(device=setup.device)
        return run_alone(setup, setup.wrapper() + [program] + arguments, setup.environment(variables), expected)
    return run_pair(setup, variables, program, arguments, text)
