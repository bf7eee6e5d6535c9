#pragma once
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/verify.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/saver.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

namespace trainrt::test {

/// A tensor of a test model.
struct Spec {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;  // complete shape
  Placement placement = Placement::replicated;
  int axis = 0;  // axis that is divided between ranks; the first ranks get one more
};

inline std::vector<Spec> every_kind() {
  std::vector<Spec> specs;
  for (const char* name : {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32", "i16", "i8", "u8", "bool"}) {
    specs.push_back({"whole/" + std::string(name), dtype_from(name), {3, 5}});
    specs.push_back({"split/" + std::string(name), dtype_from(name), {7, 3}, Placement::sharded, 0});
    specs.push_back({"own/" + std::string(name), dtype_from(name), {2, 2}, Placement::per_rank});
  }
  specs.push_back({"columns", DType::f32, {2, 9, 2}, Placement::sharded, 1});
  specs.push_back({"few rows", DType::i32, {2}, Placement::sharded, 0});
  specs.push_back({"scalar", DType::f64, {}});
  specs.push_back({"own scalar", DType::f32, {}, Placement::per_rank});
  specs.push_back({"empty", DType::f32, {0, 4}});
  specs.push_back({"empty split", DType::f32, {0, 4}, Placement::sharded, 0});
  specs.push_back({"empty own", DType::f32, {0}, Placement::per_rank});
  specs.push_back({"größer/deep/er", DType::u8, {100000}});
  return specs;
}

/// Returns pseudo-random bytes of a complete tensor, so floats include all kinds of NaN. They depend on `seed`.
inline std::string whole_bytes(const Spec& spec, std::uint64_t seed, int rank) {
  auto key = std::hash<std::string>{}(spec.name) ^ (seed * 0x9e3779b97f4a7c15u);
  if (spec.placement == Placement::per_rank) key += static_cast<std::uint64_t>(rank) + 1;
  std::mt19937_64 random(key);
  std::string bytes(static_cast<std::size_t>(element_count(spec.shape)) * size_of(spec.dtype), '\0');
  for (auto& byte : bytes) byte = static_cast<char>(spec.dtype == DType::boolean ? random() & 1 : random());
  return bytes;
}

struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
inline Part part_of(std::int64_t extent, int rank, int size) {
  const auto each = extent / size;
  const auto more = extent % size;
  return {each * rank + std::min<std::int64_t>(rank, more), each + (rank < more ? 1 : 0)};
}

/// One rank's copy of a model: tensors, values, and their expected contents.
class Model {
 public:
  Model(std::vector<Spec> specs, int rank, int size) : specs_(std::move(specs)), rank_(rank), size_(size) {
    for (const auto& spec : specs_) {
      Shape local = spec.shape;
      Part part;
      if (spec.placement == Placement::sharded) {
        part = part_of(spec.shape[static_cast<std::size_t>(spec.axis)], rank, size);
        local[static_cast<std::size_t>(spec.axis)] = part.count;
      }
      auto& bytes = memory_.emplace_back(static_cast<std::size_t>(element_count(local)) * size_of(spec.dtype), '\x5a');
      auto& entry = state_.tensor(spec.name, TensorView{bytes.data(), spec.dtype, local});
      if (spec.placement == Placement::sharded)
        entry.sharded(spec.axis, part.first, spec.shape[static_cast<std::size_t>(spec.axis)]);
      if (spec.placement == Placement::per_rank) entry.per_rank();
    }
    state_.value("epoch", epoch);
    state_.value("steps", steps);
    state_.value("loss", loss);
    state_.value("done", done);
    state_.value("note", note);
    state_.value("nothing", nothing);
  }
  Model(const Model&) = delete;

  /// Returns this rank's expected bytes of tensor i. Per_rank tensors have the bytes of rank `source`.
  std::string expected(std::size_t i, std::uint64_t seed, int source) const {
    const auto& spec = specs_[i];
    const auto whole = whole_bytes(spec, seed, source);
    if (spec.placement != Placement::sharded) return whole;
    const auto axis = static_cast<std::size_t>(spec.axis);
    std::size_t inner = size_of(spec.dtype);
    for (auto a = axis + 1; a < spec.shape.size(); ++a) inner *= static_cast<std::size_t>(spec.shape[a]);
    std::size_t outer = 1;
    for (std::size_t a = 0; a < axis; ++a) outer *= static_cast<std::size_t>(spec.shape[a]);
    const auto part = part_of(spec.shape[axis], rank_, size_);
    const auto row = static_cast<std::size_t>(spec.shape[axis]) * inner;
    std::string slab;
    for (std::size_t o = 0; o < outer; ++o)
      slab += whole.substr(o * row + static_cast<std::size_t>(part.first) * inner,
                           static_cast<std::size_t>(part.count) * inner);
    return slab;
  }

  void fill(std::uint64_t seed) {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const auto bytes = expected(i, seed, rank_);
      std::memcpy(memory_[i].data(), bytes.data(), bytes.size());
    }
    epoch = -static_cast<std::int32_t>(seed);
    steps = (std::int64_t{1} << 60) + static_cast<std::int64_t>(seed);
    const std::uint64_t bits = 0x7ff4000000000000u + seed;  // a signaling NaN with a payload
    std::memcpy(&loss, &bits, sizeof loss);
    done = seed % 2 == 1;
    note = "größe " + std::to_string(seed) + std::string("\0\0", 2);
    nothing.clear();
  }

  /// Returns "" if the state has the contents of fill(seed) on `writers` ranks, otherwise the first entry that differs.
  std::string difference(std::uint64_t seed, int writers) const {
    for (std::size_t i = 0; i < specs_.size(); ++i)
      if (memory_[i] != expected(i, seed, rank_ % writers)) return specs_[i].name;
    Model other({}, 0, 1);
    other.fill(seed);
    if (epoch != other.epoch) return "epoch";
    if (steps != other.steps) return "steps";
    if (std::memcmp(&loss, &other.loss, sizeof loss) != 0) return "loss";
    if (done != other.done) return "done";
    if (note != other.note) return "note";
    if (nothing != other.nothing) return "nothing";
    return "";
  }

  State& state() { return state_; }
  const std::vector<Spec>& specs() const { return specs_; }

  std::int32_t epoch = 0;
  std::int64_t steps = 0;
  double loss = 0;
  bool done = false;
  std::string note = "?";
  std::string nothing = "?";

 private:
  std::vector<Spec> specs_;
  int rank_;
  int size_;
  std::deque<std::string> memory_;
  State state_;
};

/// Options and metadata of a checkpoint to save.
struct Save {
  checkpoint::SaverOptions saver;
  checkpoint::Meta meta;
};

inline Save options_for(const std::string& run_dir, std::int64_t number) {
  Save save;
  save.saver.run_dir = run_dir;
  save.saver.private_dir = run_dir + "/.attempt-1";
  save.saver.writer.staging_bytes = std::uint64_t{16} << 20;  // two blocks
  save.meta.number = number;
  save.meta.iteration = number * 2;
  save.meta.step = number * 100;
  save.meta.attempt = 1;
  save.meta.metrics = {{"loss", 1.0 / static_cast<double>(number + 1)}};
  return save;
}

inline checkpoint::SaveResult save_now(
    const State& state, Save save, Communicator& communicator, checkpoint::Observer observer = [](checkpoint::Phase) {}) {
  save.saver.writer.observer = std::move(observer);
  return checkpoint::save(state, save.saver, save.meta, communicator);
}

inline void flip_bit(const std::string& path, std::uint64_t byte, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const auto old = file.get();
  file.seekp(static_cast<std::streamoff>(byte));
  file.put(static_cast<char>(old ^ (1 << bit)));
}

}  // namespace trainrt::test
