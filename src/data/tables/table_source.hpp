#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "data/bytes/chunk_cache.hpp"
#include "data/bytes/expansion.hpp"
#include "data/source/source.hpp"
#include "data/tables/table_plan.hpp"

namespace trainrt::data {

/// Rows of a table's blocks. A block of a field is decoded as a whole, by the thread that needs it, and kept in the cache
/// of this process (chunk_cache.hpp), which has room for two blocks of all fields at least, unless it is to keep nothing.
/// All blocks are decoded now, and kept, if they take no more than `most_kept` bytes. Throws UsageError if a block of a
/// field takes more memory than `limit`.
class TableSource final : public Source {
 public:
  using Open = std::function<std::unique_ptr<const TableFile>(std::vector<std::uint64_t> blocks)>;
  TableSource(std::string path, TablePlan plan, const Open& open, const ExpansionLimit& limit, std::uint64_t cache_bytes,
              std::uint64_t most_kept);

  std::uint64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  bool is_resident() const override { return !kept_.empty(); }

 private:
  /// Neighbours, in a block and in what is asked for.
  struct Run {
    std::size_t block = 0;
    std::uint64_t row = 0;  ///< the first, in the block
    std::size_t request = 0;
    std::size_t count = 0;
  };
  std::size_t block_of(std::uint64_t sample) const;
  std::uint64_t first_of(std::size_t block) const { return block == 0 ? 0 : ends_[block - 1]; }
  std::uint64_t rows_of(std::size_t block) const { return ends_[block] - first_of(block); }
  std::uint64_t bytes_of(std::size_t field, std::size_t block) const;
  void require_unchanged() const;
  void require_room(bool keep) const;
  void keep_all(std::uint64_t most_bytes);
  /// A block of a field, and what keeps it in memory.
  struct Block {
    ChunkCache::Values held;
    const std::byte* values = nullptr;
  };
  Block values_of(std::size_t field, std::size_t block) const;
  std::vector<std::byte> made(std::size_t part, std::size_t block) const;
  std::vector<std::vector<std::byte>> decoded(std::size_t first, std::size_t end, std::size_t block) const;
  std::vector<Run> runs_of(std::span<const std::uint64_t> samples) const;
  void read_fixed(std::span<const Run> runs, std::size_t samples, Column& column) const;
  void read_varying(std::span<const Run> runs, std::size_t samples, Column& column) const;

  std::string path_;
  ExpansionLimit limit_;
  TablePlan plan_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::uint64_t> ends_;  ///< samples up to the end of each block
  std::unique_ptr<const TableFile> table_;
  std::unique_ptr<ChunkCacheShare> cache_;
  bool by_rows_ = false;                               ///< blocks of all fields are made together
  std::vector<std::vector<ChunkCache::Values>> kept_;  ///< of each field, or of all, the blocks
};

/// Whether all values are to be kept: if they are about as small as their file, or whatever they take.
enum class Keep : std::uint8_t { never, if_small, always };

/// A format of tables opens a file: bytes of decoded blocks that are kept are those of the key `chunk_cache`.
std::unique_ptr<Source> open_table(const DataFile& file, const FileContent& content, const Options& options, Keep keep,
                                   const TableSource::Open& open);

}  // namespace trainrt::data
