#include "cli/checkpoints/tensor_stream.hpp"

#include <algorithm>
#include <array>
#include <future>

#include "io/files/aligned_memory.hpp"

namespace trainrt::cli {

using checkpoint::Box;
using checkpoint::PieceReader;

namespace {

/// Pieces that are read together into one buffer.
struct Batch {
  struct Part {
    const PieceReader::Tensor* tensor;
    Box box;
    std::uint64_t first;  ///< offset in the tensor
    std::size_t at;       ///< offset in the buffer
    std::size_t bytes;
  };
  std::vector<Part> parts;
  std::size_t bytes = 0;  ///< used part of the buffer, including padding
};

/// Divides tensors into batches that fit into a buffer. In the buffer, a piece of at least one memory page begins at a
/// page boundary, so that it can be read by direct I/O.
std::vector<Batch> batches_of(const Tensors& tensors, std::size_t buffer_bytes) {
  std::vector<Batch> batches(1);
  for (const auto* tensor : tensors) {
    std::uint64_t first = 0;
    for (auto& box : contiguous_boxes(tensor->shape, size_of(tensor->dtype), buffer_bytes)) {
      const auto bytes = static_cast<std::size_t>(element_count(box.shape)) * size_of(tensor->dtype);
      const auto alignment = bytes >= io::io_alignment ? io::io_alignment : 8;
      auto at = (batches.back().bytes + alignment - 1) / alignment * alignment;
      if (at + bytes > buffer_bytes && at > 0) {
        batches.emplace_back();
        at = 0;
      }
      auto& batch = batches.back();
      batch.parts.push_back({tensor, std::move(box), first, at, bytes});
      batch.bytes = at + bytes;
      first += bytes;
    }
  }
  return batches;
}

void read(const PieceReader& reader, const Batch& batch, std::span<std::byte> buffer) {
  std::vector<PieceReader::BoxRequest> requests;
  for (const auto& part : batch.parts) requests.push_back({part.tensor, part.box, buffer.subspan(part.at, part.bytes)});
  reader.read(requests);
}

/// Reads batches into buffers, each of which has room for `copies` of the largest batch, and passes them to `take` in
/// order. A thread reads the next batch while `take` runs.
void read_ahead(const std::vector<Batch>& batches, std::size_t copies,
                const std::function<void(std::size_t, std::span<std::byte>)>& read_batch,
                const std::function<void(const Batch&, std::span<const std::byte>)>& take) {
  std::size_t max_bytes = 0;
  for (const auto& batch : batches) max_bytes = std::max(max_bytes, batch.bytes);
  if (max_bytes == 0) return;
  const auto room = copies * ((max_bytes + io::io_alignment - 1) / io::io_alignment * io::io_alignment);
  std::array<io::AlignedMemory, 2> memory{io::AlignedMemory(room), io::AlignedMemory(batches.size() > 1 ? room : 1)};
  const auto buffer = [&](std::size_t number) { return memory[number % 2].bytes().first(room); };
  read_batch(0, buffer(0));
  for (std::size_t number = 0; number < batches.size(); ++number) {
    std::future<void> next;  // its destructor blocks until the read has ended
    if (number + 1 < batches.size())
      next = std::async(std::launch::async, [&, number] { read_batch(number + 1, buffer(number + 1)); });
    take(batches[number], buffer(number));
    if (next.valid()) next.get();
  }
}

/// Calls `visit` for each multi-dimensional index below `extents`, in row-major order.
void for_each_index(std::span<const std::int64_t> extents, const std::function<void(const Shape&)>& visit) {
  Shape index(extents.size(), 0);
  for (;;) {
    visit(index);
    auto axis = extents.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

std::uint64_t bytes_of(const PieceReader::Tensor& tensor) {
  return static_cast<std::uint64_t>(element_count(tensor.shape)) * size_of(tensor.dtype);
}

std::vector<Box> contiguous_boxes(const Shape& shape, std::size_t element_bytes, std::uint64_t limit) {
  if (element_count(shape) == 0) return {};
  if (shape.empty()) return {Box{}};
  // The tensor is divided along the first axis for which a slice, the elements at one index of the axis, has at most
  // `limit` bytes.
  auto axis = shape.size() - 1;
  std::uint64_t row_bytes = element_bytes;
  while (axis > 0 && row_bytes * static_cast<std::uint64_t>(shape[axis]) <= limit)
    row_bytes *= static_cast<std::uint64_t>(shape[axis--]);
  const auto rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(limit / row_bytes));
  std::vector<Box> boxes;
  for_each_index(std::span(shape).first(axis), [&](const Shape& outer) {
    for (std::int64_t row = 0; row < shape[axis]; row += rows) {
      Box box{Shape(shape.size(), 0), shape};
      for (std::size_t a = 0; a < axis; ++a) {
        box.offset[a] = outer[a];
        box.shape[a] = 1;
      }
      box.offset[axis] = row;
      box.shape[axis] = std::min(rows, shape[axis] - row);
      boxes.push_back(std::move(box));
    }
  });
  return boxes;
}

void stream_tensors(const PieceReader& reader, const Tensors& tensors, const std::function<void(const TensorPiece&)>& take,
                    std::size_t buffer_bytes) {
  const auto batches = batches_of(tensors, buffer_bytes);
  const auto read_batch = [&](std::size_t number, std::span<std::byte> buffer) { read(reader, batches[number], buffer); };
  read_ahead(batches, 1, read_batch, [&](const Batch& batch, std::span<const std::byte> buffer) {
    for (const auto& part : batch.parts) take({*part.tensor, part.first, buffer.subspan(part.at, part.bytes)});
  });
}

void stream_tensor_pairs(const PieceReader& first, const PieceReader& second, const TensorPairs& pairs,
                         const std::function<void(const TensorPiece&, std::span<const std::byte>)>& take,
                         std::size_t buffer_bytes) {
  Tensors mine, theirs;
  for (const auto& [a, b] : pairs) {
    mine.push_back(a);
    theirs.push_back(b);
  }
  const auto batches = batches_of(mine, buffer_bytes), other_batches = batches_of(theirs, buffer_bytes);
  const auto read_batch = [&](std::size_t number, std::span<std::byte> buffer) {
    read(first, batches[number], buffer.first(buffer.size() / 2));
    read(second, other_batches[number], buffer.subspan(buffer.size() / 2));
  };
  read_ahead(batches, 2, read_batch, [&](const Batch& batch, std::span<const std::byte> buffer) {
    const auto others = buffer.subspan(buffer.size() / 2);
    for (const auto& part : batch.parts)
      take({*part.tensor, part.first, buffer.subspan(part.at, part.bytes)}, others.subspan(part.at, part.bytes));
  });
}

}  // namespace trainrt::cli
