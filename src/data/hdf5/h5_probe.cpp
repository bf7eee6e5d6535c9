#include "data/hdf5/h5_probe.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "data/hdf5/h5_expansion.hpp"
#include "data/hdf5/h5_resolver.hpp"
#include "io/hdf5/h5_members.hpp"
#include "io/hdf5/h5_table.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

/// Whatever HDF5 or a header says of a dataset, with the file in front: nothing that starting again would change.
template <class Call>
auto about_h5(const std::string& what, const Call& call) try {
  return call();
} catch (const io::StorageError&) {
  throw;
} catch (const Error& error) {
  throw UsageError(what + ": " + error.what());
}

std::string about_dataset(const std::string& name, const DataFile& file) {
  return fmt::format("dataset '{}' of '{}'", excerpt(name), file.path);
}

std::string below(const std::string& group, const std::string& name) { return group.empty() ? name : group + "/" + name; }

/// Many files of a dataset leave out the same.
void say_ignored_once(const std::string& text) {
  static std::mutex mutex;
  static std::string said;
  const std::lock_guard lock(mutex);
  if (std::exchange(said, text) != text) log::info(text);
}

std::string about_file(const DataFile& file) { return fmt::format("'{}' cannot be read", file.path); }

io::H5Members members_of(const DataFile& file, hid_t group) {
  return about_h5(about_file(file), [&] { return io::h5_members(group); });
}

std::vector<std::string> usable(const DataFile& file, hid_t group, const std::string& group_name) {
  auto members = members_of(file, group);
  std::vector<std::string> names;
  for (const auto& name : members.datasets) {
    const auto why =
        about_h5(about_dataset(name, file), [&] { return io::h5_table_problem(io::h5_open_dataset(group, name)); });
    if (why.empty())
      names.push_back(name);
    else
      members.ignored.emplace_back(name, why);
  }
  std::vector<std::string> ignored;
  for (const auto& [name, why] : members.ignored) ignored.push_back(fmt::format("{} ({})", excerpt(name), why));
  if (names.empty())
    throw UsageError(fmt::format("'{}' has no dataset of numbers with an axis of samples in the group '/{}'{}", file.path,
                                 group_name, ignored.empty() ? "" : "; there is: " + join(ignored)));
  if (!ignored.empty()) say_ignored_once("HDF5 datasets that are no fields are left out: " + join(ignored));
  return names;
}

void require_there(const DataFile& file, hid_t group, const std::vector<std::string>& names) {
  const auto there = members_of(file, group).datasets;
  for (const auto& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1)
      throw UsageError(fmt::format("the fields name {} twice", about_dataset(name, file)));
    if (std::find(there.begin(), there.end(), name) == there.end()) {
      about_h5(about_dataset(name, file), [&] { io::h5_open_dataset(group, name); });  // a link, or nothing
      throw UsageError(fmt::format("{}: it is not there; there are: {}", about_dataset(name, file), join(there)));
    }
  }
}

/// The fields, without where their rows lie. All have as many of those.
FileContent described_content(const DataFile& file, hid_t group, const std::vector<std::string>& names) {
  FileContent content;
  std::vector<std::string> shapes;
  bool is_same = true;
  for (const auto& name : names) {
    const auto table = about_h5(about_dataset(name, file), [&] { return io::h5_table(io::h5_open_dataset(group, name)); });
    const auto rows = static_cast<std::uint64_t>(table.shape.front());
    if (content.fields.empty()) content.samples = rows;
    is_same = is_same && rows == content.samples;
    content.fields.push_back({name, table.dtype, {table.shape.begin() + 1, table.shape.end()}});
    shapes.push_back(excerpt(name) + " " + to_string(table.shape));
  }
  if (is_same) return content;
  throw UsageError(
      fmt::format("the datasets of '{}' do not have as many samples as each other (the first axis): {}; name those that "
                  "belong together",
                  file.path, join(shapes)));
}

std::string without_slashes(std::string path) {
  path.erase(0, std::min(path.find_first_not_of('/'), path.size()));
  while (path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

FileContent look_at_h5(const DataFile& file, const std::string& group_name, const std::vector<std::string>& fields,
                       const Options& options) {
  const auto lock = io::h5_lock();  // ids are closed on the way
  const auto path = without_slashes(trim(group_name));
  H5Resolver resolver(file);
  const auto group = about_h5(about_file(file), [&] { return io::h5_open_group(resolver.file(), path); });
  const auto names = fields.empty() ? usable(file, group, path) : fields;
  if (!fields.empty()) require_there(file, group, names);
  auto content = described_content(file, group, names);
  std::vector<H5Field> found;
  for (const auto& name : names)
    found.push_back({name, about_h5(about_dataset(name, file), [&] { return resolver.pieces_of(below(path, name)); })});
  auto index = resolver.take();
  index.fields = std::move(found);
  require_expandable(index, content.fields, options);
  for (const auto& table : index.tables)
    content.together = std::max(content.together, static_cast<std::uint64_t>(table.chunk.front()));
  content.sources.assign(index.files.begin() + 1, index.files.end());
  content.index = bytes_of(index);
  return content;
}

}  // namespace trainrt::data
