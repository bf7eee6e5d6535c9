"""RayTrainReportCallback of Transformers."""

from ..._sessions import _report
from ._library import transformers
from ._reports import reported_directory


class RayTrainReportCallback(transformers.TrainerCallback):
    """Reports each checkpoint that the Trainer saves, with the newest value of every metric that it has logged.

    The Trainer's files are in the directory `checkpoint` of the reported checkpoint. `output_dir` may be the same directory on all ranks, or a different
    one on each.

    Examples
    --------
    >>> from trainrt.train.huggingface.transformers import RayTrainReportCallback
    >>> callback = RayTrainReportCallback()
    """

    CHECKPOINT_NAME = "checkpoint"

    def on_save(self, args, state, control, **others):
        metrics = {}
        for logged in state.log_history:
            metrics.update(logged)
        with reported_directory(args, state, self.CHECKPOINT_NAME) as checkpoint:
            _report.report(metrics, checkpoint=checkpoint)
        return control
