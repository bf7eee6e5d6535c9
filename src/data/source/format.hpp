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
#include "data/bytes/data_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// The smallest part of a file that can be read. To get a single value, this part must be read completely.
enum class Reading : std::uint8_t {
  by_field,    ///< `FileContent::together` consecutive values of one field
  by_record,   ///< `FileContent::together` consecutive values of all fields
  as_a_whole,  ///< the complete file, which is decompressed into memory
};

/// The content of one file, which Format::probe() has found.
struct FileContent {
  std::uint64_t samples = 0;
  std::vector<Dataset::Field> fields;
  std::string index;  ///< what probe() found, encoded for Format::open(), so that the other ranks need not scan the file
  Reading reading = Reading::by_field;
  std::uint64_t together = 1;          ///< number of consecutive samples that can only be read together, such as a chunk
  std::vector<DataFile> sources = {};  ///< other files that the file refers to and that contain values of its samples
  std::string remark = {};             ///< additional information that `trainrt check` prints
  std::vector<ChecksummedRange> checksums = {};  ///< byte ranges of which Format::open() may read parts
  std::vector<std::string> vector_columns = {};  ///< names of the columns that form a vector, in the order of its values
  std::vector<std::string> classes = {};         ///< names of the classes of images, in the order of their labels
  /// For each element of `fields`, the index of this field in the dataset. Empty if this file and the dataset have the
  /// fields in the same order.
  std::vector<std::size_t> field_order = {};
};

/// A file of a dataset and its content. For formats with Format::gather(), represents all files that one item of the key
/// `source` names, such as all images of a folder.
struct ListedFile {
  DataFile file;
  FileContent content;
};

/// A plug-in that reads a data format. Each plug-in is defined in data/formats/NAME.cpp. A plug-in reads one file, or
/// generates data that its options describe. The caller concatenates several files.
struct Format {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;  ///< keys of [data.NAME] in addition to the common ones
  /// Determines the content of a file, such as its samples and fields, as fast as the format permits. Does not keep the
  /// values. One rank calls probe() for all ranks, before the run directory is created. Throws UsageError if the file
  /// is invalid or has no samples. For an invalid file, the message names the file and the position in it, and states
  /// the problem and the valid content.
  FileContent (*probe)(const DataFile& file, const Options& options) = nullptr;
  /// Opens a file. `content` is the result of probe(). If `keep` is set, the source should keep its values in memory,
  /// because all files together are small enough. Throws like probe().
  std::unique_ptr<Source> (*open)(const DataFile& file, const FileContent& content, const Options& options,
                                  bool keep) = nullptr;
  /// Replaces probe() for formats with one sample per file. Returns one element for each item of the key `source`
  /// (words_of_source()). Does not access every file, because there may be millions. In the element's DataFile, `path` is
  /// the item, `size` is the approximate number of bytes of all files, and `head` is a digest of the names of all files
  /// and of the sizes of some files.
  std::vector<ListedFile> (*gather)(std::span<const std::string> words, const Options& options) = nullptr;
  /// Only for formats with gather(). Returns a function that maps the index of a sample to the path of the sample's file.
  /// The returned function is thread-safe.
  std::function<std::string(std::uint64_t sample)> (*paths_of)(const FileContent& content) = nullptr;
  /// Returns whether the file name `path` indicates this format. Used if the section does not set the key `format`. The
  /// pointer is nullptr if file names cannot indicate the format.
  bool (*is_name_of)(std::string_view path) = nullptr;
  bool has_files = true;  ///< whether the format reads files, so that the key `source` is valid
  /// Keys, such as `labels`, that name further files. Each key names as many files as `source`, and file i of the key
  /// belongs to file i of `source`.
  std::vector<std::string_view> companions = {};
  /// Name of the key that sets the size in bytes of the format's cache of decoded data; "" if the format has no cache.
  /// The caller may set this key to 0 if no part of the file is read twice.
  std::string_view read_cache = {};
  /// The checksums in files of this format that are verified, such as "CRC-32 of each member". Empty if there are none;
  /// wrong values in a damaged file are then not detected.
  std::string_view checksums = {};
};

PluginTable<Format> format_table();

}  // namespace trainrt::data
