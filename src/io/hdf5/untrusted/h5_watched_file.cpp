#include "io/hdf5/untrusted/h5_watched_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

#include "io/files/descriptor.hpp"
#include "io/objects/object_pages.hpp"
#if __has_include(<H5FDdevelop.h>)  // HDF5 1.14 declares file drivers there
#include <H5FDdevelop.h>
#endif

namespace trainrt::io {

namespace {

// State of trainrt's HDF5 file driver: whether it skips and records reads of raw data (is_watched), and the reads that it
// has recorded. Protected by h5_lock().
H5WatchedReads watched_reads;
bool is_watched = false;
// File for the driver to open during h5_open_watched(name, bytes); otherwise nullptr.
const H5Bytes* opened_bytes = nullptr;

/// A file that HDF5 has opened with trainrt's file driver. HDF5 uses only the first member, `base`.
struct WatchedFile {
  H5FD_t base{};
  H5Bytes bytes;
  // Device and inode, which HDF5 compares to detect that two names refer to the same file.
  std::pair<dev_t, ino_t> identity;
  haddr_t end_of_allocation = 0;
};

/// Adds an exception to HDF5's error stack, because exceptions must not pass through C code.
void push_h5_error(const std::exception& error) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s", error.what());
}

H5FD_t* new_watched_file(H5Bytes bytes, std::pair<dev_t, ino_t> identity) {
  return &(new WatchedFile{.bytes = std::move(bytes), .identity = identity})->base;
}

H5FD_t* open_bytes(H5Bytes bytes) {
  static ino_t number = 0;  // used as the inode of an object, because each opened object counts as a different file
  return new_watched_file(std::move(bytes), {0, ++number});
}

H5FD_t* open_object(const char* url) {
  const auto object = std::make_shared<ObjectPages>(url);
  return open_bytes(
      {object->size(), [object](std::uint64_t offset, std::span<std::byte> into) { object->read(offset, into); }});
}

/// Opens a file for trainrt's HDF5 file driver. Returns nullptr if the file does not exist or is not a regular file (for
/// example a pipe).
H5FD_t* open_file(const std::string& path) {
  const auto file = std::make_shared<Descriptor>(open_guarded(path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (file->get() < 0 || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) return nullptr;
  const auto read = [file, path](std::uint64_t offset, std::span<std::byte> into) {
    const auto count = read_at(file->get(), offset, into, path);
    std::ranges::fill(into.subspan(count), std::byte{0});  // zeros beyond the end of the file, as from HDF5's own drivers
  };
  return new_watched_file({static_cast<std::uint64_t>(info.st_size), read}, {info.st_dev, info.st_ino});
}

const WatchedFile& watched(const H5FD_t* file) { return *reinterpret_cast<const WatchedFile*>(file); }

H5FD_t* open_watched(const char* name, unsigned flags, hid_t, haddr_t) try {
  if ((flags & (H5F_ACC_RDWR | H5F_ACC_TRUNC | H5F_ACC_CREAT)) != 0) return nullptr;
  if (opened_bytes != nullptr) return open_bytes(*opened_bytes);
  return storage_url(name) ? open_object(name) : open_file(name);
} catch (const std::exception& error) {
  push_h5_error(error);
  return nullptr;
}

herr_t close_watched(H5FD_t* file) {
  delete reinterpret_cast<WatchedFile*>(file);
  return 0;
}

int compare_watched(const H5FD_t* one, const H5FD_t* other) {
  const auto &first = watched(one).identity, &second = watched(other).identity;
  return first < second ? -1 : first > second ? 1 : 0;
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

haddr_t end_of_watched(const H5FD_t* file, H5FD_mem_t) { return watched(file).bytes.size; }

herr_t read_watched(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, void* buffer) try {
  if (is_watched && type == H5FD_MEM_DRAW)
    watched_reads = {address, size, watched_reads.count + 1};
  else
    watched(file).bytes.read(address, {static_cast<std::byte*>(buffer), size});
  return 0;
} catch (const std::exception& error) {
  push_h5_error(error);
  return -1;
}

herr_t never_write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

#ifdef H5FD_CLASS_VERSION
// HDF5 1.14 distinguishes file drivers by number. Numbers from 512 on are free for drivers that are not registered.
constexpr H5FD_class_value_t driver_number = 723;
#endif

hid_t watched_driver() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t made{};
#ifdef H5FD_CLASS_VERSION
    made.version = H5FD_CLASS_VERSION;
    made.value = driver_number;
#endif
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
  h5_check(H5Pset_driver(access, watched_driver(), nullptr), "set the file driver");
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
  watched_reads = {};
}

H5Watch::~H5Watch() { is_watched = false; }

H5WatchedReads H5Watch::take() { return std::exchange(watched_reads, {}); }

}  // namespace trainrt::io
