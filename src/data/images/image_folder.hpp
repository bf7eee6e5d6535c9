#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/source/format.hpp"

namespace trainrt::data {

/// Images that are a file each: what the format `images` does (Format::gather, Format::open).
std::vector<ListedFile> gather_images(std::span<const std::string> words, const Options& options);
/// Format::paths_of.
std::function<std::string(std::uint64_t sample)> paths_of_images(const FileContent& content);
std::unique_ptr<Source> open_images(const DataFile& file, const FileContent& content, const Options& options);

}  // namespace trainrt::data
