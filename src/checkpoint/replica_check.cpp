#include "checkpoint/replica_check.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "checkpoint/collective.hpp"
#include "checkpoint/device_memory.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/replicas.hpp"
#include "comm/agreement.hpp"
#include "io/files/digest.hpp"
#include "io/files/workers.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr std::uint64_t min_part_bytes = std::uint64_t{16} << 20;
constexpr std::uint64_t sample_parts = 16;
constexpr std::uint64_t bytes_worth_threads = std::uint64_t{64} << 20;
constexpr std::size_t max_named_tensors = 16;  // maximum number of differing tensors that are reported with their ranks

/// Returns the ranks with a text that differs from the most frequent text. If several texts are equally frequent, the text
/// of the lowest rank counts as the most frequent one.
std::vector<int> odd_ones(const std::vector<std::string>& texts) {
  std::map<std::string, int> counts;
  for (const auto& text : texts) ++counts[text];
  const auto* usual = &texts.front();
  for (const auto& text : texts)
    if (counts[text] > counts[*usual]) usual = &text;
  std::vector<int> odd;
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    if (texts[rank] != *usual) odd.push_back(static_cast<int>(rank));
  return odd;
}

}  // namespace

/// A block of a replicated tensor: a byte range that is digested at once.
struct ReplicaCheck::Block {
  const TensorEntry* tensor = nullptr;
  std::span<const std::byte> bytes;
  int gpu = -1;
  std::int64_t equal_at = 0;
};

/// Host staging buffer and copier for tensor blocks in GPU memory: the blocks are copied to the buffer and digested in host
/// memory.
struct ReplicaCheck::Gpus {
  std::vector<std::byte> staging = std::vector<std::byte>(block_bytes);
  device::Copier copier;  // declared after `staging`, so that the copier is destroyed before the memory that it has pinned
};

ReplicaCheck::ReplicaCheck(const State& state, Communicator& communicator, std::int64_t step, int threads)
    : communicator_(communicator), threads_(threads) {
  for (const auto* entry : replicated_tensors(state)) add_blocks(*entry);
  for (auto& block : blocks_) block.equal_at = step;
}

ReplicaCheck::~ReplicaCheck() = default;

void ReplicaCheck::add_blocks(const TensorEntry& entry) {
  const std::span bytes(static_cast<const std::byte*>(entry.local.data), entry.local.bytes());
  const auto gpu = gpu_of(entry, device::runtime());
  for (std::size_t first = 0; first < bytes.size(); first += block_bytes)
    blocks_.push_back({&entry, bytes.subspan(first, std::min(block_bytes, bytes.size() - first)), gpu});
  if (gpu >= 0 && !gpus_) {
    gpus_ = std::make_unique<Gpus>();
    gpus_->copier.pin(gpus_->staging);
  }
}

// --- selection of blocks ------------------------------------------------------------------------------------------------

ReplicaCheck::Indices ReplicaCheck::all() const {
  Indices indices(blocks_.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

ReplicaCheck::Indices ReplicaCheck::rotating_part() {
  std::uint64_t total = 0;
  for (const auto& block : blocks_) total += block.bytes.size();
  const auto enough = std::max(min_part_bytes, total / sample_parts);
  Indices indices;
  for (std::uint64_t bytes = 0; bytes < enough && indices.size() < blocks_.size(); next_ = (next_ + 1) % blocks_.size()) {
    indices.push_back(next_);
    bytes += blocks_[next_].bytes.size();
  }
  return indices;
}

// --- digests ------------------------------------------------------------------------------------------------------------

std::vector<std::string> ReplicaCheck::digests_of(const Indices& part) {
  std::vector<std::string> digests(part.size());
  if (gpus_) digest_on_gpus(part, digests);
  digest_on_host(part, digests);
  return digests;
}

void ReplicaCheck::digest_on_host(const Indices& part, std::vector<std::string>& digests) const {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto i = next++; i < part.size(); i = next++)
      if (const auto& block = blocks_[part[i]]; block.gpu < 0) digests[i] = io::digest_of(block.bytes);
  };
  std::uint64_t bytes = 0;
  for (const auto i : part) bytes += blocks_[i].bytes.size();
  if (threads_ <= 1 || bytes < bytes_worth_threads) return work();
  io::Workers workers(threads_);
  for (int i = 0; i < threads_; ++i) workers.submit(work);
  workers.drain();
}

