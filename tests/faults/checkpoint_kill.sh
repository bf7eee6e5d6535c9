#!/usr/bin/env bash
# 200 kills of a process that saves checkpoints in the background, at every phase and at random; the program prints the table.
if "$1/tests/checkpoint_kill" 200; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; exit 1; fi
