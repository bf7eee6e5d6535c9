#include "frameworks/trees/categories.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "frameworks/trees/row_lists.hpp"

namespace trainrt::frameworks::trees {

namespace {

constexpr std::size_t scan_rows = 4096;
constexpr std::size_t scan_bytes = 8 << 20;
constexpr std::size_t max_categories = 1 << 16;

using Texts = std::set<std::string, std::less<>>;

void require_max_categories(const Texts& texts, const std::string& field) {
  if (texts.size() > max_categories)
    throw UsageError(
        fmt::format("[data.train] field '{}' has more than {} different texts: too many for a categorical feature", field,
                    max_categories));
}

/// Returns whether `text` is valid UTF-8, which the JSON in checkpoints requires.
bool is_utf8(const std::string& text) try {
  static_cast<void>(nlohmann::json(text).dump());
  return true;
} catch (const nlohmann::json::type_error&) {
  return false;
}

/// Returns the beginning of a text for a message. Bytes that are not printable ASCII are escaped, for example as \x1b.
std::string printable(std::string_view text) {
  constexpr std::size_t max_shown = 60;
  std::string shown;
  for (const char c : text.substr(0, max_shown))
    shown += c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return shown + (text.size() > max_shown ? fmt::format("... ({} bytes)", text.size()) : "");
}

void require_utf8(const std::string& text, const std::string& field, std::uint64_t sample) {
  if (!is_utf8(text))
    throw UsageError(
        fmt::format("[data.train] categorical field '{}' of sample {} holds the text '{}', which is not UTF-8: convert the "
                    "texts to UTF-8",
                    field, sample, printable(text)));
}

Texts texts_of_part(Context& ctx, const Dataset& data, const std::string& field) {
  Texts texts;
  const auto part = part_of(data.size(), ctx.world_rank(), ctx.world_size());
  for (const auto& batch : data.epoch(0).range(part.first, part.count, scan_rows)) {
    for (std::size_t i = 0; i < batch.size(); ++i)
      if (const auto text = batch.text(field, i); !text.empty() && !texts.contains(text))
        require_utf8(*texts.emplace(text).first, field, batch.indices()[i]);
    require_max_categories(texts, field);
  }
  return texts;
}

/// Joins texts into one string: each text, which may contain any bytes, is preceded by its length and a colon.
std::string packed(const Texts& texts) {
  std::string bytes;
  for (const auto& text : texts) bytes += fmt::format("{}:{}", text.size(), text);
  return bytes;
}

void unpack(std::string_view bytes, Texts& into) {
  while (!bytes.empty()) {
    const auto colon = bytes.find(':');
    const auto length = std::stoull(std::string(bytes.substr(0, colon)));
    into.emplace(bytes.substr(colon + 1, length));
    bytes.remove_prefix(colon + 1 + length);
  }
}

}  // namespace

SampleRange part_of(std::uint64_t size, int rank, int ranks) {
  const auto begin = [&](int r) {
    const auto each = size / static_cast<std::uint64_t>(ranks);
    const auto more = size % static_cast<std::uint64_t>(ranks);
    return each * static_cast<std::uint64_t>(r) + std::min<std::uint64_t>(more, static_cast<std::uint64_t>(r));
  };
  return {begin(rank), begin(rank + 1) - begin(rank)};
}

void gather_categories(Context& ctx, const Dataset& data, TableLayout& layout) {
  for (auto& feature : layout.features) {
    const auto field = std::ranges::find(data.fields(), feature.field, &Dataset::Field::name);
    if (!feature.is_categorical || !field->varies) continue;
    Texts all;
    for (const auto& bytes : ctx.communicator().all_gather(packed(texts_of_part(ctx, data, feature.field))))
      unpack(bytes, all);
    require_max_categories(all, feature.field);
    if (all.empty())
      throw UsageError(fmt::format(
          "[data.train] categorical field '{}' has only empty texts; remove it from [loop] categorical", feature.field));
    feature.categories.assign(all.begin(), all.end());
  }
}

std::uint64_t counted_columns(Context& ctx, const Dataset& data, const std::string& indices) {
  ColumnSource source{.set = "train",
                      .field = indices,
                      .columns = std::numeric_limits<std::int32_t>::max(),
                      .limit = "the maximum number of columns that the libraries support"};
  std::uint64_t count = 0;
  const auto part = part_of(data.size(), ctx.world_rank(), ctx.world_size());
  const auto rows = rows_of_lists(data, part, indices, scan_bytes, sizeof(std::int64_t));
  for (const auto& batch : data.epoch(0).range(part.first, part.count, rows)) {
    const RowLists lists(data, batch, indices);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      source.sample = batch.indices()[i];
      for_each_column(lists.of(i), source,
                      [&](std::int32_t column) { count = std::max(count, static_cast<std::uint64_t>(column) + 1); });
    }
  }
  return static_cast<std::uint64_t>(ctx.communicator().all_reduced(static_cast<std::int64_t>(count), Op::max));
}

}  // namespace trainrt::frameworks::trees
