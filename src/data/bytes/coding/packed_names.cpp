#include "data/bytes/coding/packed_names.hpp"

#include <algorithm>

namespace trainrt::data {

void PackedNames::add(std::string_view name) {
  std::size_t shared = 0;
  if (size_ % group == 0)
    begins_.push_back(bytes_.size());
  else
    shared =
        static_cast<std::size_t>(std::mismatch(name.begin(), name.end(), last_.begin(), last_.end()).first - name.begin());
  PackedWriter writer;
  writer.number(shared);
  writer.text(name.substr(shared));
  bytes_ += writer.take();
  last_ = name;
  ++size_;
}

std::string PackedNames::operator[](std::size_t number) const {
  PackedReader reader(std::string_view(bytes_).substr(begins_[number / group]));
  std::string name;
  for (std::size_t i = 0; i <= number % group; ++i) {
    name.resize(std::min<std::uint64_t>(reader.number(), name.size()));
    name += reader.text();
  }
  return name;
}

void PackedNames::pack(PackedWriter& into) const {
  into.number(size_);
  into.text(bytes_);
}

void PackedNames::unpack(PackedReader& from) {
  size_ = from.number();
  bytes_ = from.text();
  PackedReader reader(bytes_);
  for (std::size_t i = 0; i < size_; ++i) {
    if (i % group == 0) begins_.push_back(bytes_.size() - reader.left());
    reader.number();
    reader.text();
  }
}

}  // namespace trainrt::data
