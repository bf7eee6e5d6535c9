#pragma once
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "data/section/open_dataset.hpp"
#include "data/section/prepare.hpp"

namespace contract {

using Samples = std::vector<std::string>;  ///< for each sample of a walk, its number and the bytes of all its fields

inline void append_sample(const trainrt::Batch& batch, const std::vector<trainrt::Dataset::Field>& fields,
                          std::size_t sample, std::string& bytes) {
  for (const auto& field : fields) {
    const auto view = field.varies ? batch.varying(field.name, sample) : batch.field(field.name);
    const auto count = field.varies ? view.bytes() : view.bytes() / batch.size();
    const auto* const first = static_cast<const char*>(view.data) + (field.varies ? 0 : sample * count);
    bytes += fmt::format("{}:", count);
    if (count > 0) bytes.append(first, count);
  }
}

/// Opens a dataset and applies its steps, as a run does.
inline std::shared_ptr<trainrt::DatasetImpl> prepared(const trainrt::Options& section) {
  namespace data = trainrt::data;
  const auto listing = data::list_dataset("train", section);
  data::require_steps({{"train", section}}, {{"train", listing}});
  auto dataset = data::open_dataset("train", section, listing, {}, 1);
  data::prepare(*dataset, section, listing);
  return dataset;
}

/// Reads the samples of epoch 0 from the position of `dataset` on, at most `max_batches` batches.
inline Samples walk(const std::shared_ptr<trainrt::DatasetImpl>& dataset, std::size_t batch_size,
                    std::size_t max_batches = 1000) {
  Samples samples;
  const trainrt::Dataset view(dataset);
  auto batches = view.epoch(0).batches(batch_size, trainrt::Remainder::uneven);
  std::size_t taken = 0;
  for (auto batch = batches.begin(); taken < max_batches && batch != batches.end(); ++taken) {
    for (std::size_t i = 0; i < (*batch).size(); ++i) {
      samples.emplace_back(fmt::format("{}=", (*batch).indices()[i]));
      append_sample(*batch, view.fields(), i, samples.back());
    }
    if (taken + 1 < max_batches) ++batch;
  }
  return samples;
}

/// Returns the samples that a run reads if it is stopped after `taken` samples and restarted. `open` opens the dataset.
template <class Open>
Samples walk_after_restart(const Open& open, std::size_t taken) {
  const auto stopped = open();
  auto batches = trainrt::Dataset(stopped).epoch(0).batches(1, trainrt::Remainder::uneven);
  auto batch = batches.begin();
  for (std::size_t i = 1; i < taken; ++i) ++batch;
  const auto restarted = open();
  restarted->walk().restore(stopped->walk().cursor(), restarted->plan().steps_text());
  return walk(restarted, 1);
}

/// Checks that a dataset that resumes after any of its samples gives the same remaining samples as an uninterrupted walk.
/// Returns the samples of that walk.
template <class Open>
Samples check_restarts(const Open& open) {
  const auto all = walk(open(), 1);
  for (std::size_t taken = 1; taken < all.size(); ++taken) {
    INFO("stopped after " << taken << " samples");
    CHECK(walk_after_restart(open, taken) == Samples(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end()));
  }
  return all;
}

}  // namespace contract
