#include "data/arrays/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/printable.hpp"
#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);

[[noreturn]] void bad_npy(const std::string& what, const std::string& why) { throw UsageError(what + ": " + why); }

class NpyDictParser {
 public:
  NpyDictParser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  NpyDict parse() {
    expect("{");
    while (!accepts("}")) {
      const auto key = quoted();
      if (!seen_.insert(key).second) bad("the key '" + excerpt(key, 40) + "' occurs twice");
      expect(":");
      value_of(key);
      if (dict_.is_structured) return dict_;
      if (accepts("}")) break;
      expect(",");
    }
    skip_blanks();
    if (at_ != text_.size()) bad("there is text after its }");
    for (const auto* key : {"descr", "fortran_order", "shape"})
      if (!seen_.contains(key)) bad(std::string("the key '") + key + "' is missing");
    return dict_;
  }

 private:
  [[noreturn]] void bad(const std::string& why) const {
    throw UsageError(
        fmt::format("{}: invalid header: {}. It must be a dictionary of descr, fortran_order and shape, but is {}", what_,
                    why, printable_line(excerpt(trim(text_), 120))));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool accepts(std::string_view wanted) {
    skip_blanks();
    const bool is_there = text_.substr(at_).starts_with(wanted);
    if (is_there) at_ += wanted.size();
    return is_there;
  }

  void expect(std::string_view wanted) {
    if (!accepts(wanted)) bad(fmt::format("missing {} at byte {}", wanted, at_));
  }

  /// Reads a string in quotes. A backslash is an error, because no valid value contains an escape sequence.
  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') bad(fmt::format("missing string in quotes at byte {}", at_));
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad(fmt::format("missing closing quote of the string at byte {}", at_));
    const auto text = text_.substr(at_ + 1, end - at_ - 1);
    if (text.find('\\') != std::string_view::npos)
      bad(fmt::format("the string at byte {} contains a backslash, which is not supported", at_));
    at_ = end + 1;
    return std::string(text);
  }

  void value_of(const std::string& key) {
    if (key == "descr") {
      dict_.is_structured = accepts("[") || accepts("(");
      if (!dict_.is_structured) dict_.descr = quoted();
    } else if (key == "fortran_order") {
      dict_.fortran_order = accepts("True");
      if (!dict_.fortran_order && !accepts("False")) bad("fortran_order must be True or False");
    } else if (key == "shape") {
      dict_.shape = tuple();
    } else {
      bad("it has the unknown key '" + excerpt(key, 40) + "'");
    }
  }

  /// Reads "()", "(3,)", "(3, 4)" or "(3, 4,)". Python 2 wrote "(3L,)".
  Shape tuple() {
    constexpr std::size_t max_npy_dimensions = 64;  // the same maximum as in NumPy 2
    Shape shape;
    expect("(");
    while (!accepts(")")) {
      if (shape.size() == max_npy_dimensions) bad("the shape has more than 64 dimensions");
      shape.push_back(extent());
      if (accepts(",")) continue;
      expect(")");
      if (shape.size() == 1) bad("the shape must be a tuple, such as (3,), not a number in parentheses");
      break;
    }
    return shape;
  }

  std::int64_t extent() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0)
      bad(fmt::format("missing extent of the shape at byte {}, which must be an integer of 0 or more", at_));
    at_ = static_cast<std::size_t>(end - text_.data());
    accepts("L");
    return value;
  }

  std::string_view text_;
  const std::string& what_;
  std::size_t at_ = 0;
  std::set<std::string> seen_;
  NpyDict dict_;
};

/// Returns the text of the dictionary in the header, and sets `header.header_bytes`.
std::string_view dict_text(std::string_view file, NpyHeader& header, const std::string& what) {
  constexpr std::size_t version_1 = 10, version_2 = 12;  // offset of the dictionary's text in the file, by format version
  if (!npy_magic.starts_with(file.substr(0, npy_magic.size())))
    bad_npy(what, "is not a .npy file, which begins with the byte 93 (hexadecimal) and NUMPY");
  if (file.size() < version_1) bad_npy(what, "is too short for a .npy header");
  const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(file[at])}; };
  const auto major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    bad_npy(what, fmt::format("has version {}.{} of the .npy format; valid are 1.0, 2.0 and 3.0", major, minor));
  const auto begin = major == 1 ? version_1 : version_2;
  if (file.size() < begin) bad_npy(what, "is too short for a .npy header");
  auto length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  header.header_bytes = begin + length;
  if (header.header_bytes > npy_beginning)
    bad_npy(what, fmt::format("has a header of {} bytes, but headers of numeric arrays have at most {}. Save the array "
                              "again with numpy.save()",
                              header.header_bytes, npy_beginning));
  if (header.header_bytes > file.size())
    bad_npy(what, fmt::format("is truncated: its header has {} bytes, but the file has {}; copy it here again",
                              header.header_bytes, file.size()));
  return file.substr(begin, length);
}

