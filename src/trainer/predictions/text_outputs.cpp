#include "trainer/predictions/text_outputs.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "core/text/text.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

constexpr std::size_t batch_size = 64;

void require_text(std::string_view text, const std::string& field, std::uint64_t sample, const std::string& dataset) {
  if (is_utf8(text) && text.find('\0') == std::string_view::npos) return;
  throw UsageError(
      fmt::format("--keep {}: the text of sample {} of [data.{}] {}; only UTF-8 texts without NULs can be copied", field,
                  sample, dataset, is_utf8(text) ? "contains a NUL" : "is not UTF-8"));
}

/// Reads this rank's subset of the samples, and raises `sizes` to the maximum size of a text in each field, in bytes.
void read_part(const Dataset& dataset, const std::string& name, const Communicator& communicator,
               std::map<std::string, std::int64_t>& sizes) {
  const auto rank = static_cast<std::uint64_t>(communicator.rank()),
             ranks = static_cast<std::uint64_t>(communicator.size());
  const auto first = dataset.size() / ranks * rank + std::min(rank, dataset.size() % ranks);
  const auto count = dataset.size() / ranks + (rank < dataset.size() % ranks ? 1 : 0);
  if (count == 0) return;
  for (const auto& batch : dataset.epoch(0).range(first, count, batch_size))
    for (auto& [field, size] : sizes)
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto text = batch.text(field, i);
        require_text(text, field, batch.indices()[i], name);
        size = std::max(size, static_cast<std::int64_t>(text.size()));
      }
}

}  // namespace

bool is_text(const Dataset::Field& field) { return field.varies && field.dtype == DType::u8; }

std::map<std::string, std::int64_t> text_sizes(const Dataset& dataset, const std::string& dataset_name,
                                               const std::vector<KeptField>& kept, Communicator& communicator) {
  std::map<std::string, std::int64_t> sizes;
  for (const auto& field : dataset.fields())
    if (is_text(field) && std::ranges::find(kept, field.name, &KeptField::field) != kept.end()) sizes[field.name] = 1;
  if (sizes.empty()) return sizes;
  comm::collectively(
      communicator, [&] { read_part(dataset, dataset_name, communicator, sizes); }, with_advice);
  for (auto& [field, size] : sizes) size = communicator.all_reduced(size, Op::max);
  return sizes;
}

std::string padded_texts(const Batch& batch, const std::string& field, std::int64_t size) {
  const auto bytes = static_cast<std::size_t>(size);
  std::string rows(batch.size() * bytes, '\0');
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto text = batch.text(field, i);
    if (text.size() > bytes)
      throw Error(
          fmt::format("--keep {}: the text of sample {} is longer than when the dataset was read for the first time. The "
                      "dataset was changed in between; run the command again",
                      field, batch.indices()[i]));
    text.copy(rows.data() + i * bytes, text.size());
  }
  return rows;
}

}  // namespace trainrt::trainer
