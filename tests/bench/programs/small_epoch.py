"""Reads one epoch of a small NPY file, argv[2], with the library argv[1] (trainrt or ray), and prints samples=N. The caller measures the
time of the process, including its start and end."""
import sys

if sys.argv[1] == "ray":
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    read_numpy = ray.data.read_numpy
else:
    from trainrt.data import read_numpy
print(f"samples={sum(len(batch['data']) for batch in read_numpy(sys.argv[2]).iter_batches(batch_size=64, batch_format='numpy'))}")
