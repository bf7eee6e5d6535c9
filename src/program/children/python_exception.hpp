#pragma once
#include <string>
#include <string_view>

namespace trainrt::program {

/// Returns the Python exception that ended a program, "ValueError: bad batch". This is the first line of the exception
/// message of the last traceback in `output`. The function removes the prefix that torch prints before each line
/// ("[rank1]: "), and ignores C++ frames below the traceback. For an exception group, it returns the line of the group
/// and the line of the group's first exception. It returns "" if there is no traceback near the end of `output`. Pure
/// function.
std::string python_exception(std::string_view output);

}  // namespace trainrt::program
