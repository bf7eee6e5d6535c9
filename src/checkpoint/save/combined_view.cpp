#include "checkpoint/save/combined_view.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

#include <trainrt/error.hpp>

#include "checkpoint/format/index.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/other_files.hpp"
#include "checkpoint/part.hpp"
#include "core/files/guarded_tree.hpp"
#include "io/files/digest.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::checkpoint {

namespace {

/// Creates an external link in the HDF5 file `file` to the dataset `name` in shard file number `shard`.
void link(hid_t file, const std::string& name, int shard) {
  const auto links = io::h5_link_properties();
  const auto path = object_path(name);
  io::h5_check(H5Lcreate_external(shard_name(shard).c_str(), path.c_str(), file, path.c_str(), links, H5P_DEFAULT),
               "link '" + name + "'");
}

/// Sets the fill value of a dataset to NaN if its dtype has NaN. `how`: HDF5 creation properties of the dataset.
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

/// Adds slab `number` of a tensor, which is a dataset in shard file number `file`, to a virtual dataset of shape `whole`.
/// `how`: HDF5 creation properties of the virtual dataset.
void map_slab(hid_t how, const TensorLayout& tensor, std::size_t number, int file, const Shape& whole) {
  const auto& slab = tensor.slabs[number];
  std::vector<hsize_t> start(slab.offset.begin(), slab.offset.end());
  std::vector<hsize_t> count(slab.shape.begin(), slab.shape.end());
  if (tensor.placement == Placement::per_rank) {
    start.insert(start.begin(), static_cast<hsize_t>(slab.writer));
    count.insert(count.begin(), 1);
  }
  const auto target = io::h5_space(whole);
  io::h5_check(H5Sselect_hyperslab(target, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), "select a slab");
  const auto source = io::h5_space(slab.shape);
  io::h5_check(H5Pset_virtual(how, target, shard_name(file).c_str(), slab_path(tensor.name, number).c_str(), source),
               "map a slab of '" + tensor.name + "'");
}

void assemble(hid_t file, const TensorLayout& tensor, const Layout& layout) {
  const auto whole = whole_shape(tensor, layout.ranks);
  io::H5Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
  // Stores no creation and modification times, so that the bytes of state.h5 depend only on the checkpoint.
  io::h5_check(H5Pset_obj_track_times(how, false), "leave times out");
  if (element_count(whole) > 0) {
    set_fill(how, tensor.dtype);
    for (std::size_t number = 0; number < tensor.slabs.size(); ++number)
      map_slab(how, tensor, number, layout.file_of(tensor.slabs[number].writer), whole);
  }
  const auto links = io::h5_link_properties();
  const auto space = io::h5_space(whole);
  io::H5Id dataset(
      H5Dcreate2(file, object_path(tensor.name).c_str(), io::h5_type(tensor.dtype), space, links, how, H5P_DEFAULT),
      H5Dclose, "create dataset '" + tensor.name + "'");
  io::h5_write_fixed_text(dataset, "placement", name_of(tensor.placement));
  io::h5_write_attribute(dataset, "global_shape", std::span<const std::int64_t>(tensor.global_shape));
  const Shape zeros(tensor.global_shape.size(), 0);
  io::h5_write_attribute(dataset, "offset", std::span<const std::int64_t>(zeros));
}

}  // namespace

std::string combined_view(const Layout& layout, const std::vector<std::string>& value_names) {
  return io::h5_image([&](hid_t file) {
    io::h5_write_fixed_text(file, "format", view_format);
    io::h5_write_attribute(file, "version", format_version);
    io::h5_write_attribute(file, "ranks", std::int64_t{layout.ranks});
    for (const auto& tensor : layout.tensors)
      if (tensor.is_undivided())
        link(file, tensor.name, layout.file_of(tensor.slabs.front().writer));
      else
        assemble(file, tensor, layout);
    for (const auto& value : value_names) link(file, value, layout.file_of(layout.values_writer()));
  });
}

std::string view_aside(const std::string& private_dir) { return private_dir + "/" + view_name; }

