#include "data/source/skipping_reader.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

void SkippingReader::read(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns) {
  if (samples.empty()) return source.read(samples, columns);
  const auto count = samples.size();
  const auto why = read_good(source, samples, columns);
  if (samples.empty())
    throw Error(
        fmt::format("dataset '{}': none of the {} samples of a batch can be read; the last one: {}", dataset_, count, why));
}

void SkippingReader::read_if_any(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns) {
  read_good(source, samples, columns);
  if (!samples.empty()) return;
  for (auto& column : columns) {
    column.values.clear();
    column.ends.clear();
  }
}

/// Why the last one was skipped.
std::string SkippingReader::read_good(const Source& source, std::vector<std::uint64_t>& samples,
                                      std::span<Column> columns) {
  try {
    source.read(samples, columns);
    return {};
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error&) {  // of which samples is found out below
  }
  std::vector<std::uint64_t> good;
  std::string why;
  for (const auto& sample : samples) try {
      source.read({&sample, 1}, columns);
      good.push_back(sample);
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      why = error.what();
      note(sample, why);
    }
  samples = std::move(good);
  if (!samples.empty()) source.read(samples, columns);
  return why;
}

/// The first ones each, then when there are ten times as many.
void SkippingReader::note(std::uint64_t sample, const std::string& why) {
  const auto count = ++skipped_;
  constexpr std::uint64_t most_told = 10;
  if (count <= most_told) log::warning(fmt::format("dataset '{}': sample {} is skipped: {}", dataset_, sample, why));
  for (auto next = most_told * 10; next <= count; next *= 10)
    if (count == next)
      log::warning(fmt::format("dataset '{}': {} samples were skipped so far; the last one: {}", dataset_, count, why));
}

}  // namespace trainrt::data
