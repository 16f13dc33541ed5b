"""Submissions on the real cluster: what the hook lets through, refuses and holds."""

import part


class Plain(part.Part):
    def test_a_job_runs(self):
        job = self.lab.sbatch("alice", "-n2", "-t5")
        self.lab.wait_state(job, "COMPLETED")
