#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/bytes/coding/packed_names.hpp"
#include "data/images/image_decoder.hpp"
#include "data/source/source.hpp"

namespace trainrt::data {

/// Memory for one encoded image after another.
class EncodedBuffer {
 public:
  /// Room for so many bytes, whatever they are.
  std::span<std::byte> room(std::size_t bytes) {
    if (bytes > room_) memory_ = std::make_unique_for_overwrite<std::byte[]>(room_ = bytes);
    return {memory_.get(), bytes};
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t room_ = 0;
};

/// Images that are a file each, by their numbers: names and labels in memory, and nothing open. Any threads may read at
/// once.
class ImageFiles {
 public:
  /// `base`: the folder that paths are relative to, or empty.
  explicit ImageFiles(std::string base) : base_(std::move(base)) {}
  void add(const std::string& path, std::int64_t label) {
    names_.add(path);
    labels_.push_back(label);
  }

  std::size_t size() const { return names_.size(); }
  std::string path(std::size_t number) const;
  std::string what(std::size_t number) const { return "the image '" + path(number) + "'"; }  ///< in messages
  std::int64_t label(std::size_t number) const { return labels_[number]; }
  /// All bytes of a file, valid until the buffer is used again. Storage that is away is waited for. UsageError if it is not
  /// there, is no file, or is larger than `most`.
  EncodedImage read(std::size_t number, std::uint64_t most, EncodedBuffer& buffer) const;

  std::string packed() const;
  static ImageFiles unpacked(std::string_view bytes);

 private:
  std::string base_;
  PackedNames names_;
  std::vector<std::int64_t> labels_;
};

/// Samples that are images, a file each: fields `image`, and `label` and `path` if they are asked for.
class ImageSource final : public Source {
 public:
  ImageSource(ImageFiles files, std::vector<Dataset::Field> fields, ImageDecoder decoder)
      : files_(std::move(files)), fields_(std::move(fields)), decoder_(std::move(decoder)) {}
  std::uint64_t size() const override { return files_.size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override;

 private:
  void read_images(std::span<const std::uint64_t> samples, Column& column) const;

  ImageFiles files_;
  std::vector<Dataset::Field> fields_;
  ImageDecoder decoder_;
};

}  // namespace trainrt::data
