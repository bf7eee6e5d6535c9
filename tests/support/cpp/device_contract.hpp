#pragma once
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "device/runtime.hpp"
#include "support/cpp/communicator_contract.hpp"
#include "support/cpp/on_gpu.hpp"

namespace trainrt::test {

/// How results are compared with those of the CPU: exact = the same bits; near = within tolerance(), for sums in another
/// order.
enum class Sums { exact, near };

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// Returns values_of() a rank as bytes of type `dtype`.
inline std::string elements(DType dtype, int rank, std::size_t count) {
  if (dtype == DType::f64) return bytes_of(values_of<double>(rank, count));
  if (dtype == DType::f32) return bytes_of(values_of<float>(rank, count));
  if (dtype == DType::i64) return bytes_of(values_of<std::int64_t>(rank, count));
  if (dtype == DType::i32) return bytes_of(values_of<std::int32_t>(rank, count));
  std::vector<std::uint16_t> small;
  for (const auto value : values_of<float>(rank, count))
    small.push_back(dtype == DType::f16 ? to_f16(value) : to_bf16(value));
  return bytes_of(small);
}

inline double number(DType dtype, const char* at) {
  const auto load = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (dtype == DType::f64) return load(double{});
  if (dtype == DType::f32) return load(float{});
  if (dtype == DType::f16) return from_f16(load(std::uint16_t{}));
  return from_bf16(load(std::uint16_t{}));
}

/// Returns the allowed rounding error of a sum, relative to the largest value.
inline double tolerance(DType dtype) {
  if (dtype == DType::f64) return 1e-13;
  if (dtype == DType::f32) return 1e-5;
  return dtype == DType::f16 ? 1e-2 : 5e-2;
}

inline bool same(DType dtype, Sums sums, const std::string& one, const std::string& other) {
  if (sums == Sums::exact || dtype == DType::i64 || dtype == DType::i32) return one == other;
  double largest = 0;
  double apart = 0;
  for (std::size_t i = 0; i < one.size(); i += size_of(dtype)) {
    largest = std::max(largest, std::abs(number(dtype, &one[i])));
    apart = std::max(apart, std::abs(number(dtype, &one[i]) - number(dtype, &other[i])));
  }
  return one.size() == other.size() && apart <= tolerance(dtype) * largest;
}

/// Compares collectives on GPU memory with the same collectives on host memory, which other tests check.
class DeviceContract {
 public:
  DeviceContract(Communicator& c, device::Runtime& gpus, int gpu, Sums sums) : c_(c), gpus_(gpus), gpu_(gpu), sums_(sums) {}

