#include "checkpoint/other_files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/damage.hpp"
#include "checkpoint/format/index.hpp"
#include "checkpoint/format/names.hpp"
#include "core/files/guarded_tree.hpp"
#include "io/files/digest.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

FileRecord digest_file(const std::string& path, const std::function<void(std::span<const std::byte>)>& take) {
  io::FileReader reader(path);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(block_bytes, reader.size() + 1));
  FileRecord found;
  std::vector<BlockRecord> blocks;
  while (const auto count = reader.read(buffer)) {
    const auto piece = std::span<const std::byte>(buffer).first(count);
    blocks.push_back({found.bytes, count, io::digest_of(piece)});
    found.bytes += count;
    if (take) take(piece);
    if (count < buffer.size()) break;
  }
  found.digest = digest_of_blocks(blocks);
  return found;
}

namespace {

std::string difference(const std::string& path, const FileRecord& found, const FileRecord& wanted) {
  if (found.bytes != wanted.bytes) return fmt::format("'{}' has {} bytes, not {}", path, found.bytes, wanted.bytes);
  if (found.digest != wanted.digest) return fmt::format("'{}' is damaged: it does not match its digest", path);
  return "";
}

bool is_there(const std::string& path, const FileRecord& wanted) try {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) == wanted.bytes &&
         difference(path, digest_file(path, {}), wanted).empty();
} catch (const Error&) {
  return false;  // a file that cannot be read counts as different; restore() replaces it or reports why that failed
}

void restore(const std::string& from, const FileRecord& record, const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty()) io::make_directories(folder);
  const auto aside = io::temporary_beside(path);
  io::remove_tree(aside);
  try {
    io::FileWriter writer(aside);
    const auto found = digest_file(from, [&](std::span<const std::byte> piece) { writer.write(piece); });
    if (const auto wrong = difference(from, found, record); !wrong.empty()) throw Error(wrong);
    writer.finish();
    if (rename_guarded(aside, path) != 0) io::fail("rename '" + aside + "' to", path, errno);
  } catch (...) {
    unlink_guarded(aside);
    throw;
  }
  io::sync_directory(folder.empty() ? "." : folder);
}

}  // namespace

std::string file_damage(const std::string& checkpoint_dir, const FileRecord& file,
                        const std::function<void(std::uint64_t bytes)>& read, const FailedRead& failed) try {
  const auto path = checkpoint_dir + "/" + file.name;
  const auto found = io::retried_in(run_of(checkpoint_dir), [&] {
    return digest_file(path, [&](std::span<const std::byte> piece) {
      if (read) read(piece.size());
    });
  });
  return difference(path, found, file);
} catch (const std::exception& error) {
  rethrow_if_no_damage(error);
  if (failed) failed(error);
  const auto* storage = dynamic_cast<const io::StorageError*>(&error);
  const bool missing = storage != nullptr && storage->error_number() == ENOENT;
  return missing ? "'" + checkpoint_dir + "/" + file.name + "' is missing" : error.what();
}

std::string file_name(const FileEntry& entry, int rank) {
  if (!entry.each_rank) return files_folder + "/" + entry.name;
  return fmt::format("{}/rank-{:05}/{}", files_folder, rank, entry.name);
}

const FileRecord* find_file(const Manifest& manifest, const FileEntry& entry, int rank) {
  const int writer = rank % manifest.meta.ranks;
  const auto name = file_name(entry, writer);
  for (const auto& file : manifest.files)
    if (file.name == name && file.rank == (entry.each_rank ? writer : -1)) return &file;
  return nullptr;
}

std::vector<std::string> file_differences(const State& state, const Manifest& manifest, int rank) {
  std::vector<std::string> lines;
  for (const auto& entry : state.files())
    if (!entry.optional && find_file(manifest, entry, rank) == nullptr)
      lines.push_back("'" + entry.name + "' is only in the State: a file" + (entry.each_rank ? " per rank" : ""));
  return lines;
}

void restore_files(const State& state, const std::string& checkpoint_dir, const Manifest& manifest, int rank) {
  for (const auto& entry : state.files()) {
    const auto* record = find_file(manifest, entry, rank);
    if (record != nullptr && !is_there(entry.path, *record))
      restore(checkpoint_dir + "/" + record->name, *record, entry.path);
  }
}

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

std::string view_damage(const std::string& checkpoint_dir, const std::function<void(std::uint64_t bytes)>& read,
                        const FailedRead& failed) try {
  const auto path = checkpoint_dir + "/" + view_name;
  const bool whole = io::retried_in(run_of(checkpoint_dir), [&] { return ends_with_its_digest(path, read); });
  return whole ? "" : "'" + path + "' is damaged: the digest at its end is missing or wrong";
} catch (const std::exception& error) {
  rethrow_if_no_damage(error);
  if (failed) failed(error);
  return error.what();
}

}  // namespace trainrt::checkpoint
