#include "io/hdf5/h5_table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::io {

namespace {

struct KnownFilter {
  int id;  ///< filter number registered with The HDF Group
  std::string_view name;
  std::string_view package;  ///< Debian package that contains the filter; empty if no package does
};

constexpr std::array known_filters{
    KnownFilter{307, "bzip2", "hdf5-filter-plugin"},
    // LZF has no package here, because the filter in Debian 12's package hdf5-plugin-lzf cannot be loaded: it is not
    // linked with liblzf.
    KnownFilter{32000, "lzf", ""},
    KnownFilter{32001, "blosc", "hdf5-filter-plugin-blosc-serial"},
    KnownFilter{32004, "lz4", "hdf5-filter-plugin"},
    KnownFilter{32008, "bitshuffle", ""},
    KnownFilter{32013, "zfp", "hdf5-filter-plugin-zfp-serial"},
};

const KnownFilter* known(int id) {
  const auto* found = std::ranges::find(known_filters, id, &KnownFilter::id);
  return found == known_filters.end() ? nullptr : found;
}

std::string name_of(const H5Filter& filter) {
  if (const auto* found = known(filter.id)) return std::string(found->name);
  return filter.name.empty() ? "number " + std::to_string(filter.id) : excerpt(filter.name);
}

}  // namespace

void h5_require_filters(const std::vector<H5Filter>& filters) {
  const auto lock = h5_lock();
  for (const auto& filter : filters) {
    if (H5Zfilter_avail(filter.id) > 0) continue;
    H5Eclear2(H5E_DEFAULT);
    const auto* found = known(filter.id);
    throw UsageError(fmt::format(
        "it is compressed with {} (HDF5 filter {}), which HDF5 cannot decompress here: {}", name_of(filter), filter.id,
        found != nullptr && !found->package.empty()
            ? fmt::format("install the Debian package {}, or set HDF5_PLUGIN_PATH to the folder of the plug-in",
                          found->package)
            : "no known Debian package contains it; set HDF5_PLUGIN_PATH to the folder of the plug-in"));
  }
}

std::string h5_filters_in_words(const std::vector<H5Filter>& filters) {
  std::vector<std::string> names;
  for (const auto& filter : filters) names.push_back(name_of(filter));
  return join(names);
}

}  // namespace trainrt::io
