#include "data/zip_reader.hpp"

#include <minizip/unzip.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text.hpp"

namespace trainrt::data {

/// minizip asks for single bytes: they come out of a piece of the file that is held. It is C: what is thrown below it
/// waits.
struct ZipReader::Calls {
  std::shared_ptr<const InputFile> file;
  std::uint64_t at = 0;
  std::vector<std::byte> piece = {};
  std::uint64_t piece_begin = 0;
  std::exception_ptr error = nullptr;

  static constexpr std::uint64_t piece_bytes = 64 << 10;

  static Calls& self(voidpf opaque) { return *static_cast<Calls*>(opaque); }
  static voidpf open(voidpf opaque, const void*, int) { return opaque; }
  static uLong read(voidpf opaque, voidpf, void* into, uLong size) {
    auto& calls = self(opaque);
    try {
      const auto count = calls.copy(std::span(static_cast<std::byte*>(into), size));
      if (count < size)  // minizip would take what is missing for zeros
        throw UsageError("NPZ file " + calls.file->path() +
                         ": is truncated, or its table of contents is damaged; copy it here again");
      return count;
    } catch (...) {
      calls.error = std::current_exception();
      return 0;
    }
  }
  static uLong write(voidpf, voidpf, const void*, uLong) { return 0; }
  static ZPOS64_T tell(voidpf opaque, voidpf) { return self(opaque).at; }
  static long seek(voidpf opaque, voidpf, ZPOS64_T offset, int origin) {
    auto& calls = self(opaque);
    const auto size = calls.file->size();
    const auto from = origin == ZLIB_FILEFUNC_SEEK_CUR ? calls.at : origin == ZLIB_FILEFUNC_SEEK_END ? size : 0;
    std::uint64_t to = 0;
    if (__builtin_add_overflow(from, offset, &to) || to > size) return -1;
    calls.at = to;
    return 0;
  }
  static int close(voidpf, voidpf) { return 0; }
  static int failed(voidpf opaque, voidpf) { return self(opaque).error ? 1 : 0; }

  /// Less than asked for only at the end of the file.
  std::size_t copy(std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size() && at < file->size()) {
      if (at < piece_begin || at - piece_begin >= piece.size()) {
        piece.resize(std::min(piece_bytes, file->size() - at));
        file->read(at, piece);
        piece_begin = at;
      }
      const auto* from = piece.data() + (at - piece_begin);
      const auto count = std::min<std::uint64_t>(into.size() - done, piece_begin + piece.size() - at);
      std::copy_n(from, count, into.data() + done);
      done += count;
      at += count;
    }
    return done;
  }
};

namespace {

constexpr std::uint16_t encrypted = 1;  // a bit of the flags
constexpr int stored = 0;               // methods of compression

std::string printed(std::string_view name) { return printable_lines(excerpt(name, 100) + "\n").front(); }

}  // namespace

ZipReader::ZipReader(std::shared_ptr<const InputFile> file) : calls_(std::make_unique<Calls>(Calls{std::move(file)})) {
  zlib_filefunc64_def functions{Calls::open, Calls::read,  Calls::write,  Calls::tell,
                                Calls::seek, Calls::close, Calls::failed, calls_.get()};
  zip_ = unzOpen2_64("", &functions);
  if (calls_->error) {
    if (zip_ != nullptr) unzClose(zip_);
    std::rethrow_exception(calls_->error);
  }
  if (zip_ == nullptr)
    bad("is no zip archive, or is truncated: its table of contents, which stands at the end, is not there; copy it here "
        "again");
}

ZipReader::~ZipReader() {
  if (zip_ != nullptr) unzClose(zip_);
}

void ZipReader::bad(const std::string& why) const { throw UsageError("NPZ file " + calls_->file->path() + ": " + why); }

void ZipReader::bad(const ZipMember& member, const std::string& why) const {
  bad("the member '" + printed(member.name) + "' " + why);
}

