# SPDX-License-Identifier: Apache-2.0
"""Options of several subcommands."""
import argparse
import pathlib

from measuring import pages, process


def numbers(text):
    """Positive integers separated by commas, in ascending order and without duplicates."""
    try:
        found = sorted({int(number) for number in text.split(",")})
    except ValueError:
        found = []
    if not found or found[0] < 1:
        raise argparse.ArgumentTypeError(f"takes whole numbers from 1 on with commas between, not {text}")
    return found


def count(text):
    """A positive integer."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"takes a whole number from 1 on, not {text}")
    return int(text)


def seconds(text):
    """A positive number of seconds."""
    try:
        found = float(text)
    except ValueError:
        found = 0
    if not found > 0:
        raise argparse.ArgumentTypeError(f"takes more than 0 seconds, not {text}")
    return found


def two_cores(text):
    """The numbers of two cores, which may be the same."""
    words = text.split(",")
    if len(words) != 2 or not all(word.isdigit() for word in words):
        raise argparse.ArgumentTypeError(f"takes the numbers of two cores, as in 0,1, not {text}")
    return [int(word) for word in words]


def page(text):
    """FILE:NAME as (file, name); checks that the file has the marks before anything is measured."""
    file, _, name = text.rpartition(":")
    if not file or not name:
        raise argparse.ArgumentTypeError(f"takes FILE:NAME, not {text}")
    try:
        pages.split(pathlib.Path(file), name)
    except (OSError, process.Refused) as e:
        raise argparse.ArgumentTypeError(str(e)) from e
    return pathlib.Path(file), name


def written(text):
    """A file to write at the end; checks before anything is measured that it can be written, and leaves it as it is."""
    file = pathlib.Path(text)
    is_new = not file.exists()
    try:
        if is_new or file.is_file() or file.is_dir():  # opening a pipe would wait for its reader
            with file.open("ab"):
                pass
        if is_new:
            file.unlink()
    except OSError as e:
        raise argparse.ArgumentTypeError(f"cannot write {text}: {e.strerror}") from e
    return text


def add_build(parser):
    """Adds the option for the build folder."""
    parser.add_argument("--build", type=pathlib.Path, default="build", metavar="FOLDER", help="of a build with -Dtools=true (default: build)")


def add_cores(parser):
    """Adds the option for the cores of two processes."""
    parser.add_argument("--cores", type=two_cores, default="0,1", help="two cores (default 0,1)")


def add_page(parser):
    """Adds the option for a page into which the output is inserted."""
    parser.add_argument("--page", type=page, metavar="FILE:NAME",
                        help="also put what is printed into a page, between its lines '<!-- made by tools/measure: NAME -->' and '<!-- end of NAME -->'")


def add_rounds(parser, default, name="--rounds", what="whose medians are taken"):
    """Adds the option for the number of rounds."""
    parser.add_argument(name, type=count, default=default, metavar="N", help=f"runs of each, {what} (default {default})")
