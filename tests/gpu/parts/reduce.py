#!/usr/bin/env python3
"""Speed of the tree kernel beside a copy inside the GPU."""
import subprocess
import sys

sys.exit(subprocess.run([f"{sys.argv[1]}/tests/test_gpu", "[reduce]"]).returncode)
