#pragma once
#include <string>
#include <string_view>

namespace trainrt::program {

/// The line that says which Python exception ended a program, "ValueError: bad batch": the first line of the message of the
/// last traceback in its output, as traceback.print_exception() writes it, without what torch puts in front of each line
/// ("[rank1]: ") and without the C++ frames below it. Of an exception group, its line and that of its first exception.
/// "" if there is no traceback near the end. Pure.
std::string python_exception(std::string_view output);

}  // namespace trainrt::program
