"""`fit()` of a Trainer: in a rank that trainrt started, in this process, or by launching ranks."""
