#include "io/hdf5/untrusted/h5_watched_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "io/files/file.hpp"
#include "io/files/uninterrupted.hpp"
#include "io/objects/object_pages.hpp"

namespace trainrt::io {

namespace {

H5WantedBytes wanted_bytes;  // under h5_lock()
bool is_watched = false;
const H5Bytes* opened_bytes = nullptr;  // of the file that is being opened, if it is none of a file system

/// HDF5 sees its first member; the rest is ours.
struct WatchedFile {
  H5FD_t base{};
  Descriptor fd;
  struct stat info {};
  H5Bytes bytes;  // in the place of `fd`
  haddr_t end_of_allocation = 0;

  explicit WatchedFile(int opened) : fd(opened) {}
};

/// What went wrong below HDF5, which is C, for its own message.
void tell_h5(const std::exception& error) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s", error.what());
}

H5FD_t* open_bytes(H5Bytes bytes) {
  auto file = std::make_unique<WatchedFile>(-1);
  file->bytes = std::move(bytes);
  file->info.st_size = static_cast<off_t>(file->bytes.size);
  static ino_t number = 0;  // each is another one
  file->info.st_ino = ++number;
  return &file.release()->base;
}

H5FD_t* open_object(const char* url) try {
  const auto object = std::make_shared<ObjectPages>(url);
  return open_bytes(
      {object->size(), [object](std::uint64_t offset, std::span<std::byte> into) { object->read(offset, into); }});
} catch (const std::exception& error) {
  tell_h5(error);
  return nullptr;
}

const WatchedFile& watched(const H5FD_t* file) { return *reinterpret_cast<const WatchedFile*>(file); }

H5FD_t* open_watched(const char* name, unsigned flags, hid_t, haddr_t) {
  if ((flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT)) != 0) return nullptr;
  if (opened_bytes != nullptr) return open_bytes(*opened_bytes);
  if (storage_url(name)) return open_object(name);
  auto file = std::make_unique<WatchedFile>(open_retrying(name, O_RDONLY | O_NONBLOCK));
  if (file->fd.get() < 0 || ::fstat(file->fd.get(), &file->info) != 0) return nullptr;
  if (!S_ISREG(file->info.st_mode)) return nullptr;  // a pipe would be waited for
  return &file.release()->base;
}

herr_t close_watched(H5FD_t* file) {
  delete reinterpret_cast<WatchedFile*>(file);
  return 0;
}

int compare_watched(const H5FD_t* one, const H5FD_t* other) {
  const auto key = [](const H5FD_t* file) { return std::pair(watched(file).info.st_dev, watched(file).info.st_ino); };
  return key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : 0;
}

herr_t features_of_watched(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA;
  return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t) { return watched(file).end_of_allocation; }

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  reinterpret_cast<WatchedFile*>(file)->end_of_allocation = address;
  return 0;
}

haddr_t end_of_watched(const H5FD_t* file, H5FD_mem_t) { return static_cast<haddr_t>(watched(file).info.st_size); }

herr_t read_bytes(const H5Bytes& bytes, haddr_t address, std::size_t size, void* buffer) try {
  bytes.read(address, {static_cast<std::byte*>(buffer), size});
  return 0;
} catch (const std::exception& error) {
  tell_h5(error);
  return -1;
}

herr_t read_watched(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, void* buffer) {
  if (is_watched && type == H5FD_MEM_DRAW) {
    wanted_bytes = {address, size, wanted_bytes.reads + 1};
    return 0;
  }
  if (watched(file).bytes.read) return read_bytes(watched(file).bytes, address, size, buffer);
  for (std::size_t done = 0; done < size;) {
    const auto count = uninterrupted([&] {
      return ::pread(watched(file).fd.get(), static_cast<char*>(buffer) + done, std::min(size - done, bytes_per_call),
                     static_cast<off_t>(address + done));
    });
    if (count < 0) return -1;
    if (count == 0) {  // as HDF5's own drivers: behind the end of the file are zeros
      std::memset(static_cast<char*>(buffer) + done, 0, size - done);
      return 0;
    }
    done += static_cast<std::size_t>(count);
  }
  return 0;
}

herr_t never_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

hid_t watched_driver() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t made{};
    made.name = "trainrt_watched";
    made.maxaddr = HADDR_MAX >> 1;
    made.fc_degree = H5F_CLOSE_WEAK;
    made.open = open_watched;
    made.close = close_watched;
    made.cmp = compare_watched;
    made.query = features_of_watched;
    made.get_eoa = end_of_allocation;
    made.set_eoa = set_end_of_allocation;
    made.get_eof = end_of_watched;
    made.read = read_watched;
    made.write = never_write;
    const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), std::begin(made.fl_map));
    return made;
  }();
  static const hid_t id = h5_check(H5FDregister(&driver), "register a file driver");
  return id;
}

}  // namespace

H5Id h5_watched_access() {
  const auto lock = h5_lock();
  H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file access properties");
  h5_check(H5Pset_driver(access, watched_driver(), nullptr), "choose a file driver");
  return access;
}

H5Id h5_open_watched(const std::string& path) {
  const auto lock = h5_lock();
  const auto access = h5_watched_access();
  return H5Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open '" + path + "' as HDF5");
}

H5Id h5_open_watched(const std::string& name, const H5Bytes& bytes) {
  const auto lock = h5_lock();
  struct Opening {
    explicit Opening(const H5Bytes& bytes) { opened_bytes = &bytes; }
    ~Opening() { opened_bytes = nullptr; }
  };
  const Opening opening(bytes);
  return h5_open_watched(name);
}

H5Watch::H5Watch() {
  is_watched = true;
  wanted_bytes = {};
}

H5Watch::~H5Watch() { is_watched = false; }

H5WantedBytes H5Watch::take() { return std::exchange(wanted_bytes, {}); }

}  // namespace trainrt::io
