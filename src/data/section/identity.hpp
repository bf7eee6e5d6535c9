#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "data/batches/dataset_impl.hpp"
#include "data/section/listing.hpp"

namespace trainrt::data {

/// What the place inside an epoch hangs on, as texts that a checkpoint keeps: a line a file (size, digest of its first
/// bytes, name; of many files one digest over all) and the order of the samples.
struct Identity {
  std::string files;
  std::string order;
};

Identity identity_of(const Listing& listing, const DatasetImpl& dataset);

/// Before what a checkpoint has is compared: if `order` is how the first versions shuffled this dataset, it goes on so;
/// also if it is empty, for the very first said nothing. UsageError if there is no memory for that.
void go_on_as_first(DatasetImpl& dataset, std::string_view order);

/// The first thing in which the files differ, in words; nothing if they are the same.
std::optional<std::string> difference_of_files(std::string_view before, std::string_view now);

/// The digest of the first bytes of a file.
std::string head_digest(const DataFile& file);

}  // namespace trainrt::data
