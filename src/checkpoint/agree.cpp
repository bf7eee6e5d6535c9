#include "checkpoint/agree.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <trainrt/error.hpp>

#include "checkpoint/pack.hpp"
#include "core/text.hpp"
#include "io/digest.hpp"

namespace trainrt::checkpoint {

namespace {

using Descriptions = std::map<std::string, std::string>;  // of all entries, by name

std::string text_of(std::int64_t value) { return "value " + std::to_string(value); }
std::string text_of(double value) {
  std::array<char, 64> text{};  // with the bits, which tell NaNs and zeros apart
  std::snprintf(text.data(), text.size(), "value %.17g (bits %016llx)", value,
                static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
  return text.data();
}
std::string text_of(bool value) { return value ? "value true" : "value false"; }
std::string text_of(const std::string& value) { return "value \"" + value + "\""; }

Descriptions describe(const State& state) {
  Descriptions lines;
  for (const auto& entry : state.tensors())
    lines[entry.name] = "tensor of " + std::string(trainrt::name_of(entry.local.dtype)) + " " +
                        to_string(entry.global_shape) + ", " + std::string(name_of(entry.placement));
  for (const auto& entry : state.values())
    lines[entry.name] = std::visit(
        [](const auto* value) {
          if constexpr (std::is_same_v<decltype(value), const std::int32_t*>)
            return text_of(std::int64_t{*value});
          else
            return text_of(*value);
        },
        entry.value);
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

/// "'epoch': value 3 on rank 0; value 4 on ranks 1, 2", or "" where all ranks say the same.
std::string difference(const std::string& name, const std::vector<Descriptions>& ranks) {
  std::map<std::string, std::vector<std::string>> said;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto found = ranks[rank].find(name);
    said[found == ranks[rank].end() ? "missing" : found->second].push_back(std::to_string(rank));
  }
  if (said.size() == 1) return "";
  std::vector<std::string> parts;
  for (const auto& [text, who] : said)
    parts.push_back(shortened(text) + " on rank" + (who.size() > 1 ? "s " : " ") + shortened(join(who)));
  return "'" + name + "': " + join(parts, "; ");
}

[[noreturn]] void fail(const std::vector<Descriptions>& ranks) {
  Descriptions all;
  for (const auto& lines : ranks) all.insert(lines.begin(), lines.end());
  std::string text = "State differs between the ranks, so it cannot be saved:";
  for (const auto& [name, line] : all)
    if (const auto found = difference(name, ranks); !found.empty()) text += "\n  " + found;
  throw Error(text + "\nEvery rank must name the same tensors, and values must be equal on all ranks (reduce them first).");
}

std::vector<Slab> held_by(const State& state, int rank) {
  std::vector<Slab> slabs;
  for (const auto* entry : tensors_by_name(state))
    if (entry->placement == Placement::sharded) slabs.push_back({entry->offset, entry->local.shape, rank});
  return slabs;
}

}  // namespace

Layout agree(const State& state, Communicator& communicator) {
  const auto mine = pack(describe(state));
  Packer packer;
  packer.put(io::digest_of(mine));
  for (const auto& slab : held_by(state, communicator.rank())) packer.put(slab.offset).put(slab.shape);

  std::vector<std::vector<Slab>> held;
  std::string first_digest;
  bool same = true;
  for (const auto& bytes : communicator.all_gather(packer.bytes())) {
    Unpacker unpacker(bytes);
    const auto digest = unpacker.text();
    if (held.empty()) first_digest = digest;
    same = same && digest == first_digest;
    auto& slabs = held.emplace_back();
    while (!unpacker.done()) {
      auto offset = unpacker.shape();
      auto shape = unpacker.shape();
      slabs.push_back({std::move(offset), std::move(shape), static_cast<int>(held.size()) - 1});
    }
  }
  if (!same) {
    std::vector<Descriptions> ranks;
    for (const auto& bytes : communicator.all_gather(mine)) ranks.push_back(unpack(bytes));
    fail(ranks);
  }
  return plan_layout(state, held);
}

}  // namespace trainrt::checkpoint
