#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps what the failed tests of a Meson test run said. Usage: failed_tests.py LOG.json FOLDER PREFIX

Writes FOLDER/PREFIX-TEST.log for each test that failed, with its command, and prints a line that names it. Exit status 1 if one failed.
"""
import json
import pathlib
import re
import shlex
import sys


def main():
    log, folder, prefix = sys.argv[1:]
    failed = 0
    for line in pathlib.Path(log).read_text(encoding="utf-8").splitlines():
        test = json.loads(line)
        if test["result"] in ("OK", "EXPECTEDFAIL", "SKIP"):
            continue
        failed += 1
        kept = pathlib.Path(folder) / f"{prefix}-{re.sub('[^a-z0-9]+', '-', test['name'].split(' / ')[-1].lower())}.log"
        kept.write_text("\n".join([f"{test['name']}: {test['result']} after {test['duration']:.1f} s", shlex.join(test["command"]), test.get("stdout") or "",
                                   test.get("stderr") or ""]), encoding="utf-8")
        print(f"FAILED: {test['name']}: {test['result']}: {kept}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
