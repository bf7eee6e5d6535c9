#pragma once
#include <string>

namespace trainrt::cli {

/// The versions of what trainrt is made of and has loaded, a line each.
std::string parts_text();

}  // namespace trainrt::cli
