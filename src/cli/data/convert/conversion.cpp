#include "cli/data/convert/conversion.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/data/convert/source_files.hpp"
#include "cli/data/in_order.hpp"
#include "cli/terminal/progress_line.hpp"
#include "core/output/log.hpp"
#include "core/text/byte_size.hpp"
#include "core/version.hpp"
#include "data/section/dataset_section.hpp"
#include "io/storage_error.hpp"

namespace trainrt::cli::datasets {

namespace fs = std::filesystem;

namespace {

/// Returns the paths of the two files of a split: FIRST and SECOND if `output` is "FIRST,SECOND"; for another `output`,
/// such as NAME.EXT, NAME-train.EXT and NAME-test.EXT.
std::array<std::string, 2> split_paths(const std::string& output) {
  if (const auto comma = output.find(','); comma != std::string::npos)
    return {trim(output.substr(0, comma)), trim(output.substr(comma + 1))};
  const fs::path path(output);
  const auto beside = [&](const char* name) {
    return (path.parent_path() / (path.stem().string() + name + path.extension().string())).string();
  };
  return {beside("-train"), beside("-test")};
}

/// Returns the absolute path after links in the folder are resolved, so that different names of one file become equal.
fs::path canonical_path(const std::string& path) {
  const auto absolute = fs::absolute(path).lexically_normal();
  std::error_code error;
  const auto folder = fs::weakly_canonical(absolute.parent_path(), error);
  return error ? absolute : folder / absolute.filename();
}

/// Throws UsageError if the output would replace a file that the conversion reads.
void refuse_sources(const OpenedData& opened, const std::string& path) {
  refuse_source(path, opened.name, opened.listing, opened.keys);
}

/// Appends those keys of a section that change the output. Omits `source`, because source_lines() describes its files.
void add_keys(const Options& keys, std::vector<std::string>& words) {
  for (const auto& key : keys.keys())
    if (key != "threads" && key != "read_method" && key != "source" && key != "verify")
      words.push_back(key + "=" + keys.text(key));
}

RowOrder::Shuffling shuffling_of(const OpenedData& opened, bool wanted) {
  const auto& format = find_plugin(data::format_table(), opened.listing.format, "data format");
  const auto options = data::checked_options(data::section_of(opened.name), opened.keys, format);
  return {wanted,
          data::order_seed(opened.dataset->plan().order.seed, opened.name, 0),  // the same seed as in epoch 0 of a run
          options.bytes("memory"),
          {static_cast<std::uint64_t>(options.integer("block")), static_cast<std::uint64_t>(options.integer("window"))}};
}

}  // namespace

Conversion::Conversion(const OpenedData& opened, ConversionSpec spec)
    : opened_(opened),
      spec_(std::move(spec)),
      writer_(data_writer_for(spec_.split ? split_paths(spec_.output)[0] : spec_.output)),
      sample_bytes_(about_sample_bytes(opened)) {
  const bool known =
      spec_.compression.empty() || std::ranges::find(writer_.compressions, spec_.compression) != writer_.compressions.end();
  if (!known)
    throw UsageError(fmt::format(
        "--compress {}: a {} file supports {}", spec_.compression, writer_.extension,
        writer_.compressions.empty() ? "no compression" : fmt::format("{}", fmt::join(writer_.compressions, " or "))));
  if (spec_.escapes_formulas && writer_.extension != ".csv")
    throw UsageError(fmt::format("--spreadsheet applies only to .csv files, but the output is '{}'", spec_.output));
  if (spec_.checksums && !writer_.has_checksums)
    throw UsageError(
        fmt::format("--checksums: {} files have no checksums; write an .h5, .parquet or .npz file", writer_.extension));
  choose_fields();
  sources_ = source_lines(opened_, spec_.threads);
  try {
    make_parts();
  } catch (...) {
    abandon_useless_parts();
    throw;
  }
}

void Conversion::choose_fields() {
  const auto& all = opened_.fields();
  if (spec_.columns.empty()) fields_ = all_fields(opened_);
  std::vector<std::string> names;
  for (const auto& field : all) names.push_back(field.name);
  for (const auto& column : spec_.columns) {
    const auto found = static_cast<std::size_t>(std::ranges::find(names, column) - names.begin());
    if (found == names.size())
      throw UsageError(fmt::format("--columns: unknown field '{}'{}; the fields are: {}", column,
                                   did_you_mean(column, names), join(names)));
    if (std::ranges::find(fields_, found) != fields_.end())
      throw UsageError(fmt::format("--columns names '{}' twice", column));
    fields_.push_back(found);
  }
}

void Conversion::make_parts() {
  const SharedSource rows = opened_.dataset->source();
  if (!spec_.split) return add_part(spec_.output, "", rows);
  const auto paths = split_paths(spec_.output);
  if (paths[1].empty() || canonical_path(paths[0]) == canonical_path(paths[1]))
    throw UsageError("--split needs two different files, as in -o train.h5,test.h5");
  if (&data_writer_for(paths[1]) != &writer_)
    throw UsageError(fmt::format("--split: '{}' and '{}' must have the same extension", paths[0], paths[1]));
  const auto sources = split_rows(rows, *spec_.split, opened_.seed);
  add_part(paths[0], "first", sources[0]);
  add_part(paths[1], "second", sources[1]);
}

std::uint64_t Conversion::rows_per_block() const {
  const auto at_once = samples_at_once(opened_);
  return at_once * std::max<std::uint64_t>(writer_.block_bytes / sample_bytes_ / at_once, 1);
}

void Conversion::add_part(std::string path, std::string name, SharedSource rows) {
  refuse_sources(opened_, path);
  Part part{std::move(path), std::move(name), nullptr, nullptr, {}};
  part.order = std::make_unique<RowOrder>(std::move(rows), fields_, sample_bytes_, rows_per_block(),
                                          shuffling_of(opened_, spec_.shuffle));
  for (const auto field : fields_) part.job.fields.push_back(opened_.fields()[field]);
  part.job.rows = part.order->rows();
  part.job.compression = spec_.compression;
  part.job.escapes_formulas = spec_.escapes_formulas;
  part.job.checksums = spec_.checksums;
  if (writer_.require != nullptr) writer_.require(part.job);
  part.file = std::make_unique<ResumableFile>(part.path, identity(part), writer_.is_resumable(part.job), spec_.force);
  parts_.push_back(std::move(part));
}

/// Returns the identity of an output file: the sources and all settings that determine its bytes.
ResumableFile::Identity Conversion::identity(const Part& part) const {
  std::vector<std::string> words{fmt::format("trainrt {}", version), std::string(writer_.name), opened_.name,
                                 opened_.listing.format, data::in_words(part.job.fields)};
  add_keys(opened_.keys, words);
  words.push_back(fmt::format("split {} {}, {}, seed {}, compression '{}', {} rows in {} parts", spec_.split.value_or(1),
                              part.name, part.order->description(), opened_.seed, spec_.compression, part.order->rows(),
                              part.order->parts()));
  if (spec_.escapes_formulas) words.emplace_back("for spreadsheets");
  if (spec_.checksums) words.emplace_back("with checksums");
  return {sources_, join(words, "; ")};
}

void Conversion::run() {
  for (auto& part : parts_)
    if (!part.file->is_finished()) write(part);
  for (auto& part : parts_)
    if (!part.file->is_finished()) part.file->put_in_place();
  for (auto& part : parts_) part.file->forget();
}

void Conversion::write(Part& part) try {
  if (const auto done = part.file->done().parts; done > part.order->parts())
    part.file->throw_damaged_record();
  else if (done > 0)
    log::info(fmt::format("{}: resuming after {} of {} parts", part.path, done, part.order->parts()));
  if (!part.file->is_complete()) write_rows(part);
} catch (const UsageError&) {
  for (auto& each : parts_) each.file->abandon();  // the same command would fail again
  throw;
} catch (const io::StorageError& error) {
  if (!writer_.is_resumable(part.job)) abandon_useless_parts();
  throw_with_resume_help(error);
} catch (const Error& error) {
  abandon_useless_parts();
  throw_with_resume_help(error);
}

/// Removes incomplete files that no later conversion can resume.
void Conversion::abandon_useless_parts() {
  for (auto& part : parts_)
    if (!part.file->is_kept()) part.file->abandon();
}

void Conversion::throw_with_resume_help(const Error& error) const {
  const auto is_incomplete = [](const Part& part) { return fs::exists(part.file->part_path()); };
  const auto incomplete = std::ranges::find_if(parts_, is_incomplete);
  if (incomplete == parts_.end()) throw Error(error.what(), error.code());
  throw Error(fmt::format("{}; run the same command again to resume '{}', or with --force to start over", error.what(),
                          incomplete->path),
              error.code());
}

void Conversion::write_rows(Part& part) {
  const auto& order = *part.order;
  const auto threads = std::min(spec_.threads, order.max_threads());
  const auto writer = writer_.open(part.job, *part.file);
  if (part.file->done().parts < order.parts()) part.order->hold(threads, spec_.quiet);
  ProgressLine progress(fs::path(part.path).filename().string(), spec_.quiet);
  InOrder parts(part.file->done().parts, order.parts());
  parts.run(
      threads, [&](std::uint64_t number) { return writer->prepare(order.read(number)); },
      [&](std::uint64_t number, std::unique_ptr<PreparedRows> prepared) {
        writer->append(std::move(prepared));
        part.file->note({number + 1, writer->position()});
        const auto bytes = order.rows() * sample_bytes_;
        progress.show(bytes / order.parts() * (number + 1), bytes);
      });
  part.file->complete(writer->finish(), order.parts());
}

std::vector<std::string> Conversion::summary() const {
  std::vector<std::string> lines;
  for (const auto& part : parts_)
    lines.push_back(fmt::format("{}: {}, {}: {}; {}", part.path,
                                counted(static_cast<std::int64_t>(part.job.rows), "sample"), part.order->description(),
                                data::in_words(part.job.fields), byte_size(fs::file_size(part.path))));
  return lines;
}

}  // namespace trainrt::cli::datasets
