#include "data/h5_look.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/log.hpp"
#include "core/text.hpp"
#include "data/h5_resolver.hpp"
#include "io/h5_members.hpp"
#include "io/h5_table.hpp"
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

std::vector<std::string> usable(const DataFile& file, hid_t group, const std::string& group_name) {
  auto members = io::h5_members(group);
  std::vector<std::string> names;
  for (const auto& name : members.datasets) {
    const auto why = io::h5_no_table(io::h5_open_dataset(group, name));
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
  const auto there = io::h5_members(group).datasets;
  for (const auto& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1)
      throw UsageError(fmt::format("the fields name {} twice", about_dataset(name, file)));
    if (std::find(there.begin(), there.end(), name) == there.end()) {
      about_h5(about_dataset(name, file), [&] { io::h5_open_dataset(group, name); });  // a link, or nothing
      throw UsageError(fmt::format("{}: it is not there; there are: {}", about_dataset(name, file), join(there)));
    }
  }
}

/// One field, and in `rows` how many samples it has.
Dataset::Field field_of_table(const std::string& name, const io::H5Table& table, std::vector<std::string>& shapes) {
  shapes.push_back(excerpt(name) + " " + to_string(table.shape));
  return {name, table.dtype, {table.shape.begin() + 1, table.shape.end()}};
}

void require_same_rows(const DataFile& file, const std::vector<std::uint64_t>& rows,
                       const std::vector<std::string>& shapes) {
  if (std::count(rows.begin(), rows.end(), rows.front()) == std::ssize(rows)) return;
  throw UsageError(
      fmt::format("the datasets of '{}' do not have as many samples as each other (the first axis): {}; name those that "
                  "belong together",
                  file.path, join(shapes)));
}

}  // namespace

FileContent look_at_h5(const DataFile& file, const std::string& group_name, const std::vector<std::string>& fields) {
  const auto group_path =
      std::string(trim(group_name)).substr(std::min(group_name.find_first_not_of('/'), group_name.size()));
  auto resolver = about_h5(fmt::format("'{}' cannot be read", file.path), [&] { return H5Resolver(file); });
  auto names = fields;
  about_h5(fmt::format("'{}' cannot be read", file.path), [&] {
    const auto group = io::h5_open_group(resolver.file(), group_path);
    if (names.empty())
      names = usable(file, group, group_path);
    else
      require_there(file, group, names);
  });
  FileContent content;
  std::vector<H5Field> in_file;
  std::vector<std::uint64_t> rows;
  std::vector<std::string> shapes;
  for (const auto& name : names)
    about_h5(about_dataset(name, file), [&] {
      const auto table = io::h5_table(io::h5_open_dataset(resolver.file(), below(group_path, name)));
      content.fields.push_back(field_of_table(name, table, shapes));
      rows.push_back(static_cast<std::uint64_t>(table.shape.front()));
    });
  require_same_rows(file, rows, shapes);
  content.samples = rows.front();
  for (const auto& name : names)
    in_file.push_back(
        {name, about_h5(about_dataset(name, file), [&] { return resolver.pieces_of(below(group_path, name)); })});
  auto index = resolver.take();
  index.fields = std::move(in_file);
  content.index = bytes_of(index);
  return content;
}

}  // namespace trainrt::data
