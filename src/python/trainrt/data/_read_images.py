"""read_images() and read_webdataset(), which return datasets of images. For `paths` and exceptions see _read.py."""

from __future__ import annotations

from typing import Any

from ._dataset import Dataset
from ._read import Names, Paths, dataset_of_files, joined_names

_CHANNELS = {None: None, "L": 1, "RGB": 3, "RGBA": 4}


def _image_keys(function: str, size: Any, mode: str | None, resize_mode: str | None, layout: str | None, dtype: str | None, decode: bool | None,
                max_pixels: int | None) -> dict[str, Any]:
    if mode not in _CHANNELS:
        raise ValueError(f"{function}(mode={mode!r}): it must be L, RGB or RGBA")
    if size is not None:
        try:
            height, width = (int(extent) for extent in size)
        except (TypeError, ValueError):
            raise ValueError(f"{function}(size={size!r}): it must be (height, width)") from None
        size = f"{height}x{width}"
    return {"size": size, "channels": _CHANNELS[mode], "resize_mode": resize_mode, "layout": layout, "type": dtype, "decode": decode,
            "max_pixels": max_pixels}


def read_images(paths: Paths, *, size: tuple[int, int] | None = None, mode: str | None = None, include_paths: bool = False, labels: str | None = None,
                classes: Names = None, resize_mode: str | None = None, layout: str | None = None, dtype: str | None = None,
                decode: bool | None = None, max_pixels: int | None = None, **ray: Any) -> Dataset:
    """Returns a dataset of JPEG, PNG and WebP files, in the column `image` of shape [height, width, channels]. If the images have different sizes, a
    batch contains an array of one array per image.

    If each class has a folder, or `paths` is a list file with lines "path,label", the column `label` (i64) contains indices into `classes`.

    Parameters
    ----------
    size : (height, width), optional
        Size to which images are resized. Default: images are not resized. Up to 100 images are probed; if their sizes are equal, those of all others
        must be equal, too. Images of different sizes can be used by map functions and loops over batches; tensors need one size.
    mode : {"L", "RGB", "RGBA"}
        Color mode: gray, color (default), or color with transparency.
    include_paths : bool
        True adds the column `path` with the path of each file.
    labels : {"auto", "folders", "none"}
        Source of the labels; "none" returns no column `label`.
    classes : list of str, optional
        Names of the classes. Default: the sorted folder names of the Trainer's dataset "train", or of this dataset if there is no "train".
    resize_mode : {"stretch", "crop"}
        Method of resizing. "stretch" (default) may change proportions; "crop" first crops the image, around its center, to the new proportions.
    layout : {"interleaved", "planar"}
        Order of axes: [height, width, channels] (default), or "planar" for [channels, height, width].
    dtype : {"u8", "f32"}
        Type of the pixels: integers from 0 to 255 (default), or "f32" for numbers from 0 to 1.
    decode : bool
        False returns the bytes of the image files, not decoded.
    max_pixels : int, optional
        Maximum number of pixels of an image; default: 100 million.

    Examples
    --------
    >>> trainrt.data.read_images("/lustre/data/flowers", size=(224, 224), layout="planar", dtype="f32")   # doctest: +SKIP
    """
    sizes = "any" if size is None and decode is not False else None
    return dataset_of_files("read_images", paths, ray, format="images", sizes=sizes, labels=labels, classes=joined_names(classes), paths=include_paths or None,
                            **_image_keys("read_images", size, mode, resize_mode, layout, dtype, decode, max_pixels))


def read_webdataset(paths: Paths, *, fields: Names | dict[str, str] = None, size: tuple[int, int] | None = None, mode: str | None = None,
                    resize_mode: str | None = None, layout: str | None = None, dtype: str | None = None, decode: bool | None = None,
                    max_pixels: int | None = None, **ray: Any) -> Dataset:
    """Returns a dataset of the samples in tar archives, with one column per file extension.

    Files jpg, png and webp become images, cls i64, npy arrays, txt and json strings, and all other files bytes.

    Parameters
    ----------
    fields : list of str or dict, optional
        Extensions to read: ["jpg", "cls", "__key__"], or {"image": "jpg;png", "label": "cls"} to rename columns. Default: the extensions of the
        first sample.
    others
        Arguments of read_images().

    Examples
    --------
    >>> trainrt.data.read_webdataset("s3://bucket/train-*.tar", fields={"image": "jpg", "label": "cls"}, size=(224, 224))   # doctest: +SKIP
    """
    if isinstance(fields, dict):
        fields = [f"{name}={extensions}" for name, extensions in fields.items()]
    unsupported = sorted(name for name in ("decoder", "fileselect", "filerename", "suffixes", "expand_json", "verbose_open") if ray.pop(name, None))
    if unsupported:
        raise ValueError(f"read_webdataset({unsupported[0]}=...) is not supported; use fields and decode")
    return dataset_of_files("read_webdataset", paths, ray, format="tar", fields=joined_names(fields),
                            **_image_keys("read_webdataset", size, mode, resize_mode, layout, dtype, decode, max_pixels))
