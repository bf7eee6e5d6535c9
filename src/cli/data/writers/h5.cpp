// Writes HDF5 files with one dataset per field. The datasets are contiguous, which is read fastest, or chunked with
// compression or checksums.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/data/convert/row_writers.hpp"
#include "data/hdf5/chunk_filters.hpp"
#include "io/hdf5/h5_chunk_writer.hpp"
#include "io/hdf5/h5_memory.hpp"
#include "io/hdf5/h5_placer.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

std::unique_ptr<RowWriter> open_contiguous(const WriterJob& job, ResumableFile& file) {
  std::vector<std::uint64_t> offsets(job.fields.size());
  const auto memory = io::H5Memory::build(job.fields.size(), [&](hid_t h5) {
    io::H5Placer placer(h5);
    for (std::size_t i = 0; i < offsets.size(); ++i)
      placer.create("/" + job.fields[i].name, io::h5_type(job.fields[i].dtype), io::h5_space(job.shape_of(job.fields[i])),
                    job.rows * data::sample_bytes(job.fields[i]), offsets[i]);
  });
  file.reserve(memory.file_bytes());
  // The front of the file overlaps the first values. A resumed conversion does not write it, because the values are
  // already there.
  if (file.done().parts == 0) file.write(0, memory.front());
  return std::make_unique<FixedColumnWriter>(job, file, std::move(offsets),
                                             [bytes = memory.file_bytes()] { return bytes; });
}

/// Returns the number of rows of a chunk, a power of two. A compressed chunk has about 256 KiB of all fields. Other
/// chunks have about 16 KiB of the field, because a shuffled order reads a chunk for each sample.
std::uint64_t rows_per_chunk(const WriterJob& job, const Dataset::Field& field) {
  std::uint64_t row_bytes = 1, chunk_bytes = 256 << 10, max_rows = 1 << 16;
  if (job.compression.empty()) {
    row_bytes = std::max<std::uint64_t>(data::sample_bytes(field), 1);
    chunk_bytes = 16 << 10;
    max_rows = 1 << 12;
  } else {
    for (const auto& each : job.fields) row_bytes += data::sample_bytes(each);
  }
  return std::min(std::bit_floor(std::clamp<std::uint64_t>(chunk_bytes / row_bytes, 1, max_rows)),
                  std::max<std::uint64_t>(job.rows, 1));
}

std::vector<io::H5ChunkWriter::Chunked> chunked_datasets(const WriterJob& job) {
  std::vector<io::H5ChunkWriter::Chunked> datasets;
  for (const auto& field : job.fields)
    datasets.push_back({"/" + field.name, field.dtype, job.shape_of(field), rows_per_chunk(job, field)});
  return datasets;
}

struct EncodedChunk {
  std::size_t field = 0;
  std::uint64_t first = 0;  ///< number of its first row
  std::vector<std::byte> stored;
};

struct PreparedChunks final : PreparedRows {
  RowBlock block;
  std::uint64_t encoded_first = 0, encoded_end = 0;  ///< the rows of `block` whose chunks are encoded
  std::vector<EncodedChunk> chunks;
};

/// Writes chunked datasets. Gzip chunks that are completely inside a block are compressed in prepare(), by several
/// threads. The HDF5 library encodes the other chunks and computes checksums; only one thread calls it at a time.
class ChunkedWriter final : public RowWriter {
 public:
  ChunkedWriter(const WriterJob& job, const ResumableFile& file)
      : job_(job),
        datasets_(chunked_datasets(job)),
        writer_(file.part_path(), datasets_, {job_.compression, job_.checksums}) {}

  std::unique_ptr<PreparedRows> prepare(RowBlock block) override {
    auto prepared = std::make_unique<PreparedChunks>();
    const auto end = block.first + block.count;
    prepared->encoded_first = prepared->encoded_end = end;
    if (job_.compression == "gzip") {
      const auto rows = datasets_.front().chunk_rows;  // the same for all fields
      prepared->encoded_first = std::min((block.first + rows - 1) / rows * rows, end);
      prepared->encoded_end = std::max(end / rows * rows, prepared->encoded_first);
      for (std::size_t field = 0; field < job_.fields.size(); ++field)
        for (auto first = prepared->encoded_first; first < prepared->encoded_end; first += rows)
          prepared->chunks.push_back(
              {field, first,
               data::gzip_chunk(rows_in(block, field, first, first + rows), size_of(job_.fields[field].dtype))});
    }
    prepared->block = std::move(block);
    return prepared;
  }

  void append(std::unique_ptr<PreparedRows> rows) override {
    const auto& prepared = static_cast<const PreparedChunks&>(*rows);
    const auto& block = prepared.block;
    for (const auto& chunk : prepared.chunks) writer_.write_stored(chunk.field, chunk.first, chunk.stored);
    for (std::size_t field = 0; field < job_.fields.size(); ++field) {
      write_rows(block, field, block.first, prepared.encoded_first);
      write_rows(block, field, prepared.encoded_end, block.first + block.count);
    }
  }

  std::uint64_t finish() override { return writer_.close(); }

 private:
  /// Returns the bytes of the rows `first` to `end` - 1, numbered in the file.
  std::span<const std::byte> rows_in(const RowBlock& block, std::size_t field, std::uint64_t first,
                                     std::uint64_t end) const {
    const auto bytes = data::sample_bytes(job_.fields[field]);
    return std::span(block.columns[field].values).subspan((first - block.first) * bytes, (end - first) * bytes);
  }

  void write_rows(const RowBlock& block, std::size_t field, std::uint64_t first, std::uint64_t end) {
    if (first < end) writer_.write(field, first, end - first, rows_in(block, field, first, end));
  }

  WriterJob job_;
  std::vector<io::H5ChunkWriter::Chunked> datasets_;
  io::H5ChunkWriter writer_;
};

void require_h5(const WriterJob& job) {
  require_fixed_fields(job, "an HDF5 file");
  for (const auto& field : job.fields) {
    const auto& name = field.name;
    const bool is_path = name.empty() || name.front() == '/' || name.back() == '/' || name.find("//") != name.npos;
    if (is_path || name.find('\0') != name.npos || name == "." || name.starts_with("./") || name.find("/./") != name.npos)
      throw UsageError(fmt::format("'{}' is not a valid name of an HDF5 dataset: choose other fields with --columns",
                                   excerpt(name, 60)));
  }
  if (!job.compression.empty()) io::require_h5_compression(job.compression);
}

std::unique_ptr<RowWriter> open_h5_writer(const WriterJob& job, ResumableFile& file) {
  if (job.compression.empty() && !job.checksums) return open_contiguous(job, file);
  return std::make_unique<ChunkedWriter>(job, file);
}

}  // namespace

extern const DataWriter h5;
const DataWriter h5{.name = "h5",
                    .extension = ".h5",
                    .help = "HDF5, a dataset for each field: contiguous, so that samples are read directly, or in chunks",
                    .compressions = {"gzip", "lz4"},
                    .require = require_h5,
                    .is_resumable = [](const WriterJob& job) { return job.compression.empty() && !job.checksums; },
                    .open = open_h5_writer,
                    .has_checksums = true};

}  // namespace trainrt::cli::datasets::plugins
