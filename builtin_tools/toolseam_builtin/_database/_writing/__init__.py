"""Writing: a plan that says every row beforehand, and two engines that write nothing else."""
