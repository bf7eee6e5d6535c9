#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "data/source/row_file.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Fields whose samples are rows of the same size: read at their places in a file, or held in memory. All have as many.
class RowSource final : public Source {
 public:
  explicit RowSource(std::uint64_t samples) : size_(samples) {}
  void add(Dataset::Field field, std::unique_ptr<RowFile> rows);
  void add(Dataset::Field field, std::vector<std::byte> rows);

  std::uint64_t size() const override { return size_; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;
  bool is_resident() const override;

 private:
  struct Rows {
    std::unique_ptr<RowFile> in_file;
    std::vector<std::byte> in_memory;
  };
  std::uint64_t size_;
  std::vector<Dataset::Field> fields_;
  std::vector<Rows> rows_;
};

}  // namespace trainrt::data
