#include "cli/data/inspect/inspection.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/data/in_order.hpp"
#include "cli/data/inspect/image_preview.hpp"
#include "cli/data/opened_data.hpp"
#include "cli/data/value_text.hpp"
#include "cli/terminal/progress_line.hpp"
#include "cli/terminal/table.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "data/bytes/verify.hpp"
#include "data/section/prepare.hpp"

namespace trainrt::cli::datasets {

std::vector<FieldStatistics> gather_statistics(const OpenedData& opened, std::uint64_t samples, int threads, bool quiet) {
  const auto empty = [&] { return std::vector<FieldStatistics>(opened.fields().begin(), opened.fields().end()); };
  const auto each = samples_at_once(opened);
  auto all = empty();
  ProgressLine progress("statistics", quiet);
  InOrder blocks(0, (samples + each - 1) / each);
  blocks.run(
      threads,
      [&](std::uint64_t block) {
        const auto first = block * each, count = std::min(each, samples - first);
        auto found = empty();
        const auto read = read_good_samples(opened, first, count);
        for (const auto& column : read.columns) found[column.field].add(column, read.numbers.size());
        return found;
      },
      [&](std::uint64_t block, std::vector<FieldStatistics> found) {
        for (std::size_t i = 0; i < all.size(); ++i) all[i].merge(found[i]);
        const auto bytes = about_sample_bytes(opened);
        progress.show(std::min((block + 1) * each, samples) * bytes, samples * bytes);
      });
  return all;
}

namespace {

std::string type_text(const Dataset::Field& field) {
  if (field.varies && field.dtype == DType::u8) return "text";
  return fmt::format("{}{}", name_of(field.dtype),
                     field.varies                 ? "[varies]"
                     : field.sample_shape.empty() ? ""
                                                  : to_string(field.sample_shape));
}

std::string number_text(const std::optional<TensorStatistics::Number>& number) {
  if (!number) return "";
  if (const auto* whole = std::get_if<std::int64_t>(&*number)) return fmt::format("{}", *whole);
  return fmt::format("{:.6g}", std::get<double>(*number));
}

std::string number_text(const std::optional<double>& number) { return number ? fmt::format("{:.6g}", *number) : ""; }

/// Returns the number of distinct values and the most frequent of them with their counts: "10: 7 (6000), 0 (5999),
/// ...".
std::string distinct_text(const FieldStatistics& found) {
  if (!found.distinct()) return "";
  const auto& distinct = *found.distinct();
  if (!distinct.is_complete()) return fmt::format("> {}", DistinctValues::max);
  constexpr std::size_t max_named = 3;
  constexpr std::size_t max_columns = 16;
  auto text = fmt::format("{}", distinct.count());
  const auto all = distinct.by_frequency();
  const auto is_class = all.size() < found.samples();  // otherwise each value occurs once
  for (std::size_t i = 0; is_class && i < std::min(all.size(), max_named); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? ": " : ", ",
                        sample_text(found.field(), std::as_bytes(std::span(all[i].first)), max_columns), all[i].second);
  return is_class && all.size() > max_named ? text + ", ..." : text;
}

std::string files_text(const data::Listing& listing) {
  constexpr std::size_t max_files = 10;
  Table table({{"file"}, {"samples", true}, {"size", true}});
  for (std::size_t i = 0; i < std::min(listing.entries.size(), max_files); ++i) {
    const auto& [file, content] = listing.entries[i];
    if (file.path.empty()) return "";
    table.add({printable(file.path), fmt::format("{}", content.samples), byte_size(file.size)});
  }
  const auto others = listing.entries.size() - std::min(listing.entries.size(), max_files);
  return "\n" + table.text() + (others > 0 ? fmt::format("  and {} more\n", others) : "");
}

std::string checksums_text(const OpenedData& opened) {
  const auto& format = find_plugin(data::format_table(), opened.listing.format, "data format");
  if (!format.has_files) return "";
  if (format.checksums.empty())
    return "\nchecksums: no checksums, so damage may go unnoticed; data convert -o FILE.h5 --checksums adds them\n";
  return fmt::format(
      "\nchecksums: {}; {}\n", format.checksums,
      data::verify_of(opened.keys) == data::Verify::off ? "not verified (verify = off)" : "verified for the samples below");
}

std::string statistics_text(const Inspection& inspection) {
  Table table(
      {{"field"}, {"type"}, {"min", true}, {"max", true}, {"mean", true}, {"std", true}, {"missing", true}, {"distinct"}});
  for (const auto& found : inspection.statistics) {
    const auto shown = found.is_text() ? found.lengths() : found.elements();
    const auto missing = found.is_text() ? found.empty() : shown->nan;
    table.add({printable(found.field().name), type_text(found.field()) + (found.is_text() ? " (its length)" : ""),
               number_text(shown->min), number_text(shown->max), number_text(shown->mean), number_text(shown->deviation),
               missing == 0 ? "" : fmt::format("{}", missing), distinct_text(found)});
    if (const auto lengths = found.lengths(); lengths && !found.is_text())
      table.add({"", "  its length", number_text(lengths->min), number_text(lengths->max), number_text(lengths->mean),
                 number_text(lengths->deviation), found.empty() == 0 ? "" : fmt::format("{}", found.empty()), ""});
  }
  const auto size = inspection.opened.size();
  return fmt::format("\n{}\n{}",
                     inspection.scanned == size
                         ? "all samples"
                         : fmt::format("the first {} of {} samples (--all, --rows N)", inspection.scanned, size),
                     table.text());
}

std::string samples_text(const Inspection& inspection, std::size_t width) {
  if (inspection.shown == 0) return "";
  const auto& fields = inspection.opened.fields();
  const auto max_width = std::clamp<std::size_t>(width / std::max<std::size_t>(fields.size(), 1), 12, 40);
  std::vector<Table::Column> columns{{"sample", true}};
  constexpr std::size_t max_fields = 20;
  for (std::size_t i = 0; i < std::min(fields.size(), max_fields); ++i) columns.push_back({printable(fields[i].name)});
  Table table(columns);
  for (std::uint64_t sample = 0; sample < inspection.shown; ++sample) {
    std::vector<std::string> cells{fmt::format("{}", inspection.first.numbers[sample])};
    for (std::size_t i = 0; i + 1 < columns.size(); ++i)
      cells.push_back(sample_text(fields[i], sample_of(fields[i], inspection.first.columns[i], sample), max_width));
    table.add(std::move(cells));
  }
  return "\n" + table.text() +
         (fields.size() > max_fields ? fmt::format("  and {} more fields\n", fields.size() - max_fields) : "");
}

std::string previews_text(const Inspection& inspection, std::size_t width, bool colors) {
  std::string text;
  const auto count = inspection.previews;
  for (const auto& column : inspection.first.columns) {
    const auto& field = inspection.opened.fields()[column.field];
    const auto shape = image_shape(field);
    if (!shape || count == 0) continue;
    constexpr std::size_t max_columns = 64;
    const auto each = std::min<std::size_t>(width / count > 4 ? width / count - 2 : 2, max_columns);
    text += fmt::format("\n{}\n", printable(field.name));
    std::vector<std::vector<std::string>> previews;
    for (std::uint64_t i = 0; i < count; ++i)
      previews.push_back(preview_lines(sample_of(field, column, i), *shape, each, colors));
    for (std::size_t line = 0; line < previews.front().size(); ++line) {
      for (const auto& preview : previews) text += "  " + preview[line];
      text += "\n";
    }
  }
  return text;
}

std::string reading_text(const ReadingFacts& facts) {
  auto text = fmt::format("\nread by {}\n  {} samples per rank per epoch, {}; {}\n",
                          counted(static_cast<std::int64_t>(facts.ranks), "rank"), facts.samples_per_rank,
                          byte_size(facts.samples_per_rank * facts.sample_bytes), unit_in_words(facts));
  if (facts.has_files)
    text += fmt::format("  memory = {}: {} all values ({}), {}\n", byte_size(facts.memory),
                        facts.is_kept ? "keeps" : "too small for", byte_size(facts.samples * facts.sample_bytes),
                        facts.is_kept ? "once for all ranks of a node" : "which are read in each epoch");
  for (const auto& sentence : advice_for(facts)) text += fmt::format("  advice: {}\n", sentence);
  return text;
}

}  // namespace

std::string page_text(const Inspection& inspection, std::size_t width, bool colors) {
  const auto& opened = inspection.opened;
  const auto result = data::needs_preparation(opened.keys, opened.listing)
                          ? fmt::format("made of them: {}\n", in_words(*opened.dataset))
                          : "";
  const auto beginning = fmt::format("{}\n", data::described(opened.listing)) + result + files_text(opened.listing) +
                         checksums_text(opened) + statistics_text(inspection) + samples_text(inspection, width);
  return printable_text(beginning) + previews_text(inspection, width, colors) +  // colors are control sequences
         printable_text(reading_text(inspection.facts));
}

}  // namespace trainrt::cli::datasets
