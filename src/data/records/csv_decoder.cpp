#include "data/records/csv_decoder.hpp"

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/source/source.hpp"
#include "data/text/byte_masks.hpp"
#include "data/text/number_text.hpp"

namespace trainrt::data {

/// Decodes rows into columns. Decodes each row from its first value to the last value that is needed.
class CsvPass {
 public:
  CsvPass(const CsvDecoder& decoder, std::span<Column> columns) : decoder_(decoder), ends_(decoder.columns_.size()) {
    const auto asked = requested_columns(columns, decoder.sample_bytes_.size());
    for (const auto& column : decoder.columns_) {
      auto& target = targets_.emplace_back();
      if (!column.is_read || asked[column.field] == nullptr) continue;
      target = {.column = asked[column.field],
                .type = column.type,
                .offset = column.offset,
                .bytes = decoder.sample_bytes_[column.field],
                .must_fit = column.must_fit};
      if (!column.type.is_text && !decoder.number_is_missing_)
        target.plain = is_real(column.type.dtype) ? Plain::real : Plain::whole;
      last_ = targets_.size();
    }
  }

  void take(const Record& record, std::size_t index) {
    if (decoder_.counts_values_) require_count(record);
    if (decoder_.quotes_ && record.text.find('"') != record.text.npos)
      take_quoted(record, index);
    else
      take_plain(record, index);
  }

 private:
  enum class Plain : std::uint8_t { never, whole, real };
  struct Target {
    Column* column = nullptr;  ///< nullptr: the values are not needed
    ValueType type;
    Plain plain = Plain::never;
    std::size_t offset = 0, bytes = 0;  ///< in bytes: offset of the value in a sample, and size of a sample
    bool must_fit = false;

    std::byte* at(std::size_t index) const { return column->values.data() + index * bytes + offset; }
  };

  /// Decodes a row without quotes. First finds the ends of all values: the parses of the numbers then do not depend on one
  /// another, and the processor can execute several at the same time.
  void take_plain(const Record& record, std::size_t index) {
    const auto* const row = record.text.data();
    if (const auto count = find_ends(record.text); count < last_) refuse_count(count, record);
    const auto* begin = row;
    for (std::size_t number = 0; number < last_; ++number) {
      const auto* const end = row + ends_[number];
      if (!put_plain(begin, end, targets_[number], index))
        put_value({begin, static_cast<std::size_t>(end - begin)}, number, record, index);
      begin = end + 1;
    }
  }

  /// Sets `ends_` to the ends of the values of a row, and returns the number of values. If a row has more values than the
  /// file has columns, the additional values become part of the last one.
  std::size_t find_ends(std::string_view text) {
    std::size_t count = 0;
    const auto max = ends_.size() - 1;
    for (std::size_t at = 0; at < text.size(); at += 64) {
      const auto left = static_cast<int>(std::min<std::size_t>(text.size() - at, 64));
      auto bits = equal_bits(text.data() + at, decoder_.delimiter_) & bits_below(left);
      for (; bits != 0 && count < max; bits &= bits - 1)
        ends_[count++] = at + static_cast<std::size_t>(std::countr_zero(bits));
    }
    ends_[count] = text.size();
    return count + 1;
  }

  void take_quoted(const Record& record, std::size_t index) {
    const auto* at = record.text.data();
    const auto* const end = at + record.text.size();
    for (std::size_t number = 0; number < last_; ++number) {
      if (number > 0 && at++ == end) refuse_count(number, record);
      const auto value = csv_value_of(at, end, record);
      put_value(value.text, number, record, index);
      at = value.end;
    }
  }

  /// Stores a number that has no blanks around it. Returns false for any other value; the caller then calls put_value().
  static bool put_plain(const char* begin, const char* end, const Target& target, std::size_t index) {
    if (target.plain == Plain::whole) {
      std::int64_t value = 0;
      const auto [stop, error] = std::from_chars(begin, end, value);
      return error == std::errc() && stop == end && put_integer(value, target.type.dtype, target.at(index));
    }
    if (target.plain == Plain::real) {
      constexpr double all_exact = 9007199254740992;  // 2^53; f64 represents all smaller integers exactly
      double value = 0;
      if (read_real(begin, end, value) != end || (target.must_fit && std::abs(value) >= all_exact)) return false;
      return put_real(value, target.type.dtype, target.at(index));
    }
    return false;
  }

  void put_value(std::string_view text, std::size_t number, const Record& record, std::size_t index) {
    const auto& target = targets_[number];
    if (target.column == nullptr) return;
    if (target.type.is_text)
      put_text(text, number, record);
    else
      put_number(text, number, record, target.at(index));
  }

  CsvValue csv_value_of(const char* at, const char* end, const Record& record) try {
    return csv_value(at, end, decoder_.delimiter_, decoder_.quotes_, scratch_);
  } catch (const UsageError& error) {
    bad_row(decoder_.path_, record.row, error.what());
  }

