#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "checkpoint/load/piece_reader.hpp"

namespace trainrt::cli {

using Tensors = std::vector<const checkpoint::PieceReader::Tensor*>;

std::uint64_t bytes_of(const checkpoint::PieceReader::Tensor& tensor);

/// A contiguous run of a tensor's bytes, row-major: whole elements.
struct TensorPiece {
  const checkpoint::PieceReader::Tensor& tensor;
  std::uint64_t first = 0;           ///< byte of the tensor
  std::span<const std::byte> bytes;  ///< until the call returns
};

/// Boxes, each contiguous in the row-major tensor, that follow each other and are the tensor together; none has more than
/// `limit` bytes (or an element). None for an empty tensor. Pure.
std::vector<checkpoint::Box> contiguous_boxes(const Shape& shape, std::size_t element_bytes, std::uint64_t limit);

/// Reads tensors one after the other, each from its first byte to its last, with a buffer or two of so many bytes: `take`
/// gets the pieces in this order while the next are read. What `take` throws comes through. An empty tensor has no piece.
void stream_tensors(const checkpoint::PieceReader& reader, const Tensors& tensors,
                    const std::function<void(const TensorPiece&)>& take, std::size_t buffer_bytes = std::size_t{64} << 20);

}  // namespace trainrt::cli
