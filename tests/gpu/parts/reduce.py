#!/usr/bin/env python3
"""Compares the speed of the tree kernel with a copy inside the GPU."""
import subprocess
import sys

sys.exit(subprocess.run([f"{sys.argv[1]}/tests/test_gpu", "[reduce]"]).returncode)
