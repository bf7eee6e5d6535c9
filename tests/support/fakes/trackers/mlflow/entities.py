"""Fakes of the values that MlflowClient.log_batch() takes."""


class Metric:
    def __init__(self, key, value, timestamp, step):
        self.key, self.value, self.step = key, value, step


class Param:
    def __init__(self, key, value):
        self.key, self.value = key, value
