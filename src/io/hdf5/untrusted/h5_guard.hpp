#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Exit codes of the program h5_examiner if an HDF5 file takes too much processor time (h5_too_slow) or memory
/// (h5_too_large).
inline constexpr int h5_too_slow = 3, h5_too_large = 4;

/// A request to the program h5_examiner to examine an HDF5 file. This process writes the request, followed by the bytes of
/// the file's path, to the standard input of the program. The program answers '.' when it has examined the file. Before
/// that, the program may send H5BytesRequests, which this process answers with the requested bytes.
struct H5ExamineRequest {
  std::uint64_t path_bytes = 0;
  std::uint64_t object_bytes = 0;  ///< size in bytes of an object of an object store; 0 for a file
};
/// A request by the program h5_examiner, on its standard output, for bytes of the object that it examines.
struct H5BytesRequest {
  char mark = '?';
  std::uint64_t offset = 0, bytes = 0;
};

/// Reads all parts of an HDF5 file's structure that trainrt may read later: groups, attributes, types, shapes, layouts,
/// chunk indexes, strings. For the program h5_examiner only, because libhdf5 may crash or never return if the file is
/// corrupt.
///
/// Errors that HDF5 reports are ignored: the process that opens the file later reports them. `open` opens the file by
/// h5_open_watched(). `allow(seconds)` is called before each step with the processor time that the step may take.
void h5_examine(const std::function<H5Id()>& open, const std::function<void(double seconds)>& allow);

/// Lets the program h5_examiner open an HDF5 file or object before this process opens it, because libhdf5 may crash, loop
/// or take all memory if a file is corrupt. Examines each file once per process.
/// - Throws Error, which names the file, if h5_examiner crashes or exceeds a limit. The limits are 5 s of processor time
///   for opening one object, and min(max(1 GiB, 16 * file size), available memory / 2) of memory.
/// - Throws StorageError if an object cannot be read.
/// - If the program is not found in the folders of trainrt's modules, files are not examined, and one warning is logged.
/// Hold h5_lock().
void h5_require_sound(const std::string& path);

/// While an object of this class exists, a single process of h5_examiner examines all HDF5 files; it is started when it
/// is first needed. Without such an object, a new process is started for each file. Any thread may create an object.
class H5Examination {
 public:
  H5Examination();
  ~H5Examination();
  H5Examination(const H5Examination&) = delete;
  H5Examination& operator=(const H5Examination&) = delete;
};

}  // namespace trainrt::io
