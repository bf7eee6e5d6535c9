#include <trainrt/error.hpp>

#include "io/hdf5/h5_members.hpp"
#include "io/hdf5/h5_table.hpp"
#include "io/hdf5/h5_types.hpp"
#include "io/hdf5/untrusted/h5_chunks.hpp"
#include "io/hdf5/untrusted/h5_guard.hpp"

namespace trainrt::io {

namespace {

constexpr double step_s = 5;
constexpr double chunk_s = 20e-6;
// Maximum number of chunks of a dataset to examine. trainrt does not list the chunks of a dataset that has more.
constexpr std::uint64_t max_chunks = 1 << 24;

/// Calls `call` and ignores any Error that it throws.
template <class Call>
void ignore_errors(const Call& call) {
  try {
    call();
  } catch (const Error&) {  // the process that opens the file later reports the error
  }
}

void examine_attributes(hid_t object) {
  for (const auto& name : h5_attribute_names(object))
    ignore_errors([&] {
      if (h5_attribute_type(object, name) == "string") h5_read_text(object, name);
    });
}

void examine_dataset(hid_t dataset, const std::function<void(double)>& allow) {
  if (h5_dataset_type(dataset) == "string") return void(h5_read_string_list(dataset, "."));
  if (!h5_table_problem(dataset).empty()) return;
  const auto table = h5_table(dataset);
  if (table.layout != H5Table::Layout::chunked) return;
  const auto count = h5_chunk_count(table.shape, table.chunk);
  if (count > max_chunks) return;
  allow(step_s + chunk_s * static_cast<double>(count));
  h5_chunks(dataset, table.shape, table.chunk);
}

}  // namespace

void h5_examine(const std::function<H5Id()>& open, const std::function<void(double)>& allow) {
  const auto lock = h5_lock();
  allow(step_s);
  ignore_errors([&] {
    const auto file = open();
    const auto visit = [&](const std::string&, hid_t object) {
      allow(step_s);
      ignore_errors([&] { examine_attributes(object); });
      if (H5Iget_type(object) == H5I_DATASET) ignore_errors([&] { examine_dataset(object, allow); });
      allow(step_s);
    };
    h5_walk(file, visit, [](const std::string&, const std::string&) {});
  });
}

}  // namespace trainrt::io
