"""Ray Data's preprocessors for trainrt's datasets. Batches are transformed when the train function reads them.

    scaler = StandardScaler(columns=["x0", "x1"]).fit(train)              # the runtime reads the files in several threads
    train = scaler.transform(train)
    scaler.transform_batch({"x0": [1.0], "x1": [2.0], "y": [3.0]})        # transforms one batch
    text = scaler.serialize()                                             # JSON that C++ can read, too
    scaler = Preprocessor.deserialize(text)

The build generates the module _generated from the C++ table of preprocessors (src/data/preprocess/kinds).
"""

from ._chain import Chain, Tokenizer
from ._examples import with_examples
from ._preprocessor import Preprocessor, PreprocessorNotFittedException, UnknownPreprocessorError
from ._torchvision import TorchVisionPreprocessor

try:
    from . import _generated
    from ._generated import *  # noqa: F403
    from ._generated import __all__ as _generated_names
except ModuleNotFoundError as error:
    if not (error.name or "").endswith("._generated"):
        raise
    raise ImportError("the module trainrt.data.preprocessors._generated does not exist in this folder: it is written by the build. Use the package "
                      "in build/python after `make`, an installation, or the wheel of `make wheel`") from None

with_examples(_generated)
__all__ = ["Chain", "Preprocessor", "PreprocessorNotFittedException", "Tokenizer", "TorchVisionPreprocessor", "UnknownPreprocessorError", *_generated_names]
