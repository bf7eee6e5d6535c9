#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/plugin.hpp"
#include "data/bytes/data_file.hpp"

namespace trainrt::data {

/// A byte range of a file to read: all of `into` is filled with the file's bytes from `offset` on.
struct FilePart {
  std::uint64_t offset = 0;
  std::span<std::byte> into;
};

/// Reads parts of one open file. Thread-safe.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// Fills `into` of each element of `parts`. Throws io::StorageError if the storage fails, and Error if the file ends
  /// before the end of a part; both name the file. Once the function has returned or thrown, `into` is no longer written.
  virtual void read(std::span<const FilePart> parts) const = 0;
  /// Maximum number of parts that one read() requests at the same time.
  virtual std::size_t max_in_flight() const { return 1; }
};

/// A plug-in: a method of reading files, selected by the key `read_method`. Each plug-in is defined in
/// data/bytes/read_methods/NAME.cpp.
struct ReadMethod {
  std::string_view name;
  std::string_view help;
  /// Throws UsageError, with the reason and the remedy, if this build of trainrt or this machine cannot use the method.
  void (*require)();
  /// Returns a reader of the open file `fd`. `fd` and `file` must live as long as the reader.
  std::unique_ptr<FileReader> (*open)(int fd, const DataFile& file);
};

PluginTable<ReadMethod> read_method_table();

/// Returns a reader that reads part by part with pread(2): the default for files without a read method.
std::unique_ptr<FileReader> pread_reader(int fd, const DataFile& file);

/// Reads one part with pread(2). The first `done` bytes of the part have already been read and are not read again.
/// Throws like FileReader::read().
void read_part(int fd, const DataFile& file, const FilePart& part, std::size_t done = 0);

/// Throws Error if the size of the open file `fd` is not the size with which `file` was listed.
void require_listed_size(int fd, const DataFile& file);

}  // namespace trainrt::data
