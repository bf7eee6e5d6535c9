#pragma once
#include <string>

namespace trainrt::io {

/// How the program h5_examiner ends if a file takes too much: its exit codes.
inline constexpr int h5_too_slow = 3, h5_too_large = 4;

/// libhdf5 may crash, loop or take all memory if a file is damaged. Before this process opens a file, the program
/// h5_examiner of the module folders does, once per file and process: throws Error that names the file if it crashes,
/// takes more than 10 s of processor time for one step, or more memory than the larger of 1 GiB and 16 times the file.
/// Objects of a store are not examined. Without the program a warning is printed, once. Hold h5_lock().
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
