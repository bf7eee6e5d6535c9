// A train function that counts how often it receives each sample, and checks the content: the first byte of the field
// `images` of sample n is n modulo 251. It stops itself once, after step `stop_at`.
#include <trainrt/trainrt.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace trainrt;

void check_values(const Batch& batch) {
  const auto images = batch.field("images");
  const auto bytes = images.bytes() / std::max<std::size_t>(batch.size(), 1);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto got = static_cast<const std::uint8_t*>(images.data)[i * bytes];
    if (got != batch.indices()[i] % 251)
      throw Error("sample " + std::to_string(batch.indices()[i]) + " begins with " + std::to_string(got));
  }
}

constexpr std::uint64_t most_epochs = 2;

void train(Context& ctx) {
  const auto data = ctx.dataset("train");
  const auto size = data.size();
  const auto epochs = ctx.config<int>("epochs"), stop_at = ctx.config<int>("stop_at");
  const auto batch_size = static_cast<std::size_t>(ctx.config<int>("batch_size"));
  std::vector<std::int64_t> seen(size * most_epochs);
  std::vector<std::int64_t> of_batch(size);
  std::int64_t epoch = 0, step = 0;
  State state;
  state.tensor("seen", TensorView{seen.data(), DType::i64, {static_cast<std::int64_t>(seen.size())}});
  state.value("epoch", epoch);
  state.value("step", step);
  ctx.restore(state);
  while (epoch < epochs) {
    for (const auto& batch : data.epoch(epoch).batches(batch_size, Remainder::uneven)) {
      check_values(batch);
      of_batch.assign(size, 0);
      for (const auto sample : batch.indices()) ++of_batch[sample];
      ctx.communicator().all_reduce(Buffer{of_batch.data(), of_batch.size(), DType::i64}, Op::sum);
      for (std::size_t i = 0; i < size; ++i) seen[static_cast<std::size_t>(epoch) * size + i] += of_batch[i];
      if (++step == stop_at && ctx.world_rank() == 0) std::raise(SIGUSR1);
      ctx.step();
    }
    ++epoch;
    ctx.report({{"epoch", static_cast<double>(epoch)}});
  }
}

constexpr LoopKey keys[] = {
    {.key = "epochs", .type = LoopType::integer, .default_value = "2", .least = 1, .most = most_epochs},
    {.key = "batch_size", .type = LoopType::integer, .default_value = "5", .least = 1},
    {.key = "stop_at", .type = LoopType::integer, .default_value = "0", .help = "a step; 0: no stop"},
};

}  // namespace

TRAINRT_TRAIN_FUNCTION("samples", train, .loop = keys, .datasets = "train")
