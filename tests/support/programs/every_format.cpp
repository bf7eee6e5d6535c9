// A train function that reads all datasets of [loop] names side by side and stores, per dataset and in order, the sample
// numbers and the bytes of all fields. An attempt requests a stop after STOP_AFTER steps (an environment variable; 0:
// before the first step); the ranks agree on the stop within two steps.
#include <trainrt/trainrt.hpp>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace trainrt;

void add_bytes(std::uint64_t& hash, const void* data, std::size_t bytes) {  // FNV-1a
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
}

/// Returns the sum of the hashes of the batch's samples (index and values of all fields). The total over all ranks does
/// not depend on the number of ranks.
std::int64_t seen_in(const Dataset& data, const Batch& batch) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    std::uint64_t hash = 0xcbf29ce484222325;
    add_bytes(hash, &batch.indices()[i], sizeof(std::uint64_t));
    for (const auto& field : data.fields()) {
      if (field.varies) {
        const auto values = batch.varying(field.name, i);
        add_bytes(hash, values.data, values.bytes());
      } else {
        const auto values = batch.field(field.name);
        const auto bytes = values.bytes() / batch.size();
        add_bytes(hash, static_cast<const char*>(values.data) + i * bytes, bytes);
      }
    }
    sum += hash;
  }
  return static_cast<std::int64_t>(sum);
}

void train(Context& ctx) {
  std::vector<Dataset> datasets;
  std::istringstream names(ctx.config<std::string>("names"));
  for (std::string name; names >> name;) datasets.push_back(ctx.dataset(name));
  const auto batch_size = static_cast<std::size_t>(ctx.config<int>("batch_size"));
  std::vector<std::int64_t> seen(datasets.size()), now(datasets.size());
  std::int64_t epoch = 0;
  State state;
  state.tensor("seen", TensorView{seen.data(), DType::i64, {static_cast<std::int64_t>(seen.size())}});
  state.value("epoch", epoch);
  ctx.restore(state);
  const char* const stop_after = std::getenv("STOP_AFTER");
  int left = stop_after == nullptr || ctx.world_rank() != 0 ? -1 : std::atoi(stop_after);
  if (left == 0) std::raise(SIGUSR1);
  for (; epoch < 2; ++epoch) {
    std::vector<std::unique_ptr<Batches>> walks;
    std::vector<Batches::iterator> places;
    for (auto& data : datasets) {
      walks.push_back(std::make_unique<Batches>(data.epoch(epoch).batches(batch_size, Remainder::uneven)));
      places.push_back(walks.back()->begin());
    }
    while (!(places[0] == walks[0]->end())) {
      for (std::size_t i = 0; i < datasets.size(); ++i) now[i] = seen_in(datasets[i], *places[i]);
      ctx.communicator().all_reduce(Buffer{now.data(), now.size(), DType::i64}, Op::sum);
      for (std::size_t i = 0; i < datasets.size(); ++i)
        seen[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(seen[i]) * 31 + static_cast<std::uint64_t>(now[i]));
      if (--left == 0) std::raise(SIGUSR1);
      ctx.step();
      for (auto& place : places) ++place;
    }
  }
  ctx.save();
}

constexpr LoopKey keys[] = {
    {.key = "names", .default_value = ""},
    {.key = "batch_size", .type = LoopType::integer, .default_value = "3", .least = 1},
};

}  // namespace

TRAINRT_TRAIN_FUNCTION("every_format", train, .loop = keys)
