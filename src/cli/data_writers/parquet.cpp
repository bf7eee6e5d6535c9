// Parquet, by Apache Arrow in the module arrow.so: a row group a block. Behind each row group stands what the footer will
// say of it, so that another process can go on: readers find row groups by the footer, and see nothing of it.
#include <array>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/datasets/convert/data_writer.hpp"
#include "core/options.hpp"
#include "data/bytes/input_file.hpp"
#include "data/tables/arrow_loader.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

struct PreparedGroup final : PreparedRows {
  data::EncodedBlock block;
};

/// Behind the values and the notes of a block: the bytes of both.
using GroupSizes = std::array<std::uint64_t, 2>;

class ParquetRows final : public RowWriter {
 public:
  ParquetRows(const WriterJob& job, ResumableFile& file)
      : file_(file),
        encoder_(data::arrow_encoder("parquet", job.fields, job.compression)),
        bytes_(encoder_->head().size()) {
    if (file.done().parts == 0)
      file.write(0, encoder_->head());
    else
      go_on();
  }

  std::unique_ptr<PreparedRows> prepare(RowBlock block) override {
    auto made = std::make_unique<PreparedGroup>();
    made->block = encoder_->encode(block.first, block.count, block.columns);
    return made;
  }

  void append(std::unique_ptr<PreparedRows> prepared) override {
    const auto& [values, notes] = static_cast<const PreparedGroup&>(*prepared).block;
    const GroupSizes sizes{values.size(), notes.size()};
    encoder_->add(notes, bytes_);
    write(values);
    write(notes);
    write(std::as_bytes(std::span(sizes)));
  }

  std::string position() const override { return std::to_string(bytes_); }

  std::uint64_t finish() override {
    const auto footer = encoder_->finish();
    file_.write(bytes_, footer);
    return bytes_ + footer.size();
  }

 private:
  void write(std::span<const std::byte> bytes) {
    file_.write(bytes_, bytes);
    bytes_ += bytes.size();
  }

  [[noreturn]] void refuse_notes() const {
    throw UsageError(fmt::format("what was noted of '{}' cannot be understood; --force begins anew", file_.path()));
  }

  /// From the last block to the first, as each says how long it is.
  void go_on() {
    const auto noted = parse_integer(file_.done().position);
    const data::InputFile file(data::data_file(file_.part_path()));
    const auto head = encoder_->head().size();
    if (!noted || *noted < static_cast<std::int64_t>(head) || static_cast<std::uint64_t>(*noted) > file.size())
      refuse_notes();
    bytes_ = static_cast<std::uint64_t>(*noted);
    struct Found {
      std::uint64_t at;
      std::vector<std::byte> notes;
    };
    std::vector<Found> found;
    for (auto end = bytes_; end > head;) {
      GroupSizes sizes{};
      const auto room = end - head;
      if (room < sizeof sizes) refuse_notes();
      file.read(end - sizeof sizes, std::as_writable_bytes(std::span(sizes)));
      const auto left = room - sizeof sizes;
      if (sizes[0] > left || sizes[1] > left - sizes[0]) refuse_notes();
      std::vector<std::byte> notes(sizes[1]);
      file.read(end - sizeof sizes - sizes[1], notes);
      end -= sizeof sizes + sizes[1] + sizes[0];
      found.push_back({end, std::move(notes)});
    }
    if (found.size() != file_.done().parts) refuse_notes();
    try {
      for (auto block = found.rbegin(); block != found.rend(); ++block) encoder_->add(block->notes, block->at);
    } catch (const Error&) {
      refuse_notes();
    }
  }

  ResumableFile& file_;
  std::unique_ptr<data::TableEncoder> encoder_;
  std::uint64_t bytes_;
};

void require_parquet(const WriterJob& job) {
  for (const auto& field : job.fields)
    if (field.dtype == DType::bf16 || field.dtype == DType::f8e4m3 || field.dtype == DType::f8e5m2)
      throw UsageError(
          fmt::format("'{}' is of {}, which Parquet has not: leave it out (--columns names the others), or write "
                      "an .h5 file",
                      field.name, name_of(field.dtype)));
  data::arrow_encoder("parquet", job.fields, job.compression);
}

std::unique_ptr<RowWriter> open_parquet_writer(const WriterJob& job, ResumableFile& file) {
  return std::make_unique<ParquetRows>(job, file);
}

}  // namespace

extern const DataWriter parquet;
const DataWriter parquet{.name = "parquet",
                         .extension = ".parquet",
                         .help = "Parquet, by Apache Arrow, if trainrt was built with it: row groups of about 16 MiB",
                         .compressions = {"snappy", "zstd", "gzip", "lz4", "brotli"},
                         .require = require_parquet,
                         .goes_on = [](const WriterJob&) { return true; },
                         .open = open_parquet_writer,
                         .has_checksums = true,
                         .block_bytes = 16 << 20};

}  // namespace trainrt::cli::datasets::plugins
