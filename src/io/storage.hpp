#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin.hpp"
#include "io/storage_url.hpp"

namespace trainrt::io {

/// An object of an object store, or a file of a folder that is used like a bucket.
struct StoredObject {
  std::string name;           ///< complete key of the object: "data/train/a.csv"
  std::uint64_t size = 0;     ///< size of the object in bytes
  std::string etag = {};      ///< identifier of the content, assigned by the store; changes when the content changes
  std::int64_t mtime_ns = 0;  ///< modification time (mtime) in nanoseconds since 1970; 0 if the store does not report it
};

/// A multipart upload that was begun, but neither completed nor aborted. The store keeps the parts that it has received.
struct UnfinishedUpload {
  std::string name;  ///< complete key of the object that the upload would have created
  std::string id;    ///< upload id, assigned by the store
};

/// The request to read a byte range of an object: all of `into` is filled with the object's bytes from `offset` on.
struct ObjectPart {
  std::uint64_t offset = 0;
  std::span<std::byte> into;
};

/// Interface for reading and writing the objects of one bucket of an object store, or the files of a folder that is used
/// like a bucket. Thread-safe.
/// - Transient errors: a request to an object store is repeated a few times with growing pauses. If it still fails, a
///   transient StorageError (see is_transient()) is thrown, so that a caller that uses retried() can keep waiting.
/// - Other failures throw Error, which names the object, the store's answer and the remedy.
/// - No error contains a credential.
class Storage {
 public:
  virtual ~Storage() = default;
  /// Returns all objects whose names begin with `prefix`, sorted by name in byte order.
  virtual std::vector<StoredObject> list(const std::string& prefix) const = 0;
  /// Returns the object `name`, or nullopt if it does not exist.
  virtual std::optional<StoredObject> find(const std::string& name) const = 0;
  /// Reads byte ranges of `object`: fills `into` of each element of `parts`. Throws Error if the object's content has
  /// changed since list() or find() returned `object`.
  virtual void read(const StoredObject& object, std::span<const ObjectPart> parts) const = 0;
  /// Uploads the local file `file` as the object `name`, replacing an existing object. Readers see the old object or the
  /// complete new one. The object is durable on return. Throws StorageError if the store does not have the object
  /// afterwards.
  virtual StoredObject put(const std::string& file, const std::string& name) = 0;
  /// Removes the object `name`. Does nothing if the object does not exist.
  virtual void remove(const std::string& name) = 0;
  /// Returns the unfinished multipart uploads of all objects with names that begin with `prefix`. The list is always
  /// empty for a folder, which has no multipart uploads.
  virtual std::vector<UnfinishedUpload> unfinished_uploads(const std::string& /*prefix*/) const { return {}; }
  /// Aborts an unfinished multipart upload: the store discards the parts received so far, and a process that is still
  /// sending parts fails. Does nothing if the upload does not exist.
  virtual void abort_upload(const UnfinishedUpload& /*upload*/) {}
  /// Returns the URL of the object `name`, for messages.
  virtual std::string url_of(const std::string& name) const = 0;
  /// Maximum number of byte ranges that one read() requests at the same time.
  virtual std::size_t max_in_flight() const { return 1; }
  /// Interrupts running and later requests to an object store, and copies into a folder: they soon throw Error. Any
  /// thread may call interrupt().
  virtual void interrupt() {}
};

/// A plug-in that creates a Storage for URLs of one scheme, such as "s3". Each plug-in is defined in
/// io/storages/SCHEME.cpp.
struct StorageKind {
  std::string_view name;
  std::string_view help;
  /// Creates the Storage for `url` without connecting to it. Throws UsageError, with advice, if this build or machine
  /// cannot use URLs of this scheme.
  std::shared_ptr<Storage> (*open)(const StorageUrl& url);
};

PluginTable<StorageKind> storage_table();

/// Opens the bucket or folder of `url` as a Storage that only the caller uses. For a folder (file:// URL), symbolic links
/// below the URL's path are not followed: access through such a link throws StorageError, which names the link. The URL's
/// path itself, given by the user, may be or contain a symbolic link.
std::shared_ptr<Storage> open_storage(const StorageUrl& url);

/// Returns the Storage of the URL's bucket and options, which is opened at the first call and shared by all readers in
/// this process.
/// For file:// URLs, symbolic links are followed.
std::shared_ptr<const Storage> storage_for_reading(const StorageUrl& url);

/// Settings of the object stores for this process. An empty S3 setting is read from the environment variables that
/// Amazon's tools use.
struct StorageSettings {
  /// URL of an S3-compatible store, such as "http://host:9000"; empty: from the environment, else Amazon S3.
  std::string s3_endpoint;
  std::string s3_region;
  std::string s3_profile;     ///< name of a profile in the AWS credentials file
  std::string gs_endpoint;    ///< URL; empty: https://storage.googleapis.com
  bool s3_anonymous = false;  ///< send S3 requests without credentials (unsigned)

  bool operator==(const StorageSettings&) const = default;
};
/// Sets the settings of the object stores for this process. Must be called before the first Storage is opened. Threads
/// may call it at the same time with equal settings, as ranks of one process do.
void set_storage_settings(StorageSettings settings);
const StorageSettings& storage_settings();

/// Sets the access keys with which this process signs requests to mirrors in object stores; keys in the environment are
/// then ignored. The keys exist only in the memory of this process. Any thread may call set_mirror_keys().
void set_mirror_keys(Credentials keys);
Credentials mirror_keys();  ///< the keys of set_mirror_keys(); empty if they were not set

}  // namespace trainrt::io
