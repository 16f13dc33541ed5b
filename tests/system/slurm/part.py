"""What the parts of the Slurm suite share: one lab for all of them, made by main.py."""

import unittest


class Part(unittest.TestCase):
    """A test of a part finds the lab in self.lab. Parts run one after the other and leave no jobs and no caps behind."""

    lab = None

    def setUp(self):
        if type(self).lab is None:
            self.skipTest("run by tests/system/slurm.sh")
