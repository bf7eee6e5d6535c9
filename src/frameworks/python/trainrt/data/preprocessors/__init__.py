"""Ray Data's preprocessors over trainrt's datasets: applied lazily, to each batch as the train function takes it.

    scaler = StandardScaler(columns=["x0", "x1"]).fit(train)              # by the runtime, in its threads
    train = scaler.transform(train)
    scaler.transform_batch({"x0": [1.0], "x1": [2.0], "y": [3.0]})        # the same of one batch
    text = scaler.serialize()                                             # JSON: for metadata, and for C++
    scaler = Preprocessor.deserialize(text)
"""

from ._categorizer import Categorizer
from ._chain import Chain
from ._concatenator import Concatenator
from ._count_vectorizer import CountVectorizer
from ._custom_k_bins_discretizer import CustomKBinsDiscretizer
from ._feature_hasher import FeatureHasher
from ._hashing_vectorizer import HashingVectorizer
from ._label_encoder import LabelEncoder
from ._max_abs_scaler import MaxAbsScaler
from ._min_max_scaler import MinMaxScaler
from ._multi_hot_encoder import MultiHotEncoder
from ._normalizer import Normalizer
from ._one_hot_encoder import OneHotEncoder
from ._ordinal_encoder import OrdinalEncoder
from ._power_transformer import PowerTransformer
from ._preprocessor import Preprocessor, PreprocessorNotFittedException
from ._robust_scaler import RobustScaler
from ._simple_imputer import SimpleImputer
from ._standard_scaler import StandardScaler
from ._uniform_k_bins_discretizer import UniformKBinsDiscretizer

__all__ = ["Categorizer", "Chain", "Concatenator", "CountVectorizer", "CustomKBinsDiscretizer", "FeatureHasher", "HashingVectorizer", "LabelEncoder",
           "MaxAbsScaler", "MinMaxScaler", "MultiHotEncoder", "Normalizer", "OneHotEncoder", "OrdinalEncoder", "PowerTransformer", "Preprocessor",
           "PreprocessorNotFittedException", "RobustScaler", "SimpleImputer", "StandardScaler", "UniformKBinsDiscretizer"]


def __getattr__(name):
    if name == "Tokenizer":
        raise ImportError("trainrt.data.preprocessors.Tokenizer was removed. Convert the texts to token files once with jobs/python/token_files.py, and read "
                          "these with trainrt.data.read_tokens(). CountVectorizer and HashingVectorizer take texts as they are")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
