"""One epoch over a small NPY file, argv[2], by argv[1]: trainrt or ray. Prints samples=N; whoever calls takes the time, start and end
of the process included."""
import sys

if sys.argv[1] == "ray":
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    read_numpy = ray.data.read_numpy
else:
    from trainrt.data import read_numpy
print(f"samples={sum(len(batch['data']) for batch in read_numpy(sys.argv[2]).iter_batches(batch_size=64, batch_format='numpy'))}")
