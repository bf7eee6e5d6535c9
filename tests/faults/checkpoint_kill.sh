#!/usr/bin/env bash
# Kills a process that saves checkpoints in the background 200 times, in every phase and at random times. The program prints a table.
if "$1/tests/checkpoint_kill" 200; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; exit 1; fi
