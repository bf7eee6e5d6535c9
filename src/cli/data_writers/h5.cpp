// HDF5: a dataset a field. Contiguous, as it is read best, in compressed chunks, or in chunks with checksums.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/datasets/opened_data.hpp"
#include "cli/datasets/convert/placed_columns.hpp"
#include "data/hdf5/chunk_encoder.hpp"
#include "io/hdf5/h5_chunk_writer.hpp"
#include "io/hdf5/h5_memory.hpp"
#include "io/hdf5/h5_placer.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

Shape dataset_shape(const WriterJob& job, const Dataset::Field& field) {
  Shape shape{static_cast<std::int64_t>(job.rows)};
  shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
  return shape;
}

std::unique_ptr<RowWriter> open_contiguous(const WriterJob& job, ResumableFile& file) {
  std::vector<std::uint64_t> places(job.fields.size());
  const auto memory = io::H5Memory::build(job.fields.size(), [&](hid_t h5) {
    io::H5Placer placer(h5);
    for (std::size_t i = 0; i < places.size(); ++i)
      placer.create("/" + job.fields[i].name, io::h5_type(job.fields[i].dtype),
                    io::h5_space(dataset_shape(job, job.fields[i])), job.rows * data::sample_bytes(job.fields[i]),
                    places[i]);
  });
  file.reserve(memory.file_bytes());
  // It reaches over the first values: one who goes on has it already.
  if (file.done().parts == 0) file.write(0, memory.front());
  return std::make_unique<PlacedColumns>(job, file, std::move(places), [bytes = memory.file_bytes()] { return bytes; });
}

/// Rows of a chunk: about 256 KiB of all fields, a power of two.
std::uint64_t rows_of_chunk(const WriterJob& job) {
  constexpr std::uint64_t usual_bytes = 256 << 10, most = 1 << 16;
  std::uint64_t bytes = 1;
  for (const auto& field : job.fields) bytes += data::sample_bytes(field);
  return std::min(std::bit_floor(std::clamp<std::uint64_t>(usual_bytes / bytes, 1, most)),
                  std::max<std::uint64_t>(job.rows, 1));
}

struct EncodedChunk {
  std::size_t field = 0;
  std::uint64_t first = 0;
  std::vector<std::byte> stored;
};

struct PreparedChunks final : PreparedRows {
  RowBlock block;
  std::uint64_t whole_first = 0, whole_end = 0;  ///< rows, from the file's first on, whose chunks are encoded
  std::vector<EncodedChunk> chunks;
};

/// Chunks that lie in a block as a whole are compressed where the block is prepared, if that is known here how; HDF5, which
/// one thread calls at a time, does the rest.
class CompressedH5 final : public RowWriter {
 public:
  CompressedH5(const WriterJob& job, ResumableFile& file)
      : job_(job),
        file_(file),
        rows_(rows_of_chunk(job)),
        writer_(file.part_path(), datasets(), {job.compression, job.checksums}) {}

  std::unique_ptr<PreparedRows> prepare(RowBlock block) override {
    auto made = std::make_unique<PreparedChunks>();
    const auto end = block.first + block.count;
    made->whole_first = made->whole_end = end;
    if (job_.compression == "gzip") {
      made->whole_first = std::min((block.first + rows_ - 1) / rows_ * rows_, end);
      made->whole_end = std::max(end / rows_ * rows_, made->whole_first);
      for (std::size_t field = 0; field < job_.fields.size(); ++field)
        for (auto first = made->whole_first; first < made->whole_end; first += rows_)
          made->chunks.push_back({field, first, encoded(block, field, first)});
    }
    made->block = std::move(block);
    return made;
  }

  void append(std::unique_ptr<PreparedRows> prepared) override {
    const auto& made = static_cast<const PreparedChunks&>(*prepared);
    for (const auto& chunk : made.chunks) writer_.write_stored(chunk.field, chunk.first, chunk.stored);
    for (std::size_t field = 0; field < job_.fields.size(); ++field) {
      write_rows(made.block, field, made.block.first, made.whole_first);
      write_rows(made.block, field, made.whole_end, made.block.first + made.block.count);
    }
  }

  std::uint64_t finish() override { return writer_.close(); }

