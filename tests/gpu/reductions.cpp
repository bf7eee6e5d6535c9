// The GPU's own sums against the CPU's, and its memory.
#include <random>
#include <set>

#include "comm/reduce.hpp"
#include "gpu/gpu_test.hpp"
#include "support/device_contract.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

/// Any bits but NaNs, whose payloads may differ.
std::string any_numbers(DType dtype, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(count * size_of(dtype), '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  if (dtype == DType::i64 || dtype == DType::i32) return bytes;
  for (std::size_t i = 0; i < bytes.size(); i += size_of(dtype))
    if (!std::isfinite(number(dtype, &bytes[i]))) bytes[i + size_of(dtype) - 1] = '\x3c';
  return bytes;
}

}  // namespace

TEST_CASE("the GPU's sums along the tree have the CPU's bits, for any type, operation and number of ranks") {
  if (!have_gpus(1, "sums along the tree")) return;
  auto& gpus = device::runtime();
  constexpr std::size_t count = 10007;
  const auto stream = gpus.default_stream(0);
  for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32})
    for (const auto op : {Op::sum, Op::mean, Op::min, Op::max})
      for (const int ranks : {1, 2, 3, 4, 5, 7, 8, 13, 64}) {
        CAPTURE(name_of(dtype), name_of(op), ranks);
        std::string inputs;
        std::vector<const std::byte*> parts;
        for (int rank = 0; rank < ranks; ++rank) inputs += any_numbers(dtype, count, static_cast<std::uint64_t>(rank));
        const auto bytes = count * size_of(dtype);
        for (int rank = 0; rank < ranks; ++rank)
          parts.push_back(reinterpret_cast<const std::byte*>(inputs.data()) + static_cast<std::size_t>(rank) * bytes);
        std::string expected(bytes, '\0');
        std::byte* const out = reinterpret_cast<std::byte*>(expected.data());
        comm::reduce_to(parts, {&out, 1}, count, dtype, op, comm::tree_steps(ranks), ranks);
        const OnGpu memory(gpus, 0, inputs);
        stream->reduce({memory.data(), count, ranks, memory.data(), count, dtype, op, op == Op::mean ? ranks : 1});
        CHECK(memory.bytes().substr(0, bytes) == expected);
      }
}

TEST_CASE("memory of a GPU begins as zeros, and tells whose it is") {
  if (!have_gpus(1, "memory of a GPU")) return;
  auto& gpus = device::runtime();
  const auto memory = gpus.allocate(0, 1'000'003);
  CHECK(gpus.owner_of(memory.get() + 1'000'002) == 0);
  std::string back(1'000'003, 'x');
  CHECK_FALSE(gpus.owner_of(back.data()));
  get(gpus, 0, back.data(), memory.get(), back.size());
  CHECK(back == std::string(1'000'003, '\0'));
}

TEST_CASE("every GPU has a name and an identity of its own") {
  if (!have_gpus(1, "names of GPUs")) return;
  auto& gpus = device::runtime();
  std::set<std::string> seen;
  for (int gpu = 0; gpu < gpus.count(); ++gpu) {
    const auto found = gpus.describe(gpu);
    fmt::print("GPU {}: {}, {:.1f} GiB; {}\n", gpu, found.name, static_cast<double>(found.memory_bytes) / (1U << 30),
               gpus.versions());
    CHECK(seen.insert(found.uuid).second);
    CHECK(found.memory_bytes > 0);
  }
}
