#include "data/hdf5/h5_probe.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/inflate.hpp"
#include "data/bytes/expansion.hpp"
#include "data/bytes/log_once.hpp"
#include "data/hdf5/chunk_lookup.hpp"
#include "data/hdf5/h5_resolver.hpp"
#include "io/hdf5/h5_members.hpp"
#include "io/hdf5/h5_table.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

/// Returns call(). If it throws Error, throws UsageError instead, because a restart would fail in the same way. The message
/// begins with `subject`.
template <class Call>
auto about(const std::string& subject, const Call& call) try {
  return call();
} catch (const io::StorageError&) {
  throw;
} catch (const Error& error) {
  throw UsageError(subject + ": " + error.what());
}

std::string dataset_in_words(const std::string& name, const DataFile& file) {
  return fmt::format("dataset '{}' of '{}'", excerpt(name), file.path);
}

std::string file_in_words(const DataFile& file) { return fmt::format("'{}' cannot be read", file.path); }

io::H5Members members_of(const DataFile& file, hid_t group) {
  return about(file_in_words(file), [&] { return io::h5_members(group); });
}

/// Returns the names of those datasets below a group that can be read as fields.
std::vector<std::string> usable_datasets(const DataFile& file, hid_t group, const std::string& group_name) {
  auto members = members_of(file, group);
  std::vector<std::string> names;
  for (const auto& name : members.datasets) {
    const auto why =
        about(dataset_in_words(name, file), [&] { return io::h5_table_problem(io::h5_open_dataset(group, name)); });
    if (why.empty())
      names.push_back(name);
    else
      members.ignored.emplace_back(name, why);
  }
  std::vector<std::string> ignored;
  for (const auto& [name, why] : members.ignored) ignored.push_back(fmt::format("{} ({})", excerpt(name), why));
  if (names.empty())
    throw UsageError(fmt::format("'{}' has no dataset of numbers with an axis of samples in the group '/{}'{}", file.path,
                                 group_name, ignored.empty() ? "" : "; it has: " + join(ignored)));
  if (!ignored.empty()) info_once("HDF5 datasets that cannot be fields are ignored: " + join(ignored));
  return names;
}

void require_datasets(const DataFile& file, hid_t group, const std::vector<std::string>& names) {
  const auto existing = members_of(file, group).datasets;
  for (const auto& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1)
      throw UsageError(fmt::format("the key 'fields' names {} twice", dataset_in_words(name, file)));
    if (std::find(existing.begin(), existing.end(), name) != existing.end()) continue;
    about(dataset_in_words(name, file), [&] { io::h5_open_dataset(group, name); });  // for a link, throws a better error
    throw UsageError(fmt::format("{} does not exist; the group has: {}", dataset_in_words(name, file), join(existing)));
  }
}

/// Returns the content of the file with its fields and number of samples, but without FileContent::index.
FileContent fields_of(const DataFile& file, hid_t group, const std::vector<std::string>& names) {
  FileContent content;
  std::vector<std::string> shapes;
  bool is_same = true;
  for (const auto& name : names) {
    const auto table = about(dataset_in_words(name, file), [&] { return io::h5_table(io::h5_open_dataset(group, name)); });
    const auto rows = static_cast<std::uint64_t>(table.shape.front());
    if (content.fields.empty()) content.samples = rows;
    is_same = is_same && rows == content.samples;
    content.fields.push_back({name, table.dtype, {table.shape.begin() + 1, table.shape.end()}});
    shapes.push_back(excerpt(name) + " " + to_string(table.shape));
  }
  if (is_same) return content;
  throw UsageError(
      fmt::format("the datasets of '{}' have different numbers of samples (extents of the first axis): {}. "
                  "Use the key 'fields' to choose datasets of equal length",
                  file.path, join(shapes)));
}

/// Returns the size in bytes of those values of a chunked dataset that the file does not store. If the HDF5 library reads
/// the dataset, its chunks are unknown. In this case, returns the size of all values if the file is too small to contain
/// them even in compressed form, otherwise 0.
std::uint64_t missing_bytes(const H5ChunkTable& table, std::uint64_t file_bytes) {
  const auto all = bytes_of_box(table.shape, table.dtype);
  if (table.by_library) return all / max_inflation > file_bytes ? all : 0;
  const auto missing = std::ranges::count_if(table.chunks, [](const auto& chunk) { return chunk.bytes == 0; });
  return std::min(all, static_cast<std::uint64_t>(missing) * bytes_of_box(table.chunk, table.dtype));
}

/// Throws UsageError, which names file and dataset, if the file expands to more bytes than the key `max_expanded_bytes`
/// allows. The limit applies to each sample, to each decoded chunk, and to those values of each dataset that the file does
/// not store.
void require_expandable(const H5Index& index, const std::vector<Dataset::Field>& fields, const Options& options) {
  std::uint64_t file_bytes = 0;
  for (const auto& file : index.files) file_bytes += file.size;
  const ExpansionLimit limit(options, file_bytes);
  const auto require_missing = [&](std::uint64_t bytes, const std::string& dataset) {
    limit.require(bytes, dataset + ", by values that the file does not store,");
  };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto dataset = dataset_in_words(index.fields[i].name, index.files.front());
    limit.require(sample_bytes(fields[i]), "a sample of " + dataset);
    std::uint64_t rows = 0;
    for (const auto& piece : index.fields[i].pieces) rows += piece.kind == H5Piece::Kind::missing ? piece.rows : 0;
    require_missing(rows * sample_bytes(fields[i]), dataset);
  }
  for (const auto& table : index.tables) {
    const auto dataset = dataset_in_words(table.dataset, index.files.at(table.file));
    limit.require(bytes_of_box(table.chunk, table.dtype), fmt::format("a chunk {} of {}", to_string(table.chunk), dataset));
    require_missing(missing_bytes(table, file_bytes), dataset);
  }
}

std::string without_outer_slashes(std::string path) {
  path.erase(0, std::min(path.find_first_not_of('/'), path.size()));
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

FileContent probe_h5(const DataFile& file, const std::string& group_name, const std::vector<std::string>& fields,
                     const Options& options) {
  const auto lock = io::h5_lock();  // declared first, so that it is held until all HDF5 ids are closed
  const auto path = without_outer_slashes(trim(group_name));
  H5Resolver resolver(file);
  const auto group = about(file_in_words(file), [&] { return io::h5_open_group(resolver.file(), path); });
  const auto names = fields.empty() ? usable_datasets(file, group, path) : fields;
  if (!fields.empty()) require_datasets(file, group, names);
  auto content = fields_of(file, group, names);
  std::vector<H5Field> found;
  for (const auto& name : names)
    found.push_back({name, about(dataset_in_words(name, file),
                                 [&] { return resolver.pieces_of(path.empty() ? name : path + "/" + name); })});
  auto index = resolver.take();
  index.fields = std::move(found);
  require_expandable(index, content.fields, options);
  for (const auto& table : index.tables)
    content.together = std::max(content.together, static_cast<std::uint64_t>(table.chunk.front()));
  content.sources.assign(index.files.begin() + 1, index.files.end());
  content.index = packed(index);
  return content;
}

}  // namespace trainrt::data
