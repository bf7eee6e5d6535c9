#include "checkpoint/format/listing.hpp"

#include <algorithm>
#include <ranges>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/format/validation.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

std::vector<std::int64_t> numbers_in(const std::string& run_dir) {
  std::vector<std::int64_t> numbers;
  for (const auto& name : io::retried([&] { return io::list_if_exists(run_dir); }))
    if (const auto number = number_of(name)) numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

namespace {

/// Returns the metadata of checkpoint `number`, without the result of its validation. Returns nullopt if the manifest is
/// damaged; verify() and load_latest() report that damage.
std::optional<Meta> meta_of(const std::string& run_dir, std::int64_t number) try {
  auto manifest = read_manifest(run_dir + "/" + directory_name(number));
  if (manifest.meta.number != number) return std::nullopt;
  return std::move(manifest.meta);
} catch (const Error&) {
  return std::nullopt;
}

std::optional<Meta> validated_meta_of(const std::string& run_dir, std::int64_t number) try {
  auto meta = meta_of(run_dir, number);
  return meta ? std::optional(with_validation(std::move(*meta), run_dir + "/" + directory_name(number))) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

std::int64_t highest_number(const std::string& run_dir) {
  const auto numbers = numbers_in(run_dir);
  return numbers.empty() ? -1 : numbers.back();
}

std::int64_t number_after(std::int64_t highest, const std::string& run_dir) {
  constexpr std::int64_t max_number = 1'000'000'000'000'000;
  if (highest < max_number) return highest + 1;
  throw UsageError("'" + run_dir + "/" + directory_name(highest) +
                   "' has a number that is too high: the next checkpoint needs a higher one. Rename this directory");
}

std::vector<Meta> list(const std::string& run_dir) {
  std::vector<Meta> metas;
  for (const auto number : numbers_in(run_dir))
    if (auto meta = validated_meta_of(run_dir, number)) metas.push_back(std::move(*meta));
  return metas;
}

std::optional<Meta> newest(const std::string& run_dir) {
  for (const auto number : std::views::reverse(numbers_in(run_dir)))
    if (auto meta = meta_of(run_dir, number)) return meta;
  return std::nullopt;
}

}  // namespace trainrt::checkpoint
