"""read_images() and read_webdataset(): datasets of images. Arguments and exceptions as of _read.py."""

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
    """Reads JPEG, PNG and WebP images, one file each, into the column `image` of shape [height, width, channels].

    If they are in folders of classes, or in a list with lines "path,label", the column `label` (i64) has the positions of the classes in `classes`.

    Parameters
    ----------
    size : (height, width), optional
        Size to resize to; default: all images must have one size.
    mode : {"L", "RGB", "RGBA"}
        Gray, color (default), or color with transparency.
    include_paths : bool
        True adds the column `path`.
    labels : {"auto", "folders", "none"}
        "none" for no labels.
    classes : list of str, optional
        Names of the classes; default: the sorted folder names of the dataset "train" of the same Trainer, or of this one.
    resize_mode : {"stretch", "crop"}
        "stretch" (default) changes proportions, "crop" uses the largest centered part.
    layout : {"interleaved", "planar"}
        "planar" gives [channels, height, width].
    dtype : {"u8", "f32"}
        "f32" gives numbers from 0 to 1.
    decode : bool
        False returns the encoded bytes.
    max_pixels : int, optional
        Maximum number of pixels of an image; default: 100 million.

    Examples
    --------
    >>> trainrt.data.read_images("/lustre/data/flowers", size=(224, 224), layout="planar", dtype="f32")   # doctest: +SKIP
    """
    return dataset_of_files("read_images", paths, ray, format="images", labels=labels, classes=joined_names(classes), paths=include_paths or None,
                            **_image_keys("read_images", size, mode, resize_mode, layout, dtype, decode, max_pixels))


def read_webdataset(paths: Paths, *, fields: Names | dict[str, str] = None, size: tuple[int, int] | None = None, mode: str | None = None,
                    resize_mode: str | None = None, layout: str | None = None, dtype: str | None = None, decode: bool | None = None,
                    max_pixels: int | None = None, **ray: Any) -> Dataset:
    """Reads tar archives of samples, one column per file extension: jpg, png and webp as images, cls as i64, npy as arrays, txt and json as strings,
    others as bytes.

    Parameters
    ----------
    fields : list of str or dict, optional
        Extensions: ["jpg", "cls", "__key__"], or {"image": "jpg;png", "label": "cls"} to rename them; default: those of the first sample.
    others
        As of read_images().

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
