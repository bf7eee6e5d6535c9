#pragma once
#include "cli/doctor/doctor_check.hpp"
#include "core/library_version.hpp"

namespace trainrt::cli::doctor {

/// One library, as the ranks have loaded it: a warning if it is another than the one compiled against, or not the same
/// on all ranks. `note` is added to a text that is ok. Collective.
Finding compare_versions(const Examination& examination, LibraryVersion (*version)(), const std::string& note = "");

}  // namespace trainrt::cli::doctor
