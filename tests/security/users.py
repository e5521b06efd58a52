# SPDX-License-Identifier: Apache-2.0
"""Two ordinary users who do not trust each other, for tests that run as root."""
import os

SELF, OTHER = 65534, 65533


class Attack:
    """A function of the other user, called in a process of that user, which lives until the end of the `with` block, as does
    what the function returns."""

    def __init__(self, act):
        self.act = act
        self.kept = None

    def __enter__(self):
        said, says = os.pipe()
        self.over, stays = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self.become(says, stays)
        os.close(says)
        os.close(self.over)
        self.over = stays
        with os.fdopen(said, encoding="utf-8") as line:
            answer = line.read()
        if answer != "ready":
            raise RuntimeError(f"the attack did not come about: {answer}")
        return self

    def become(self, says, stays):
        """The process of the other user."""
        os.close(stays)
        try:
            os.setgroups([])
            os.setresgid(OTHER, OTHER, OTHER)
            os.setresuid(OTHER, OTHER, OTHER)
            self.kept = self.act()
            os.write(says, b"ready")
        except OSError as failure:
            os.write(says, str(failure).encode())
        os.close(says)
        os.read(self.over, 1)
        os._exit(0)

    def __exit__(self, *_):
        os.close(self.over)
        os.waitpid(self.pid, 0)