void ZipReader::check(int result, const ZipMember& member) {
  if (calls_->error) std::rethrow_exception(std::exchange(calls_->error, nullptr));
  if (result == UNZ_CRCERROR) bad(member, "is damaged: its checksum does not fit; copy the file here again");
  if (result < 0) bad(member, fmt::format("is damaged (minizip says {}); copy the file here again", result));
}

ZipMember ZipReader::current() {
  std::array<char, (1 << 16) + 1> name{};  // longer than any
  unz_file_info64 info{};
  unz64_file_pos place{};
  check(unzGetCurrentFileInfo64(zip_, &info, name.data(), name.size(), nullptr, 0, nullptr, 0), {"?"});
  check(unzGetFilePos64(zip_, &place), {"?"});
  return {std::string(name.data(), info.size_filename),
          info.uncompressed_size,
          info.compressed_size,
          info.compression_method == stored,
          place.pos_in_zip_directory,
          place.num_of_file};
}

std::vector<ZipMember> ZipReader::members() {
  std::vector<ZipMember> found;
  for (int result = unzGoToFirstFile(zip_); result != UNZ_END_OF_LIST_OF_FILE; result = unzGoToNextFile(zip_)) {
    check(result, {fmt::format("number {}", found.size() + 1)});
    found.push_back(current());
  }
  check(UNZ_OK, {"?"});
  return found;
}

void ZipReader::require_readable(const ZipMember& member) {
  go_to(member);
  unz_file_info64 info{};
  check(unzGetCurrentFileInfo64(zip_, &info, nullptr, 0, nullptr, 0, nullptr, 0), member);
  if ((info.flag & encrypted) != 0) bad(member, "is encrypted; save it without");
  if (info.compression_method != stored && info.compression_method != Z_DEFLATED)
    bad(member,
        fmt::format("is compressed by method {}; stored and deflated ones (methods 0 and 8) can be read, as numpy.savez "
                    "and numpy.savez_compressed write them",
                    info.compression_method));
  constexpr std::uint64_t largest_ratio = 1032;  // of deflate (zlib's technical details)
  const bool is_possible =
      member.is_stored ? member.bytes == member.packed_bytes : member.bytes / largest_ratio <= member.packed_bytes;
  if (!is_possible || member.packed_bytes > calls_->file->size())
    bad(member, fmt::format("cannot hold {} bytes in {}: it is damaged; copy the file here again", member.bytes,
                            member.packed_bytes));
}

void ZipReader::go_to(const ZipMember& member) {
  const unz64_file_pos place{member.place, member.number};
  check(unzGoToFilePos64(zip_, &place), member);
}

void ZipReader::read_beginning(const ZipMember& member, std::span<std::byte> into) {
  go_to(member);
  check(unzOpenCurrentFile(zip_), member);
  while (!into.empty()) {
    constexpr std::size_t most = std::size_t{1} << 30;  // minizip counts in 32 bits
    const int count = unzReadCurrentFile(zip_, into.data(), static_cast<unsigned>(std::min(into.size(), most)));
    check(count, member);
    if (count == 0)
      bad(member, fmt::format("ends {} bytes too early: it is damaged; copy the file here again", into.size()));
    into = into.subspan(static_cast<std::size_t>(count));
  }
}

void ZipReader::read(const ZipMember& member, std::span<std::byte> into) {
  read_beginning(member, into);
  std::byte more{};
  const int count = unzReadCurrentFile(zip_, &more, 1);
  check(count, member);
  if (count != 0) bad(member, "holds more than it says: it is damaged; copy the file here again");
  check(unzCloseCurrentFile(zip_), member);
}

std::uint64_t ZipReader::offset_of(const ZipMember& member) {
  go_to(member);
  int method = 0, level = 0;
  constexpr int raw = 1;
  check(unzOpenCurrentFile2(zip_, &method, &level, raw), member);
  const auto offset = unzGetCurrentFileZStreamPos64(zip_);
  check(unzCloseCurrentFile(zip_), member);
  return offset;
}

}  // namespace trainrt::data
