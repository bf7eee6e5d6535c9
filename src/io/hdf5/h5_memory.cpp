#include "io/hdf5/h5_memory.hpp"

#include <algorithm>
#include <cstring>
#include <trainrt/error.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

namespace {

/// The memory of a file of HDF5's core driver. It must outlive the HDF5 file, because its bytes are complete only after
/// the file is closed.
struct FileBuffer {
  void* data = nullptr;
  std::size_t size = 0;
  ~FileBuffer() { std::free(data); }
};

void* grow(void* old, std::size_t size, H5FD_file_image_op_t, void* user) {
  auto& buffer = *static_cast<FileBuffer*>(user);
  void* data = std::realloc(old, size);
  if (data != nullptr) {
    buffer.data = data;
    buffer.size = size;
  }
  return data;
}
void* allocate(std::size_t size, H5FD_file_image_op_t op, void* user) { return grow(nullptr, size, op, user); }
void* copy(void* to, const void* from, std::size_t size, H5FD_file_image_op_t, void*) {
  return std::memcpy(to, from, size);
}
herr_t keep(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same_user(void* user) { return user; }
herr_t free_user(void*) { return 0; }

H5Id in_memory(FileBuffer& buffer) {
  H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file access properties");
  h5_check(H5Pset_fapl_core(access, std::size_t{64} << 10, 0), "choose HDF5's core driver");
  H5FD_file_image_callbacks_t callbacks{allocate, copy, grow, keep, same_user, free_user, &buffer};
  h5_check(H5Pset_file_image_callbacks(access, &callbacks), "set the memory of HDF5's core driver");
  return access;
}

/// Returns the size of an HDF5 file: the end-of-file address in its superblock. In version 0 of the superblock, the address
/// is at byte 40; in versions 2 and 3, at byte 28 (HDF5 File Format Specification 3.0, II.A).
std::uint64_t end_of_file(const FileBuffer& buffer) {
  const auto* bytes = static_cast<const unsigned char*>(buffer.data);
  if (buffer.size < 64 || std::memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) != 0)
    throw Error("cannot build an HDF5 file in memory: it has no superblock");
  std::uint64_t end = 0;
  std::memcpy(&end, bytes + (bytes[8] >= 2 ? 28 : 40), sizeof end);
  return end;
}

}  // namespace

H5Memory H5Memory::build(std::size_t entries, const std::function<void(hid_t)>& fill) {
  const auto lock = h5_lock();
  FileBuffer buffer;
  {
    const auto access = in_memory(buffer);
    h5_check(H5Pset_meta_block_size(access, 8192 + 1024 * entries), "set the metadata block");
    h5_check(H5Pset_alignment(access, 4096, 4096), "set the alignment");
    H5Id file(H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "build an HDF5 file in memory");
    fill(file);
    // The file is not flushed: H5Fflush() would allocate memory for the values that are not written.
    file.close("finish an HDF5 file in memory");
  }
  H5Memory memory;
  memory.file_bytes_ = end_of_file(buffer);
  memory.size_ = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size, memory.file_bytes_));
  memory.data_.reset(std::exchange(buffer.data, nullptr));
  return memory;
}

std::span<const std::byte> H5Memory::front() const { return {static_cast<const std::byte*>(data_.get()), size_}; }

}  // namespace trainrt::io
