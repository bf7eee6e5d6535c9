"""fit(): in a rank, in this process, or by starting ranks."""
