"""Trainer, callbacks and functions of Ray Train 1.x, over DataParallelTrainer."""
