"""Names of ray.data."""

_CONVERT = "Convert the data to Parquet, CSV, JSON lines, HDF5, WebDataset or NumPy files, for which trainrt.data has functions read_*()."
_MEMORY = "Convert the object to pandas or NumPy, and use from_pandas(), from_numpy() or from_items()."
_DATABASE = "Use read_sql() for SQLite, or write a table from the database to Parquet or CSV files first."
_SOURCE = "Read with a function read_*(), or build a dataset by from_items()."
_SINK = "Use Dataset.write_*()."
_WORKERS = "Use map_batches(concurrency=N), where N is the number of processes per rank."

HOMES = {
    "data.dataset": "data",
    "data.iterator": "data",
    "data.read_api": "data",
    "data.preprocessor": "data.preprocessors",
    "data.datasource": "data",
    "data.grouped_data": "data",
    "data.preprocessors.version_support": "data.preprocessors",
    "data.preprocessors.utils": "data.preprocessors._parameters",
}
ALIASES = {
    "data.DatasetContext": "data.DataContext",
    "data.DatasetIterator": "data.DataIterator",
    "data.Preprocessor": "data.preprocessors.Preprocessor",
}
UNSUPPORTED = {"data": {
    **{name: _CONVERT for name in ("read_audio", "read_avro", "read_binary_files", "read_delta", "read_delta_sharing_tables", "read_hudi",
                                   "read_iceberg", "read_lance", "read_lerobot", "read_mcap", "read_orc", "read_tfrecords", "read_unity_catalog",
                                   "read_videos", "read_zarr")},
    **{name: _DATABASE for name in ("read_bigquery", "read_clickhouse", "read_databricks_tables", "read_kafka", "read_mongo", "read_snowflake")},
    **{name: _MEMORY for name in ("from_arrow", "from_arrow_refs", "from_blocks", "from_daft", "from_dask", "from_mars", "from_modin",
                                  "from_numpy_refs", "from_pandas_refs", "from_spark", "from_tf")},
    **{name: _SOURCE for name in ("Datasource", "ReadTask", "ReaderFormat", "ResolvedSource", "read_datasource", "Catalog", "CatalogAccessMode",
                                  "ClickHouseTableSettings", "DatabricksUnityCatalog", "KafkaAuthConfig")},
    **{name: _SINK for name in ("BlockBasedFileDatasink", "Datasink", "RowBasedFileDatasink", "SaveMode", "SinkMode")},
    "ActorPoolStrategy": _WORKERS,
    "TaskPoolStrategy": _WORKERS,
    "DatasetSummary": "`trainrt data inspect` describes a dataset.",
    "list_stats_summaries": "`trainrt result RUN_DIR` shows the time that the run waited for data.",
    "FileShuffleConfig": "Use Dataset.random_shuffle(); the order of samples is new in each epoch.",
    "RandomSeedConfig": "Use Dataset.random_shuffle(seed=...).",
    "MixStoppingCondition": "The key weights of a section [data.NAME] mixes sources.",
}}
