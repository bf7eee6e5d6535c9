#include "checkpoint/load/summed_parts.hpp"

#include <cstring>

#include "comm/reduce.hpp"
#include "comm/tree.hpp"
#include "device/copier.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr double most_copy_s = 300;

void put(const TensorEntry& entry, int gpu, const std::vector<std::byte>& bytes) {
  if (gpu < 0) {
    std::memcpy(entry.local.data, bytes.data(), bytes.size());
    return;
  }
  device::Copier copier;
  copier.follow_default_streams();
  copier.to_device(entry.local.data, gpu, bytes.data(), bytes.size());
  device::wait_all(copier.mark(), most_copy_s, "copies of a checkpoint to a GPU have");
}

}  // namespace

void SummedParts::want(ReadPlan& plan, const TensorEntry& entry, int gpu, int rank, int size, int saved_by) {
  auto& sum = sums_.emplace_back(Sum{&entry, gpu, {}});
  for (int writer = rank; writer < saved_by; writer += size) {
    auto& part = sum.parts.emplace_back(entry.local.bytes());
    plan.want_own(entry.name, size_of(entry.local.dtype), {entry.offset, entry.local.shape}, writer, {part.data()});
  }
}

std::vector<std::byte> SummedParts::total(const Sum& sum) {
  std::vector<std::byte> bytes(sum.entry->local.bytes());
  if (sum.parts.empty()) return bytes;  // zero, in all types
  std::vector<const std::byte*> parts;
  for (const auto& part : sum.parts) parts.push_back(part.data());
  auto* const out = bytes.data();
  const auto count = static_cast<int>(parts.size());
  comm::reduce_to(parts, {&out, 1}, static_cast<std::size_t>(element_count(sum.entry->local.shape)), sum.entry->local.dtype,
                  Op::sum, comm::tree_steps(count), count);
  return bytes;
}

void SummedParts::install(const Contents& contents) const {
  for (const auto& sum : sums_) {
    if (sum.entry->local.bytes() == 0 || contents.find(sum.entry->name) == nullptr) continue;
    put(*sum.entry, sum.gpu, total(sum));
  }
}

}  // namespace trainrt::checkpoint
