#include <fmt/format.h>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

bool is_gpu_request(std::string_view text) {
  const auto number = parse_real(text);
  return text == "auto" || (number && (*number == 0 || Range{1e-3, 1e6}.holds(*number)));
}

bool is_positive_size(std::string_view text) { return parse_bytes(text).value_or(0) > 0; }

void check_scaling(const Options& options, const RunSpec& spec) {
  const auto& scaling = spec.scaling;
  const bool counts_ranks = !scaling.has_fixed_workers();  // otherwise min_workers is a number of CPUs
  if (counts_ranks && scaling.num_workers > 0 && scaling.min_workers > scaling.num_workers)
    refuse_key(options, "scaling.min_workers",
               fmt::format("is {}; it must be at most scaling.num_workers = {}", scaling.min_workers, scaling.num_workers));
  if (scaling.min_workers > 0 && scaling.on_resize() == OnResize::refuse)
    refuse_key(
        options, "scaling.on_resize",
        "= refuse cannot be combined with scaling.min_workers, which lets the run resume with fewer ranks: remove one "
        "of them");
}

}  // namespace

namespace plugins {

extern const Section scaling;
const Section scaling{
    .name = "scaling",
    .order = 3,
    .help = "number of ranks, their GPUs, and communication between them",
    .keys =
        {key(&ScalingKeys::num_workers, {.key = "scaling.num_workers",
                                         .default_value = "0",
                                         .help = "number of ranks that must be launched; 0 accepts any number",
                                         .range = {.least = 0}}),
         key(&ScalingKeys::min_workers,
             {.key = "scaling.min_workers",
              .default_value = "0",
              .help = "minimum number of ranks with which an elastic run may restart; 0: not elastic. The global batch "
                      "stays that of num_workers ranks or, if num_workers is 0, of the first attempt's ranks. With "
                      "on_resize = same_bits: minimum number of CPUs with which the run continues",
              .range = {.least = 0}}),
         key(&ScalingKeys::on_resize_key,
             {.key = "scaling.on_resize",
              .help = "action if a restart has another number of CPUs or nodes. same_bits: the number of ranks stays the "
                      "same, so that results have the same bits. keep_global_batch: the global batch is divided among the "
                      "present ranks. keep_batch: each rank keeps its batch. With keep_global_batch and keep_batch, the "
                      "bits of results change. refuse: the start fails if the number of ranks differs. The default is "
                      "same_bits, or keep_global_batch if min_workers is set"},
             {{"refuse", OnResize::refuse},
              {"keep_global_batch", OnResize::keep_global_batch},
              {"keep_batch", OnResize::keep_batch},
              {"same_bits", OnResize::same_bits}}),
         key(&ScalingKeys::backend,
             {.key = "scaling.backend",
              .default_value = "auto",
              .help = "communication backend of collectives; auto selects the best, `trainrt list` shows all"}),
         key(&ScalingKeys::bucket_bytes,
             {.key = "scaling.bucket_size",
              .type = OptionType::bytes,
              .default_value = "4 MiB",
              .help = "size of the buckets in which gradients are averaged while the backward pass continues",
              .form = "a number of bytes, more than 0: 4 MiB, 1 GiB",
              .fits = is_positive_size}),
         key(&ScalingKeys::bf16_on_the_wire,
             {.key = "scaling.gradient_wire",
              .default_value = "native",
              .help = "data type in which f32 gradients are sent between ranks: native is f32; bf16 halves the bytes, and "
                      "the sums are still computed in f32"},
             {{"native", false}, {"bf16", true}}),
         key(&ScalingKeys::deterministic, {.key = "scaling.deterministic",
                                           .default_value = "false",
                                           .help = "sum in one fixed order on GPUs, so that results have the same bits for "
                                                   "any distribution of the ranks over "
                                                   "nodes and GPUs; sums on CPUs always have this order"}),
         key(&ScalingKeys::gpus_per_worker,
             {.key = "scaling.gpus_per_worker",
              .default_value = "auto",
              .help =
                  "number of GPUs per rank; 0 trains on the CPU, 0.5 lets two ranks share a GPU, auto uses the GPUs that "
                  "are available",
              .form = "auto, 0, or a number from 0.001 to 1000000",
              .fits = is_gpu_request}),
         key(&ScalingKeys::check_collectives,
             {.key = "scaling.check_collectives",
              .default_value = "false",
              .help = "compare the calls of all ranks before each collective, to find ranks that make different calls"}),
         key(&ScalingKeys::require_same_bits,
             {.key = "scaling.require_same_bits",
              .default_value = "false",
              .help = "refuse a restart that may change the bits of results: one with another number of threads or "
                      "workers, another kind of CPU or GPU, other builds of libraries, or other environment variables by "
                      "which libraries choose their code; false: print a warning"})},
    .check = check_scaling};

}  // namespace plugins

}  // namespace trainrt::config
