#include "io/hdf5/h5_mappings.hpp"

#include <functional>

namespace trainrt::io {

namespace {

std::vector<hsize_t> extents_of(hid_t space) {
  std::vector<hsize_t> extents(static_cast<std::size_t>(h5_check(H5Sget_simple_extent_ndims(space), "read a rank")));
  h5_check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read a shape");
  return extents;
}

std::optional<H5Box> box_of(hid_t space) {
  const auto kind = H5Sget_select_type(space);
  if (kind == H5S_SEL_ALL) {
    const auto extents = extents_of(space);
    return H5Box{std::vector<std::uint64_t>(extents.size()), {extents.begin(), extents.end()}};
  }
  if (kind != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0) return std::nullopt;
  const auto rank = extents_of(space).size();
  std::vector<hsize_t> start(rank), stride(rank), count(rank), block(rank);
  h5_check(H5Sget_regular_hyperslab(space, start.data(), stride.data(), count.data(), block.data()), "read a selection");
  H5Box box{{start.begin(), start.end()}, std::vector<std::uint64_t>(rank)};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (count[axis] == H5S_UNLIMITED || block[axis] == H5S_UNLIMITED) return std::nullopt;
    if (count[axis] != 1 && stride[axis] != block[axis]) return std::nullopt;
    if (__builtin_mul_overflow(count[axis], block[axis], &box.size[axis])) return std::nullopt;
  }
  return box;
}

std::string text_of_length(const std::function<ssize_t(char*, std::size_t)>& read, const char* what) {
  std::string text(static_cast<std::size_t>(h5_check(read(nullptr, 0), what)), '\0');
  h5_check(read(text.data(), text.size() + 1), what);
  return text;
}

}  // namespace

/// Only its outermost axis of more than one element may be cut.
std::optional<H5Run> H5Box::run_in(const Shape& shape) const {
  if (shape.size() != size.size()) return std::nullopt;
  H5Run run{0, 1};
  std::uint64_t stride = 1;
  bool is_cut = false;
  for (auto axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(shape[axis]);
    if (start[axis] > extent || size[axis] > extent - start[axis]) return std::nullopt;
    if (is_cut && size[axis] != 1) return std::nullopt;
    is_cut = is_cut || size[axis] != extent;
    run.first += start[axis] * stride;
    run.count *= size[axis];
    stride *= extent;
  }
  return run;
}

std::optional<H5Run> H5Mapping::run_in(const Shape& source) const {
  if (!to) return std::nullopt;
  const auto run = is_all ? std::optional(H5Run{0, static_cast<std::uint64_t>(element_count(source))})
                   : from ? from->run_in(source)
                          : std::nullopt;
  return run && run->count == to->count ? run : std::nullopt;
}

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
    if (const auto box = box_of(to)) mapping.to = box->run_in(shape);
    // The extent of a source is not known here: only what is chosen of it is kept in the file.
    mapping.is_all = H5Sget_select_type(from) == H5S_SEL_ALL;
    if (!mapping.is_all) mapping.from = box_of(from);
  }
  return mappings;
}

}  // namespace trainrt::io
