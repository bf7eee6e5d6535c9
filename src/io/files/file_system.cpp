#include "io/files/file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>

#include "io/files/file.hpp"

namespace trainrt::io {

namespace {

struct KnownFileSystem {
  std::uint64_t magic;
  FileSystem file_system;
};
constexpr bool one_writer = false, parallel = true, own_node = false, shared = true, lost = false;
// Magic numbers (f_type of statfs(2)) from linux/magic.h, and from the sources of file systems that are not part of the
// kernel.
constexpr KnownFileSystem known_file_systems[] = {
    {0x0BD00BD0, {"lustre", parallel, shared}},
    {0x47504653, {"gpfs", parallel, shared}},
    {0x19830326, {"beegfs", parallel, shared}},
    {0x00C36400, {"ceph", parallel, shared}},
    {0x20030528, {"orangefs", parallel, shared}},
    {0xAAD7AAEA, {"panfs", parallel, shared}},
    {0x013111A8, {"ibrix", parallel, shared}},
    {0x01161970, {"gfs2", parallel, shared}},
    {0x7461636F, {"ocfs2", parallel, shared}},
    {0x6969, {"nfs", one_writer, shared}},
    {0xFF534D42, {"cifs", one_writer, shared}},
    {0xFE534D42, {"smb2", one_writer, shared}},
    {0x517B, {"smb", one_writer, shared}},
    {0x5346414F, {"afs", one_writer, shared}},
    {0x6B414653, {"afs", one_writer, shared}},
    {0x73757245, {"coda", one_writer, shared}},
    {0x01021997, {"9p", one_writer, shared}},
    {0x65735546, {"fuse", one_writer, shared}},  // any FUSE file system: glusterfs, sshfs, s3fs, or a local one
    {0x01021994, {"tmpfs", one_writer, own_node, lost}},
    {0x858458F6, {"ramfs", one_writer, own_node, lost}},
    {0xEF53, {"ext4", one_writer, own_node}},  // ext2, ext3 and ext4 have the same magic number
    {0x58465342, {"xfs", one_writer, own_node}},
    {0x9123683E, {"btrfs", one_writer, own_node}},
    {0xF2F52010, {"f2fs", one_writer, own_node}},
    {0xCA451A4E, {"bcachefs", one_writer, own_node}},
    {0x2FC12FC1, {"zfs", one_writer, own_node}},
    {0x794C7630, {"overlayfs", one_writer, own_node}},
    {0x52654973, {"reiserfs", one_writer, own_node}},
    {0x3153464A, {"jfs", one_writer, own_node}},
    {0x4D44, {"vfat", one_writer, own_node}},
    {0x2011BAB0, {"exfat", one_writer, own_node}},
};

}  // namespace

FileSystem file_system_from_magic(std::uint64_t magic) {
  const auto* known = std::ranges::find(known_file_systems, magic, &KnownFileSystem::magic);
  return known == std::end(known_file_systems) ? FileSystem{.name = "unknown", .shared = true} : known->file_system;
}

FileSystem file_system_of(const std::string& path) {
  struct statfs info {};
  if (uninterrupted([&] { return ::statfs(path.c_str(), &info); }) != 0) fail("read the file system of", path, errno);
  // f_type of statfs(2) is signed in some C libraries: only its low 32 bits are the magic number.
  auto file_system = file_system_from_magic(static_cast<std::uint32_t>(info.f_type));
  file_system.block_bytes = static_cast<std::uint64_t>(info.f_bsize);
  // f_bavail of statfs(2) counts units of f_frsize bytes; older systems leave f_frsize 0 if it equals f_bsize.
  file_system.free_bytes = static_cast<std::uint64_t>(info.f_bavail) *
                           static_cast<std::uint64_t>(info.f_frsize > 0 ? info.f_frsize : info.f_bsize);
  return file_system;
}

}  // namespace trainrt::io