 private:
  std::vector<io::H5ChunkWriter::Chunked> datasets() const {
    std::vector<io::H5ChunkWriter::Chunked> made;
    for (const auto& field : job_.fields)
      made.push_back({"/" + field.name, field.dtype, dataset_shape(job_, field), rows_});
    return made;
  }

  std::span<const std::byte> rows_in(const RowBlock& block, std::size_t field, std::uint64_t first,
                                     std::uint64_t end) const {
    const auto bytes = data::sample_bytes(job_.fields[field]);
    return std::span(block.columns[field].values).subspan((first - block.first) * bytes, (end - first) * bytes);
  }

  std::vector<std::byte> encoded(const RowBlock& block, std::size_t field, std::uint64_t first) const {
    return data::gzip_chunk(rows_in(block, field, first, first + rows_), size_of(job_.fields[field].dtype));
  }

  void write_rows(const RowBlock& block, std::size_t field, std::uint64_t first, std::uint64_t end) {
    if (first < end) writer_.write(field, first, end - first, rows_in(block, field, first, end));
  }

  WriterJob job_;
  ResumableFile& file_;
  std::uint64_t rows_;
  io::H5ChunkWriter writer_;
};

/// Chunks are small: in a shuffled order each sample costs one.
std::vector<io::H5ChunkWriter::Chunked> checksummed_datasets(const WriterJob& job) {
  constexpr std::uint64_t chunk_bytes = 16 << 10, max_rows = 1 << 12;
  std::vector<io::H5ChunkWriter::Chunked> made;
  for (const auto& field : job.fields) {
    const auto bytes = std::max<std::uint64_t>(data::sample_bytes(field), 1);
    const auto rows = std::bit_floor(std::clamp<std::uint64_t>(chunk_bytes / bytes, 1, max_rows));
    made.push_back(
        {"/" + field.name, field.dtype, dataset_shape(job, field), std::min(rows, std::max<std::uint64_t>(job.rows, 1))});
  }
  return made;
}

struct PreparedBlock final : PreparedRows {
  explicit PreparedBlock(RowBlock made) : block(std::move(made)) {}
  RowBlock block;
};

/// Chunks as they are, each with a checksum, which HDF5 computes.
class ChecksummedH5 final : public RowWriter {
 public:
  ChecksummedH5(const WriterJob& job, const ResumableFile& file)
      : writer_(file.part_path(), checksummed_datasets(job), {"", true}) {}

  std::unique_ptr<PreparedRows> prepare(RowBlock block) override {
    return std::make_unique<PreparedBlock>(std::move(block));
  }
  void append(std::unique_ptr<PreparedRows> prepared) override {
    const auto& block = static_cast<const PreparedBlock&>(*prepared).block;
    for (std::size_t field = 0; field < block.columns.size(); ++field)
      writer_.write(field, block.first, block.count, block.columns[field].values);
  }
  std::uint64_t finish() override { return writer_.close(); }

 private:
  io::H5ChunkWriter writer_;
};

void require_h5(const WriterJob& job) {
  require_fixed_fields(job, "an HDF5 file of trainrt");
  for (const auto& field : job.fields) {
    const auto& name = field.name;
    const bool is_path = name.empty() || name.front() == '/' || name.back() == '/' || name.find("//") != name.npos;
    if (is_path || name.find('\0') != name.npos || name == "." || name.starts_with("./") || name.find("/./") != name.npos)
      throw UsageError(fmt::format("'{}' cannot be the name of an HDF5 dataset: leave it out (--columns names the others)",
                                   excerpt(name, 60)));
  }
  if (!job.compression.empty()) io::require_h5_compression(job.compression);
}

std::unique_ptr<RowWriter> open_h5_writer(const WriterJob& job, ResumableFile& file) {
  if (job.compression.empty() && job.checksums) return std::make_unique<ChecksummedH5>(job, file);
  if (job.compression.empty()) return open_contiguous(job, file);
  return std::make_unique<CompressedH5>(job, file);
}

}  // namespace

extern const DataWriter h5;
const DataWriter h5{.name = "h5",
                    .extension = ".h5",
                    .help = "HDF5, a dataset a field: contiguous, samples are read at their places; or compressed chunks",
                    .compressions = {"gzip", "lz4"},
                    .require = require_h5,
                    .goes_on = [](const WriterJob& job) { return job.compression.empty() && !job.checksums; },
                    .open = open_h5_writer,
                    .has_checksums = true};

}  // namespace trainrt::cli::datasets::plugins
