#include "checkpoint/save/agree.hpp"

#include <array>
#include <bit>
#include <map>
#include <type_traits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/collective.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/value_bytes.hpp"
#include "comm/agreement.hpp"
#include "core/mistake.hpp"
#include "core/text/text.hpp"
#include "io/files/digest.hpp"

namespace trainrt::checkpoint {

namespace {

using Descriptions = std::map<std::string, std::string>;  // one description per tensor, value and file of a State, by name

std::string value_text(const ValueEntry& entry) {
  return std::visit(
      [](const auto* value) {
        using Value = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<Value, double>)  // the bits distinguish different NaNs, and 0 from -0
          return fmt::format("value {:.17g} (bits {:016x})", *value, std::bit_cast<std::uint64_t>(*value));
        else
          return fmt::format(std::is_same_v<Value, std::string> ? "value \"{}\"" : "value {}", *value);
      },
      entry.value);
}
std::string dtype_text(const ValueEntry& entry) { return "value of type " + dtype_of(entry); }

Descriptions describe(const State& state, Agreement::Purpose purpose) {
  Descriptions lines;
  for (const auto& entry : state.tensors())
    lines[entry.name] = "tensor of " + std::string(trainrt::name_of(entry.local.dtype)) + " " +
                        to_string(entry.global_shape) + ", " + std::string(name_of(entry.placement));
  for (const auto& entry : state.values())
    lines[entry.name] = purpose == Agreement::Purpose::plan ? dtype_text(entry) : value_text(entry);
  for (const auto& entry : state.files())
    lines[files_folder + "/" + entry.name] = entry.each_rank ? "a file of each rank" : "a file";
  return lines;
}

std::string pack(const Descriptions& lines) {
  Packer packer;
  for (const auto& [name, text] : lines) packer.put(name).put(text);
  return packer.bytes();
}

Descriptions unpack(std::string_view bytes) {
  Descriptions lines;
  for (Unpacker unpacker(bytes); !unpacker.done();) {
    auto name = unpacker.text();
    lines[std::move(name)] = unpacker.text();
  }
  return lines;
}

std::string shortened(const std::string& text) { return text.size() <= 80 ? text : text.substr(0, 77) + "..."; }

/// Returns how the ranks differ in the entry `name`, for example "'epoch': value 3 on rank 0; value 4 on ranks 1, 2"; "" if
/// all ranks have the same description of the entry.
std::string difference(const std::string& name, const std::vector<Descriptions>& ranks) {
  std::map<std::string, std::vector<std::string>> said;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto found = ranks[rank].find(name);
    said[found == ranks[rank].end() ? "missing" : found->second].push_back(std::to_string(rank));
  }
  if (said.size() == 1) return "";
  std::vector<std::string> parts;
  for (const auto& [text, holders] : said)
    parts.push_back(shortened(text) + " on rank" + (holders.size() > 1 ? "s " : " ") + shortened(join(holders)));
  return "'" + name + "': " + join(parts, "; ");
}

constexpr std::string_view same_tensors = "All ranks must have the same tensors, and values of the same types.";
constexpr std::string_view equal_values =
    "A value must be equal on all ranks at every step(), report() and save_point(), since the run may be saved and stopped "
    "there. The simplest remedy is to reduce the value over the ranks before this call, so that all ranks have one common "
    "value. In a State, a running sum of each rank can also be declared as a part of a sum: state.value(\"loss_sum\", 0.0, "
    "part_of_sum=True) in Python, state.value(\"loss_sum\", loss_sum).part_of_sum() in C++. Other values of each rank can "
    "be "
    "stored in a tensor that is declared per rank: per_rank=True in Python, .per_rank() in C++.";

/// Gathers the descriptions of the States of all ranks, and returns all differences, one line each. All lines except the
/// first are indented. Collective.
std::string differences(Communicator& communicator, const State& state, Agreement::Purpose purpose) {
  std::vector<Descriptions> ranks;
  for (const auto& bytes : communicator.all_gather(pack(describe(state, purpose)))) ranks.push_back(unpack(bytes));
  Descriptions all;
  for (const auto& lines : ranks) all.insert(lines.begin(), lines.end());
  std::string text;
  for (const auto& [name, line] : all)
    if (const auto found = difference(name, ranks); !found.empty()) text += (text.empty() ? "" : "\n  ") + found;
  return text;
}

/// Throws the same Error on every rank, with all differences between the States of the ranks. Collective.
[[noreturn]] void fail(Communicator& communicator, const State& state, Agreement::Purpose purpose) {
  throw MistakeError(fmt::format("State differs between the ranks, so it cannot be saved: {}\n{}",
                                 differences(communicator, state, purpose),
                                 purpose == Agreement::Purpose::plan ? same_tensors : equal_values),
                     mistake_kind::state_differs);
}

/// Returns the slabs that this rank holds, one list per sharded tensor, in the order of the tensors' names.
std::vector<std::vector<Slab>> held_by(const State& state, int rank) {
  std::vector<std::vector<Slab>> held;
  for (const auto& group : tensors_by_name(state)) {
    if (group.first->placement != Placement::sharded) continue;
    auto& slabs = held.emplace_back();
    for (const auto* entry : group.entries) slabs.push_back({entry->offset, entry->local.shape, rank});
  }
  return held;
}

std::string packed(std::span<const std::vector<Slab>> held) {
  Packer packer;
  for (const auto& slabs : held) {
    packer.put(slabs.size());
    for (const auto& slab : slabs) packer.put(slab.offset).put(slab.shape);
  }
  return packer.bytes();
}

