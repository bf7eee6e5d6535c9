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

PackedNames PackedNames::unpacked(PackedReader& from) {
  PackedNames names;
  names.size_ = from.number();
  names.bytes_ = from.text();
  PackedReader reader(names.bytes_);
  for (std::size_t i = 0; i < names.size_; ++i) {
    if (i % group == 0) names.begins_.push_back(names.bytes_.size() - reader.left());
    reader.number();
    reader.text();
  }
  return names;
}

}  // namespace trainrt::data
