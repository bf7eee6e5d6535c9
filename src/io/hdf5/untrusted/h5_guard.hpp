#pragma once
#include <cstdint>
#include <string>

namespace trainrt::io {

/// How the program h5_examiner ends if a file takes too much: its exit codes.
inline constexpr int h5_too_slow = 3, h5_too_large = 4;

/// What it hears on its standard input: an H5Examined with the path behind it. It answers '.', or first asks for the bytes
/// of an object: an H5Wanted, which the bytes follow.
struct H5Examined {
  std::uint64_t path_bytes = 0;
  std::uint64_t object_bytes = 0;  ///< of an object of a store; 0 for a file
};
struct H5Wanted {
  char mark = '?';
  std::uint64_t offset = 0, bytes = 0;  ///< of the object, and within it
};

/// libhdf5 may crash, loop or take all memory if a file is damaged. Before this process opens a file, the program
/// h5_examiner of the module folders does, once per file and process: throws Error that names the file if it crashes,
/// takes more than 5 s of processor time for one step, or more memory than the larger of 1 GiB and 16 times the file (or
/// half of what is left); StorageError if an object cannot be read. Without the program a warning is printed, once. Hold
/// h5_lock().
void h5_require_sound(const std::string& path);

/// While one lives, h5_examiner keeps running and examines all files; else it is started for each. It is started when it is
/// first needed. Any thread.
class H5Examination {
 public:
  H5Examination();
  ~H5Examination();
  H5Examination(const H5Examination&) = delete;
  H5Examination& operator=(const H5Examination&) = delete;
};

}  // namespace trainrt::io
