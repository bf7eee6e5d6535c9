#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cli/datasets/source_choice.hpp"
#include "data/section/open_dataset.hpp"

namespace trainrt::cli::datasets {

/// A dataset as a tool reads it: once, from one end to the other, so nothing of it is kept in memory.
struct OpenedData {
  std::string name;
  Options keys;  ///< as they were given
  std::uint64_t seed = 0;
  data::Listing listing;
  std::shared_ptr<DatasetImpl> dataset;   ///< of one rank alone
  std::map<std::string, Options> others;  ///< the other sections of the config, which may have class names

  /// Samples as the keys that change values make them, without what is drawn at random.
  const data::Source& source() const { return *dataset->source(); }
  const std::vector<Dataset::Field>& fields() const { return dataset->source()->fields(); }
  std::uint64_t size() const { return dataset->source()->size(); }
};

/// Lists and opens it, for passes in the order of the files: of keys that say how a run reads it (order, memory), none
/// counts. Throws as data::list_dataset(). With keys that make other samples it is what these make, and what
/// `preprocess` makes of them.
OpenedData open_data(const SourceChoice& choice);

/// Bytes that a sample takes in memory; of fields that vary in length about that, by the sizes of the files.
std::uint64_t about_sample_bytes(const OpenedData& opened);

/// Samples that are read at once: a few MiB, whole chunks.
std::uint64_t samples_at_once(const OpenedData& opened);

/// All of `fields` (numbers of the source's fields) of `count` samples from `first` on.
std::vector<data::Column> read_samples(const data::Source& source, std::span<const std::size_t> fields, std::uint64_t first,
                                       std::uint64_t count);
std::vector<std::size_t> all_fields(const OpenedData& opened);

/// All fields of some samples that follow one another. With on_error = skip, those that cannot be read are left out, with a
/// warning for each, as a run leaves them out.
struct ReadSamples {
  std::vector<std::uint64_t> numbers;  ///< of the samples
  std::vector<data::Column> columns;
};
ReadSamples read_good_samples(const OpenedData& opened, std::uint64_t first, std::uint64_t count);

/// The bytes of a sample of a column.
std::span<const std::byte> sample_of(const Dataset::Field& field, const data::Column& column, std::uint64_t sample);

/// Threads of a tool, if it is not told how many: as many CPUs as this process may use.
int default_threads();

}  // namespace trainrt::cli::datasets
