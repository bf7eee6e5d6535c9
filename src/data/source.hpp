#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

#include "core/options.hpp"
#include "core/plugin.hpp"

namespace trainrt::data {

/// Random access to samples, read-only after opening.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::vector<Dataset::Field>& fields() const = 0;
  /// Copies the samples with these numbers, one after another, to `out` (indices.size() * bytes of a sample).
  virtual void gather(std::size_t field, std::span<const std::uint64_t> indices, std::byte* out) const = 0;
};

/// A plug-in: one file in data/formats. Its options are the keys of [data.NAME] beside `format` and `shuffle`.
struct Format {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  /// Quick look without reading the data: files there, readable, header sane, long enough. Throws UsageError that names the
  /// file, what is wrong and what is expected. Called before a run directory is made.
  void (*check)(const Options& options);
  /// Reads or maps the data. Throws UsageError as check() does.
  std::unique_ptr<Source> (*open)(const Options& options);
  /// Whether a source of that name is of this format, if the section names none; nullptr if no name tells.
  bool (*is_name_of)(std::string_view source) = nullptr;
};

PluginTable<Format> format_table();

}  // namespace trainrt::data
