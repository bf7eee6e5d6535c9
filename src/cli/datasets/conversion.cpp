#include "cli/datasets/conversion.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/byte_progress.hpp"
#include "cli/datasets/in_order.hpp"
#include "cli/datasets/source_files.hpp"
#include "cli/datasets/source_lines.hpp"
#include "core/output/log.hpp"
#include "core/version.hpp"
#include "data/section/dataset_section.hpp"
#include "io/storage_error.hpp"

namespace trainrt::cli::datasets {

namespace fs = std::filesystem;

namespace {

/// Where the files of a split lie.
std::array<std::string, 2> split_paths(const std::string& output) {
  if (const auto comma = output.find(','); comma != std::string::npos)
    return {trim(output.substr(0, comma)), trim(output.substr(comma + 1))};
  const fs::path path(output);
  const auto beside = [&](const char* name) {
    return (path.parent_path() / (path.stem().string() + name + path.extension().string())).string();
  };
  return {beside("-train"), beside("-test")};
}

/// A path by which two names of one file are seen to be one: whatever way leads to its folder.
fs::path plain_path(const std::string& path) {
  const auto whole = fs::absolute(path).lexically_normal();
  std::error_code none;
  const auto folder = fs::weakly_canonical(whole.parent_path(), none);
  return none ? whole : folder / whole.filename();
}

/// A file that is replaced at the end of reading it: nothing could go on, and what it held would be lost.
void refuse_sources(const OpenedData& opened, const std::string& path) {
  refuse_source(path, opened.name, opened.listing, opened.keys);
}

/// The keys of a section that change what is written; the files of `source` are told by themselves.
void add_keys(const Options& keys, std::vector<std::string>& words) {
  for (const auto& key : keys.keys())
    if (key != "threads" && key != "read" && key != "source" && key != "verify")
      words.push_back(key + "=" + keys.text(key));
}

RowOrder::Shuffling shuffling_of(const OpenedData& opened, bool wanted) {
  const auto& format = find_plugin(data::format_table(), opened.listing.format, "data format");
  const auto options = data::checked_options(data::section_of(opened.name), opened.keys, format);
  return {wanted,
          data::order_seed(opened.dataset->plan().order.seed, opened.name, 0),  // with shuffle_seed, as a run has it
          options.bytes("memory"),
          {static_cast<std::uint64_t>(options.integer("block")), static_cast<std::uint64_t>(options.integer("window"))}};
}

}  // namespace

Conversion::Conversion(const OpenedData& opened, ConversionWishes wishes)
    : opened_(opened),
      wishes_(std::move(wishes)),
      writer_(data_writer_for(wishes_.split ? split_paths(wishes_.output)[0] : wishes_.output)),
      sample_bytes_(about_sample_bytes(opened)) {
  const bool known = wishes_.compression.empty() ||
                     std::ranges::find(writer_.compressions, wishes_.compression) != writer_.compressions.end();
  if (!known)
    throw UsageError(
        fmt::format("--compress {}: a {} file is compressed by {}", wishes_.compression, writer_.extension,
                    writer_.compressions.empty() ? "nothing" : fmt::format("{}", fmt::join(writer_.compressions, " or "))));
  if (wishes_.for_spreadsheets && writer_.extension != ".csv")
    throw UsageError(
        fmt::format("--spreadsheet protects the cells of a .csv file, and '{}' is none: leave it out", wishes_.output));
  if (wishes_.checksums && !writer_.has_checksums)
    throw UsageError(fmt::format("--checksums: a {} file has none; .h5, .parquet and .npz files do", writer_.extension));
  choose_fields();
  sources_ = source_lines(opened_, wishes_.threads);
  try {
    make_parts();
  } catch (...) {
    abandon_what_is_not_kept();
    throw;
  }
}

void Conversion::choose_fields() {
  const auto& all = opened_.fields();
  if (wishes_.columns.empty()) fields_ = all_fields(opened_);
  std::vector<std::string> names;
  for (const auto& field : all) names.push_back(field.name);
  for (const auto& column : wishes_.columns) {
    const auto found = static_cast<std::size_t>(std::ranges::find(names, column) - names.begin());
    if (found == names.size())
      throw UsageError(fmt::format("--columns: there is no field '{}'{}; there are: {}", column,
                                   did_you_mean(column, names), join(names)));
    if (std::ranges::find(fields_, found) != fields_.end())
      throw UsageError(fmt::format("--columns names '{}' twice", column));
    fields_.push_back(found);
  }
}

void Conversion::make_parts() {
  SharedSource rows = opened_.dataset->source();
  if (!wishes_.where.empty()) try {
      rows = rows_where(rows, wishes_.where, samples_at_once(opened_), wishes_.threads, wishes_.quiet);
    } catch (const UsageError& error) {
      const std::string why = error.what();
      throw UsageError(why.starts_with("at character") ? "--where: " + why : why);
    }
  if (!wishes_.split) return add_part(wishes_.output, "", rows);
  const auto paths = split_paths(wishes_.output);
  if (paths[1].empty() || plain_path(paths[0]) == plain_path(paths[1]))
    throw UsageError("--split writes two files: -o train.h5,test.h5");
  if (&data_writer_for(paths[1]) != &writer_) throw UsageError("--split writes two files of one kind");
  const auto sources = split_rows(rows, *wishes_.split, opened_.seed);
  add_part(paths[0], "first", sources[0]);
  add_part(paths[1], "second", sources[1]);
}

std::uint64_t Conversion::rows_at_once() const {
  const auto least = samples_at_once(opened_);
  return least * std::max<std::uint64_t>(writer_.block_bytes / sample_bytes_ / least, 1);
}

void Conversion::add_part(std::string path, std::string name, SharedSource rows) {
  refuse_sources(opened_, path);
  Part part{std::move(path), std::move(name), nullptr, nullptr, {}};
  part.order = std::make_unique<RowOrder>(std::move(rows), fields_, sample_bytes_, rows_at_once(),
                                          shuffling_of(opened_, wishes_.shuffle));
  for (const auto field : fields_) part.job.fields.push_back(opened_.fields()[field]);
  part.job.rows = part.order->rows();
  part.job.compression = wishes_.compression;
  part.job.for_spreadsheets = wishes_.for_spreadsheets;
  part.job.checksums = wishes_.checksums;
  if (writer_.require != nullptr) writer_.require(part.job);
  part.file = std::make_unique<ResumableFile>(part.path, identity(part), writer_.goes_on(part.job), wishes_.force);
  parts_.push_back(std::move(part));
}

/// Whatever the bytes of the file hang on.
ResumableFile::Identity Conversion::identity(const Part& part) const {
  std::vector<std::string> words{fmt::format("trainrt {}", version), std::string(writer_.name), opened_.name,
                                 opened_.listing.format, data::in_words(part.job.fields)};
  add_keys(opened_.keys, words);
  words.push_back(fmt::format("where {}, split {} {}, {}, seed {}, compression '{}', {} rows in {} parts", wishes_.where,
                              wishes_.split.value_or(1), part.name, part.order->in_words(), opened_.seed,
                              wishes_.compression, part.order->rows(), part.order->parts()));
  if (wishes_.for_spreadsheets) words.emplace_back("for spreadsheets");
  if (wishes_.checksums) words.emplace_back("with checksums");
  return {sources_, join(words, "; ")};
}

void Conversion::run() {
  for (auto& part : parts_)
    if (!part.file->is_there()) write(part);
  for (auto& part : parts_)
    if (!part.file->is_there()) part.file->put_in_place();
  for (auto& part : parts_) part.file->forget();
}

void Conversion::write(Part& part) try {
  if (const auto done = part.file->done().parts; done > part.order->parts())
    throw UsageError(fmt::format("what was noted of '{}' cannot be understood; --force begins anew", part.path));
  else if (done > 0)
    log::info(fmt::format("{}: {} of {} parts are there already", part.path, done, part.order->parts()));
  if (!part.file->is_complete()) write_rows(part);
} catch (const UsageError&) {
  for (auto& each : parts_) each.file->abandon();  // the same command would fail again
  throw;
} catch (const io::StorageError& error) {
  if (!writer_.goes_on(part.job)) abandon_what_is_not_kept();
  throw_with_way_on(error);
} catch (const Error& error) {
  abandon_what_is_not_kept();  // a value that cannot be read, or a signal
  throw_with_way_on(error);
}

/// With nothing done there is nothing to go on from, and what lies there would be in the way of another command.
void Conversion::abandon_what_is_not_kept() {
  for (auto& part : parts_)
    if (!part.file->is_kept()) part.file->abandon();
}

void Conversion::throw_with_way_on(const Error& error) const {
  const auto lies_there = [](const Part& part) { return fs::exists(part.file->part_path()); };
  const auto begun = std::ranges::find_if(parts_, lies_there);
  if (begun == parts_.end()) throw Error(error.what(), error.code());
  throw Error(fmt::format("{}; the same command goes on with '{}', --force begins anew", error.what(), begun->path),
              error.code());
}

void Conversion::write_rows(Part& part) {
  const auto& order = *part.order;
  const auto threads = std::min(wishes_.threads, order.most_threads());
  const auto writer = writer_.open(part.job, *part.file);
  if (part.file->done().parts < order.parts()) part.order->hold(threads, wishes_.quiet);
  ByteProgress progress(fs::path(part.path).filename().string(), wishes_.quiet);
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
                                counted(static_cast<std::int64_t>(part.job.rows), "sample"), part.order->in_words(),
                                data::in_words(part.job.fields), bytes_text(fs::file_size(part.path))));
  return lines;
}

}  // namespace trainrt::cli::datasets
