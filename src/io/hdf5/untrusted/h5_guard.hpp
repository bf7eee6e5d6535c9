#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Exit codes of the program h5_examiner for a file that takes too much processor time or memory.
inline constexpr int h5_too_slow = 3, h5_too_large = 4;

/// A request to the program h5_examiner on its standard input, followed by the bytes of the path. The program answers '.'
/// when it has examined the file. Before that it may send an H5BytesRequest, which is answered with the requested bytes.
struct H5ExamineRequest {
  std::uint64_t path_bytes = 0;
  std::uint64_t object_bytes = 0;  ///< size of an object of a store; 0 for a file
};
/// A request of h5_examiner, on its standard output, for bytes of the object that it examines.
struct H5BytesRequest {
  char mark = '?';
  std::uint64_t offset = 0, bytes = 0;
};

/// Reads all of an HDF5 file's structure that trainrt may read later: groups, attributes, types, shapes, layouts, indexes
/// of chunks, strings. For the program h5_examiner only: if the file is damaged, libhdf5 may crash or never return. Errors
/// that HDF5 reports are ignored, because the process that opens the file later reports them. `open` opens the file by
/// h5_open_watched(). `allow(seconds)` is called before each step with the processor time that the step may take.
void h5_examine(const std::function<H5Id()>& open, const std::function<void(double seconds)>& allow);

/// Examines a file or object in another process before this process opens it, because libhdf5 may crash, loop or take all
/// memory if a file is damaged. The program h5_examiner (in the folders of modules) opens each file once per process.
/// Throws Error that names the file if that program crashes, if one step takes more than 5 s of processor time, or if it
/// takes more memory than the larger of 1 GiB and 16 times the file, or than half of the available memory. Throws
/// StorageError if an object cannot be read. If the program is missing, files are not examined, and one warning is printed.
/// Hold h5_lock().
void h5_require_sound(const std::string& path);

/// While one of these exists, one h5_examiner, started when it is first needed, examines all files. Otherwise a new one is
/// started for each file. Any thread may create one.
class H5Examination {
 public:
  H5Examination();
  ~H5Examination();
  H5Examination(const H5Examination&) = delete;
  H5Examination& operator=(const H5Examination&) = delete;
};

}  // namespace trainrt::io
