#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint/load/piece_reader.hpp"

namespace trainrt::cli {

using Tensors = std::vector<const checkpoint::PieceReader::Tensor*>;

/// Returns the size of a tensor in bytes.
std::uint64_t bytes_of(const checkpoint::PieceReader::Tensor& tensor);

/// Consecutive elements of a tensor, in row-major order.
struct TensorPiece {
  const checkpoint::PieceReader::Tensor& tensor;
  std::uint64_t first = 0;           ///< offset of the first byte in the tensor
  std::span<const std::byte> bytes;  ///< valid until the callback returns
};

/// Divides a tensor into consecutive boxes, each of which is contiguous in row-major order and has at most `limit` bytes,
/// but at least one element. Returns no box for an empty tensor. Pure function.
std::vector<checkpoint::Box> contiguous_boxes(const Shape& shape, std::size_t element_bytes, std::uint64_t limit);

/// Reads tensors one after the other, each from its first byte to its last, and passes their pieces to `take` in this
/// order. A thread reads the next pieces while `take` runs. Uses up to two buffers of `buffer_bytes`. An empty tensor
/// has no piece. Throws the errors of `take`, and those of PieceReader::read().
void stream_tensors(const checkpoint::PieceReader& reader, const Tensors& tensors,
                    const std::function<void(const TensorPiece&)>& take, std::size_t buffer_bytes = std::size_t{64} << 20);

/// Pairs of tensors of two checkpoints. The tensors of a pair have the same type and shape.
using TensorPairs = std::vector<std::pair<const checkpoint::PieceReader::Tensor*, const checkpoint::PieceReader::Tensor*>>;

/// As stream_tensors(), but reads pairs of tensors from the checkpoints `first` and `second`. `take` receives each piece of
/// the first tensor, and the bytes of the second tensor at the same place.
void stream_tensor_pairs(const checkpoint::PieceReader& first, const checkpoint::PieceReader& second,
                         const TensorPairs& pairs,
                         const std::function<void(const TensorPiece&, std::span<const std::byte>)>& take,
                         std::size_t buffer_bytes = std::size_t{32} << 20);

}  // namespace trainrt::cli
