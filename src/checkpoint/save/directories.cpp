#include "checkpoint/save/directories.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "checkpoint/collective.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/other_files.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::checkpoint {

namespace {

std::string path_in(const std::string& directory, const std::string& name) { return directory + "/" + name; }

struct stat look_at_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) io::fail("read attributes of", path, errno);
  if (S_ISDIR(info.st_mode))
    throw Error("'" + path + "' is a link to a directory; a checkpoint can contain files, links to files and folders");
  if (!S_ISREG(info.st_mode))
    throw Error("'" + path +
                "' is neither a file nor a folder; a checkpoint can contain files, links to files and folders");
  return info;
}

/// Returns a number that identifies a file: equal on ranks of one host that see the same file, so that its bytes need not
/// be compared.
std::int64_t identity_of(const struct stat& info) {
  const auto text =
      fmt::format("{} {} {} {} {}", host_name(), info.st_dev, info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  return static_cast<std::int64_t>(std::hash<std::string>{}(text));
}

/// Serializes the contents of the directory that this rank passed to report(): metadata, validation, and name, size and
/// identity_of() of each file.
std::string packed_list(const DirectoryCheckpoint& mine) {
  check_metadata(mine.metadata);
  Packer packer;
  packer.put(mine.metadata);
  if (!mine.validation.empty()) check_metadata(mine.validation);
  packer.put(mine.validation);
  if (mine.path.empty()) return packer.bytes();
  for (const auto& name : io::list_files_below(mine.path)) {
    const auto path = path_in(mine.path, name);
    if (!is_utf8(name)) throw Error("the name of '" + path + "' is not valid UTF-8, which names in a checkpoint must be");
    const auto info = look_at_file(path);
    packer.put(name).put(info.st_size).put(identity_of(info));
  }
  return packer.bytes();
}

/// Describes the files with one name in the directories of all ranks.
struct Shared {
  std::uint64_t bytes = 0;
  std::int64_t identity = 0;
  std::vector<int> ranks;      ///< ranks that have a file with this name, in ascending order
  bool is_to_compare = false;  ///< digests must be compared, as ranks may have different files with this name
};
using SharedFiles = std::map<std::string, Shared>;

struct Lists {
  SharedFiles files;
  std::string metadata = "{}", validation;
};

[[noreturn]] void refuse_difference(const std::string& name, int one, int other, const std::string& what) {
  throw Error(
      fmt::format("report(): ranks {} and {} have different files '{}' ({}). Files of one name must be equal on all ranks: "
                  "include the rank in the name, or pass the file on one rank only",
                  one, other, name, what));
}

Lists unpacked(const std::vector<std::string>& ranks) {
  Lists lists;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Unpacker unpacker(ranks[rank]);
    if (auto metadata = unpacker.text(); lists.metadata == "{}") lists.metadata = std::move(metadata);
    if (auto validation = unpacker.text(); lists.validation.empty()) lists.validation = std::move(validation);
    while (!unpacker.done()) {
      const auto name = unpacker.text();
      const auto bytes = static_cast<std::uint64_t>(unpacker.number());
      const auto identity = unpacker.number();
      auto& shared = lists.files[name];
      if (!shared.ranks.empty() && shared.bytes != bytes)
        refuse_difference(name, shared.ranks.front(), static_cast<int>(rank),
                          fmt::format("{} and {} bytes", shared.bytes, bytes));
      shared.is_to_compare = shared.is_to_compare || (!shared.ranks.empty() && shared.identity != identity);
      shared.bytes = bytes;
      shared.identity = identity;
      shared.ranks.push_back(static_cast<int>(rank));
    }
  }
  return lists;
}

void refuse_folders_of_files(const SharedFiles& files) {
  for (const auto& [name, shared] : files)
    for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      if (const auto file = files.find(name.substr(0, slash)); file != files.end())
        throw Error(fmt::format("report(): '{}' is a file on rank {} and a folder on rank {}: '{}'", file->first,
                                file->second.ranks.front(), shared.ranks.front(), name));
}

bool is_in(const std::string& name, const std::string& folder) {
  return name == folder || name.starts_with(folder + "/") || folder.starts_with(name + "/");
}

/// Returns whether `name` begins like the folders "rank-00003/" below files/, which are reserved for files of the State.
bool is_of_ranks(const std::string& name) {
  return name.starts_with("rank-") && std::isdigit(static_cast<unsigned char>(name[5])) != 0;
}

void refuse_names_of_state(const SharedFiles& files, const State& state) {
  for (const auto& entry : state.files())
    for (const auto& [name, shared] : files)
      if (entry.each_rank ? is_of_ranks(name) : is_in(name, entry.name))
        throw Error(
            fmt::format("report(): rank {} has a file '{}', but the State's file '{}' uses that path in a checkpoint; "
                        "give it another name",
                        shared.ranks.front(), name, entry.name));
}

bool has(const Shared& shared, int rank) { return std::ranges::binary_search(shared.ranks, rank); }

/// Serializes the digests of the files that must be compared with other ranks and that this rank has, in name order.
std::string packed_digests(const SharedFiles& files, const std::string& directory, int rank) {
  Packer packer;
  for (const auto& [name, shared] : files)
    if (shared.is_to_compare && has(shared, rank)) packer.put(digest_file(path_in(directory, name)).digest);
  return packer.bytes();
}

void refuse_different(const SharedFiles& files, const std::string& directory, Communicator& communicator,
                      const Explain& explain) {
  if (std::ranges::none_of(files, [](const auto& file) { return file.second.is_to_compare; })) return;
  const auto digests = on_every_rank(
      communicator, [&] { return packed_digests(files, directory, communicator.rank()); }, explain);
  std::vector<Unpacker> ranks(digests.begin(), digests.end());
  for (const auto& [name, shared] : files) {
    if (!shared.is_to_compare) continue;
    const auto first = ranks[static_cast<std::size_t>(shared.ranks.front())].text();
    for (auto rank = shared.ranks.begin() + 1; rank != shared.ranks.end(); ++rank)
      if (ranks[static_cast<std::size_t>(*rank)].text() != first)
        refuse_difference(name, shared.ranks.front(), *rank, fmt::format("{} bytes each", shared.bytes));
  }
}

}  // namespace

DirectoryFiles gather_directories(const DirectoryCheckpoint& mine, const State& state, Communicator& communicator,
                                  const Explain& explain) {
  auto lists = unpacked(on_every_rank(
      communicator, [&] { return packed_list(mine); }, explain));
  refuse_folders_of_files(lists.files);
  refuse_names_of_state(lists.files, state);
  refuse_different(lists.files, mine.path, communicator, explain);
  DirectoryFiles given;
  given.metadata = std::move(lists.metadata);
  given.validation = std::move(lists.validation);
  for (const auto& [name, shared] : lists.files)
    if (shared.ranks.front() == communicator.rank()) given.files.push_back({name, path_in(mine.path, name), shared.bytes});
  return given;
}

}  // namespace trainrt::checkpoint
