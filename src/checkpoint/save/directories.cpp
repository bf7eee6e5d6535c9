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
#include "checkpoint/format/names.hpp"
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

/// Returns a number that identifies a file on one host. Ranks with the same number have the same file, so that they
/// need not compare its bytes.
std::int64_t identity_of(const struct stat& info) {
  const auto text =
      fmt::format("{} {} {} {} {}", host_name(), info.st_dev, info.st_ino, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  return static_cast<std::int64_t>(std::hash<std::string>{}(text));
}

/// Serializes the contents of the directory that this rank passed to report(): metadata, validation request, handling of
/// different files, and name, size and identity_of() of each file.
std::string packed_list(const DirectoryCheckpoint& mine) {
  check_metadata(mine.metadata);
  Packer packer;
  packer.put(mine.metadata);
  if (!mine.validation.empty()) check_metadata(mine.validation);
  packer.put(mine.validation).put(mine.same_files == SameFiles::rank0);
  if (mine.path.empty()) return packer.bytes();
  for (const auto& name : io::list_files_below(mine.path)) {
    if (name.starts_with(other_ranks_folder + "/")) continue;
    const auto path = path_in(mine.path, name);
    if (name == other_ranks_folder)
      throw Error("'" + path + "' has a name that is reserved for a folder of checkpoints; give the file another name");
    if (!is_utf8(name))
      throw Error("the name of '" + path +
                  "' is not valid UTF-8; rename the file, because names in a checkpoint must be valid");
    const auto info = look_at_file(path);
    packer.put(name).put(info.st_size).put(identity_of(info));
  }
  return packer.bytes();
}

/// Describes the files with the same name in the directories of all ranks.
struct Shared {
  std::vector<int> ranks;            ///< ranks that have a file with this name, in ascending order
  std::vector<std::uint64_t> bytes;  ///< sizes of their files, in the order of `ranks`
  std::int64_t identity = 0;
  bool is_to_compare = false;  ///< digests must be compared, as ranks may have different files with this name
};
using SharedFiles = std::map<std::string, Shared>;

struct Lists {
  SharedFiles files;
  std::string metadata = "{}", validation;
  SameFiles same_files = SameFiles::error;
};

[[noreturn]] void refuse_difference(const std::string& name, int one, int other, const std::string& what) {
  throw FilesDiffer(
      fmt::format("report(): ranks {} and {} have different files '{}' ({}). Files of the same name must be equal on all "
                  "ranks: include the rank in the name, or pass the file on one rank only",
                  one, other, name, what));
}

Lists unpacked(const std::vector<std::string>& ranks) {
  Lists lists;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Unpacker unpacker(ranks[rank]);
    if (auto metadata = unpacker.text(); lists.metadata == "{}") lists.metadata = std::move(metadata);
    if (auto validation = unpacker.text(); lists.validation.empty()) lists.validation = std::move(validation);
    if (unpacker.number() != 0) lists.same_files = SameFiles::rank0;
    while (!unpacker.done()) {
      auto& shared = lists.files[unpacker.text()];
      const auto bytes = static_cast<std::uint64_t>(unpacker.number());
      const auto identity = unpacker.number();
      shared.is_to_compare = shared.is_to_compare || (!shared.ranks.empty() && shared.identity != identity);
      shared.identity = identity;
      shared.ranks.push_back(static_cast<int>(rank));
      shared.bytes.push_back(bytes);
    }
  }
  return lists;
}

void refuse_different_sizes(const SharedFiles& files) {
  for (const auto& [name, shared] : files)
    for (std::size_t i = 1; i < shared.ranks.size(); ++i)
      if (shared.bytes[i] != shared.bytes[0])
        refuse_difference(name, shared.ranks[0], shared.ranks[i],
                          fmt::format("{} and {} bytes", shared.bytes[0], shared.bytes[i]));
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
            fmt::format("report(): rank {} has a file '{}', but the State's file '{}' has the same path in a checkpoint; "
                        "give one of the two files another name",
                        shared.ranks.front(), name, entry.name));
}

bool has(const Shared& shared, int rank) { return std::ranges::binary_search(shared.ranks, rank); }

/// Serializes the digests of those of this rank's files that other ranks also have, sorted by name, so that the ranks
/// can compare them.
std::string packed_digests(const SharedFiles& files, const std::string& directory, int rank) {
  Packer packer;
  for (const auto& [name, shared] : files)
    if (shared.is_to_compare && has(shared, rank)) packer.put(digest_file(path_in(directory, name)).digest);
  return packer.bytes();
}

/// One of the different contents that files of the same name have on different ranks.
struct Version {
  std::string digest;
  std::vector<int> ranks;  ///< ranks whose file has this content, in ascending order
};
/// All different contents that files of the same name have, ordered by the lowest rank that has each content.
using Versions = std::vector<Version>;

