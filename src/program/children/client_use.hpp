#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace trainrt::program {

/// Returns whether the Python process `process` may use trainrt's client at some later time. Reads the files of its script;
/// see may_use_client() below. Returns true if they cannot be read, for example in a container.
bool may_use_client(pid_t process);

/// Returns whether a Python program may use trainrt's client: the text of its code contains the word "trainrt".
///
/// The code is the script, or the code or module of python3 -c and -m, and those modules and packages that it imports from
/// the folder of the script or from `python_path`, the value of PYTHONPATH. Installed packages are not read. `words` is the
/// command line, `folder` the working directory of the process, to which relative paths refer, and `root` precedes absolute
/// paths.
///
/// Returns true if the code is unknown: a script from standard input, a script whose name does not end with ".py", a
/// symbolic link, a file that cannot be read or has more than 1 MiB, more than 500 files, or code that changes sys.path,
/// imports modules by functions, or starts other programs.
bool may_use_client(const std::vector<std::string>& words, const std::string& folder, const std::string& root,
                    std::string_view python_path);

}  // namespace trainrt::program
