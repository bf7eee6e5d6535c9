"""Prints samples per second of torch's DataLoader over the HDF5 file argv[1], read by h5py. argv[2] is the number of measured samples."""
import sys
import time

import h5py
import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, path):
        self.file = h5py.File(path, "r")
        self.images, self.labels = self.file["images"], self.file["labels"]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, sample):
        return torch.from_numpy(self.images[sample]), self.labels[sample]


torch.set_num_threads(1)
rows, most = Rows(sys.argv[1]), int(sys.argv[2])
loader = torch.utils.data.DataLoader(rows, batch_size=64, shuffle=True)
begin, seen = time.monotonic(), 0
for images, labels in loader:
    seen += len(labels)
    if seen >= most:
        break
print(f"loader_per_s={seen / (time.monotonic() - begin):.0f}")
