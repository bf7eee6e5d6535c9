#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/source/format.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

/// Reads a file by a data format as a run does: probes it, opens it, reads the first and the last sample, and checks them
/// against the probe. Returns nothing if the file is refused.
inline std::optional<data::FileContent> read_through(const data::Format& format, const data::DataFile& file, bool keep,
                                                     const std::vector<std::string>& keys = {}) {
  Options given;
  for (const auto& key : keys) given.set(key.substr(0, key.find('=')), {key.substr(key.find('=') + 1), "x.ini:1"});
  const auto options = checked(given, format.options, "[data.x]");
  auto content = unless_refused<UsageError>([&] { return format.probe(file, options); });
  if (!content) return content;
  const auto source = unless_refused([&] { return format.open(file, *content, options, keep); });
  if (!source) return content;
  require((*source)->size() == content->samples, "a source has as many samples as the look at its file has found");
  require((*source)->fields().size() == content->fields.size(),
          "a source has the fields that the look at its file has found");
  if (content->samples == 0) return content;
  std::vector<data::Column> columns((*source)->fields().size());
  for (std::size_t field = 0; field < columns.size(); ++field) columns[field].field = field;
  const std::vector<std::uint64_t> ends{0, content->samples - 1};
  const auto is_read = unless_refused([&] { return (*source)->read(ends, columns), true; });
  for (std::size_t field = 0; is_read && field < columns.size(); ++field)
    if (!content->fields[field].varies)
      require(columns[field].values.size() == 2 * data::sample_bytes(content->fields[field]),
              "a sample has the size of its field");
  return content;
}

}  // namespace trainrt::fuzz
