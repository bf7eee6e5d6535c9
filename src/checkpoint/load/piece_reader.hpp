#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <trainrt/tensor.hpp>
#include <variant>
#include <vector>

#include "checkpoint/format/index.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/box.hpp"

namespace trainrt::checkpoint {

class ReadPlan;

/// Reads tensors, parts of tensors, and values of a checkpoint in one process, without a communicator, for tools. All bytes
/// are verified; damage and read errors throw Error. Keeps the indices of all parts of the checkpoint in memory, but no
/// tensor data.
class PieceReader {
 public:
  /// Reads the manifest, all indices and all values of the checkpoint. If `only_rank` is set, tensors() has the
  /// per_rank tensors of this rank. Otherwise, each per_rank tensor has an additional first axis over the ranks. Throws
  /// Error if the checkpoint is damaged, and UsageError if rank `only_rank` did not write it.
  explicit PieceReader(const std::string& checkpoint_dir, std::optional<int> only_rank = {});

  struct StoredSlab {
    std::size_t shard = 0;  ///< index of the shard file in Manifest::shards
    int rank = 0;           ///< rank that wrote the slab
    Box box;                ///< position of the slab in the tensor, in coordinates of Tensor::shape
  };
  struct Tensor {
    std::string name;
    DType dtype = DType::f32;
    std::string placement;  ///< how ranks held the tensor: "replicated", "sharded" or "per_rank"
    /// Shape of the complete tensor. Without `only_rank`, a per_rank tensor has an additional first axis: the rank.
    Shape shape;
    std::vector<StoredSlab> slabs;  ///< slabs that the tensor is stored as; together they tile it
  };
  using Value = std::variant<std::int64_t, double, bool, std::string>;
  struct NamedValue {
    std::string name;
    std::string dtype;  ///< type of the value: "i64", "f64", "bool" or "string"
    Value value;
  };

  const Manifest& manifest() const { return manifest_; }
  /// Returns all tensors of the checkpoint, sorted by name.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Returns all values of the checkpoint, sorted by name.
  const std::vector<NamedValue>& values() const { return values_; }
  /// Returns the tensor with this name. Throws UsageError if it does not exist.
  const Tensor& tensor(const std::string& name) const;

  /// A request to read a box (rectangular part) of a tensor into `into`, row-major. The size of `into` must be the size
  /// of the box.
  struct BoxRequest {
    const Tensor* tensor = nullptr;
    Box box;
    std::span<std::byte> into;
  };
  /// Reads several boxes of tensors. Reads each stored block that intersects a box once, and no other blocks. Thread-safe.
  /// Throws Error if a box is outside its tensor or if bytes are damaged.
  void read(std::span<const BoxRequest> requests) const;
  /// Reads one box (rectangular part) of a tensor into `into`, row-major. Thread-safe. Throws Error if bytes are damaged.
  void read(const Tensor& tensor, const Box& box, std::span<std::byte> into) const;
  /// Reads a complete tensor into `into`, row-major. Thread-safe. Throws Error if bytes are damaged.
  void read(const Tensor& tensor, std::span<std::byte> into) const;

 private:
  struct ShardIndex {
    std::size_t shard = 0;
    Index index;  // index of the bytes that one rank wrote into the shard file, with its tensors sorted by name
  };
  void add(std::size_t shard, Index index);
  void merge_tensors();
  /// Adds a box of a tensor to the read plan, with `memory` as destination.
  void want(ReadPlan& plan, const Tensor& tensor, const Box& box, std::byte* memory) const;
  void read_values();

  std::string directory_;
  std::optional<int> only_rank_;
  Manifest manifest_;
  std::vector<ShardIndex> indices_;
  std::vector<Tensor> tensors_;
  std::vector<NamedValue> values_;
};

}  // namespace trainrt::checkpoint
