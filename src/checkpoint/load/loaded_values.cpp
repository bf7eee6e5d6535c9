#include "checkpoint/load/loaded_values.hpp"

#include <cstring>
#include <limits>

#include <trainrt/error.hpp>

#include "checkpoint/value_bytes.hpp"
#include "comm/reduce.hpp"
#include "comm/tree.hpp"
#include "device/copier.hpp"

namespace trainrt::checkpoint {

namespace {

std::int64_t decoded(const std::string& bytes, const std::int64_t*) { return number_from<std::int64_t>(bytes); }
double decoded(const std::string& bytes, const double*) { return number_from<double>(bytes); }
bool decoded(const std::string& bytes, const bool*) { return number_from<char>(bytes) != 0; }
std::string decoded(const std::string& bytes, const std::string*) { return bytes; }
std::int32_t decoded(const std::string& bytes, const std::int32_t*) {
  const auto stored = number_from<std::int64_t>(bytes);
  if (stored < std::numeric_limits<std::int32_t>::min() || stored > std::numeric_limits<std::int32_t>::max())
    throw UsageError(std::to_string(stored) + " does not fit into the State's 32-bit integer");
  return static_cast<std::int32_t>(stored);
}

}  // namespace

LoadedValues::LoadedValues(const std::vector<const ValueEntry*>& entries, ReadPlan& plan) {
  for (const auto* entry : entries) plan.want_value(entry->name, reads_.emplace_back(PendingValue{entry, {}}).bytes);
}

void LoadedValues::decode(const Contents& contents) {
  for (const auto& [entry, bytes] : reads_) {
    if (contents.find(entry->name) == nullptr) continue;
    try {
      std::visit([&](auto* to) { installs_.push_back([to, value = decoded(bytes, to)] { *to = value; }); }, entry->value);
    } catch (const UsageError& error) {
      throw UsageError("value '" + entry->name + "' of the checkpoint: " + error.what());
    }
  }
}

void LoadedValues::install() const {
  for (const auto& install : installs_) install();
}

namespace {

void put(const TensorEntry& entry, int gpu, const std::vector<std::byte>& bytes) {
  if (gpu < 0) {
    std::memcpy(entry.local.data, bytes.data(), bytes.size());
    return;
  }
  device::Copier copier;
  copier.follow_default_streams();
  copier.to_device(entry.local.data, gpu, bytes.data(), bytes.size());
  device::wait_all(copier.record(), device::max_copy_s, "copying a checkpoint to a GPU");
}

}  // namespace

void SummedParts::want(ReadPlan& plan, const TensorEntry& entry, int gpu, int rank, int size, int saved_by) {
  auto& sum = sums_.emplace_back(PendingSum{&entry, gpu, {}});
  for (int writer = rank; writer < saved_by; writer += size) {
    auto& part = sum.parts.emplace_back(entry.local.bytes());
    plan.want_own(entry.name, size_of(entry.local.dtype), {entry.offset, entry.local.shape}, writer, {part.data()});
  }
}

std::vector<std::byte> SummedParts::total(const PendingSum& sum) {
  std::vector<std::byte> bytes(sum.entry->local.bytes());
  if (sum.parts.empty()) return bytes;  // if no rank's part was read, the sum is 0: zero bytes represent 0 in every dtype
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
