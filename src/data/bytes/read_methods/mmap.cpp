#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/read_method.hpp"

namespace trainrt::data::plugins {

namespace {

/// Reads from a file that is mapped into memory. Checks the size of the file before each read(), because an access after
/// the end of a truncated file would kill the process (SIGBUS).
class MappedReader final : public FileReader {
 public:
  MappedReader(int fd, const DataFile& file) : fd_(fd), file_(file) {
    if (file.size == 0) return;
    bytes_ = ::mmap(nullptr, file.size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes_ == MAP_FAILED)
      throw UsageError(
          fmt::format("cannot map '{}' into memory: {}; set read_method = pread", file.path, std::strerror(errno)));
  }
  ~MappedReader() override {
    if (file_.size > 0) ::munmap(bytes_, file_.size);
  }
  MappedReader(const MappedReader&) = delete;

  void read(std::span<const FilePart> parts) const override {
    require_listed_size(fd_, file_);
    for (const auto& [offset, into] : parts) {
      const auto available = offset < file_.size ? file_.size - offset : 0;
      if (into.size() > available) return read_part(fd_, file_, {offset, into});  // throws the error
      if (!into.empty()) std::memcpy(into.data(), static_cast<const std::byte*>(bytes_) + offset, into.size());
    }
  }

 private:
  int fd_;
  const DataFile& file_;
  void* bytes_ = nullptr;
};

}  // namespace

extern const ReadMethod mmap{.name = "mmap",
                             .help = "maps files into memory; for local files that nobody changes during the run",
                             .require = [] {},
                             .open = [](int fd, const DataFile& file) -> std::unique_ptr<FileReader> {
                               return std::make_unique<MappedReader>(fd, file);
                             }};

}  // namespace trainrt::data::plugins
