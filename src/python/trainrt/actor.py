"""ActorHandle of Ray, for annotations: workers are processes of the runtime, not actors."""


class ActorHandle:
    """Type of the elements of `worker_handles` of DataConfig.configure(). trainrt has no actors and creates no object of this class."""
