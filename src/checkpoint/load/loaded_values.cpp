#include "checkpoint/load/loaded_values.hpp"

#include <cstring>
#include <limits>
#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

namespace {

template <class T>
T number_from(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));  // index_from() has held it against the dtype
  return value;
}

std::int64_t decoded(const std::string& bytes, const std::int64_t*) { return number_from<std::int64_t>(bytes); }
double decoded(const std::string& bytes, const double*) { return number_from<double>(bytes); }
bool decoded(const std::string& bytes, const bool*) { return number_from<char>(bytes) != 0; }
std::string decoded(const std::string& bytes, const std::string*) { return bytes; }
std::int32_t decoded(const std::string& bytes, const std::int32_t*) {
  const auto stored = number_from<std::int64_t>(bytes);
  if (stored < std::numeric_limits<std::int32_t>::min() || stored > std::numeric_limits<std::int32_t>::max())
    throw UsageError(std::to_string(stored) + ", does not fit into the State's 32-bit integer");
  return static_cast<std::int32_t>(stored);
}

}  // namespace

LoadedValues::LoadedValues(const std::vector<const ValueEntry*>& entries, ReadPlan& plan) {
  for (const auto* entry : entries) plan.want_value(entry->name, reads_.emplace_back(Read{entry, {}}).bytes);
}

void LoadedValues::decode(const Contents& contents) {
  for (const auto& [entry, bytes] : reads_) {
    if (contents.find(entry->name) == nullptr) continue;
    try {
      std::visit([&](auto* to) { installs_.push_back([to, value = decoded(bytes, to)] { *to = value; }); }, entry->value);
    } catch (const UsageError& error) {
      throw UsageError("value '" + entry->name + "' of the checkpoint, " + error.what());
    }
  }
}

void LoadedValues::install() const {
  for (const auto& install : installs_) install();
}

}  // namespace trainrt::checkpoint
