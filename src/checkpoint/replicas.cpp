#include "checkpoint/replicas.hpp"

#include <algorithm>
#include <cstring>

#include "checkpoint/collective.hpp"
#include "checkpoint/device_memory.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr std::size_t batch_bytes = std::size_t{8} << 20;

/// A contiguous byte range of a tensor's memory.
struct CopyRange {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  int gpu = -1;  ///< number of the GPU that owns the memory; -1: host memory
};

/// Byte ranges of tensors that are broadcast together, at most batch_bytes: many small tensors, or a part of a large one.
using CopyBatch = std::vector<CopyRange>;

std::vector<CopyBatch> batches_of(std::span<const TensorEntry* const> tensors, const std::vector<int>& gpus) {
  std::vector<CopyBatch> batches;
  std::size_t room = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto* data = static_cast<std::byte*>(tensors[i]->local.data);
    for (std::size_t first = 0, left = tensors[i]->local.bytes(); left > 0;) {
      if (room == 0) {
        batches.emplace_back();
        room = batch_bytes;
      }
      const auto count = std::min(room, left);
      batches.back().push_back({data + first, count, gpus[i]});
      room -= count;
      first += count;
      left -= count;
    }
  }
  return batches;
}

/// Broadcasts batches of byte ranges from rank 0 to all ranks through one staging buffer in host memory.
class Courier {
 public:
  explicit Courier(Communicator& communicator) : communicator_(communicator), sends_(communicator.rank() == 0) {
    copier_.follow_default_streams();
  }

  void carry(const CopyBatch& batch) {
    std::size_t bytes = 0;
    for (const auto& run : batch) bytes += run.bytes;
    if (staging_.size() < bytes) staging_.resize(bytes);
    if (sends_) each(batch, [this](std::byte* staged, const CopyRange& run) { collect(staged, run); });
    communicator_.broadcast(Buffer{staging_.data(), bytes, DType::u8}, 0, "replicated tensors");
    if (!sends_) each(batch, [this](std::byte* staged, const CopyRange& run) { deliver(staged, run); });
  }

 private:
  /// Calls `copy` for each byte range of a batch, with the range's position in the staging buffer. Returns when all copies
  /// from or to GPUs are complete.
  template <class Copy>
  void each(const CopyBatch& batch, Copy&& copy) {
    auto* staged = staging_.data();
    bool on_gpus = false;
    for (const auto& run : batch) {
      copy(staged, run);
      on_gpus = on_gpus || run.gpu >= 0;
      staged += run.bytes;
    }
    if (on_gpus) device::wait_all(copier_.record(), device::max_copy_s, "copying replicated tensors from or to a GPU");
  }
  void collect(std::byte* staged, const CopyRange& run) {
    if (run.gpu < 0)
      std::memcpy(staged, run.data, run.bytes);
    else
      copier_.to_host(staged, run.data, run.gpu, run.bytes);
  }
  void deliver(const std::byte* staged, const CopyRange& run) {
    if (run.gpu < 0)
      std::memcpy(run.data, staged, run.bytes);
    else
      copier_.to_device(run.data, run.gpu, staged, run.bytes);
  }

  Communicator& communicator_;
  bool sends_;
  std::vector<std::byte> staging_;
  device::Copier copier_;
};

}  // namespace

std::vector<const TensorEntry*> replicated_tensors(const State& state) {
  std::vector<const TensorEntry*> tensors;
  for (const auto& entry : state.tensors())
    if (entry.placement == Placement::replicated && entry.local.bytes() > 0) tensors.push_back(&entry);
  std::ranges::sort(tensors, {}, &TensorEntry::name);
  return tensors;
}

void broadcast_replicas(std::span<const TensorEntry* const> tensors, Communicator& communicator) {
  if (communicator.size() == 1 || tensors.empty()) return;
  std::vector<int> gpus;
  on_every_rank(communicator, [&] {
    for (const auto* entry : tensors) gpus.push_back(gpu_of(*entry, device::runtime()));
    return std::string();
  });
  Courier courier(communicator);
  for (const auto& batch : batches_of(tensors, gpus)) courier.carry(batch);
}

}  // namespace trainrt::checkpoint
