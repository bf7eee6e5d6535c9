#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/process/memory.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "data/arrays/field_choice.hpp"
#include "data/arrays/npy_header.hpp"
#include "data/arrays/zip_archive.hpp"
#include "data/bytes/expansion.hpp"
#include "data/bytes/verify.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data::plugins {

namespace {

constexpr std::string_view npy_ending = ".npy";

/// A field, and the member of the archive from which the field is read.
struct NpzArray {
  std::string field;
  ZipMember member;
  NpyHeader header;
  std::uint64_t offset = 0;  ///< offset of the member's bytes in the file
  std::string what;          ///< beginning of messages: names file and member
};

class NpzFile {
 public:
  NpzFile(const DataFile& file, const Options& options)
      : input_(std::make_shared<InputFile>(file)), zip_(input_), limit_(options, file.size) {
    const auto fields = options.text("fields");
    std::vector<std::string> names;
    for (const auto& member : zip_.members()) {
      names.push_back(name_of(member, fields.empty()));
      if (!fields.empty()) continue;
      zip_.require_readable(member);
      zip_.offset_of(member);  // also checks the name in the member's local header
    }
    for (const auto& [field, number] : chosen_fields(fields, names, what())) add(field, zip_.members()[number]);
    std::vector<std::pair<std::string, std::uint64_t>> samples;
    for (const auto& array : arrays_) samples.emplace_back(array.field, array.header.samples());
    require_same_samples(samples, what());
  }

  const std::vector<NpzArray>& arrays() const { return arrays_; }
  std::uint64_t samples() const { return arrays_.front().header.samples(); }

  /// Adds a field to `source`. Decompresses a compressed array into memory, and verifies its checksum. With `keep`, also
  /// reads an uncompressed array into memory, and verifies its checksum unless `verify` is off. Without `keep`, the rows of
  /// an uncompressed array are read from the file when they are needed.
  void add_to(RowSource& source, const Dataset::Field& field, const NpzArray& array, bool keep, Verify verify) {
    if (array.member.is_stored && (!keep || verify == Verify::off)) {
      const auto place = array.header.place_at(array.offset);
      return source.add(field, rows_in_file(input_, place, keep));
    }
    std::vector<std::byte> values(array.member.bytes);
    zip_.read(array.member, values);
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(array.header.header_bytes));
    swap_values(values, array.header.swapped());
    source.add(field, std::move(values));
  }

  void require_memory_for_arrays(bool keep) const {
    std::uint64_t bytes = 0;
    for (const auto& array : arrays_) bytes += array.member.is_stored && !keep ? 0 : array.member.bytes;
    require_memory(bytes, what() + ": its arrays");
  }

 private:
  std::string what() const { return "NPZ file " + input_->path(); }
  std::string in_file(const std::string& name) const {
    return fmt::format("{}: the member '{}'", what(), printable_line(excerpt(name, 100)));
  }

  std::string with_those_before(const std::string& what) const {
    return unpacked_bytes_ == 0 ? what : what + ", together with the compressed members before it,";
  }

  /// Returns the name of the array in a member of the archive: NAME if the member is NAME.npy. For any other member, throws
  /// UsageError if `is_chosen` is set; otherwise returns the complete name of the member, so that it can be listed.
  std::string name_of(const ZipMember& member, bool is_chosen) const {
    const auto& name = member.name;
    const bool is_array = name.ends_with(npy_ending) && name.size() > npy_ending.size();
    if (is_chosen && (!is_array || !is_utf8(name) || name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos))
      throw UsageError(in_file(name) +
                       " is not an array of numpy.savez: its members have names NAME.npy; "
                       "to leave the member out, set the key 'fields'");
    return is_array ? name.substr(0, name.size() - npy_ending.size()) : name;
  }

  void add(std::string field, const ZipMember& member) {
    const auto what = in_file(member.name);
    zip_.require_readable(member);
    if (!member.is_stored) limit_.require(unpacked_bytes_ += member.bytes, with_those_before(what));
    std::vector<std::byte> beginning(std::min<std::uint64_t>(member.bytes, npy_beginning));
    zip_.read_beginning(member, beginning);
    arrays_.push_back({std::move(field), member, npy_header(beginning, member.bytes, what), zip_.offset_of(member), what});
  }

  std::shared_ptr<const InputFile> input_;
  ZipArchive zip_;
  ExpansionLimit limit_;
  std::uint64_t unpacked_bytes_ = 0;  ///< total decompressed size of the compressed members in `arrays_`
  std::vector<NpzArray> arrays_;
};

FileContent probe_npz(const DataFile& file, const Options& options) {
  const NpzFile npz_file(file, options);
  FileContent content{npz_file.samples(), {}, {}};
  for (const auto& array : npz_file.arrays()) {
    const auto& member = array.member;
    content.fields.push_back({array.field, dtype_of_npy(array.header, array.what), array.header.sample_shape()});
    if (member.is_stored) content.checksums.push_back({array.offset, member.bytes, member.crc32, array.what});
  }
  const auto& arrays = npz_file.arrays();
  if (!std::ranges::all_of(arrays, [](const auto& array) { return array.member.is_stored; }))
    content.reading = Reading::as_a_whole;
  return content;
}

std::unique_ptr<Source> open_npz(const DataFile& file, const FileContent& content, const Options& options, bool keep) {
  NpzFile npz_file(file, options);
  if (npz_file.arrays().size() != content.fields.size() || npz_file.samples() != content.samples)
    throw Error("NPZ file " + file.path + ": the file was changed since the run listed it; restore it, or start again");
  npz_file.require_memory_for_arrays(keep);
  auto source = std::make_unique<RowSource>(content.samples);
  for (std::size_t i = 0; i < content.fields.size(); ++i)
    npz_file.add_to(*source, content.fields[i], npz_file.arrays()[i], keep, verify_of(options));
  return source;
}

}  // namespace

extern const Format npz{.name = "npz",
                        .help =
                            "NumPy's .npz files, as numpy.savez writes them: each array is a field; "
                            "all arrays have the same number of samples. Compressed arrays are decompressed into memory",
                        .options = {{.key = "fields",
                                     .default_value = "",
                                     .help = "arrays to read, such as x, y; default: all arrays. "
                                             "FIELD=ARRAY also sets the name of the field: images=x, labels=y"}},
                        .probe = probe_npz,
                        .open = open_npz,
                        .is_name_of = [](std::string_view path) { return path.ends_with(".npz"); },
                        .checksums = "CRC-32 of each array (zip)"};

}  // namespace trainrt::data::plugins
