#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/read_method.hpp"

namespace trainrt::data {

namespace {

/// The size is looked at before each read(): a page of a file that was cut would end the process (SIGBUS).
class MappedReader final : public FileReader {
 public:
  MappedReader(int fd, const DataFile& file) : fd_(fd), file_(file) {
    if (file.size == 0) return;
    bytes_ = ::mmap(nullptr, file.size, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes_ == MAP_FAILED)
      throw UsageError(
          fmt::format("'{}' cannot be mapped into memory: {}; set read = pread", file.path, std::strerror(errno)));
  }
  ~MappedReader() override {
    if (file_.size > 0) ::munmap(bytes_, file_.size);
  }
  MappedReader(const MappedReader&) = delete;

  void read(std::span<const FilePart> parts) const override {
    require_as_listed(fd_, file_);
    for (const auto& [offset, into] : parts) {
      const auto there = offset < file_.size ? file_.size - offset : 0;
      if (into.size() > there) return read_part(fd_, file_, {offset, into});  // which says where the file ends
      if (!into.empty()) std::memcpy(into.data(), static_cast<const std::byte*>(bytes_) + offset, into.size());
    }
  }

 private:
  int fd_;
  const DataFile& file_;
  void* bytes_ = nullptr;
};

}  // namespace

namespace plugins {

extern const ReadMethod mmap{.name = "mmap",
                          .help = "files are mapped, and copied from: for local files that nobody changes meanwhile",
                          .require = [] {},
                          .open = [](int fd, const DataFile& file) -> std::unique_ptr<FileReader> {
                            return std::make_unique<MappedReader>(fd, file);
                          }};

}  // namespace plugins

}  // namespace trainrt::data