void write_view(const std::string& checkpoint_dir, const std::string& aside, const std::string& view) try {
  io::remove_tree(aside);
  io::write_file(aside, view + view_seal(io::digest_of(std::string_view(view))));
  if (!io::rename_to_new(aside, checkpoint_dir + "/" + view_name)) io::remove_tree(aside);
  io::sync_directory(checkpoint_dir);
} catch (...) {
  unlink_guarded(aside);
  throw;
}

namespace {

Placement placement_from(const std::string& name) {
  for (const auto placement : {Placement::replicated, Placement::sharded, Placement::per_rank})
    if (name_of(placement) == name) return placement;
  throw Error("a checkpoint's index has the unknown placement '" + name + "'");
}

/// Adds the tensors and values in one rank's index to `tensors` and `values`.
void add_index(const Index& index, std::map<std::string, TensorLayout>& tensors, std::vector<std::string>& values) {
  for (const auto& entry : index.tensors) {
    auto& tensor = tensors[entry.name];
    tensor.name = entry.name;
    tensor.dtype = dtype_from(entry.dtype);
    tensor.placement = placement_from(entry.placement);
    tensor.global_shape = entry.global_shape;
    tensor.slabs.push_back({entry.offset, entry.shape, index.rank});
  }
  for (const auto& value : index.values) values.push_back(value.name);
}

}  // namespace

void restore_view(const std::string& checkpoint_dir, const std::string& aside) {
  if (io::exists(checkpoint_dir + "/" + view_name) || io::is_link(checkpoint_dir)) return;
  const auto manifest = read_manifest(checkpoint_dir);
  Layout layout;
  layout.ranks = manifest.meta.ranks;
  layout.file_of_rank.resize(static_cast<std::size_t>(layout.ranks));
  std::map<std::string, TensorLayout> tensors;
  std::vector<std::string> values;
  for (std::size_t file = 0; file < manifest.shards.size(); ++file)
    for (const auto& part : manifest.shards[file].parts) {
      const auto path = checkpoint_dir + "/" + manifest.shards[file].name;
      layout.file_of_rank.at(static_cast<std::size_t>(part.rank)) = static_cast<int>(file);
      add_index(index_from(read_part(checkpoint_dir, manifest.shards[file], part), path), tensors, values);
    }
  for (auto& [name, tensor] : tensors) {
    // The number of a slab is its index in the order of plan_layout(), so the slabs are sorted in this order.
    const auto key = [&](const Slab& s) {
      return std::tuple(tensor.placement == Placement::per_rank ? s.writer : 0, s.offset, s.shape);
    };
    std::ranges::sort(tensor.slabs, {}, key);
    layout.tensors.push_back(std::move(tensor));
  }
  write_view(checkpoint_dir, aside, combined_view(layout, values));
}

MissingViews::MissingViews(std::string run_dir, std::string aside)
    : run_dir_(std::move(run_dir)), aside_(std::move(aside)) {}

void MissingViews::add(const std::string& checkpoint_dir) {
  missing_.insert(checkpoint_dir);
  reported_.insert(checkpoint_dir);
}

std::vector<std::string> MissingViews::write_all() {
  std::vector<std::string> lines;
  try {
    if (!has_scanned_) scan();
  } catch (const Error& error) {
    lines.push_back(std::string("the combined views (state.h5) of checkpoints may be missing: ") + error.what());
  }
  for (auto missing = missing_.begin(); missing != missing_.end();) try {
      if (io::exists(*missing)) restore_view(*missing, aside_);  // false if the checkpoint was deleted
      missing = missing_.erase(missing);
    } catch (const Error& error) {
      if (reported_.insert(*missing).second)
        lines.push_back("state.h5, the combined view of a checkpoint, is missing: " + std::string(error.what()));
      ++missing;
    }
  return lines;
}

void MissingViews::scan() {
  constexpr std::size_t newest = 16;
  for (const auto number : numbers_in(run_dir_) | std::views::reverse | std::views::take(newest)) {
    const auto directory = run_dir_ + "/" + directory_name(number);
    if (!has_view(directory)) missing_.insert(directory);
  }
  has_scanned_ = true;
}

}  // namespace trainrt::checkpoint
