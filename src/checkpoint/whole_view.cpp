#include "checkpoint/whole_view.hpp"

#include <bit>
#include <limits>

#include "checkpoint/format.hpp"
#include "io/h5_types.hpp"

namespace trainrt::checkpoint {

namespace {

/// Links the entry to the shard that holds it whole.
void link(hid_t file, const std::string& name, int writer) {
  const auto links = io::h5_link_properties();
  const auto path = object_path(name);
  io::h5_check(H5Lcreate_external(shard_name(writer).c_str(), path.c_str(), file, path.c_str(), links, H5P_DEFAULT),
               "link '" + name + "'");
}

/// NaN, for types that have one.
void set_fill(hid_t how, DType dtype) {
  const double f64 = std::numeric_limits<double>::quiet_NaN();
  const float f32 = std::numeric_limits<float>::quiet_NaN();
  const std::uint16_t f16 = 0x7e00;
  const std::uint16_t bf16 = 0x7fc0;
  const void* fill = nullptr;
  if (dtype == DType::f64) fill = &f64;
  if (dtype == DType::f32) fill = &f32;
  if (dtype == DType::f16) fill = &f16;
  if (dtype == DType::bf16) fill = &bf16;
  if (fill != nullptr) io::h5_check(H5Pset_fill_value(how, io::h5_type(dtype), fill), "set the fill value");
}

Shape whole_shape(const TensorLayout& tensor, int ranks) {
  Shape shape = tensor.global_shape;
  if (tensor.placement == Placement::per_rank) shape.insert(shape.begin(), ranks);
  return shape;
}

/// Maps one shard's slab to its box of the whole.
void map_slab(hid_t how, const TensorLayout& tensor, const Slab& slab, const Shape& whole) {
  std::vector<hsize_t> start(slab.offset.begin(), slab.offset.end());
  std::vector<hsize_t> count(slab.shape.begin(), slab.shape.end());
  if (tensor.placement == Placement::per_rank) {
    start.insert(start.begin(), static_cast<hsize_t>(slab.writer));
    count.insert(count.begin(), 1);
  }
  const auto target = io::h5_space(whole);
  io::h5_check(H5Sselect_hyperslab(target, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "select a slab");
  const auto source = io::h5_space(slab.shape);
  io::h5_check(H5Pset_virtual(how, target, shard_name(slab.writer).c_str(), object_path(tensor.name).c_str(), source),
               "map a slab of '" + tensor.name + "'");
}

void assemble(hid_t file, const TensorLayout& tensor, int ranks) {
  const auto whole = whole_shape(tensor, ranks);
  io::H5Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
  if (element_count(whole) > 0) {
    set_fill(how, tensor.dtype);
    for (const auto& slab : tensor.slabs)
      if (element_count(slab.shape) > 0) map_slab(how, tensor, slab, whole);
  }
  const auto links = io::h5_link_properties();
  const auto space = io::h5_space(whole);
  io::H5Id dataset(
      H5Dcreate2(file, object_path(tensor.name).c_str(), io::h5_type(tensor.dtype), space, links, how, H5P_DEFAULT),
      H5Dclose, "create dataset '" + tensor.name + "'");
  io::h5_write_word(dataset, "placement", name_of(tensor.placement));
  io::h5_write_attribute(dataset, "global_shape", std::span<const std::int64_t>(tensor.global_shape));
  const Shape zeros(tensor.global_shape.size(), 0);
  io::h5_write_attribute(dataset, "offset", std::span<const std::int64_t>(zeros));
}

}  // namespace

std::string whole_view(const Layout& layout, const State& state) {
  return io::h5_image([&](hid_t file) {
    io::h5_write_word(file, "format", view_format);
    io::h5_write_attribute(file, "version", format_version);
    io::h5_write_attribute(file, "ranks", std::int64_t{layout.ranks});
    for (const auto& tensor : layout.tensors)
      if (tensor.placement == Placement::replicated)
        link(file, tensor.name, tensor.slabs.front().writer);
      else
        assemble(file, tensor, layout.ranks);
    for (const auto& value : state.values()) link(file, value.name, values_writer);
  });
}

}  // namespace trainrt::checkpoint
