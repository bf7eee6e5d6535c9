#pragma once
#include <map>
#include <string>

namespace trainrt {

/// Environment variables by name.
using Variables = std::map<std::string, std::string>;

/// Those of this process.
Variables inherited_environment();

/// Without what would let a program take this rank's place in MPI or PMIx.
Variables without_launcher(Variables variables);

/// Where the package trainrt lies: beside the program that was built, or where it was installed; "" if it is not there.
std::string client_folder();
/// PYTHONPATH with that folder in front.
std::string python_path(const std::string& folder, const std::string& inherited);

}  // namespace trainrt
