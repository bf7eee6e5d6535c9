// Compares sums on the GPU with sums on the CPU, and tests memory of the GPU.
#include <random>
#include <set>

#include "comm/reduce.hpp"
#include "gpu/gpu_test.hpp"
#include "support/cpp/device_contract.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

/// Returns random bits without infinities and NaNs, since the payload of a NaN may differ between GPU and CPU.
std::string any_numbers(DType dtype, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(count * size_of(dtype), '\0');
  for (auto& byte : bytes) byte = static_cast<char>(random());
  if (dtype == DType::i64 || dtype == DType::i32) return bytes;
  for (std::size_t i = 0; i < bytes.size(); i += size_of(dtype))
    if (!std::isfinite(number(dtype, &bytes[i]))) bytes[i + size_of(dtype) - 1] = '\x3c';
  return bytes;
}

/// Reduces random parts on the GPU and on the CPU and returns whether the bits are equal. The caller sets all of `wanted`
/// except the memory and the divisor.
bool gpu_matches_cpu(device::TreeReduction wanted) {
  const auto part_bytes = wanted.stride * size_of(wanted.dtype);
  const auto bytes = wanted.count * size_of(wanted.dtype);
  std::string inputs;
  for (int rank = 0; rank < wanted.ranks; ++rank)
    inputs += any_numbers(wanted.dtype, wanted.stride, static_cast<std::uint64_t>(rank));
  std::vector<const std::byte*> parts;
  for (int rank = 0; rank < wanted.ranks; ++rank)
    parts.push_back(reinterpret_cast<const std::byte*>(inputs.data()) + static_cast<std::size_t>(rank) * part_bytes);
  std::string expected(bytes, '\0');
  std::byte* const out = reinterpret_cast<std::byte*>(expected.data());
  comm::reduce_to(parts, {&out, 1}, wanted.count, wanted.dtype, wanted.op, comm::tree_steps(wanted.ranks), wanted.ranks);
  const OnGpu memory(device::runtime(), 0, inputs);
  wanted.parts = wanted.out = memory.data();
  wanted.divide_by = wanted.op == Op::mean ? wanted.ranks : 1;
  device::runtime().default_stream(0)->reduce(wanted);
  return memory.bytes().substr(0, bytes) == expected;
}

}  // namespace

TEST_CASE("tree reductions on the GPU have the same bits as on the CPU, for any type, operation and number of ranks") {
  if (!have_gpus(1, "sums along the tree")) return;
  constexpr std::size_t count = 10007;
  for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32})
    for (const auto op : {Op::sum, Op::mean, Op::min, Op::max})
      for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 13, 64})
        for (const std::size_t stride : {count, count + 9}) {  // with the second stride the GPU can read 16 bytes at once
          CAPTURE(name_of(dtype), name_of(op), ranks, stride);
          CHECK(gpu_matches_cpu({.stride = stride, .ranks = ranks, .count = count, .dtype = dtype, .op = op}));
        }
}

TEST_CASE("new memory of a GPU is zeroed and has a known owner") {
  if (!have_gpus(1, "memory of a GPU")) return;
  auto& gpus = device::runtime();
  const auto memory = gpus.allocate(0, 1'000'003);
  CHECK(gpus.owner_of(memory.get() + 1'000'002) == 0);
  std::string back(1'000'003, 'x');
  CHECK_FALSE(gpus.owner_of(back.data()));
  get(gpus, 0, back.data(), memory.get(), back.size());
  CHECK(back == std::string(1'000'003, '\0'));
}

TEST_CASE("every GPU has a name and a unique identifier") {
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
