#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

bool is_gpu_request(std::string_view text) {
  const auto number = parse_real(text);
  return text == "auto" || (number && (*number == 0 || Range{1e-3, 1e6}.holds(*number)));
}

bool is_some_memory(std::string_view text) { return parse_bytes(text).value_or(0) > 0; }

void check_scaling(const Options& options, const RunSpec& spec) {
  const auto& scaling = spec.scaling;
  if (scaling.num_workers > 0 && scaling.min_workers > scaling.num_workers)
    throw UsageError(fmt::format("{}: scaling.min_workers is {}, more than scaling.num_workers = {}",
                                 options.find("scaling.min_workers")->origin, scaling.min_workers, scaling.num_workers));
  if (scaling.min_workers > 0 && scaling.on_resize() == OnResize::refuse)
    throw UsageError(options.find("scaling.on_resize")->origin +
                     ": scaling.on_resize = refuse, and scaling.min_workers lets the run go on with fewer ranks: leave one "
                     "of them out");
}

}  // namespace

namespace plugins {

extern const Section scaling;
const Section scaling{
    .name = "scaling",
    .order = 3,
    .help = "how many ranks, on what, and what they talk over",
    .keys =
        {key(&ScalingKeys::num_workers, {.key = "scaling.num_workers",
                                         .default_value = "0",
                                         .help = "ranks that the launch must have; 0: as many as were launched",
                                         .range = {.least = 0}}),
         key(&ScalingKeys::min_workers,
             {.key = "scaling.min_workers",
              .default_value = "0",
              .help = "elastic: a restart may go on with so few ranks; the global batch stays that of num_workers, or of "
                      "the first attempt's ranks if that is 0; 0: not elastic",
              .range = {.least = 0}}),
         key(&ScalingKeys::given_on_resize,
             {.key = "scaling.on_resize",
              .help = "what a restart on another number of ranks does: keep_global_batch splits it over the ranks that "
                      "are there, keep_batch keeps that of a rank; by default refuse, with min_workers "
                      "keep_global_batch"},
             {{"refuse", OnResize::refuse},
              {"keep_global_batch", OnResize::keep_global_batch},
              {"keep_batch", OnResize::keep_batch}}),
         key(&ScalingKeys::backend, {.key = "scaling.backend",
                                     .default_value = "auto",
                                     .help = "what collectives go over; auto takes the best, `trainrt list` shows them"}),
         key(&ScalingKeys::bucket_bytes,
             {.key = "scaling.bucket_size",
              .type = OptionType::bytes,
              .default_value = "4 MiB",
              .help = "gradients are averaged in buckets of so many bytes, each while the backward pass goes on",
              .form = "a number of bytes, more than 0: 4 MiB, 1 GiB",
              .fits = is_some_memory}),
         key(&ScalingKeys::bf16_on_the_wire,
             {.key = "scaling.gradient_wire",
              .default_value = "native",
              .help = "bf16: f32 gradients are rounded to half their bytes, and summed in f32"},
             {{"native", false}, {"bf16", true}}),
         key(&ScalingKeys::deterministic,
             {.key = "scaling.deterministic",
              .default_value = "false",
              .help = "on GPUs: sums in one fixed order, for the same bits on any layout (on the CPU they always have "
                      "it)"}),
         key(&ScalingKeys::gpus_per_worker, {.key = "scaling.gpus_per_worker",
                                             .default_value = "auto",
                                             .help = "0: the CPU; 0.5: two ranks share a GPU",
                                             .form = "auto, 0, or a number from 0.001 to 1000000",
                                             .fits = is_gpu_request}),
         key(&ScalingKeys::check,
             {.key = "scaling.check",
              .default_value = "false",
              .help = "before each collective, compare what the ranks call: for finding ranks that do not do the same"})},
    .check = check_scaling};

}  // namespace plugins

}  // namespace trainrt::config