/// Compares the digests of files with the same name on all ranks. Returns the names that have several versions.
/// Collective.
std::map<std::string, Versions> different_files(const SharedFiles& files, const std::string& directory,
                                                Communicator& communicator, const Explain& explain) {
  std::map<std::string, Versions> different;
  if (std::ranges::none_of(files, [](const auto& file) { return file.second.is_to_compare; })) return different;
  const auto digests = on_every_rank(
      communicator, [&] { return packed_digests(files, directory, communicator.rank()); }, explain);
  std::vector<Unpacker> ranks(digests.begin(), digests.end());
  for (const auto& [name, shared] : files) {
    if (!shared.is_to_compare) continue;
    Versions versions;
    for (const int rank : shared.ranks) {
      const auto digest = ranks[static_cast<std::size_t>(rank)].text();
      auto version = std::ranges::find(versions, digest, &Version::digest);
      if (version == versions.end()) version = versions.insert(version, {digest, {}});
      version->ranks.push_back(rank);
    }
    if (versions.size() > 1) different.emplace(name, std::move(versions));
  }
  return different;
}

/// Returns the text of DirectoryFiles::difference. `different`: contents by file name; must not be empty.
std::string difference_in_words(const std::map<std::string, Versions>& different) {
  constexpr std::size_t max_versions = 4;
  const auto& [name, versions] = *different.begin();
  std::vector<std::string> parts;
  for (const auto& version : versions)
    if (parts.size() < max_versions)
      parts.push_back(fmt::format("rank {}{}: {}", version.ranks.front(),
                                  version.ranks.size() > 1 ? fmt::format(" and {} more", version.ranks.size() - 1) : "",
                                  version.digest));
  if (versions.size() > max_versions) parts.push_back(fmt::format("{} more versions", versions.size() - max_versions));
  return fmt::format("the ranks reported different files '{}' (digests: {}){}", name, join(parts, "; "),
                     different.size() > 1 ? fmt::format(", and {} more file{} that differ{}", different.size() - 1,
                                                        different.size() == 2 ? "" : "s", different.size() == 2 ? "s" : "")
                                          : "");
}

/// Throws Error if the State has a file in the folder where the files of other ranks are stored.
void refuse_other_ranks_folder(const State& state) {
  for (const auto& entry : state.files())
    if (!entry.each_rank && is_in(entry.name, other_ranks_folder))
      throw Error(
          fmt::format("report(): the State's file '{}' is in a folder that checkpoints reserve for files that differ "
                      "between ranks; give the file another name",
                      entry.name));
}

/// Returns the files that `rank` writes. `directory`: the directory that it passed to report().
std::vector<DirectoryFile> files_of(int rank, const SharedFiles& files, const std::map<std::string, Versions>& different,
                                    const std::string& directory) {
  std::vector<DirectoryFile> own;
  for (const auto& [name, shared] : files) {
    const auto at = std::ranges::find(shared.ranks, rank) - shared.ranks.begin();
    if (at == std::ssize(shared.ranks)) continue;
    const auto found = different.find(name);
    const auto begins_version = [&](const Version& version) { return version.ranks.front() == rank; };
    const bool writes = at == 0 || (found != different.end() && std::ranges::any_of(found->second, begins_version));
    if (!writes) continue;
    const auto place = at == 0 ? name : fmt::format("{}/{}/{}", other_ranks_folder, rank, name);
    own.push_back({place, path_in(directory, name), shared.bytes[static_cast<std::size_t>(at)]});
  }
  return own;
}

}  // namespace

DirectoryFiles gather_directories(const DirectoryCheckpoint& mine, const State& state, Communicator& communicator,
                                  const Explain& explain) {
  auto lists = unpacked(on_every_rank(
      communicator, [&] { return packed_list(mine); }, explain));
  const bool is_error = lists.same_files == SameFiles::error;
  if (is_error) refuse_different_sizes(lists.files);
  refuse_folders_of_files(lists.files);
  refuse_names_of_state(lists.files, state);
  const auto different = different_files(lists.files, mine.path, communicator, explain);
  DirectoryFiles given;
  if (!different.empty()) {
    const auto& [name, versions] = *different.begin();
    if (is_error)
      refuse_difference(name, versions[0].ranks.front(), versions[1].ranks.front(),
                        fmt::format("{} bytes each", lists.files.at(name).bytes.front()));
    refuse_other_ranks_folder(state);
    given.difference = difference_in_words(different);
  }
  given.metadata = std::move(lists.metadata);
  given.validation = std::move(lists.validation);
  given.files = files_of(communicator.rank(), lists.files, different, mine.path);
  return given;
}

}  // namespace trainrt::checkpoint
