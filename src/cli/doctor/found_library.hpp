#pragma once
#include "cli/doctor/doctor_check.hpp"
#include "launch/library_versions.hpp"

namespace trainrt::cli::doctor {

/// Advice if ranks have loaded different libraries.
constexpr const char* same_modules_advice =
    "load the same modules on every node (srun passes on the environment of the shell in which it runs)";

/// Requires the same library on all ranks, if one is found. Any version is correct. `find` is called on each rank.
Finding compare_found(const DoctorRanks& ranks, Json& figures, launch::FoundLibrary (*find)());

}  // namespace trainrt::cli::doctor
