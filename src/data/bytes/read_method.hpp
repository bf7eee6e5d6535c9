#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/plugin.hpp"
#include "data/bytes/data_file.hpp"

namespace trainrt::data {

/// What is to be read of a file: all of `into`, from `offset` on.
struct FilePart {
  std::uint64_t offset = 0;
  std::span<std::byte> into;
};

/// Reads parts of one open file. Any threads may read at once.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// Throws io::StorageError if the storage fails, and Error if the file ends before a part does; both name the file. In
  /// either case nothing is written to `into` any more.
  virtual void read(std::span<const FilePart> parts) const = 0;
  virtual std::size_t max_in_flight() const { return 1; }  ///< parts that one read() waits for at the same time
};

/// A plug-in: one file in data/bytes/read_methods, a choice of the key `read`.
struct ReadMethod {
  std::string_view name;
  std::string_view help;
  /// Throws UsageError that says why it cannot be had here, and what to do.
  void (*require)();
  /// `fd` and `file` live as long as the reader.
  std::unique_ptr<FileReader> (*open)(int fd, const DataFile& file);
};

PluginTable<ReadMethod> read_method_table();

/// By pread(2), part by part: what is used of a file that names no other way.
std::unique_ptr<FileReader> plain_reader(int fd, const DataFile& file);

/// One part by pread(2), from byte `done` of it on.
void read_part(int fd, const DataFile& file, const FilePart& part, std::size_t done = 0);

/// Throws Error if the file has not the size that it was listed with.
void require_as_listed(int fd, const DataFile& file);

}  // namespace trainrt::data
