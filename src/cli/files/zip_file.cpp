#include "cli/files/zip_file.hpp"

#include <minizip/zip.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::cli {

struct ZipFile::Calls {
  static ZipFile& self(voidpf opaque) { return *static_cast<ZipFile*>(opaque); }
  static voidpf open(voidpf opaque, const void*, int) { return opaque; }
  static uLong read(voidpf, voidpf, void*, uLong) { return 0; }
  static uLong write(voidpf opaque, voidpf, const void* data, uLong size) {
    auto& zip = self(opaque);
    try {
      zip.sink_(zip.offset_, std::span(static_cast<const std::byte*>(data), size));
      zip.offset_ += size;
      zip.bytes_ = std::max(zip.bytes_, zip.offset_);
      return size;
    } catch (...) {
      zip.error_ = std::current_exception();
      return 0;
    }
  }
  static ZPOS64_T tell(voidpf opaque, voidpf) { return self(opaque).offset_; }
  static long seek(voidpf opaque, voidpf, ZPOS64_T offset, int origin) {
    auto& zip = self(opaque);
    const auto from = origin == ZLIB_FILEFUNC_SEEK_CUR ? zip.offset_ : origin == ZLIB_FILEFUNC_SEEK_END ? zip.bytes_ : 0;
    zip.offset_ = from + offset;
    return 0;
  }
  static int close(voidpf, voidpf) { return 0; }
  static int failed(voidpf opaque, voidpf) { return self(opaque).error_ ? 1 : 0; }
};

ZipFile::ZipFile(Sink sink) : sink_(std::move(sink)) {
  zlib_filefunc64_def calls{Calls::open, Calls::read,  Calls::write,  Calls::tell,
                            Calls::seek, Calls::close, Calls::failed, this};
  zip_ = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &calls);
  if (zip_ == nullptr) throw Error("cannot create a zip archive: out of memory");
}

ZipFile::~ZipFile() {
  if (zip_ != nullptr) zipClose(zip_, nullptr);  // frees memory; the incomplete archive is not committed
}

void ZipFile::check(int result, const char* operation) {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  if (result != ZIP_OK) throw Error(fmt::format("cannot {} a zip archive: minizip returned {}", operation, result));
}

void ZipFile::begin(const std::string& name, std::uint64_t bytes) {
  end_entry();
  if (name.size() > std::numeric_limits<std::uint16_t>::max())
    throw Error(fmt::format("the name '{}...' is too long for a zip archive: it has {} bytes, at most {} are allowed",
                            name.substr(0, 60), name.size(), std::numeric_limits<std::uint16_t>::max()));
  constexpr uLong made_by_unix_4_5 = (3 << 8) | 45;
  constexpr uLong utf8_names = 1 << 11;
  zip_fileinfo info{};
  info.tmz_date = {.tm_sec = 0, .tm_min = 0, .tm_hour = 0, .tm_mday = 1, .tm_mon = 0, .tm_year = 1980};
  info.external_fa = 0644UL << 16;
  const bool large = bytes > std::numeric_limits<std::uint32_t>::max() - (1U << 20);
  check(zipOpenNewFileInZip4_64(zip_, name.c_str(), &info, nullptr, 0, nullptr, 0, nullptr, 0, 0, 0, -MAX_WBITS,
                                DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, nullptr, 0, made_by_unix_4_5, utf8_names, large ? 1 : 0),
        "begin an entry of");
  in_entry_ = true;
}

void ZipFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t max_bytes = std::size_t{1} << 30;  // minizip counts in 32 bits
  while (!bytes.empty()) {
    const auto count = std::min(bytes.size(), max_bytes);
    check(zipWriteInFileInZip(zip_, bytes.data(), static_cast<unsigned>(count)), "write into");
    bytes = bytes.subspan(count);
  }
}

void ZipFile::end_entry() {
  if (std::exchange(in_entry_, false)) check(zipCloseFileInZip(zip_), "end an entry of");
}

void ZipFile::finish() {
  end_entry();
  check(zipClose(std::exchange(zip_, nullptr), nullptr), "finish");
}

}  // namespace trainrt::cli
