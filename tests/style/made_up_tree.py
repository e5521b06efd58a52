# SPDX-License-Identifier: Apache-2.0
"""A made-up tree for a self-test."""
import pathlib
import tempfile
import unittest

import tree

MARK = " ~>"


class Tree(unittest.TestCase):
    """A temporary tree that a test fills with files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, content=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        tree.includes.cache_clear()
        tree.included.cache_clear()

    def finds(self, offences, files, *others):
        """In a tree with these files, a check must report exactly the lines that contain MARK, with the text after MARK, and offences that begin like `others`."""
        wanted = [(other, "") for other in others]
        for name, content in files.items():
            lines = [line.partition(MARK) for line in content.split("\n")]
            wanted += [(f"{name}:{number}: ", why.strip()) for number, (_, mark, why) in enumerate(lines, 1) if mark]
            self.write(name, "\n".join(line for line, _, _ in lines))
        found = sorted(offences(self.root))
        self.assertEqual(len(found), len(wanted), found)
        for begin, why in wanted:
            with self.subTest(begin=begin, why=why):
                self.assertTrue(any(one.startswith(begin) and why in one for one in found), found)
