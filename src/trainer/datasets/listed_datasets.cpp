#include "trainer/datasets/listed_datasets.hpp"

#include "comm/agreement.hpp"
#include "data/section/prepare.hpp"
#include "io/storage.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

void use_stores(const config::RunSpec& spec) {
  const auto& given = spec.storage;
  io::set_storage_settings({given.s3_endpoint, given.s3_region, given.s3_profile, given.gs_endpoint, given.s3_anonymous});
}

Listings list_datasets(const config::RunSpec& spec, Communicator& communicator) {
  std::map<std::string, std::string> bytes;
  const auto list = [&] {
    const auto found = data::list_datasets(spec.data);
    data::require_steps(spec.data, found);
    for (const auto& [name, listing] : found) bytes[name] = data::bytes_of(listing);
  };
  comm::collectively_on_first(communicator, list, with_advice);
  Listings listings;
  for (const auto& [name, options] : spec.data)
    listings.emplace(name, data::listing_of(communicator.broadcast_text(std::move(bytes[name]), 0)));
  return listings;
}

}  // namespace trainrt::trainer
