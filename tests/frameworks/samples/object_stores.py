# limit: 120
"""Storage and data in an object store: a bucket's URL with the store's address, filesystem objects with access keys, and unsigned requests."""
import os
import sys
import tempfile
from pathlib import Path

import trainrt.data
from trainrt import train
from trainrt.train import Checkpoint, DataParallelTrainer, RunConfig, ScalingConfig

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from fakes.object_store import Store  # noqa: E402

store, public = Store(), Store(anonymous=True)  # if trainrt has started this script, each rank starts its own stores, and the runtime uses those of rank 0
store.buckets["bucket-name"] = {}
public.put("example-data", "sms_spam_collection_subset.txt", b"".join(b"text %d\n" % number for number in range(300)))
is_rank_0 = os.environ.get("RANK", "0") == "0"


def train_fn(config):
    for i in range(2):
        rank = train.get_context().get_world_rank()
        with open(f"artifact-rank={rank}-iter={i}.txt", "w") as file:
            file.write("data")
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "checkpoint.pt").write_bytes(b"weights")
            train.report({"loss": 1.0 / (i + 1)}, checkpoint=Checkpoint.from_directory(folder))


def check_run(name, **options):
    result = DataParallelTrainer(train_fn, scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(name=name, **options)).fit()
    copies = [key for key in store.buckets["bucket-name"] if key.startswith(f"sub-path/{name}/") and key.endswith("/checkpoint.pt")]
    assert not is_rank_0 or len(copies) == 2, f"{name}: files in the bucket: {sorted(store.buckets['bucket-name'])}"
    assert result.checkpoint.path.startswith(result.path), result
    return result


# Samples 0.111 and 0.106 of samples.md, the latter with another store than Amazon's. Here, the access keys are in the environment,
# which launched ranks inherit. Below, a filesystem object has them.
if "TRAINRT_FD" not in os.environ:
    os.environ.update({"AWS_ACCESS_KEY_ID": store.key, "AWS_SECRET_ACCESS_KEY": store.secret})
    result = check_run("url", storage_path=f"s3://bucket-name/sub-path/?endpoint_override={store.url}", sync_config=train.SyncConfig(sync_artifacts=True))
    # Samples 0.112 to 0.115: artifacts are in the run directory and in the bucket
    assert len(list(Path(result.path, "artifacts").rglob("artifact-rank=*"))) == 4, list(Path(result.path).rglob("*"))
    assert sum(key.startswith("sub-path/url/artifacts/artifact-rank=") for key in store.buckets["bucket-name"]) == 4, sorted(store.buckets["bucket-name"])
    del os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]

try:
    import pyarrow.fs
except ImportError:
    print("pyarrow is not installed: without filesystem objects")
else:
    check_run("object", storage_filesystem=pyarrow.fs.S3FileSystem(endpoint_override=store.url, access_key=store.key, secret_key=store.secret),
              storage_path="bucket-name/sub-path")  # 0.109
    try:
        import s3fs
    except ImportError:
        print("s3fs is not installed: without filesystem objects of fsspec")
    else:
        s3_fs = s3fs.S3FileSystem(key=store.key, secret=store.secret, endpoint_url=store.url)
        check_run("wrapped", storage_filesystem=pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(s3_fs)), storage_path="bucket-name/sub-path")  # 0.110

# Samples 0.144 and 0.148
ds = trainrt.data.read_text(f"s3://anonymous@example-data/sms_spam_collection_subset.txt?endpoint_override={public.url}")
train_ds, val_ds = ds.train_test_split(0.3)


def train_loop_per_worker():
    seen = sum(len(batch["text"]) for batch in train.get_dataset_shard("train").iter_batches(batch_size=128, prefetch_batches=10))
    train.report({"train": seen, "val": sum(len(batch["text"]) for batch in train.get_dataset_shard("val").iter_batches(batch_size=128))})


result = DataParallelTrainer(train_loop_per_worker, scaling_config=ScalingConfig(num_workers=2), datasets={"train": train_ds, "val": val_ds},
                             dataset_config=train.DataConfig(datasets_to_split=["train"])).fit()
assert (result.metrics["train"], result.metrics["val"]) == (105, 90), result.metrics
print("ok")
