#include "data/images/image_decoder.hpp"
#include "data/tar/tar_source.hpp"

namespace trainrt::data {

namespace {

std::vector<OptionSpec> options_of_tar() {
  auto options = image_options();
  options.push_back(
      {.key = "fields",
       .default_value = "",
       .help =
           "the extensions that are read, by default those of the first sample: jpg, cls; image=jpg;png, label=cls give "
           "names of one's own; __key__ is what a sample's names begin with"});
  return options;
}

bool is_tar_name(std::string_view path) {
  for (const std::string_view ending : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"})
    if (path.ends_with(ending)) return true;
  return false;
}

}  // namespace

namespace plugins {

extern const Format tar{.name = "tar",
                        .help =
                            "tar archives such as WebDataset's: consecutive entries with equal names up to the first "
                            "dot are one sample, and each extension is a field "
                            "(images decoded, cls as i64, npy as arrays, others as bytes)",
                        .options = options_of_tar(),
                        .probe = probe_tar,
                        .open = open_tar,
                        .is_name_of = is_tar_name,
                        .checksums = "of headers, and of PNG images; contents have none"};

}  // namespace plugins

}  // namespace trainrt::data
