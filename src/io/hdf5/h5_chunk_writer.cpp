#include "io/hdf5/h5_chunk_writer.hpp"

#include <filesystem>

#include "io/hdf5/h5_table.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::io {

namespace {

constexpr H5Z_filter_t lz4_filter = 32004;  // number of the LZ4 filter, registered with The HDF Group
constexpr unsigned gzip_level = 4;

H5Id new_file(const std::string& path, bool checksums) {
  const auto lock = h5_lock();
  const H5Id how(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file properties");
  if (checksums)  // HDF5's older metadata structures have no checksums
    h5_check(H5Pset_libver_bounds(how, H5F_LIBVER_V110, H5F_LIBVER_V110), "request the metadata structures of HDF5 1.10");
  return H5Id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, how), H5Fclose, "create '" + path + "'");
}

H5Id chunk_properties(const H5ChunkWriter::Chunked& dataset, const H5ChunkWriter::Filters& filters) {
  H5Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
  std::vector<hsize_t> chunk(dataset.shape.begin(), dataset.shape.end());
  chunk.front() = dataset.chunk_rows;
  h5_check(H5Pset_chunk(how, static_cast<int>(chunk.size()), chunk.data()), "set the shape of chunks");
  h5_check(H5Pset_obj_track_times(how, false), "disable times");
  h5_check(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER), "disable fill values");
  if (filters.compression == "lz4")
    h5_check(H5Pset_filter(how, lz4_filter, H5Z_FLAG_MANDATORY, 0, nullptr), "compress by lz4");
  if (filters.compression != "gzip") {
    if (filters.checksums) h5_check(H5Pset_fletcher32(how), "add checksums");
    return how;
  }
  if (size_of(dataset.dtype) > 1) h5_check(H5Pset_shuffle(how), "shuffle bytes");
  h5_check(H5Pset_deflate(how, gzip_level), "compress by gzip");
  return how;
}

}  // namespace

void require_h5_compression(std::string_view name) {
  const auto filter = name == "lz4" ? lz4_filter : H5Z_FILTER_DEFLATE;
  h5_require_filters({H5Filter{.id = filter, .name = std::string(name)}});
}

H5ChunkWriter::H5ChunkWriter(std::string path, std::span<const Chunked> datasets, const Filters& filters)
    : path_(std::move(path)), datasets_(datasets.begin(), datasets.end()), file_(new_file(path_, filters.checksums)) {
  const auto lock = h5_lock();
  const auto links = h5_link_properties();
  for (const auto& dataset : datasets_)
    ids_.emplace_back(H5Dcreate2(file_, dataset.name.c_str(), h5_type(dataset.dtype), h5_space(dataset.shape), links,
                                 chunk_properties(dataset, filters), H5P_DEFAULT),
                      H5Dclose, "create dataset '" + dataset.name + "'");
}

H5ChunkWriter::~H5ChunkWriter() = default;

std::string H5ChunkWriter::what(std::string_view verb, std::size_t dataset) const {
  return std::string(verb) + " dataset '" + datasets_[dataset].name + "' of '" + path_ + "'";
}

void H5ChunkWriter::write(std::size_t dataset, std::uint64_t first, std::uint64_t rows, std::span<const std::byte> values) {
  const auto lock = h5_lock();
  const auto& shape = datasets_[dataset].shape;
  std::vector<hsize_t> start(shape.size(), 0), count(shape.begin(), shape.end());
  start.front() = first;
  count.front() = rows;
  const auto file_space = h5_space(shape);
  h5_check(H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
           what("select rows of", dataset));
  const auto memory_space = h5_space(Shape(count.begin(), count.end()));
  h5_check(H5Dwrite(ids_[dataset], h5_type(datasets_[dataset].dtype), memory_space, file_space, H5P_DEFAULT, values.data()),
           what("write", dataset));
}

void H5ChunkWriter::write_stored(std::size_t dataset, std::uint64_t first, std::span<const std::byte> stored) {
  const auto lock = h5_lock();
  std::vector<hsize_t> start(datasets_[dataset].shape.size(), 0);
  start.front() = first;
  h5_check(H5Dwrite_chunk(ids_[dataset], H5P_DEFAULT, 0, start.data(), stored.size(), stored.data()),
           what("write a chunk of", dataset));
}

std::uint64_t H5ChunkWriter::close() {
  const auto lock = h5_lock();
  for (std::size_t i = 0; i < ids_.size(); ++i) ids_[i].close(what("finish", i));
  file_.close("finish '" + path_ + "'");
  return std::filesystem::file_size(path_);
}

}  // namespace trainrt::io
