"""A tree that a self-test makes up."""
import pathlib
import tempfile
import unittest


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
