#include "cli/checkpoints/tensor_stream.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using namespace trainrt::cli;

TEST_CASE("a tensor is divided into consecutive contiguous boxes of at most the limit") {
  for (const Shape& shape : std::vector<Shape>{{}, {7}, {5, 3}, {2, 3, 4}, {1, 1, 50}, {4, 1, 6, 2}, {0, 3}}) {
    for (const std::uint64_t limit : {1, 4, 8, 20, 47, 96, 1000}) {
      INFO(to_string(shape) << " " << limit);
      std::int64_t next = 0;
      for (const auto& box : contiguous_boxes(shape, 4, limit)) {
        std::int64_t first = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) first = first * shape[axis] + box.offset[axis];
        CHECK(first == next);
        next += element_count(box.shape);
        CHECK((static_cast<std::uint64_t>(element_count(box.shape)) * 4 <= limit || element_count(box.shape) == 1));
        // Contiguous: all axes after the first one that is longer than 1 are complete.
        std::size_t axis = 0;
        while (axis < shape.size() && box.shape[axis] == 1) ++axis;
        for (++axis; axis < shape.size(); ++axis) CHECK(box.shape[axis] == shape[axis]);
      }
      CHECK(next == element_count(shape));
    }
  }
}
