#include "data/images/image_decoder.hpp"
#include "data/images/image_folder.hpp"
#include "data/images/image_list.hpp"

namespace trainrt::data {

namespace {

std::vector<OptionSpec> options_of_images() {
  auto options = image_options();
  options.push_back(
      {.key = "labels",
       .default_value = "auto",
       .help = "the field label: folders (the place of the image's folder among the sorted names; of a list what stands "
               "there), none, or auto: if all images have one",
       .choices = {"auto", "folders", "none"}});
  options.push_back({.key = "classes",
                     .default_value = "",
                     .help = "names of the classes in the order of their labels, from 0; by default those of [data.train], "
                             "and there the sorted names of the folders",
                     .form = "CLASS, ..."});
  options.push_back({.key = "paths",
                     .type = OptionType::boolean,
                     .default_value = "false",
                     .help = "the field path: of the image's file, as a text"});
  return options;
}

}  // namespace

namespace plugins {

extern const Format images{.name = "images",
                           .help =
                               "JPEG, PNG and WebP images, one file per image, in one folder per class or named by a "
                               "list: fields image, label and path",
                           .options = options_of_images(),
                           .open = [](const DataFile& file, const FileContent& content, const Options& options,
                                      bool) { return open_images(file, content, options); },
                           .gather = gather_images,
                           .paths_of = paths_of_images,
                           .is_name_of = is_image_name,
                           .checksums = "of PNG: CRC-32; JPEG and WebP have none"};

}  // namespace plugins

}  // namespace trainrt::data
