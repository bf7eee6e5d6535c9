#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <trainrt/tensor.hpp>
#include <variant>
#include <vector>

#include "checkpoint/format/index.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/box.hpp"

namespace trainrt::checkpoint {

/// Reads a checkpoint piece by piece, on one process, for tools. Every byte that it gives has been checked; damage and what
/// cannot be read throw Error. Holds the indices of all parts, no data.
class PieceReader {
 public:
  explicit PieceReader(const std::string& checkpoint_dir);

  struct Piece {
    std::size_t shard = 0;  ///< in Manifest::shards
    int rank = 0;           ///< that wrote it
    Box box;                ///< in the tensor as a reader sees it
  };
  struct Tensor {
    std::string name;
    DType dtype = DType::f32;
    std::string placement;      ///< "replicated", "sharded", "per_rank"
    Shape shape;                ///< whole; of per_rank tensors with a first axis over the ranks that wrote
    std::vector<Piece> pieces;  ///< that tile it
  };
  using Value = std::variant<std::int64_t, double, bool, std::string>;
  struct NamedValue {
    std::string name;
    std::string dtype;  ///< "i64", "f64", "bool", "string"
    Value value;
  };

  const Manifest& manifest() const { return manifest_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }    ///< by name
  const std::vector<NamedValue>& values() const { return values_; }  ///< by name
  const Tensor& tensor(const std::string& name) const;               ///< UsageError if there is none

  /// A box of a tensor, and as many bytes for it: it is put there row-major.
  struct Request {
    const Tensor* tensor = nullptr;
    Box box;
    std::span<std::byte> into;
  };
  /// Reads the blocks that the boxes touch, each once, and no others. Thread-safe.
  void read(std::span<const Request> requests) const;
  /// One box.
  void read(const Tensor& tensor, const Box& box, std::span<std::byte> into) const;
  /// All of it.
  void read(const Tensor& tensor, std::span<std::byte> into) const;

 private:
  struct ShardIndex {
    std::size_t shard = 0;
    Index index;  // tensors by name
  };
  void add(std::size_t shard, Index index);
  void read_values();

  std::string directory_;
  Manifest manifest_;
  std::vector<ShardIndex> indices_;
  std::vector<Tensor> tensors_;
  std::vector<NamedValue> values_;
};

}  // namespace trainrt::checkpoint
