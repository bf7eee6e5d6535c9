// A train function that checks the field `images`: the first byte of sample n is n modulo 251, and a text is '0' and n
// modulo 64 further characters. It prints the memory that all ranks have allocated since the start, with shared memory
// counted once. On request it waits to be killed.
#include <trainrt/trainrt.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

namespace {

using namespace trainrt;

/// Returns the memory of this process in KiB; a page that n processes share counts 1/n. Pages of files are left out,
/// since the share of a library's pages shrinks whenever another process with that library starts.
std::int64_t proportional_kib() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::int64_t sum = 0, number = 0;
  for (std::string word; file >> word;)
    if ((word == "Pss_Anon:" || word == "Pss_Shmem:") && file >> number) sum += number;
  return sum;
}

/// Returns whether sample `i` of the batch has the expected content.
bool is_right(const Batch& batch, std::size_t i, bool is_text) {
  if (is_text) return static_cast<std::uint64_t>(batch.text("images", i).at(0)) == '0' + batch.indices()[i] % 64;
  const auto images = batch.field("images");
  return static_cast<const std::uint8_t*>(images.data)[i * (images.bytes() / batch.size())] == batch.indices()[i] % 251;
}

std::uint64_t walk(const Dataset& data, std::int64_t epoch, std::int64_t most) {
  const bool is_text = data.fields().front().varies;
  std::uint64_t read = 0;
  for (const auto& batch : data.epoch(epoch).batches(16)) {
    if (most-- == 0) break;
    for (std::size_t i = 0; i < batch.size(); ++i, ++read)
      if (!is_right(batch, i, is_text))
        throw Error("sample " + std::to_string(batch.indices()[i]) + " has another's values");
  }
  return read;
}

void train(Context& ctx) {
  const auto before = proportional_kib();
  const auto data = ctx.dataset("train");
  const auto most = ctx.config<std::int64_t>("batches");
  std::uint64_t read = 0;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) read += walk(data, epoch, most);
  ctx.communicator().barrier();  // waits until all ranks have touched their pages
  const auto taken = ctx.communicator().all_reduced(proportional_kib() - before, Op::sum);
  const auto least = ctx.communicator().all_reduced(static_cast<std::int64_t>(read), Op::min);
  if (ctx.world_rank() == 0)
    std::printf("taken_kib=%lld read=%lld\n", static_cast<long long>(taken), static_cast<long long>(least));
  std::fflush(stdout);
  while (ctx.config<bool>("wait")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ctx.step();
  }
}

constexpr LoopKey keys[] = {
    {.key = "batches", .type = LoopType::integer, .default_value = "-1", .help = "of an epoch; -1: all"},
    {.key = "wait", .type = LoopType::boolean, .default_value = "false"},
};

}  // namespace

TRAINRT_TRAIN_FUNCTION("node_memory", train, .loop = keys, .datasets = "train")