  void put_text(std::string_view text, std::size_t number, const Record& record) const {
    if (!simdjson::validate_utf8(text)) refuse(text, number, record, "is not valid UTF-8; convert the file to UTF-8");
    targets_[number].column->append(std::as_bytes(std::span(text)));
  }

  void put_number(std::string_view text, std::size_t number, const Record& record, std::byte* out) const {
    const auto dtype = targets_[number].type.dtype;
    bool good = false;
    if (decoder_.is_missing(text)) {
      if (!is_real(dtype))
        refuse(
            text, number, record,
            fmt::format("is a missing value, which {} cannot represent; f64 and f32 represent it as NaN", name_of(dtype)));
      good = put_real(std::numeric_limits<double>::quiet_NaN(), dtype, out);
    } else if (const auto truth = truth_in(text)) {
      good = put_integer(*truth ? 1 : 0, dtype, out);
    } else if (is_real(dtype)) {
      const auto value = real_in(text);
      if (targets_[number].must_fit && value && !is_exact_in(text))
        refuse(text, number, record,
               fmt::format("is not exact in f64, the type of the column; set types = {}:f64 to round such integers",
                           excerpt(decoder_.columns_[number].name, 60)));
      good = value && put_real(*value, dtype, out);
    } else {
      const auto value = integer_in(text);
      good = value && put_integer(*value, dtype, out);
    }
    if (!good) refuse(text, number, record, fmt::format("is not of type {}", name_of(dtype)));
  }

  /// Throws UsageError unless the row has as many values as the file has columns. Used for files whose rows were not
  /// checked when the files were listed.
  void require_count(const Record& record) {
    const auto *at = record.text.data(), *const end = at + record.text.size();
    std::size_t count = 1;
    for (at = csv_value_of(at, end, record).end; at != end; at = csv_value_of(at + 1, end, record).end) ++count;
    if (count != decoder_.columns_.size())
      bad_row(decoder_.path_, record.row,
              fmt::format("it has {}, but the first row has {}", counted(static_cast<std::int64_t>(count), "value"),
                          decoder_.columns_.size()));
  }

  [[noreturn]] void refuse_count(std::size_t count, const Record& record) const {
    bad_row(decoder_.path_, record.row,
            fmt::format("it has only {}: the file was changed after it was listed",
                        counted(static_cast<std::int64_t>(count), "value")));
  }

  [[noreturn]] void refuse(std::string_view text, std::size_t number, const Record& record, const std::string& why) const {
    const auto& column = decoder_.columns_[number];
    bad_row(decoder_.path_, record.row,
            fmt::format("column '{}': '{}' {}. "
                        "Set another type for the column (types = {}:text), or list the words for missing values in na",
                        excerpt(column.name, 60), excerpt(join(printable_lines(text), "\\n"), 60), why,
                        excerpt(column.name, 60)));
  }

  const CsvDecoder& decoder_;
  std::vector<Target> targets_;
  std::size_t last_ = 0;           ///< number of columns up to the last one that is needed
  std::vector<std::size_t> ends_;  ///< ends of the values of the current row
  std::string scratch_;
};

CsvDecoder::CsvDecoder(std::string path, std::vector<CsvColumn> columns, const CsvOptions& options, bool quotes)
    : path_(std::move(path)),
      columns_(std::move(columns)),
      delimiter_(options.delimiter),
      quotes_(quotes),
      counts_values_(options.skips_errors),
      missing_(options.missing),
      number_is_missing_(std::any_of(missing_.begin(), missing_.end(),
                                     [](const auto& word) { return !word.empty() && real_in(word) && word != "NaN"; })) {
  for (const auto& column : columns_) {
    sample_bytes_.resize(std::max(sample_bytes_.size(), column.field + 1));
    if (column.is_read && !column.type.is_text) sample_bytes_[column.field] += size_of(column.type.dtype);
  }
}

RecordFile::Take CsvDecoder::pass(std::span<Column> columns) const {
  return [pass = CsvPass(*this, columns)](const Record& record, std::size_t index) mutable { pass.take(record, index); };
}

/// Returns whether `value` is one of the words for a missing value. A value of only blanks counts as empty.
bool CsvDecoder::is_missing(std::string_view value) const {
  if (value.find_first_not_of(" \t") == value.npos) value = {};
  return std::find(missing_.begin(), missing_.end(), value) != missing_.end();
}

Seen CsvDecoder::kind_of(std::string_view value) const {
  if (is_missing(value)) return Seen::missing;
  if (const auto kind = number_kind(value); kind != NumberKind::none)
    return kind == NumberKind::whole ? Seen::integer : Seen::real;
  return truth_in(value) ? Seen::boolean : Seen::text;
}

}  // namespace trainrt::data
