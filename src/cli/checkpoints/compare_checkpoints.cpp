#include "cli/checkpoints/compare_checkpoints.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "cli/checkpoints/select_entries.hpp"
#include "cli/checkpoints/tensor_elements.hpp"
#include "cli/checkpoints/tensor_stream.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

using checkpoint::PieceReader;

namespace {

/// The elements of a tensor that differ between two checkpoints.
class DifferingElements {
 public:
  /// Compares consecutive elements of a tensor. `piece` are those of the first checkpoint, `other` those of the second.
  void add(const TensorPiece& piece, std::span<const std::byte> other) {
    if (std::memcmp(piece.bytes.data(), other.data(), other.size()) == 0) return;
    with_element_type(piece.tensor.dtype, [&]<class T>(T, auto value_of) {
      for (std::size_t at = 0; at < other.size(); at += sizeof(T)) {
        if (std::memcmp(piece.bytes.data() + at, other.data() + at, sizeof(T)) == 0) continue;
        T mine{}, theirs{};
        std::memcpy(&mine, piece.bytes.data() + at, sizeof(T));
        std::memcpy(&theirs, other.data() + at, sizeof(T));
        const auto value = static_cast<double>(value_of(mine)), other_value = static_cast<double>(value_of(theirs));
        if (count_++ == 0) {
          first_ = (piece.first + at) / sizeof(T);
          first_values_ = fmt::format("{} and {}", value_of(mine), value_of(theirs));
        }
        if (const auto distance = std::abs(value - other_value); distance > max_distance_) max_distance_ = distance;
      }
    });
  }

  /// Returns "3 of 10 elements differ, by at most 1.5e-07; the first is [2, 0]: 0.5 and 0.6"; "" if no element differs.
  /// Omits the maximum if it is unknown, because all differing elements are NaN or zeros with different signs.
  std::string text(const Shape& shape) const {
    if (count_ == 0) return {};
    Shape index(shape.size());
    auto rest = static_cast<std::int64_t>(first_);
    for (auto axis = shape.size(); axis-- > 0; rest /= shape[axis]) index[axis] = rest % shape[axis];
    return fmt::format("{} of {} elements differ{}; the first is {}: {}", count_, element_count(shape),
                       max_distance_ > 0 ? fmt::format(", by at most {:.3g}", max_distance_) : "", to_string(index),
                       first_values_);
  }

 private:
  std::uint64_t count_ = 0, first_ = 0;
  double max_distance_ = 0;  // of the pairs without NaN
  std::string first_values_;
};

/// Returns the items of two lists by name; nullptr if a list has no item with the name.
template <class Item>
std::map<std::string, std::pair<const Item*, const Item*>> pairs_of(const std::vector<const Item*>& first,
                                                                    const std::vector<const Item*>& second) {
  std::map<std::string, std::pair<const Item*, const Item*>> pairs;
  for (const auto* item : first) pairs[item->name].first = item;
  for (const auto* item : second) pairs[item->name].second = item;
  return pairs;
}

/// Compares pairs of pairs_of(). difference_of(a, b) returns how two items differ, or "". Returns the number of pairs.
template <class Pairs, class DifferenceOf>
std::size_t compare_pairs(const char* kind, const Pairs& pairs, std::vector<Difference>& differences,
                          const DifferenceOf& difference_of) {
  for (const auto& [name, pair] : pairs) {
    const auto [a, b] = pair;
    const auto text = a == nullptr   ? "only in the second checkpoint"
                      : b == nullptr ? "only in the first checkpoint"
                                     : difference_of(*a, *b);
    if (!text.empty()) differences.push_back({kind, name, text});
  }
  return pairs.size();
}

template <class Item>
std::vector<const Item*> pointers_to(const std::vector<Item>& items) {
  std::vector<const Item*> pointers;
  for (const auto& item : items) pointers.push_back(&item);
  return pointers;
}

std::string layout_of(const PieceReader::Tensor& tensor) {
  return fmt::format("{} {}", trainrt::name_of(tensor.dtype), to_string(tensor.shape));
}

std::string text_of(const PieceReader::NamedValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return fmt::format("'{}'", excerpt(*text, 60));
  return std::visit([](const auto& each) { return fmt::format("{}", each); }, value.value);
}

std::string value_difference(const PieceReader::NamedValue& a, const PieceReader::NamedValue& b) {
  const auto *number = std::get_if<double>(&a.value), *other = std::get_if<double>(&b.value);
  const bool are_equal = number != nullptr && other != nullptr
                             ? std::bit_cast<std::uint64_t>(*number) == std::bit_cast<std::uint64_t>(*other)
                             : a.value == b.value;
  return are_equal ? "" : fmt::format("{} and {}", text_of(a), text_of(b));
}

std::string file_difference(const checkpoint::FileRecord& a, const checkpoint::FileRecord& b) {
  if (a.bytes != b.bytes) return fmt::format("{} and {} bytes", a.bytes, b.bytes);
  return a.digest == b.digest ? "" : "different bytes";
}

/// The selected entries of the second checkpoint. Unlike select_entries(), accepts that there are none.
SelectedEntries entries_of_second(const PieceReader& reader, const std::vector<std::string>& pattern) try {
  return select_entries(reader, pattern);
} catch (const UsageError&) {
  return {};
}

}  // namespace

Comparison compare_checkpoints(const PieceReader& first, const PieceReader& second, const std::vector<std::string>& pattern,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  const auto mine = select_entries(first, pattern), theirs = entries_of_second(second, pattern);
  const auto tensors = pairs_of(mine.tensors, theirs.tensors);
  TensorPairs same_layout;
  std::uint64_t all = 0, done = 0;
  for (const auto& [name, pair] : tensors)
    if (const auto [a, b] = pair; a != nullptr && b != nullptr && layout_of(*a) == layout_of(*b)) {
      same_layout.emplace_back(a, b);
      all += bytes_of(*a);
    }
  std::map<const PieceReader::Tensor*, DifferingElements> elements;  // by tensor of the first checkpoint
  stream_tensor_pairs(first, second, same_layout, [&](const TensorPiece& piece, std::span<const std::byte> other) {
    elements[&piece.tensor].add(piece, other);
    progress(done += other.size(), all);
  });

  Comparison result;
  result.tensors = compare_pairs("tensor", tensors, result.differences, [&](const auto& a, const auto& b) {
    const auto layout = layout_of(a), other = layout_of(b);
    return layout == other ? elements[&a].text(a.shape) : fmt::format("{} and {}", layout, other);
  });
  result.values = compare_pairs("value", pairs_of(mine.values, theirs.values), result.differences, value_difference);
  if (pattern.empty())
    result.files =
        compare_pairs("file", pairs_of(pointers_to(first.manifest().files), pointers_to(second.manifest().files)),
                      result.differences, file_difference);
  return result;
}

}  // namespace trainrt::cli