[[noreturn]] void bad_descr(const std::string& what, const std::string& descr) {
  constexpr std::string_view valid = "valid are f8, f4, f2, i8, i4, i2, i1, u1 and b1, little-endian (<) or big-endian (>)";
  if (descr.find('O') != std::string::npos)
    bad_npy(what,
            fmt::format("holds Python objects ('{}'), which would need pickle. "
                        "Pickled objects are never loaded, since they can run any program; save arrays of numbers, {}",
                        excerpt(descr, 40), valid));
  bad_npy(what, fmt::format("has values of type '{}'; {}", printable_line(excerpt(descr, 40)), valid));
}

/// Parses a type such as "<f4", which consists of byte order, kind and number of bytes per value.
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
  std::uint64_t sample_bytes = header.value_bytes;  // not computed from data_bytes, which is 0 for 0 samples
  for (std::size_t axis = 0; axis < header.shape.size(); ++axis) {
    const auto extent = static_cast<std::uint64_t>(header.shape[axis]);
    if (__builtin_mul_overflow(header.data_bytes, extent, &header.data_bytes) ||
        header.data_bytes > std::uint64_t{1} << 62 ||
        (axis > 0 &&
         (__builtin_mul_overflow(sample_bytes, extent, &sample_bytes) || sample_bytes > std::uint64_t{1} << 62)))
      bad_npy(what, "its header declares more values than a file can hold, " + to_string(header.shape));
  }
}

void check_layout(const NpyDict& dict, const std::string& what) {
  if (dict.shape.empty()) bad_npy(what, "holds a single value; the first axis of an array must count the samples");
  if (dict.fortran_order && dict.shape.size() > 1)
    bad_npy(what,
            "is stored in Fortran order, in which the values of a sample are not adjacent. "
            "Convert it with numpy.save(path, numpy.ascontiguousarray(array))");
}

}  // namespace

NpyDict parse_npy_dict(std::string_view text, const std::string& what) { return NpyDictParser(text, what).parse(); }

NpyHeader npy_header(std::span<const std::byte> beginning, std::uint64_t size, const std::string& what) {
  NpyHeader header;
  const std::string_view bytes(reinterpret_cast<const char*>(beginning.data()), beginning.size());
  auto dict = parse_npy_dict(dict_text(bytes, header, what), what);
  if (dict.is_structured)
    bad_npy(what, "holds records of several fields (a structured array); save each field as a separate array");
  read_descr(dict.descr, header, what);
  check_layout(dict, what);
  header.shape = std::move(dict.shape);
  set_data_bytes_of_npy(header, what);
  const auto needed = header.header_bytes + header.data_bytes;
  if (size < needed)
    bad_npy(what, fmt::format("is truncated: it holds {} bytes, but its header declares {} ('{}' {}); copy it here again",
                              size, needed, dict.descr, to_string(header.shape)));
  if (size > needed)
    bad_npy(what, fmt::format("holds {} bytes after its array of {}; a file must hold one array and nothing else",
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
  const auto by_size = [&](DType eight, DType four, DType two, DType one) {
    return header.value_bytes == 8 ? eight : header.value_bytes == 4 ? four : header.value_bytes == 2 ? two : one;
  };
  if (header.kind == 'b') return DType::boolean;
  if (header.kind == 'f') return by_size(DType::f64, DType::f32, DType::f16, DType::f16);
  if (header.kind == 'i') return by_size(DType::i64, DType::i32, DType::i16, DType::i8);
  if (header.value_bytes == 1) return DType::u8;
  bad_npy(what, fmt::format("has values of type '{}u{}', which train functions do not support. "
                            "Save the array with a signed type{}: array.astype('i{}'). "
                            "The format 'tokens' can read token ids of this type",
                            header.is_big_endian ? '>' : '<', header.value_bytes,
                            header.value_bytes == 8 ? ", if all values are below 2^63" : "",
                            std::min<std::size_t>(8, 2 * header.value_bytes)));
}

}  // namespace trainrt::data
