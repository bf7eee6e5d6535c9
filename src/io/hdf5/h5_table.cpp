#include "io/hdf5/h5_table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/hdf5/h5_types.hpp"

namespace trainrt::io {

namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 60;

void require_possible(const Shape& shape, std::size_t value_bytes) {
  std::uint64_t bytes = value_bytes;
  for (const auto extent : shape)
    if (extent < 0 || (extent > 0 && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) ||
        bytes > max_bytes)
      throw Error("its header claims more than 2^60 bytes of values");
}

std::vector<std::byte> fill_of(hid_t properties, DType dtype) {
  std::vector<std::byte> value(size_of(dtype));
  H5D_fill_value_t status{};
  h5_check(H5Pfill_value_defined(properties, &status), "read whether a fill value is defined");
  if (status != H5D_FILL_VALUE_UNDEFINED)
    h5_check(H5Pget_fill_value(properties, h5_type(dtype), value.data()), "read a fill value");
  return value;
}

std::vector<H5Filter> filters_of(hid_t properties) {
  std::vector<H5Filter> filters;
  const auto count = h5_check(H5Pget_nfilters(properties), "count filters");
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::array<unsigned, 64> values{};
    std::array<char, 64> name{};
    std::size_t number = values.size();
    const auto id = h5_check(H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &number, values.data(),
                                            name.size() - 1, name.data(), &config),
                             "read a filter");
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(number, values.size()));
    filters.push_back({id, name.data(), {values.begin(), end}});
  }
  return filters;
}

std::vector<H5External> externals_of(hid_t properties) {
  std::vector<H5External> found;
  const auto count = h5_check(H5Pget_external_count(properties), "count external files");
  for (int i = 0; i < count; ++i) {
    std::array<char, 4096> name{};
    off_t offset = 0;
    hsize_t bytes = 0;
    h5_check(H5Pget_external(properties, static_cast<unsigned>(i), name.size() - 1, name.data(), &offset, &bytes),
             "read the name of an external file");
    found.push_back({name.data(), static_cast<std::uint64_t>(offset), bytes});
  }
  return found;
}

void set_chunks(hid_t properties, H5Table& table) {
  std::vector<hsize_t> extents(table.shape.size());
  const auto rank = static_cast<int>(extents.size());
  if (h5_check(H5Pget_chunk(properties, rank, extents.data()), "read a chunk's shape") != rank)
    throw Error("its chunks and the dataset have different numbers of axes");
  table.layout = H5Table::Layout::chunked;
  table.chunk.assign(extents.begin(), extents.end());
  if (std::find(table.chunk.begin(), table.chunk.end(), 0) != table.chunk.end()) throw Error("its chunks are empty");
  require_possible(table.chunk, size_of(table.dtype));
  table.filters = filters_of(properties);
  unsigned options = 0;
  h5_check(H5Pget_chunk_opts(properties, &options), "read the options of chunks");
  table.edges_are_unfiltered = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
}

void set_contiguous(hid_t dataset, hid_t properties, H5Table& table) {
  table.external = externals_of(properties);
  if (!table.external.empty()) {
    table.layout = H5Table::Layout::external;
    return;
  }
  const auto stored = H5Dget_storage_size(dataset);
  if (stored == 0) return;
  const auto needed = static_cast<std::uint64_t>(table.shape.front()) * table.row_bytes();
  if (stored < needed) throw Error(fmt::format("it has {} bytes in the file, but its shape requires {}", stored, needed));
  const auto address = H5Dget_offset(dataset);
  H5Eclear2(H5E_DEFAULT);
  if (address == HADDR_UNDEF) return;
  table.layout = H5Table::Layout::contiguous;
  table.address = address;
}

void set_compact(hid_t dataset, H5Table& table) {
  table.layout = H5Table::Layout::compact;
  const auto bytes = static_cast<std::uint64_t>(table.shape.front()) * table.row_bytes();
  if (bytes > H5Dget_storage_size(dataset)) throw Error("its shape requires more bytes than the file stores");
  table.values.resize(bytes);
  if (bytes > 0)
    h5_check(H5Dread(dataset, h5_type(table.dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, table.values.data()), "read its values");
}

/// Returns the selected elements of an HDF5 dataspace as a box; nullopt if the selection is not a box.
std::optional<H5Box> box_of(hid_t space) {
  const auto kind = H5Sget_select_type(space);
  if (kind == H5S_SEL_ALL) {
    const auto extents = h5_extents(space);
    return H5Box{std::vector<std::uint64_t>(extents.size()), {extents.begin(), extents.end()}};
  }
  if (kind != H5S_SEL_HYPERSLABS || H5Sis_regular_hyperslab(space) <= 0) return std::nullopt;
  const auto rank = h5_extents(space).size();
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

/// Returns a string from an HDF5 function, by calling `read` twice: first with nullptr for the length, then for the
/// characters.
std::string text_of_length(const std::function<ssize_t(char*, std::size_t)>& read, const char* what) {
  std::string text(static_cast<std::size_t>(h5_check(read(nullptr, 0), what)), '\0');
  h5_check(read(text.data(), text.size() + 1), what);
  return text;
}

std::vector<H5Mapping> mappings_of(hid_t properties, const Shape& shape) {
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
    // The file stores the selected elements of the source dataset, but not its shape.
    mapping.is_all = H5Sget_select_type(from) == H5S_SEL_ALL;
    if (!mapping.is_all) mapping.from = box_of(from);
  }
  return mappings;
}

}  // namespace

std::optional<H5Run> H5Box::run_in(const Shape& shape) const {
  if (shape.size() != size.size()) return std::nullopt;
  H5Run run{0, 1};
  std::uint64_t stride = 1;
  // True if the box covers one of the later axes only in part. The box is then contiguous only if it has size 1 along all
  // earlier axes.
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

std::uint64_t H5Table::row_elements() const {
  return std::accumulate(shape.begin() + 1, shape.end(), std::uint64_t{1}, [](std::uint64_t product, std::int64_t extent) {
    return product * static_cast<std::uint64_t>(extent);
  });
}

std::string h5_table_problem(hid_t dataset) {
  const auto lock = h5_lock();
  const H5Id type(H5Dget_type(dataset), H5Tclose, "read a dataset's type");
  if (!h5_number(type)) return "its type is " + h5_type_in_words(type);
  const H5Id space(H5Dget_space(dataset), H5Sclose, "read a dataset's shape");
  if (H5Sget_simple_extent_type(space) != H5S_SIMPLE) return "it has no axis";
  return "";
}

H5Table h5_table(hid_t dataset) {
  const auto lock = h5_lock();
  if (const auto why = h5_table_problem(dataset); !why.empty()) throw Error(why);
  H5Table table;
  const auto number = h5_number(H5Id(H5Dget_type(dataset), H5Tclose, "read a dataset's type"));
  table.dtype = number->dtype;
  table.swapped = number->swapped;
  table.shape = h5_dataset_shape(dataset);
  require_possible(table.shape, size_of(table.dtype));
  const H5Id properties(H5Dget_create_plist(dataset), H5Pclose, "read how a dataset was made");
  table.fill = fill_of(properties, table.dtype);
  switch (h5_check(H5Pget_layout(properties), "read a dataset's layout")) {
    case H5D_CHUNKED:
      set_chunks(properties, table);
      break;
    case H5D_COMPACT:
      set_compact(dataset, table);
      break;
    case H5D_VIRTUAL:
      table.layout = H5Table::Layout::spread;
      table.mappings = mappings_of(properties, table.shape);
      break;
    default:
      set_contiguous(dataset, properties, table);
  }
  return table;
}

}  // namespace trainrt::io
