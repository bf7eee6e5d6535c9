#include "checkpoint/view_check.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "checkpoint/cannot_read.hpp"
#include "checkpoint/format/directory.hpp"
#include "checkpoint/format/names.hpp"
#include "io/digest.hpp"
#include "io/file.hpp"
#include "io/patience.hpp"

namespace trainrt::checkpoint {

namespace {

bool ends_with_its_digest(const std::string& path, const std::function<void(std::uint64_t bytes)>& read) {
  io::FileReader reader(path);
  io::Digest digest;
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (auto left = reader.size() - std::min<std::uint64_t>(reader.size(), view_seal_bytes); left > 0;) {
    const auto count = reader.read(std::span(piece).first(std::min<std::uint64_t>(left, piece.size())));
    if (count == 0) break;
    digest.update(std::span(piece).first(count));
    left -= count;
    if (read) read(count);
  }
  std::string seal(view_seal_bytes + 1, '\0');
  seal.resize(reader.read(std::as_writable_bytes(std::span(seal))));
  return seal == view_seal(digest.hex());
}

}  // namespace

bool has_view(const std::string& checkpoint_dir) { return io::exists(checkpoint_dir + "/" + view_name); }

std::string view_damage(const std::string& checkpoint_dir, const std::function<void(std::uint64_t bytes)>& read) try {
  const auto path = checkpoint_dir + "/" + view_name;
  const bool whole = io::patiently_in(run_of(checkpoint_dir), [&] { return ends_with_its_digest(path, read); });
  return whole ? "" : "'" + path + "' is damaged: it does not end with its digest";
} catch (const std::exception& error) {
  rethrow_if_no_damage(error);
  return error.what();
}

}  // namespace trainrt::checkpoint
