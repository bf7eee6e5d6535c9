"""Chain: several preprocessors, one after the other."""

from ._preprocessor import Preprocessor, RuntimePreprocessor


class Chain(RuntimePreprocessor):
    """Ray Data's: each is fitted to what those before it make of the dataset."""

    def __init__(self, *preprocessors):
        if not preprocessors or not all(isinstance(each, Preprocessor) for each in preprocessors):
            raise ValueError(f"Chain{preprocessors!r}: it must be preprocessors, one at least")
        super().__init__()
        self.preprocessors = list(preprocessors)

    def fit(self, ds):
        from ._fit import stages_learned_from
        if all(isinstance(each, RuntimePreprocessor) for each in self.preprocessors):
            for each, stats in zip(self._stages(), stages_learned_from(ds, self._unfitted(), self.needed_columns())):
                if each.learns:
                    each._take_stats(stats)
            return self
        for each in self.preprocessors:
            ds = each.fit_transform(ds)
        return self

    def _stages(self):
        return [stage for each in self.preprocessors for stage in (each._stages() if isinstance(each, Chain) else [each])]

    def needed_columns(self):
        return None  # as the stages say, of which some make columns for others

    def transform_columns(self, columns):
        for each in self.preprocessors:
            columns = each.transform_columns(columns)
        return columns

    def _finish_frame(self, frame, columns):
        for each in self.preprocessors:
            each._finish_frame(frame, columns)

    @property
    def stats_(self):
        return {key: value for each in self.preprocessors for key, value in each.stats_.items()}

    def _require_fitted(self):
        for each in self.preprocessors:
            each._require_fitted()

    def _described(self, part):
        for each in self.preprocessors:
            if not isinstance(each, RuntimePreprocessor):
                raise TypeError(f"{type(each).__name__} is a class of one's own, which JSON cannot hold")
        return {"preprocessor": "Chain", "version": 1, "parameters": {"preprocessors": [part(each) for each in self.preprocessors]}}

    def _unfitted(self):
        return self._described(lambda each: each._unfitted() if isinstance(each, Chain) else each._description())

    def to_dict(self):
        return self._described(lambda each: each.to_dict())

    @classmethod
    def _from(cls, parameters, stats):
        stages = parameters.get("preprocessors")
        if not isinstance(stages, list):
            raise ValueError("Chain: \"preprocessors\" must be a list")
        return cls(*map(Preprocessor.from_dict, stages))

    def __repr__(self):
        return f"Chain({', '.join(map(repr, self.preprocessors))})"
