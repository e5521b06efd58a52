#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a libFuzzer target over its corpus, and then on new inputs for some seconds. Usage: run.py PROGRAM CORPUS [SECONDS]

The committed corpus is not changed. CHORALE_TEST_SEED sets the seed, which is printed; CHORALE_TEST_FUZZ_SECONDS sets the
duration unless SECONDS is given (default 4). `run.py --skip COMPILER` prints why there is nothing to run (77).
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile


def main():
    if sys.argv[1] == "--skip":
        print(f"skipped: libFuzzer comes with clang, and this build is by {sys.argv[2]} or under another sanitizer "
              "(tools/check --clang runs the fuzzers)")
        sys.exit(77)
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    seconds = sys.argv[3] if len(sys.argv) > 3 else os.environ.get("CHORALE_TEST_FUZZ_SECONDS", "4")
    seed = os.environ.get("CHORALE_TEST_SEED") or str(random.SystemRandom().randrange(1, 1 << 31))
    print(f"CHORALE_TEST_SEED={seed}", flush=True)
    # The source tree may be read-only; new inputs that are worth keeping are merged by hand.
    with tempfile.TemporaryDirectory() as grown:
        keep = os.environ.get("CHORALE_TEST_FUZZ_KEEP", grown)
        os.makedirs(keep, exist_ok=True)
        status = subprocess.run([program, f"-seed={seed}", f"-max_total_time={seconds}", "-print_final_stats=1",
                                 "-max_len=1024", f"-artifact_prefix={os.getcwd()}/", keep, str(corpus)],
                                stdin=subprocess.DEVNULL, check=False).returncode
    sys.exit(1 if status else 0)


if __name__ == "__main__":
    main()
