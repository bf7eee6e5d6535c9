#include "data/source/skipping_reader.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

bool skips_errors(const Options& options) {
  const auto* const given = options.find("on_error");
  return given != nullptr && given->text == "skip";
}

void SkippingReader::read(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns) {
  if (samples.empty()) return source.read(samples, columns);
  const auto count = samples.size();
  const auto reason = read_good(source, samples, columns);
  if (samples.empty())
    throw Error(
        fmt::format("dataset '{}': no sample of a batch of {} can be read; the last error: {}", dataset_, count, reason));
}

void SkippingReader::read_if_any(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns) {
  read_good(source, samples, columns);
  if (!samples.empty()) return;
  for (auto& column : columns) column.clear();
}

/// Reads the samples that can be read, and removes the others from `samples`. Returns the reason why the last removed
/// sample could not be read; "" if no sample was removed.
std::string SkippingReader::read_good(const Source& source, std::vector<std::uint64_t>& samples,
                                      std::span<Column> columns) {
  try {
    source.read(samples, columns);
    return {};
  } catch (const io::StorageError&) {
    throw;
  } catch (const Error&) {  // below, each sample is read alone to find those that cause the error
  }
  std::vector<std::uint64_t> good;
  std::string reason;
  for (const auto& sample : samples) try {
      source.read({&sample, 1}, columns);
      good.push_back(sample);
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      reason = error.what();
      count_skipped(sample, reason);
    }
  samples = std::move(good);
  if (!samples.empty()) source.read(samples, columns);
  return reason;
}

/// Counts a skipped sample. Logs each of the first `max_single` skipped samples. Then logs one message each time the
/// number of skipped samples has grown by a factor of ten.
void SkippingReader::count_skipped(std::uint64_t sample, const std::string& reason) {
  constexpr std::uint64_t max_single = 10;
  const auto count = ++skipped_;
  if (count <= max_single) log::warning(fmt::format("dataset '{}': sample {} is skipped: {}", dataset_, sample, reason));
  for (auto next = max_single * 10; next <= count; next *= 10)
    if (count == next)
      log::warning(
          fmt::format("dataset '{}': {} samples were skipped so far; the last error: {}", dataset_, count, reason));
}

}  // namespace trainrt::data
