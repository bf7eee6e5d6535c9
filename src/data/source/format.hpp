#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options.hpp"
#include "core/plugin.hpp"
#include "data/bytes/checksummed_range.hpp"
#include "data/bytes/data_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// What is read of a file even if one value is wanted.
enum class Reading : std::uint8_t {
  by_field,    ///< of a field, as many neighbours as are read together
  by_record,   ///< the same of all fields
  as_a_whole,  ///< the file, which is unpacked into memory
};

/// The result of probing a file.
struct FileContent {
  std::uint64_t samples = 0;
  std::vector<Dataset::Field> fields;
  std::string index;  ///< bytes for open(), so that only one rank has to probe the file
  Reading reading = Reading::by_field;
  std::uint64_t together = 1;          ///< neighbours that are read together: those of a chunk
  std::vector<DataFile> sources = {};  ///< other files that the file itself names, and whose bytes are among its samples'
  std::string remark = {};             ///< what `trainrt check` says of it besides
  std::vector<ChecksummedRange> checksums = {};  ///< of bytes of which open() may read a part without the rest
  std::vector<std::string> vector_columns =
      {};                                 ///< names of the columns that became one vector, in the order of its values
  std::vector<std::string> classes = {};  ///< names of the classes of images, in the order of their labels
  /// Of a file whose fields are the dataset's in another order: for each of `fields`, its number among the dataset's.
  /// Empty: the same order.
  std::vector<std::size_t> field_order = {};
};

/// A unit of a dataset, and what it holds: a file, or of formats that gather() their files all that a word of the source
/// names.
struct ListedFile {
  DataFile file;
  FileContent content;
};

/// A plug-in: one file in data/formats. It knows one file (or, if there are none, what its options describe); several files
/// are joined by whoever calls. Its options are the keys of [data.NAME] beside the common ones.
struct Format {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  /// Finds the samples and fields of a file, without keeping its data. One rank calls it for all ranks, before the run
  /// directory is made. Throws UsageError with the file, the position in it, the problem and the expected content. A file
  /// without samples is an error.
  FileContent (*probe)(const DataFile& file, const Options& options) = nullptr;
  /// Opens a file that was probed. `keep`: keep its values in memory, since all files together are small enough. Throws the
  /// errors of probe().
  std::unique_ptr<Source> (*open)(const DataFile& file, const FileContent& content, const Options& options,
                                  bool keep) = nullptr;
  /// Replaces probe() for a format with one sample per file, of which there may be millions. Returns a unit for each word of
  /// `source` (words_of_source()), from the files' names, without reading each file. The unit's path is the word, its size
  /// approximately the bytes of its files, and its head a digest of their names.
  std::vector<ListedFile> (*gather)(std::span<const std::string> words, const Options& options) = nullptr;
  /// With gather(): the paths of the files of such a unit by the numbers of its samples. Any threads may ask at once.
  std::function<std::string(std::uint64_t sample)> (*paths_of)(const FileContent& content) = nullptr;
  /// Whether a file of that name is of this format, if the section names none; nullptr if no name tells.
  bool (*is_name_of)(std::string_view path) = nullptr;
  bool has_files = true;  ///< the common key `source` names them
  /// Keys that name further files, as many as `source` does, which belong to those in their order: `labels`.
  std::vector<std::string_view> companions = {};
  /// The key that says how many bytes of what was read are kept for the next read; 0 B will do where no part of the file is
  /// read twice.
  std::string_view read_cache = {};
  /// The checksums that its files have, which are verified: "CRC-32 of each member". Empty: they have none, and a damaged
  /// file may be read with other values.
  std::string_view checksums = {};
};

PluginTable<Format> format_table();

}  // namespace trainrt::data
