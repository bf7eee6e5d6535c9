#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "cli/data/source_choice.hpp"
#include "data/section/open_dataset.hpp"

namespace trainrt::cli::datasets {

/// The datasets of a config, with all their operations and preprocessors, opened by this process alone.
class LocalDatasets {
 public:
  /// `sections` contains, by NAME, the keys of each section [data.NAME]. `seed` is the seed of the run.
  LocalDatasets(std::map<std::string, Options> sections, std::uint64_t seed);
  /// Returns the listing of a dataset. The first call lists the dataset and, if the dataset gets its class names from
  /// [data.train], that dataset, too. Throws like data::list_dataset() and data::require_steps().
  const data::Listing& listing(const std::string& name);
  /// Returns the listings of all datasets that were listed so far.
  const std::map<std::string, data::Listing>& listings() const { return listings_; }
  /// Opens and prepares a dataset. The datasets that two calls return have separate states.
  std::shared_ptr<DatasetImpl> open(const std::string& name);

 private:
  std::map<std::string, Options> sections_;
  std::map<std::string, data::Listing> listings_;
  std::uint64_t seed_;
};

/// Returns the size and the fields of a dataset: "1200 samples: x f32[24, 3], y f32[24]".
std::string in_words(const DatasetImpl& dataset);

/// A dataset that a tool reads once, from the first sample to the last, so that no values are kept in memory.
struct OpenedData {
  std::string name;
  Options keys;  ///< keys of its section, as the user gave them
  std::uint64_t seed = 0;
  data::Listing listing;
  std::shared_ptr<DatasetImpl> dataset;   ///< the dataset of a single rank
  std::map<std::string, Options> others;  ///< the other sections of the config, which may have class names

  /// Returns the samples after all transforms and preprocessors, but without random augmentations.
  const data::Source& source() const { return *dataset->source(); }
  const std::vector<Dataset::Field>& fields() const { return dataset->source()->fields(); }
  std::uint64_t size() const { return dataset->source()->size(); }
};

/// Lists and opens a dataset, with its operations and preprocessors, to read it in the order of the files. Ignores keys for
/// the order and memory of a run. Throws like data::list_dataset().
OpenedData open_data(const SourceChoice& choice);

/// Returns the number of bytes that a sample takes in memory. For fields that vary in length it is an estimate from the
/// sizes of the files.
std::uint64_t about_sample_bytes(const OpenedData& opened);

/// Returns the number of samples to read at once. They have about 2 MiB in memory, or fill complete chunks of the file
/// if it has chunks.
std::uint64_t samples_at_once(const OpenedData& opened);

/// Reads `count` samples, from sample number `first` on. `fields` has the indices of the fields to read.
std::vector<data::Column> read_samples(const data::Source& source, std::span<const std::size_t> fields, std::uint64_t first,
                                       std::uint64_t count);
/// Returns the indices of all fields, as an argument of read_samples().
std::vector<std::size_t> all_fields(const OpenedData& opened);

/// Samples that were read, with the values of all fields.
struct ReadSamples {
  std::vector<std::uint64_t> numbers;  ///< numbers of the samples
  std::vector<data::Column> columns;
};
/// Reads all fields of `count` samples from number `first` on. With on_error = skip, samples that cannot be read are left
/// out, with a warning, as in a run.
ReadSamples read_good_samples(const OpenedData& opened, std::uint64_t first, std::uint64_t count);

/// Returns the bytes of sample number `sample` of a column.
std::span<const std::byte> sample_of(const Dataset::Field& field, const data::Column& column, std::uint64_t sample);

/// Returns the value of the option --threads of a tool; default: the number of CPUs that this process may use.
int threads_option(const Arguments& arguments);

}  // namespace trainrt::cli::datasets
