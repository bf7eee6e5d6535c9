// NumPy's archive: a zip file of .npy arrays, stored as they are, read by numpy.load without pickle.
#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/datasets/convert/placed_columns.hpp"
#include "cli/npy_array.hpp"
#include "cli/zip_file.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

/// An array and its place in the archive. Sizes are known before the first row, so places are too.
struct NpzMember {
  std::string name, head;
  std::uint64_t bytes = 0;  ///< without the head
  std::uint64_t at = 0;     ///< of its values, in the file
};

/// Bytes of what stands in front of an entry (PKWARE's APPNOTE 4.3.7; 4.5.3 if it needs 64 bits), as ZipFile writes it.
std::uint64_t local_header_bytes(const std::string& name, std::uint64_t bytes) {
  constexpr std::uint64_t fixed = 30, zip64_extra = 20;
  const bool large = bytes > std::numeric_limits<std::uint32_t>::max() - (1U << 20);
  return fixed + name.size() + (large ? zip64_extra : 0);
}

std::vector<NpzMember> members_of(const WriterJob& job) {
  std::vector<NpzMember> members;
  std::uint64_t at = 0;
  for (const auto& field : job.fields) {
    Shape shape{static_cast<std::int64_t>(job.rows)};
    shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
    NpzMember member{field.name + ".npy", npy_header(npy_description(field.dtype), shape),
                     job.rows * data::sample_bytes(field)};
    member.at = at + local_header_bytes(member.name, member.head.size() + member.bytes) + member.head.size();
    at = member.at + member.bytes;
    members.push_back(std::move(member));
  }
  return members;
}

/// Writes what does not lie among the values of a member: those are there already.
void write_around(const std::vector<NpzMember>& members, std::uint64_t at, std::span<const std::byte> bytes,
                  ResumableFile& file) {
  for (const auto& member : members) {
    const auto end = member.at + member.bytes;
    if (bytes.empty() || at + bytes.size() <= member.at) break;
    if (at >= end) continue;
    if (at < member.at) file.write(at, bytes.first(member.at - at));
    bytes = bytes.subspan(std::min<std::uint64_t>(bytes.size(), end - at));
    at = end;
  }
  if (!bytes.empty()) file.write(at, bytes);
}

/// Reads the values once more, for their checksums, and writes what stands around them.
std::uint64_t finish_npz(const std::vector<NpzMember>& members, ResumableFile& file) {
  constexpr std::uint64_t piece = 4 << 20;
  const data::InputFile values(data::data_file(file.part_path()));
  std::vector<std::byte> bytes(piece);
  ZipFile zip([&](std::uint64_t at, std::span<const std::byte> written) { write_around(members, at, written, file); });
  for (const auto& member : members) {
    zip.begin(member.name, member.head.size() + member.bytes);
    if (zip.bytes() + member.head.size() != member.at)
      throw Error(
          fmt::format("'{}': the entry '{}' of the zip archive begins at byte {}, where {} was expected: this minizip "
                      "makes other headers",
                      file.path(), member.name, zip.bytes(), member.at - member.head.size()));
    zip.write(std::as_bytes(std::span(member.head)));
    for (std::uint64_t done = 0; done < member.bytes; done += piece) {
      const auto part = std::span(bytes).first(std::min(piece, member.bytes - done));
      values.read(member.at + done, part);
      zip.write(part);
    }
  }
  zip.finish();
  return zip.bytes();
}

void require_npz(const WriterJob& job) {
  require_fixed_fields(job, "an .npz file");
  for (const auto& field : job.fields)
    if (field.dtype == DType::bf16 || field.dtype == DType::f8e4m3 || field.dtype == DType::f8e5m2)
      throw UsageError(
          fmt::format("'{}' is of {}, which NumPy has not: leave it out (--columns names the others), or write "
                      "an .h5 file",
                      field.name, name_of(field.dtype)));
    else if (field.name.empty() || field.name.find_first_of(std::string_view("/\\\0", 3)) != field.name.npos)
      throw UsageError(fmt::format("'{}' cannot be the name of an array in an .npz file: write an .h5 file", field.name));
}

std::unique_ptr<RowWriter> open_npz_writer(const WriterJob& job, ResumableFile& file) {
  const auto members = members_of(job);
  std::vector<std::uint64_t> places;
  for (const auto& member : members) places.push_back(member.at);
  file.reserve(members.back().at + members.back().bytes);
  return std::make_unique<PlacedColumns>(job, file, std::move(places),
                                         [members, &file] { return finish_npz(members, file); });
}

}  // namespace

extern const DataWriter npz;
const DataWriter npz{.name = "npz",
                     .extension = ".npz",
                     .help = "NumPy's archive, an array a field, not compressed: samples are read at their places",
                     .compressions = {},
                     .require = require_npz,
                     .goes_on = [](const WriterJob&) { return true; },
                     .open = open_npz_writer,
                     .has_checksums = true};

}  // namespace trainrt::cli::datasets::plugins
