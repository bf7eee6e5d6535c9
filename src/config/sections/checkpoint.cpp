#include "config/section.hpp"

namespace trainrt::config {

namespace plugins {

extern const Section checkpoint;
const Section checkpoint{
    .name = "checkpoint",
    .order = 4,
    .help = "when checkpoints are written, which are kept, and how",
    .keys = {
        key(&CheckpointKeys::every, {.key = "checkpoint.every",
                                     .default_value = "1 reports",
                                     .help = "auto: from the cost of a save and the rate of failures; besides always at "
                                             "a stop, and where the function calls save()"}),
        key(&CheckpointKeys::num_to_keep,
            {.key = "checkpoint.num_to_keep",
             .default_value = "0",
             .help = "the best so many, and the latest; 0: all. A stop's own checkpoint ranks behind all others",
             .range = {.least = 0}}),
        key(&CheckpointKeys::score_attribute, {.key = "checkpoint.score_attribute",
                                               .help = "the metric that says which are best; without it the newest are"}),
        key(&CheckpointKeys::score_is_maximized,
            {.key = "checkpoint.score_order", .default_value = "max", .help = "whether more or less is better"},
            {{"max", true}, {"min", false}}),
        key(&CheckpointKeys::layout,
            {.key = "checkpoint.layout", .default_value = "node", .help = "one shard file per rank, per node, or in all"},
            {{"rank", FileLayout::rank}, {"node", FileLayout::node}, {"single", FileLayout::single}}),
        key(&CheckpointKeys::async, {.key = "checkpoint.async",
                                     .default_value = "true",
                                     .help = "training goes on while a checkpoint is written; false: it waits"}),
        key(&CheckpointKeys::staging_bytes,
            {.key = "checkpoint.staging_limit",
             .type = OptionType::bytes,
             .default_value = "1 GiB",
             .help = "memory of a rank for checkpoints on their way to the disk, at least 16 MiB; a save waits if it "
                     "is full"}),
        key(&CheckpointKeys::max_failed,
            {.key = "checkpoint.max_failed",
             .default_value = "3",
             .help = "so many checkpoints in a row that cannot be written end the run; 0: it goes on without them",
             .range = {.least = 0}}),
        key(&CheckpointKeys::io_threads, {.key = "checkpoint.io_threads",
                                          .default_value = "4",
                                          .help = "threads of a rank that write checkpoints",
                                          .range = {.least = 1, .most = 64}}),
        key(&CheckpointKeys::read_back, {.key = "checkpoint.read_back",
                                         .default_value = "false",
                                         .help = "read every checkpoint again, past the page cache, before it counts"}),
        key(&CheckpointKeys::replicas,
            {.key = "checkpoint.replicas",
             .default_value = "error",
             .help = "what it is if replicated tensors are not the same on all ranks; they are compared at every "
                     "checkpoint"},
            {{"error", Replicas::error}, {"warn", Replicas::warn}, {"off", Replicas::off}}),
        key(&CheckpointKeys::replicas_every, {.key = "checkpoint.replicas_every",
                                              .default_value = "off",
                                              .help = "compare them in between too, all of them"}),
        key(&CheckpointKeys::mirror,
            {.key = "checkpoint.mirror",
             .type = OptionType::path,
             .help =
                 "s3://BUCKET/PREFIX, gs://..., or a folder: finished checkpoints are copied there in the background, and "
                 "a run whose directory is gone goes on from there"}),
        key(&CheckpointKeys::mirror_wait_s,
            {.key = "checkpoint.mirror_wait",
             .default_value = "300",
             .help = "how long the end of the run waits for the copy of the last checkpoint; a stop waits 5 seconds",
             .range = {.least = 0, .most = 1e9},
             .unit = "seconds"})}};

}  // namespace plugins

}  // namespace trainrt::config
