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
           "extensions to read, by default those of the first sample: jpg, cls; image=jpg;png, label=cls also names the "
           "fields; __key__ is the common beginning of the names of a sample"});
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
                            "tar archives as in WebDataset: consecutive entries whose names are equal up to the first dot "
                            "are a sample, and extensions are fields (images are decoded, cls is i64, npy an array, others "
                            "bytes)",
                        .options = options_of_tar(),
                        .look = probe_tar,
                        .open = open_tar,
                        .is_name_of = is_tar_name,
                        .checksums = "of headers, and of PNG images; contents have none"};

}  // namespace plugins

}  // namespace trainrt::data
