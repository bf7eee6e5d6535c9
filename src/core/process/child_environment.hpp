#pragma once
#include <map>
#include <string>

namespace trainrt {

/// A set of environment variables: values by name.
using Variables = std::map<std::string, std::string>;

/// Returns a copy of the environment variables of this process.
Variables inherited_environment();

/// Returns `variables` without the environment variables that MPI and PMIx launchers set. A child process that inherited
/// them would join MPI as this rank.
Variables without_launcher(Variables variables);

/// Returns the folder to add to PYTHONPATH for the Python package trainrt: next to the built program, or in the
/// installation. "" if the package is missing.
std::string client_folder();
/// Returns a value of PYTHONPATH that contains `folder`, followed by the folders of `inherited`, an existing value of
/// PYTHONPATH. Each of the two may be empty.
std::string python_path(const std::string& folder, const std::string& inherited);

}  // namespace trainrt
