#include "checkpoint/format/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <trainrt/error.hpp>

#include "checkpoint/format/json_cursor.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "io/files/digest.hpp"

namespace trainrt::checkpoint {

namespace {

using Text = std::back_insert_iterator<std::string>;

/// Appends `name` as a JSON string. Only names with special characters are passed to the JSON library, which is slower.
void put_name(std::string& text, const std::string& name) {
  const auto plain = [](unsigned char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
  if (std::all_of(name.begin(), name.end(), plain))
    fmt::format_to(Text(text), "\"{}\"", name);
  else
    text += Json(name).dump();
}

void put_entry(std::string& text, const IndexEntry& entry) {
  text += '[';
  put_name(text, entry.name);
  fmt::format_to(Text(text), ",\"{}\",\"{}\",[{}],[{}],[{}],{},{}]", entry.dtype, entry.placement,
                 fmt::join(entry.global_shape, ","), fmt::join(entry.offset, ","), fmt::join(entry.shape, ","), entry.at,
                 entry.bytes);
}

IndexEntry entry_from(JsonCursor& cursor) {
  IndexEntry entry;
  const auto next = [&](std::string_view field) {
    cursor.expect(',', "one of its 8 fields");
    return field;
  };
  cursor.expect('[', "a list of 8 fields");
  entry.name = cursor.text("name");
  entry.dtype = cursor.text(next("dtype"));
  entry.placement = cursor.text(next("placement"));
  entry.global_shape = cursor.shape(next("global shape"));
  entry.offset = cursor.shape(next("offset"));
  entry.shape = cursor.shape(next("shape"));
  entry.at = cursor.count(next("position"));
  entry.bytes = cursor.count(next("size"));
  cursor.expect(']', "its end after 8 fields");
  if (entry.name.empty()) cursor.fail("has no name");
  return entry;
}

/// Returns the size of a slab in bytes; nullopt if the size exceeds the maximum of std::int64_t. For an empty slab, the
/// product of the axes that are not 0 must not exceed the maximum either, so that later computations do not overflow.
std::optional<std::uint64_t> slab_bytes(const Shape& shape, std::uint64_t element_bytes) {
  std::int64_t bytes = static_cast<std::int64_t>(element_bytes);
  bool empty = false;
  for (const auto extent : shape) {
    empty = empty || extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

bool lies_inside(const IndexEntry& entry) {
  const auto axes = entry.global_shape.size();
  if (entry.offset.size() != axes || entry.shape.size() != axes) return false;
  for (std::size_t axis = 0; axis < axes; ++axis)
    if (entry.shape[axis] > entry.global_shape[axis] || entry.offset[axis] > entry.global_shape[axis] - entry.shape[axis])
      return false;
  return true;
}

DType known_dtype(const IndexEntry& entry, const JsonCursor& cursor) try {
  return dtype_from(entry.dtype);
} catch (const UsageError&) {
  cursor.fail("has the unknown dtype '" + entry.dtype + "'");
}

void check_place(const IndexEntry& entry, const JsonCursor& cursor) {
  if (entry.at > std::numeric_limits<std::int64_t>::max() - entry.bytes) cursor.fail("has a position that is too large");
}

IndexEntry tensor_from(JsonCursor& cursor) {
  auto entry = entry_from(cursor);
  const auto element = size_of(known_dtype(entry, cursor));
  if (entry.placement != "replicated" && entry.placement != "sharded" && entry.placement != "per_rank")
    cursor.fail("has the unknown placement '" + entry.placement + "'");
  if (!lies_inside(entry)) cursor.fail("has a slab that is outside its tensor");
  if (entry.placement == "per_rank" && entry.shape != entry.global_shape)
    cursor.fail("is per_rank, but its slab is not the complete tensor");
  if (!slab_bytes(entry.global_shape, element)) cursor.fail("has a global shape that is too large");
  if (slab_bytes(entry.shape, element) != entry.bytes) cursor.fail("has a size that does not match its shape");
  check_place(entry, cursor);
  return entry;
}

IndexEntry value_from(JsonCursor& cursor) {
  auto entry = entry_from(cursor);
  if (entry.placement != value_placement) cursor.fail("has the placement '" + entry.placement + "', not 'value'");
  if (!entry.global_shape.empty() || !entry.offset.empty() || !entry.shape.empty()) cursor.fail("has a shape");
  if (entry.dtype != "string") {
    if (entry.dtype != "i64" && entry.dtype != "f64" && entry.dtype != "bool")
      cursor.fail("has the dtype '" + entry.dtype + "', which is invalid for values");
    if (entry.bytes != size_of(known_dtype(entry, cursor))) cursor.fail("has a size that does not match its dtype");
  }
  check_place(entry, cursor);
  return entry;
}

BlockRecord block_from(JsonCursor& cursor) {
  BlockRecord block;
  cursor.expect('[', "a list of 3 fields");
  block.at = cursor.count("position");
  cursor.expect(',', "one of its 3 fields");
  block.bytes = cursor.count("size");
  cursor.expect(',', "one of its 3 fields");
  block.digest = cursor.text("digest");
  cursor.expect(']', "its end after 3 fields");
  if (block.bytes == 0 || block.bytes > block_bytes) cursor.fail("has an invalid block size");
  if (!is_digest(block.digest)) cursor.fail("has an invalid digest");
  return block;
}

template <class Entry>
std::vector<Entry> list_from(JsonCursor& cursor, std::string_view key, Entry (*entry_from)(JsonCursor&)) {
  cursor.expect(',', "a comma");
  cursor.expect_key(key);
  cursor.expect('[', fmt::format("the list '{}'", key));
  std::vector<Entry> entries;
  if (!cursor.take(']')) {
    do {
      cursor.at_entry(key, entries.size());
      entries.push_back(entry_from(cursor));
    } while (cursor.take(','));
    cursor.expect(']', "a comma or the end of the list after it");
  }
  cursor.at_entry({}, 0);
  return entries;
}

void expect_format(JsonCursor& cursor) {
  cursor.expect('{', "its beginning");
  cursor.expect_key("format");
  if (const auto format = cursor.text("format"); format != index_format) cursor.fail("has the format '" + format + "'");
  cursor.expect(',', "a comma");
  cursor.expect_key("version");
  if (const auto version = cursor.count("version"); version != static_cast<std::uint64_t>(format_version))
    cursor.fail(fmt::format("has version {}; this trainrt reads version {}", version, format_version));
  cursor.expect(',', "a comma");
}

}  // namespace

std::string entries_text(const std::vector<IndexEntry>& entries) {
  std::string text = "[";
  for (const auto& entry : entries) {
    if (text.size() > 1) text += ',';
    put_entry(text, entry);
  }
  return text + ']';
}

std::string index_text(int rank, std::string_view tensors_text, std::string_view values_text,
                       const std::vector<BlockRecord>& blocks, std::size_t padded_bytes) {
  std::string text;
  text.reserve(padded_bytes);
  fmt::format_to(Text(text), R"({{"format":"{}","version":{},"rank":{},"tensors":)", index_format, format_version, rank);
  text.append(tensors_text).append(R"(,"values":)").append(values_text).append(R"(,"blocks":[)");
  for (std::size_t i = 0; i < blocks.size(); ++i)
    fmt::format_to(Text(text), R"({}[{},{},"{}"])", i == 0 ? "" : ",", blocks[i].at, blocks[i].bytes, blocks[i].digest);
  text += "]}";
  if (text.size() > padded_bytes)
    throw std::logic_error(fmt::format("an index has {} bytes, but only {} were reserved", text.size(), padded_bytes));
  text.resize(padded_bytes, ' ');
  return text;
}

std::string digest_of_blocks(const std::vector<BlockRecord>& blocks) {
  std::string digests;
  for (const auto& block : blocks) digests += block.digest;
  return io::digest_of(digests);
}

Index index_from(std::string_view text, const std::string& path) {
  JsonCursor cursor(text, path);
  expect_format(cursor);
  Index index;
  cursor.expect_key("rank");
  const auto rank = cursor.count("rank");
  if (rank > std::numeric_limits<int>::max()) cursor.fail("has a rank that is too large");
  index.rank = static_cast<int>(rank);
  index.tensors = list_from(cursor, "tensors", tensor_from);
  index.values = list_from(cursor, "values", value_from);
  index.blocks = list_from(cursor, "blocks", block_from);
  cursor.expect('}', "its end");
  cursor.end();
  return index;
}

}  // namespace trainrt::checkpoint
