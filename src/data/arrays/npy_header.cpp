#include "data/arrays/npy_header.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/arrays/npy_dict.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);

[[noreturn]] void bad_npy(const std::string& what, const std::string& why) { throw UsageError(what + ": " + why); }

/// The text of the dictionary; fills in header_bytes.
std::string_view dict_text(std::string_view file, NpyHeader& header, const std::string& what) {
  constexpr std::size_t version_1 = 10, version_2 = 12;  // bytes before the text
  if (!npy_magic.starts_with(file.substr(0, npy_magic.size())))
    bad_npy(what, "is no .npy file: it does not begin with the byte 93 and NUMPY");
  if (file.size() < version_1) bad_npy(what, "is too short for a .npy header");
  const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(file[at])}; };
  const auto major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    bad_npy(what, fmt::format("is of version {}.{} of the .npy format; valid are 1.0, 2.0 and 3.0", major, minor));
  const auto begin = major == 1 ? version_1 : version_2;
  if (file.size() < begin) bad_npy(what, "is too short for a .npy header");
  auto length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  header.header_bytes = begin + length;
  if (header.header_bytes > npy_beginning)
    bad_npy(what, fmt::format("has a header of {} bytes; that of an array of numbers has less than {}", header.header_bytes,
                              npy_beginning));
  if (header.header_bytes > file.size())
    bad_npy(what, fmt::format("is truncated: its header has {} bytes, and there are {}; copy it here again",
                              header.header_bytes, file.size()));
  return file.substr(begin, length);
}

[[noreturn]] void bad_descr(const std::string& what, const std::string& descr) {
  constexpr std::string_view valid = "valid are f8, f4, f2, i8, i4, i2, i1, u1 and b1, little-endian (<) or big-endian (>)";
  if (descr.find('O') != std::string::npos)
    bad_npy(what,
            fmt::format("holds Python objects ('{}'), which would need pickle: that is never loaded, as it can run any "
                        "program; save arrays of numbers, {}",
                        excerpt(descr, 40), valid));
  bad_npy(what, fmt::format("has values of the type '{}'; {}", printable_lines(excerpt(descr, 40) + "\n").front(), valid));
}

/// "<f4": byte order, kind, bytes of a value.
void read_descr(const std::string& descr, NpyHeader& header, const std::string& what) {
  static const std::vector<std::string_view> types{"f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"};
  if (descr.size() != 3 || std::ranges::find(types, std::string_view(descr).substr(1)) == types.end())
    bad_descr(what, descr);
  header.kind = descr[1];
  header.value_bytes = static_cast<std::size_t>(descr[2] - '0');
  const bool has_no_order = descr[0] == '|' && header.value_bytes == 1;
  if (descr[0] != '<' && descr[0] != '>' && !has_no_order) bad_descr(what, descr);
  header.is_big_endian = descr[0] == '>';
}

void set_data_bytes_of_npy(NpyHeader& header, const std::string& what) {
  header.data_bytes = header.value_bytes;
  std::uint64_t sample_bytes = header.value_bytes;  // overflows, or not, whatever number of samples there is
  for (std::size_t axis = 0; axis < header.shape.size(); ++axis) {
    const auto extent = static_cast<std::uint64_t>(header.shape[axis]);
    if (__builtin_mul_overflow(header.data_bytes, extent, &header.data_bytes) ||
        header.data_bytes > std::uint64_t{1} << 62 ||
        (axis > 0 &&
         (__builtin_mul_overflow(sample_bytes, extent, &sample_bytes) || sample_bytes > std::uint64_t{1} << 62)))
      bad_npy(what, "its header promises impossibly many values, " + to_string(header.shape));
  }
}

void check_layout(const NpyDict& dict, const std::string& what) {
  if (dict.shape.empty()) bad_npy(what, "holds a single value; the first axis of an array is that of its samples");
  if (dict.fortran_order && dict.shape.size() > 1)
    bad_npy(what,
            "is stored in Fortran order, where a sample does not lie in one piece; convert it: "
            "numpy.save(path, numpy.ascontiguousarray(array))");
}

}  // namespace

NpyHeader npy_header(std::span<const std::byte> beginning, std::uint64_t size, const std::string& what) {
  NpyHeader header;
  const std::string_view bytes(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  auto dict = parse_npy_dict(dict_text(bytes, header, what), what);
  if (dict.is_structured)
    bad_npy(what, "holds records of several fields (a structured array); save each field as an array of its own");
  read_descr(dict.descr, header, what);
  check_layout(dict, what);
  header.shape = std::move(dict.shape);
  set_data_bytes_of_npy(header, what);
  const auto needed = header.header_bytes + header.data_bytes;
  if (size < needed)
    bad_npy(what, fmt::format("is truncated: it holds {} bytes, and its header promises {} ('{}' {}); copy it here again",
                              size, needed, dict.descr, to_string(header.shape)));
  if (size > needed)
    bad_npy(what, fmt::format("holds {} bytes behind its array of {}; a file holds one array, and nothing else",
                              size - needed, to_string(header.shape)));
  return header;
}

NpyHeader npy_header(const InputFile& file) {
  std::vector<std::byte> beginning(std::min<std::uint64_t>(file.size(), npy_beginning));
  file.read(0, beginning);
  return npy_header(beginning, file.size(), "NPY file " + file.path());
}

RowLayout NpyHeader::place_at(std::uint64_t offset) const {
  const auto row = static_cast<std::size_t>(element_count(sample_shape())) * value_bytes;
  return {offset + header_bytes, samples(), row, swapped()};
}

DType dtype_of_npy(const NpyHeader& header, const std::string& what) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are swapped to this machine's order");
  switch (header.kind) {
    case 'b':
      return DType::boolean;
    case 'f':
      return header.value_bytes == 8 ? DType::f64 : header.value_bytes == 4 ? DType::f32 : DType::f16;
    case 'i':
      return header.value_bytes == 8   ? DType::i64
             : header.value_bytes == 4 ? DType::i32
             : header.value_bytes == 2 ? DType::i16
                                       : DType::i8;
    default:
      break;
  }
  if (header.value_bytes == 1) return DType::u8;
  bad_npy(
      what,
      fmt::format("has values of the type '{}u{}', which train functions do not know; save them as a signed type that "
                  "holds them all, as array.astype('i{}') (token ids: the format tokens reads them as they are)",
                  header.is_big_endian ? '>' : '<', header.value_bytes, std::min<std::size_t>(8, 2 * header.value_bytes)));
}

}  // namespace trainrt::data
