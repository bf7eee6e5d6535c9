#include "config/section.hpp"

namespace trainrt::config::plugins {

extern const Section checkpoint;
const Section checkpoint{
    .name = "checkpoint",
    .order = 4,
    .help = "when checkpoints are saved, how they are written, and which are kept",
    .keys = {
        key(&CheckpointKeys::every,
            {.key = "checkpoint.every",
             .default_value = "1 reports",
             .help = "interval between checkpoints; auto derives the interval from the cost of a save and the rate of "
                     "failures. save(), a stop and the end of the run always save a checkpoint"}),
        key(&CheckpointKeys::num_to_keep,
            {.key = "checkpoint.num_to_keep",
             .default_value = "0",
             .help = "number of best checkpoints to keep, plus the latest; 0 keeps all. A checkpoint that was saved only "
                     "because of a stop ranks last",
             .range = {.least = 0}}),
        key(&CheckpointKeys::score_attribute,
            {.key = "checkpoint.score_attribute",
             .help = "reported metric that ranks checkpoints; by default the newest checkpoints are the best"}),
        key(&CheckpointKeys::score_is_maximized,
            {.key = "checkpoint.score_order",
             .default_value = "max",
             .help = "which values of score_attribute are better: max for higher values, min for lower values"},
            {{"max", true}, {"min", false}}),
        key(&CheckpointKeys::layout,
            {.key = "checkpoint.layout",
             .default_value = "node",
             .help = "shard files of a checkpoint: one per rank, one per node, or a single one"},
            {{"rank", FileLayout::rank}, {"node", FileLayout::node}, {"single", FileLayout::single}}),
        key(&CheckpointKeys::async, {.key = "checkpoint.async",
                                     .default_value = "true",
                                     .help = "write checkpoints while training continues; false: training waits"}),
        key(&CheckpointKeys::staging_bytes, {.key = "checkpoint.staging_limit",
                                             .type = OptionType::bytes,
                                             .default_value = "1 GiB",
                                             .help = "maximum memory per rank for checkpoints that are being written, at "
                                                     "least 16 MiB; a save waits while this memory is full"}),
        key(&CheckpointKeys::max_failed,
            {.key = "checkpoint.max_failed",
             .default_value = "3",
             .help = "number of failed checkpoint writes in a row that ends the run; 0: no limit",
             .range = {.least = 0}}),
        key(&CheckpointKeys::io_threads,
            {.key = "checkpoint.io_threads",
             .default_value = "4",
             .help = "number of threads per rank that write checkpoints; ranks that share CPUs have fewer threads",
             .range = {.least = 1, .most = 64}}),
        key(&CheckpointKeys::read_back,
            {.key = "checkpoint.read_back",
             .default_value = "false",
             .help = "read and verify every checkpoint, bypassing the page cache, before it is committed"}),
        key(&CheckpointKeys::replica_check,
            {.key = "checkpoint.replica_check",
             .default_value = "error",
             .help = "action if replicated tensors differ between ranks; they are compared at every checkpoint"},
            {{"error", OnReplicaDifference::error},
             {"warn", OnReplicaDifference::warn},
             {"off", OnReplicaDifference::off}}),
        key(&CheckpointKeys::replica_check_every,
            {.key = "checkpoint.replica_check_every",
             .default_value = "off",
             .help = "interval at which replicated tensors are compared in addition to the comparison at checkpoints"}),
        key(&CheckpointKeys::same_files,
            {.key = "checkpoint.same_files",
             .help = "action if ranks report directories in which files of the same name differ. error: the run fails. "
                     "rank0: rank 0's file keeps the name, and the files of other ranks are stored in files/.other_ranks. "
                     "Default: rank0 for report() of trainrt.train, error otherwise"},
            {{"error", SameFiles::error}, {"rank0", SameFiles::rank0}}),
        key(&CheckpointKeys::mirror,
            {.key = "checkpoint.mirror",
             .type = OptionType::path,
             .help = "folder or URL (s3://BUCKET/PREFIX, gs://...) to which finished checkpoints are copied in the "
                     "background; if the run directory is missing, the run resumes from the mirror"}),
        key(&CheckpointKeys::mirror_wait_s,
            {.key = "checkpoint.mirror_wait",
             .default_value = "300",
             .help = "maximum time that the end of the run waits for the copy of the last checkpoint; a stop waits 5 "
                     "seconds",
             .range = {.least = 0, .most = 1e9},
             .unit = "seconds"})}};

}  // namespace trainrt::config::plugins
