// Writes NumPy's archive: a zip file of uncompressed .npy arrays, which numpy.load reads without pickle.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/data/convert/row_writers.hpp"
#include "cli/files/npy_array.hpp"
#include "cli/files/zip_file.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

/// An array of the archive. Its position is known before the first row, because all sizes are known.
struct NpzMember {
  std::string name, head;
  std::uint64_t bytes = 0;   ///< size of the values
  std::uint64_t offset = 0;  ///< offset of the values in the file
};

/// Returns the size of the header that ZipFile writes before an entry (PKWARE's APPNOTE 4.3.7; 4.5.3 for large entries).
std::uint64_t local_header_bytes(const std::string& name, std::uint64_t bytes) {
  constexpr std::uint64_t fixed = 30, zip64_extra = 20;
  const bool large = bytes > std::numeric_limits<std::uint32_t>::max() - (1U << 20);
  return fixed + name.size() + (large ? zip64_extra : 0);
}

std::vector<NpzMember> members_of(const WriterJob& job) {
  std::vector<NpzMember> members;
  std::uint64_t end = 0;
  for (const auto& field : job.fields) {
    NpzMember member{field.name + ".npy", npy_header(npy_description(field.dtype), job.shape_of(field)),
                     job.rows * data::sample_bytes(field)};
    member.offset = end + local_header_bytes(member.name, member.head.size() + member.bytes) + member.head.size();
    end = member.offset + member.bytes;
    members.push_back(std::move(member));
  }
  return members;
}

/// Writes `bytes` at the offset `at` of the file, without the parts that are values of a member: these were written
/// before.
void write_around(const std::vector<NpzMember>& members, std::uint64_t at, std::span<const std::byte> bytes,
                  ResumableFile& file) {
  for (const auto& member : members) {
    const auto end = member.offset + member.bytes;
    if (bytes.empty() || at + bytes.size() <= member.offset) break;
    if (at >= end) continue;
    if (at < member.offset) file.write(at, bytes.first(member.offset - at));
    bytes = bytes.subspan(std::min<std::uint64_t>(bytes.size(), end - at));
    at = end;
  }
  if (!bytes.empty()) file.write(at, bytes);
}

/// Writes the headers and the directory of the archive. Reads the values again to compute their checksums.
std::uint64_t finish_npz(const std::vector<NpzMember>& members, ResumableFile& file) {
  constexpr std::uint64_t piece = 4 << 20;
  const data::InputFile values(data::data_file(file.part_path()));
  std::vector<std::byte> bytes(piece);
  ZipFile zip([&](std::uint64_t at, std::span<const std::byte> written) { write_around(members, at, written, file); });
  for (const auto& member : members) {
    zip.begin(member.name, member.head.size() + member.bytes);
    if (zip.bytes() + member.head.size() != member.offset)
      throw Error(
          fmt::format("'{}': the entry '{}' of the zip archive begins at byte {} instead of {}: this version of minizip "
                      "writes headers of another size",
                      file.path(), member.name, zip.bytes(), member.offset - member.head.size()));
    zip.write(std::as_bytes(std::span(member.head)));
    for (std::uint64_t done = 0; done < member.bytes; done += piece) {
      const auto part = std::span(bytes).first(std::min(piece, member.bytes - done));
      values.read(member.offset + done, part);
      zip.write(part);
    }
  }
  zip.finish();
  return zip.bytes();
}

void require_npz(const WriterJob& job) {
  require_fixed_fields(job, "an .npz file");
  require_standard_types(job, "an .npz file");
  for (const auto& field : job.fields)
    if (field.name.empty() || field.name.find_first_of(std::string_view("/\\\0", 3)) != field.name.npos)
      throw UsageError(
          fmt::format("'{}' is not a valid name of an array in an .npz file: write an .h5 file", excerpt(field.name, 60)));
}

std::unique_ptr<RowWriter> open_npz_writer(const WriterJob& job, ResumableFile& file) {
  const auto members = members_of(job);
  std::vector<std::uint64_t> offsets;
  for (const auto& member : members) offsets.push_back(member.offset);
  file.reserve(members.back().offset + members.back().bytes);
  return std::make_unique<FixedColumnWriter>(job, file, std::move(offsets),
                                             [members, &file] { return finish_npz(members, file); });
}

}  // namespace

extern const DataWriter npz;
const DataWriter npz{.name = "npz",
                     .extension = ".npz",
                     .help = "NumPy's archive, an uncompressed array for each field: samples are read directly",
                     .compressions = {},
                     .require = require_npz,
                     .is_resumable = [](const WriterJob&) { return true; },
                     .open = open_npz_writer,
                     .has_checksums = true};

}  // namespace trainrt::cli::datasets::plugins
