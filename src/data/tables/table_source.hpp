#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/bytes/chunk_cache.hpp"
#include "data/bytes/expansion.hpp"
#include "data/source/source.hpp"
#include "data/tables/table_plan.hpp"

namespace trainrt::data {

/// A source that has the rows of a table as samples. A block of rows is decoded by the thread that needs it, and then kept
/// in the cache of this process (chunk_cache.hpp). The cache can hold at least two blocks of all fields.
class TableSource final : public Source {
 public:
  using Open = std::function<std::unique_ptr<const TableReader>(std::vector<std::uint64_t> blocks)>;
  /// `cache_bytes` is the size of the cache; 0 means that nothing is cached. If all values together need at most
  /// `max_kept` bytes, the constructor decodes all blocks and keeps them in memory. Throws UsageError if a block of a
  /// field needs more memory than `limit` allows.
  TableSource(std::string path, TablePlan plan, const Open& open, const ExpansionLimit& limit, std::uint64_t cache_bytes,
              std::uint64_t max_kept);

  std::uint64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  bool is_resident() const override { return !kept_.empty(); }

 private:
  /// Rows that are consecutive in a block and also in the list of requested samples.
  struct RowRun {
    std::size_t block = 0;
    std::uint64_t row = 0;    ///< index of the first row in the block
    std::size_t request = 0;  ///< position of the first row in the request
    std::size_t count = 0;
  };
  std::uint64_t first_of(std::size_t block) const { return block == 0 ? 0 : ends_[block - 1]; }
  std::uint64_t rows_of(std::size_t block) const { return ends_[block] - first_of(block); }
  std::uint64_t bytes_of(std::size_t field, std::size_t block) const;
  void require_unchanged() const;
  std::uint64_t require_room(bool keep) const;
  void keep_all(std::uint64_t max_bytes);
  /// A decoded block of a field. `owner` keeps it in memory.
  struct Block {
    ChunkCache::Values owner;
    const std::byte* values = nullptr;
  };
  Block block_of(std::size_t field, std::size_t block) const;
  std::vector<std::byte> decode_part(std::size_t part, std::size_t block) const;
  std::vector<std::vector<std::byte>> decode(std::size_t first, std::size_t end, std::size_t block) const;
  std::vector<RowRun> runs_of(std::span<const std::uint64_t> samples) const;
  void read_fixed(std::span<const RowRun> runs, std::size_t samples, Column& column) const;
  void read_varying(std::span<const RowRun> runs, std::size_t samples, Column& column) const;

  std::string path_;
  ExpansionLimit limit_;
  TablePlan plan_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::uint64_t> ends_;  // for each block, the number of samples up to the end of the block
  std::unique_ptr<const TableReader> table_;
  std::unique_ptr<ChunkCacheShare> cache_;
  // A block is decoded in parts. A part is one field, or all fields if the table is read by rows.
  bool by_rows_ = false;
  std::vector<std::vector<ChunkCache::Values>> kept_;  // for each part, its blocks, if all blocks are kept in memory
};

/// Whether all values are kept in memory: never, only if they are not much larger than their file (if_small), or always.
enum class Keep : std::uint8_t { never, if_small, always };

/// Opens a file of a table format. Precondition: `options` contains the keys of table_options().
std::unique_ptr<Source> open_table(const DataFile& file, const FileContent& content, const Options& options, Keep keep,
                                   const TableSource::Open& open);

}  // namespace trainrt::data
