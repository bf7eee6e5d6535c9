#pragma once
#include <string>
#include <string_view>

namespace trainrt::program {

/// Returns the Python exception that ended a program, "ValueError: bad batch": the first line of the message of the last
/// traceback in its output. Removes the prefix that torch puts before each line ("[rank1]: ") and ignores C++ frames below
/// the traceback. For an exception group, returns its line and that of its first exception. Returns "" if there is no
/// traceback near the end. Pure.
std::string python_exception(std::string_view output);

}  // namespace trainrt::program