  std::string findings() {
    std::string all;
    for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32}) {
      for (const std::size_t count : {0UL, 1UL, 7UL, 4097UL, 100001UL})
        for (const auto op : {Op::sum, Op::mean, Op::min, Op::max}) all += all_reduce(dtype, count, op);
      for (const std::size_t unit : {0UL, 10UL, 3000UL})
        for (const auto op : {Op::sum, Op::mean, Op::max}) all += parts(dtype, unit, op);
    }
    for (int root = 0; root < c_.size(); ++root) all += broadcast(root);
    return all + reached() + nans() + in_flight() + split() + zeroed() + refused();
  }

 private:
  Buffer on_gpu(const OnGpu& memory, std::size_t count, DType dtype) const {
    return {memory.data(), count, dtype, Device::cuda};
  }
  std::string what(const char* kind, DType dtype, std::size_t count, Op op) const {
    return std::string(kind) + " of " + std::to_string(count) + " " + std::string(name_of(dtype)) + " (" +
           std::string(name_of(op)) + ") on a GPU is not the CPU's; ";
  }
  Sums sums(Op op) const { return op == Op::sum || op == Op::mean ? sums_ : Sums::exact; }

  std::string all_reduce(DType dtype, std::size_t count, Op op) {
    auto host = elements(dtype, c_.rank(), count);
    const OnGpu memory(gpus_, gpu_, host);
    c_.all_reduce(on_gpu(memory, count, dtype), op, "on the GPU");
    c_.all_reduce(Buffer{host.data(), count, dtype}, op, "on the host");
    return same(dtype, sums(op), memory.bytes(), host) ? "" : what("all_reduce", dtype, count, op);
  }

  std::string parts(DType dtype, std::size_t unit, Op op) {
    const auto counts = uneven_counts(c_.size(), unit);
    const auto total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const auto own = counts[static_cast<std::size_t>(c_.rank())] * size_of(dtype);
    auto host = elements(dtype, c_.rank(), total);
    std::string part(own, '\x7e');
    const OnGpu input(gpus_, gpu_, host);
    const OnGpu output(gpus_, gpu_, part + "guard");
    c_.reduce_scatter(on_gpu(input, total, dtype), counts, output.data(), op);
    const auto before = host;
    c_.reduce_scatter(Buffer{host.data(), total, dtype}, counts, part.data(), op);
    std::string findings;  // collected, since a rank that returned early would leave the others waiting
    if (!same(dtype, sums(op), output.bytes().substr(0, own), part)) findings += what("reduce_scatter", dtype, total, op);
    if (output.bytes().substr(own) != "guard") findings += "reduce_scatter on a GPU writes past its part; ";
    if (input.bytes() != before) findings += "reduce_scatter on a GPU changes its input; ";
    const OnGpu mine(gpus_, gpu_, part);
    const OnGpu gathered(gpus_, gpu_, std::string(total * size_of(dtype), '\x55'));
    c_.all_gather(mine.data(), counts, on_gpu(gathered, total, dtype));
    c_.all_gather(part.data(), counts, Buffer{host.data(), total, dtype});
    return findings + (gathered.bytes() == host ? "" : what("all_gather", dtype, total, op));
  }

  std::string broadcast(int root) {
    std::string findings;
    for (const auto dtype : {DType::u8, DType::f16, DType::f64}) {
      const OnGpu memory(gpus_, gpu_, std::string(1001 * size_of(dtype), static_cast<char>('a' + c_.rank())));
      c_.broadcast(on_gpu(memory, 1001, dtype), root);
      if (memory.bytes() != std::string(1001 * size_of(dtype), static_cast<char>('a' + root)))
        findings += "broadcast on a GPU is wrong; ";
    }
    return findings;
  }

  std::string nans() {
    std::string findings;
    for (const auto op : {Op::min, Op::max}) {
      std::vector<float> values(5, static_cast<float>(c_.rank()));
      if (c_.rank() == c_.size() - 1) values[3] = std::numeric_limits<float>::quiet_NaN();
      const OnGpu memory(gpus_, gpu_, bytes_of(values));
      c_.all_reduce(on_gpu(memory, 5, DType::f32), op);
      const auto back = memory.bytes();
      if (!std::isnan(number(DType::f32, &back[12])) || std::isnan(number(DType::f32, &back[8])))
        findings += "min or max on a GPU loses a NaN; ";
    }
    return findings;
  }

  /// Starts collectives on host and GPU memory alternately and waits for them in another order. The copies into GPU memory
  /// are enqueued just before.
  std::string in_flight() {
    std::vector<std::unique_ptr<OnGpu>> memories;
    std::vector<std::vector<float>> on_host(20, std::vector<float>(333, static_cast<float>(c_.rank())));
    std::vector<Communicator::Ticket> tickets;
    for (std::size_t k = 0; k < 20; ++k) {
      const auto& memory = memories.emplace_back(
          std::make_unique<OnGpu>(gpus_, gpu_, bytes_of(std::vector<float>(1000 + k, static_cast<float>(c_.rank())))));
      const bool gpu = k % 3 != 0;
      const auto buffer = gpu ? on_gpu(*memory, 1000 + k, DType::f32) : Buffer{on_host[k].data(), 333, DType::f32};
      tickets.push_back(
          c_.start({.kind = Collective::Kind::all_reduce, .buffer = buffer, .op = Op::max, .name = "flying"}));
    }
    c_.wait(tickets[7]);
    std::string findings = c_.test(tickets[5]) ? "" : "a collective before one that is complete is not; ";
    c_.wait(tickets.back());
    const auto expected = static_cast<float>(c_.size() - 1);
    for (std::size_t k = 0; k < 20; ++k) {
      const bool gpu = k % 3 != 0;
      if (gpu && memories[k]->bytes() != bytes_of(std::vector<float>(1000 + k, expected)))
        findings += "one in flight is wrong; ";
      if (!gpu && on_host[k] != std::vector<float>(333, expected)) findings += "one in flight on the host is wrong; ";
    }
    return findings;
  }

  std::string split() {
    const auto part = c_.split(c_.rank() % 2, c_.rank());
    const OnGpu memory(gpus_, gpu_, bytes_of(std::vector<std::int32_t>{c_.rank()}));
    part->all_reduce(on_gpu(memory, 1, DType::i32), Op::sum);
    std::int32_t expected = 0;
    for (int rank = c_.rank() % 2; rank < c_.size(); rank += 2) expected += rank;
    return memory.bytes() == bytes_of(std::vector<std::int32_t>{expected}) ? ""
                                                                           : "a part of a split reduces wrongly on a GPU; ";
  }

  std::string reached() { return c_.reaches(Device::cuda) ? reach_findings(c_) : "memory of GPUs is not reached; "; }

  std::string zeroed() {
    const auto memory = c_.allocate(1000, Device::cuda);
    std::string back(1000, 'x');
    const auto stream = gpus_.default_stream(gpu_);
    stream->to_host(back.data(), memory.get(), back.size());
    device::wait_within(*stream->record(), 30);
    return back == std::string(1000, '\0') ? "" : "allocate() on a GPU is not zeroed; ";
  }

  std::string refused() {
    std::vector<float> host(4);
    try {
      c_.all_reduce(Buffer{host.data(), 4, DType::f32, Device::cuda}, Op::sum, "stray");
      return "memory of the host passes for a GPU's; ";
    } catch (const UsageError& error) {
      return std::string(error.what()).find("'stray'") == std::string::npos ? "a stray buffer is not named; " : "";
    }
  }

  Communicator& c_;
  device::Runtime& gpus_;
  int gpu_;
  Sums sums_;
};

}  // namespace trainrt::test