/// Digests the blocks of `part` that are in GPU memory: copies as many blocks as fit into the staging memory, waits for the
/// copies, digests them, and repeats.
void ReplicaCheck::digest_on_gpus(const Indices& part, std::vector<std::string>& digests) {
  gpus_->copier.follow_default_streams();
  std::size_t used = 0;
  std::vector<std::pair<std::size_t, std::span<const std::byte>>> staged;  // index in `digests`, staged bytes to digest
  const auto flush = [&] {
    if (staged.empty()) return;
    device::wait_all(gpus_->copier.record(), device::max_copy_s, "copying replicated tensors from a GPU");
    for (const auto& [i, bytes] : staged) digests[i] = io::digest_of(bytes);
    staged.clear();
    used = 0;
  };
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto& block = blocks_[part[i]];
    if (block.gpu < 0) continue;
    if (used + block.bytes.size() > gpus_->staging.size()) flush();
    const auto room = std::span(gpus_->staging).subspan(used, block.bytes.size());
    gpus_->copier.to_host(room.data(), block.bytes.data(), block.gpu, room.size());
    staged.emplace_back(i, room);
    used += room.size();
  }
  flush();
}

std::int64_t ReplicaCheck::number_of(const Indices& part) {
  part_ = part;
  std::string digests;
  for (const auto& digest : digests_of(part)) digests += digest;
  return number_in_digest(io::digest_of(std::string_view(digests)));
}

// --- comparison ---------------------------------------------------------------------------------------------------------

std::int64_t ReplicaCheck::next_part() {
  const bool first = !std::exchange(has_compared_all_, true);
  return number_of(first ? all() : rotating_part());
}

std::vector<ReplicaCheck::DifferingTensor> ReplicaCheck::conclude(bool alike, std::int64_t step) {
  if (alike) {
    for (const auto i : part_) blocks_[i].equal_at = step;
    return {};
  }
  auto differing = find();
  forget(differing);
  return differing;
}

ReplicaCheck::Compared ReplicaCheck::compare_all(std::int64_t step) {
  const bool alike = comm::agree_min_max(communicator_, number_of(all()), "replicated tensors").alike();
  return {alike, conclude(alike, step)};
}

/// Determines which replicated tensors differ between ranks, with one all-reduce of a number per tensor. For the first 16
/// of these tensors, gathers the digests of all ranks to find the ranks that differ. Collective.
std::vector<ReplicaCheck::DifferingTensor> ReplicaCheck::find() {
  std::vector<DifferingTensor> tensors;
  std::vector<std::string> digests;  // one digest per tensor, over all its blocks
  const auto of_blocks = digests_of(all());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (i == 0 || blocks_[i].tensor != blocks_[i - 1].tensor) {
      tensors.push_back({blocks_[i].tensor->name, {}, blocks_[i].equal_at});
      digests.emplace_back();
    }
    tensors.back().equal_at = std::min(tensors.back().equal_at, blocks_[i].equal_at);
    digests.back() = io::digest_of(std::string_view(digests.back() + of_blocks[i]));
  }
  std::vector<std::int64_t> numbers;
  for (const auto& digest : digests) numbers.push_back(number_in_digest(digest));
  const auto over_ranks = comm::agree_min_max(communicator_, numbers, "replicated tensors");
  std::vector<DifferingTensor> differing;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (over_ranks[i].alike()) continue;
    if (differing.size() < max_named_tensors) tensors[i].ranks = odd_ones(communicator_.all_gather(digests[i]));
    differing.push_back(std::move(tensors[i]));
  }
  return differing;
}

void ReplicaCheck::forget(const std::vector<DifferingTensor>& differing) {
  std::set<std::string> names;
  for (const auto& one : differing) names.insert(one.tensor);
  std::erase_if(blocks_, [&](const Block& block) { return names.contains(block.tensor->name); });
  part_.clear();
  next_ = 0;
}

}  // namespace trainrt::checkpoint
