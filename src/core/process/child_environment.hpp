#pragma once
#include <map>
#include <string>

namespace trainrt {

/// Environment variables by name.
using Variables = std::map<std::string, std::string>;

/// Returns the environment variables of this process.
Variables inherited_environment();

/// Returns the variables without those of MPI and PMIx launchers. A program that has them would act as this rank in MPI.
Variables without_launcher(Variables variables);

/// Returns the folder of the Python package trainrt, next to the built program or in the installation; "" if it is missing.
std::string client_folder();
/// Returns `inherited`, a value of PYTHONPATH, with `folder` in front.
std::string python_path(const std::string& folder, const std::string& inherited);

}  // namespace trainrt
