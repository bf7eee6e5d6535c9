// The PMIx client library, and whether the launch used it.
#include "cli/doctor/doctor_versions.hpp"
#include "launch/library_versions.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Finding examine_pmix(const Examination& examination) {
  const bool used = examination.world().launcher == "pmix";
  return compare_versions(examination, launch::pmix_version,
                          used ? "; this launch used it" : "; this launch did not need it");
}

}  // namespace

extern const Check pmix;
const Check pmix{.name = "pmix", .help = "the PMIx client: compiled against and loaded", .place = 30, .run = examine_pmix};

}  // namespace trainrt::cli::doctor::plugins
