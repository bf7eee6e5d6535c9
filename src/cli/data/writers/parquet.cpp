// Writes Parquet files with Apache Arrow, which is in the module arrow.so. Each block becomes one row group. The
// metadata of a row group (its notes) is stored after the row group, so that another process can resume the conversion.
// Readers find the row groups through the footer, and skip the notes.
#include <array>

#include <trainrt/error.hpp>

#include "cli/data/convert/data_writer.hpp"
#include "data/bytes/input_file.hpp"
#include "data/tables/arrow_loader.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

struct PreparedGroup final : PreparedRows {
  data::EncodedBlock block;
};

/// Sizes in bytes of a row group and of its notes, stored after both.
using GroupSizes = std::array<std::uint64_t, 2>;

class ParquetWriter final : public RowWriter {
 public:
  ParquetWriter(const WriterJob& job, ResumableFile& file)
      : file_(file),
        encoder_(data::make_arrow_encoder("parquet", job.fields, job.compression)),
        bytes_(encoder_->head().size()) {
    if (file.done().parts == 0)
      file.write(0, encoder_->head());
    else
      resume();
  }

  std::unique_ptr<PreparedRows> prepare(RowBlock block) override {
    auto prepared = std::make_unique<PreparedGroup>();
    prepared->block = encoder_->encode(block.first, block.count, block.columns);
    return prepared;
  }

  void append(std::unique_ptr<PreparedRows> prepared) override {
    const auto& [values, notes] = static_cast<const PreparedGroup&>(*prepared).block;
    const GroupSizes sizes{values.size(), notes.size()};
    encoder_->add(notes, bytes_);
    for (const auto bytes : {std::span<const std::byte>(values), std::span<const std::byte>(notes),
                             std::as_bytes(std::span<const std::uint64_t>(sizes))}) {
      file_.write(bytes_, bytes);
      bytes_ += bytes.size();
    }
  }

  std::string position() const override { return std::to_string(bytes_); }

  std::uint64_t finish() override {
    const auto footer = encoder_->finish();
    file_.write(bytes_, footer);
    return bytes_ + footer.size();
  }

 private:
  /// Reads the notes of the row groups that an earlier process has written, from the last to the first, and passes them
  /// to the encoder in the order of the row groups.
  void resume() {
    bytes_ = file_.byte_position();
    const data::InputFile file(data::data_file(file_.part_path()));
    const auto head = encoder_->head().size();
    if (bytes_ < head || bytes_ > file.size()) file_.throw_damaged_record();
    struct Found {
      std::uint64_t offset;
      std::vector<std::byte> notes;
    };
    std::vector<Found> found;
    for (auto end = bytes_; end > head;) {
      GroupSizes sizes{};
      if (end - head < sizeof sizes) file_.throw_damaged_record();
      end -= sizeof sizes;
      file.read(end, std::as_writable_bytes(std::span(sizes)));
      const auto [values, notes] = sizes;
      if (values > end - head || notes > end - head - values) file_.throw_damaged_record();
      found.push_back({end - notes - values, std::vector<std::byte>(notes)});
      file.read(end - notes, found.back().notes);
      end = found.back().offset;
    }
    if (found.size() != file_.done().parts) file_.throw_damaged_record();
    try {
      for (auto block = found.rbegin(); block != found.rend(); ++block) encoder_->add(block->notes, block->offset);
    } catch (const Error&) {
      file_.throw_damaged_record();
    }
  }

  ResumableFile& file_;
  std::unique_ptr<data::TableEncoder> encoder_;
  std::uint64_t bytes_;
};

void require_parquet(const WriterJob& job) {
  require_standard_types(job, "a Parquet file");
  data::make_arrow_encoder("parquet", job.fields, job.compression);
}

std::unique_ptr<RowWriter> open_parquet_writer(const WriterJob& job, ResumableFile& file) {
  return std::make_unique<ParquetWriter>(job, file);
}

}  // namespace

extern const DataWriter parquet;
const DataWriter parquet{.name = "parquet",
                         .extension = ".parquet",
                         .help = "Parquet, in row groups of about 16 MiB; needs a build with Apache Arrow",
                         .compressions = {"snappy", "zstd", "gzip", "lz4", "brotli"},
                         .require = require_parquet,
                         .is_resumable = [](const WriterJob&) { return true; },
                         .open = open_parquet_writer,
                         .has_checksums = true,
                         .block_bytes = 16 << 20};

}  // namespace trainrt::cli::datasets::plugins
