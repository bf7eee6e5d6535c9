#include "data/skipping_reader.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/log.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

void SkippingReader::read(const Source& source, std::vector<std::uint64_t>& samples, std::span<Column> columns) {
  if (samples.empty()) return source.read(samples, columns);
  try {
    return source.read(samples, columns);
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
  if (good.empty())
    throw Error(fmt::format("dataset '{}': none of the {} samples of a batch can be read; the last one: {}", dataset_,
                            samples.size(), why));
  samples = std::move(good);
  source.read(samples, columns);
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