/// Deserializes the slabs of `rank`, a result of packed(), and appends them to the lists of their tensors.
void unpack_slabs(std::string_view bytes, int rank, std::vector<std::vector<Slab>>& tensors) {
  Unpacker unpacker(bytes);
  for (auto& slabs : tensors)
    for (auto left = unpacker.number(); left > 0; --left) {
      auto offset = unpacker.shape();
      auto shape = unpacker.shape();
      slabs.push_back({std::move(offset), std::move(shape), rank});
    }
}

/// Approximate maximum number of bytes that all ranks together contribute to one all-gather of slabs.
constexpr std::int64_t gathered_bytes = std::int64_t{16} << 20;

/// Computes a digest of the properties of a State's entries. Must be fast, because it is used at every save.
class Fingerprint {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Fingerprint& add(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Fingerprint& add(const Shape& shape) {
    add(shape.size());
    bytes_.append(reinterpret_cast<const char*>(shape.data()), shape.size() * sizeof shape[0]);
    return *this;
  }
  Fingerprint& add(const std::string& text) {
    add(text.size());
    bytes_ += text;
    return *this;
  }
  std::string digest() const { return io::digest_of(std::string_view(bytes_)); }

 private:
  std::string bytes_;
};

std::string structure_of(const State& state) {
  Fingerprint print;
  for (const auto& entry : state.tensors())
    print.add(entry.name)
        .add(entry.local.dtype)
        .add(entry.placement)
        .add(entry.local.shape)
        .add(entry.global_shape)
        .add(entry.offset);
  for (const auto& entry : state.values()) print.add(entry.name).add(dtype_of(entry)).add(room_of(entry));
  for (const auto& entry : state.files()) print.add(entry.name).add(entry.each_rank);
  return print.digest();
}

/// Returns 60 bits of a digest of all values of the State, so that the ranks can compare their values by an all-reduce.
std::int64_t values_of(const State& state) {
  std::map<std::string, std::string> values;
  for (const auto& entry : state.values()) values[entry.name] = bytes_of(entry);
  Fingerprint print;
  for (const auto& [name, bytes] : values) print.add(name).add(bytes);
  return number_in_digest(print.digest());
}

}  // namespace

void require_alike(const State& state, Communicator& communicator) {
  const auto mine = io::digest_of(std::string_view(pack(describe(state, Agreement::Purpose::plan))));
  const auto over_ranks = comm::agree_min_max(communicator, std::array{number_in_digest(mine), number_in_digest(mine, 15)});
  if (!over_ranks[0].alike() || !over_ranks[1].alike()) fail(communicator, state, Agreement::Purpose::plan);
}

std::string different_values(const State& state, Communicator& communicator) {
  if (comm::agree_min_max(communicator, values_of(state)).alike()) return {};
  return fmt::format("{}\n{}", differences(communicator, state, Agreement::Purpose::save), equal_values);
}

Agreement::Outcome Agreement::update(const State& state, Purpose purpose, bool cannot_save, std::int64_t number) {
  auto structure = structure_of(state);
  const auto values = purpose == Purpose::save ? values_of(state) : 0;
  const auto over_ranks =
      comm::agree_min_max(communicator_, std::array<std::int64_t, 4>{structure != structure_, cannot_save, values, number});
  if (!over_ranks[2].alike()) fail(communicator_, state, purpose);
  const bool new_layout = over_ranks[0].max != 0;
  if (new_layout) exchange(state);
  structure_ = std::move(structure);
  return {new_layout, over_ranks[1].max != 0, over_ranks[3].alike()};
}

void Agreement::exchange(const State& state) {
  require_alike(state, communicator_);
  const auto own_file = file_of_rank_[static_cast<std::size_t>(communicator_.rank())];
  // If rank 0's layout lists all slabs, rank 0 writes the combined view (state.h5) without reading the indices in the shard
  // files. The maximum number of slabs bounds the memory of the layout to a few megabytes.
  const std::size_t max_slabs = communicator_.rank() == 0 ? 16'384 : 0;
  LayoutPlanner planner(state, file_of_rank_, own_file, max_slabs);
  exchange_slabs(state, planner);
  layout_ = planner.finish();
}

/// Exchanges the slabs of all ranks and adds them to `planner`. To limit the memory, each all-gather exchanges the slabs of
/// a few sharded tensors. All ranks have the same number of sharded tensors and therefore make the same all-gathers.
/// Collective.
void Agreement::exchange_slabs(const State& state, LayoutPlanner& planner) {
  const auto held = held_by(state, communicator_.rank());
  if (held.empty()) return;
  std::vector<std::int64_t> bytes;
  for (const auto& slabs : held) bytes.push_back(static_cast<std::int64_t>(packed({&slabs, 1}).size()));
  communicator_.all_reduce(bytes, Op::max);
  for (std::size_t begin = 0; begin < held.size();) {
    auto end = begin + 1;
    for (auto sum = bytes[begin]; end < held.size(); ++end)
      if (sum += bytes[end]; sum > gathered_bytes / communicator_.size()) break;
    std::vector<std::vector<Slab>> tensors(end - begin);
    const auto round = communicator_.all_gather(packed(std::span(held).subspan(begin, end - begin)));
    for (std::size_t rank = 0; rank < round.size(); ++rank) unpack_slabs(round[rank], static_cast<int>(rank), tensors);
    for (auto& slabs : tensors) planner.add(std::move(slabs));
    begin = end;
  }
}

}  // namespace trainrt::checkpoint
