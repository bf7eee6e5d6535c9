#!/usr/bin/env bash
# 40 kills of a process that saves checkpoints, at every phase and at random; the program prints the table.
if "$1/tests/checkpoint_kill" 40; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; exit 1; fi
