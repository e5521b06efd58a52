#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the library as each patch here does, in a copy of the tree, and shows which seed finds that.

    find.py [--seeds N] [--folder DIR] [--jobs J] [PATCH...]

Fails if a breakage is not found within N seeds (30,000), or if the tree fails without one. DIR (default: a
temporary folder, removed at the end) keeps the copy and its build for the next time.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
tree = here.parents[3]


def copy_tree(to):
    """Files that are as they were keep their times, so that they are not compiled again."""
    listed = subprocess.run(['git', 'ls-files', '-co', '--exclude-standard', '-z'], cwd=tree, check=True,
                            capture_output=True).stdout.decode()
    for name in filter(None, listed.split('\0')):
        source, copy = tree / name, to / name
        if not source.is_file() or (copy.is_file() and copy.read_bytes() == source.read_bytes()):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)


def build(copy, folder, jobs):
    target = 'tests/simulation/seeds/seeds'
    if not (folder / 'build.ninja').is_file():
        subprocess.run(['meson', 'setup', str(folder), str(copy), '-Dbuildtype=plain', '-Doptimization=1',
                        '-Dtools=false', '-Dexamples=false'], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(['ninja', '-C', str(folder), '--quiet', f'-j{jobs}', target], check=True)
    return folder / target


def first_failure(program, seeds):
    """The first seed that fails and why, or None."""
    run = subprocess.Popen([program], stdout=subprocess.PIPE, text=True, errors='replace',
                           start_new_session=True,
                           env=dict(os.environ, CHORALE_TEST_SEED='1', CHORALE_TEST_SEEDS=str(seeds)))
    before = ''
    for line in run.stdout:
        found = re.match(r'FAILED.*CHORALE_TEST_SEED=(\d+)', line)
        if found:
            # The runs are children of its own.
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            return found.group(1), before
        before = line.strip()
    if run.wait() != 0:
        sys.exit(f'{program} failed without naming a seed')
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--seeds', type=int, default=30000)
    options.add_argument('--folder', type=pathlib.Path)
    options.add_argument('--jobs', type=int, default=os.cpu_count())
    options.add_argument('patches', nargs='*', type=pathlib.Path)
    chosen = options.parse_args()
    folder = chosen.folder or pathlib.Path(tempfile.mkdtemp(prefix='chorale-breakages-'))
    copy = folder / 'tree'
    missed = []
    try:
        copy_tree(copy)
        whole = first_failure(build(copy, folder / 'build', chosen.jobs), 1000)
        if whole is not None:
            sys.exit(f'nothing is broken, and seed {whole[0]} fails: {whole[1]}')
        for patch in chosen.patches or sorted(here.glob('*.patch')):
            change = ['patch', '--quiet', '-p1', '-d', str(copy), '-i', str(patch.resolve())]
            subprocess.run(change, check=True)
            try:
                program = build(copy, folder / 'build', chosen.jobs)
                begin = time.monotonic()
                found = first_failure(program, chosen.seeds)
            finally:
                subprocess.run(change + ['-R'], check=True)
            took = time.monotonic() - begin
            if found is None:
                missed.append(patch.stem)
                print(f'{patch.stem}: NOT found within {chosen.seeds} seeds, {took:.0f} s', flush=True)
            else:
                print(f'{patch.stem}: seed {found[0]}, {took:.0f} s: {found[1][:160]}', flush=True)
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder)
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main())
