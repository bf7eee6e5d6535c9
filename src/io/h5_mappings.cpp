#include "io/h5_mappings.hpp"

#include <functional>

namespace trainrt::io {

namespace {

/// Elements that follow each other row-major.
struct ElementRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

std::vector<hsize_t> extents_of(hid_t space) {
  std::vector<hsize_t> extents(static_cast<std::size_t>(h5_check(H5Sget_simple_extent_ndims(space), "read a rank")));
  h5_check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read a shape");
  return extents;
}

/// A box of elements is one run if only its outermost axis of more than one element is cut.
std::optional<ElementRun> run_of_box(const std::vector<hsize_t>& extents, const std::vector<hsize_t>& start,
                                     const std::vector<hsize_t>& size) {
  ElementRun run{0, 1};
  std::uint64_t stride = 1;
  bool is_cut = false;
  for (auto axis = extents.size(); axis-- > 0;) {
    if (start[axis] > extents[axis] || size[axis] > extents[axis] - start[axis]) return std::nullopt;
    if (is_cut && size[axis] != 1) return std::nullopt;
    is_cut = is_cut || size[axis] != extents[axis];
    run.first += start[axis] * stride;
    if (__builtin_mul_overflow(run.count, size[axis], &run.count) || __builtin_mul_overflow(stride, extents[axis], &stride))
      return std::nullopt;
  }
  return run;
}

std::optional<ElementRun> run_of(hid_t space) {
  const auto kind = H5Sget_select_type(space);
  const auto extents = extents_of(space);
  if (kind == H5S_SEL_ALL) return run_of_box(extents, std::vector<hsize_t>(extents.size()), extents);
  if (kind != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0) return std::nullopt;
  const auto rank = extents.size();
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank), size(rank);
  h5_check(H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()), "read a selection");
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (count[axis] == H5S_UNLIMITED || block[axis] == H5S_UNLIMITED) return std::nullopt;
    if (count[axis] != 1 && stride[axis] != block[axis]) return std::nullopt;
    if (__builtin_mul_overflow(count[axis], block[axis], &size[axis])) return std::nullopt;
  }
  return run_of_box(extents, start, size);
}

std::string text_of_length(const std::function<ssize_t(char*, std::size_t)>& read, const char* what) {
  std::string text(static_cast<std::size_t>(h5_check(read(nullptr, 0), what)), '\0');
  h5_check(read(text.data(), text.size() + 1), what);
  return text;
}

}  // namespace

std::vector<H5Mapping> h5_mappings(hid_t properties, const Shape& shape) {
  const auto lock = h5_lock();
  std::size_t count = 0;
  h5_check(H5Pget_virtual_count(properties, &count), "count the sources of a virtual dataset");
  std::vector<H5Mapping> mappings(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto& mapping = mappings[i];
    mapping.file =
        text_of_length([&](char* text, std::size_t size) { return H5Pget_virtual_filename(properties, i, text, size); },
                       "read the file of a virtual dataset's source");
    mapping.dataset =
        text_of_length([&](char* text, std::size_t size) { return H5Pget_virtual_dsetname(properties, i, text, size); },
                       "read the name of a virtual dataset's source");
    const H5Id to(H5Pget_virtual_vspace(properties, i), H5Sclose, "read a part of a virtual dataset");
    const H5Id from(H5Pget_virtual_srcspace(properties, i), H5Sclose, "read a source of a virtual dataset");
    const auto extents = extents_of(to);
    if (extents != std::vector<hsize_t>(shape.begin(), shape.end())) continue;
    const auto to_run = run_of(to);
    const auto from_run = run_of(from);
    if (to_run && from_run && to_run->count == from_run->count)
      mapping.run = {to_run->first, from_run->first, to_run->count};
  }
  return mappings;
}

}  // namespace trainrt::io
