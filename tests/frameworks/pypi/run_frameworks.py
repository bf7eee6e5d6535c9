#!/usr/bin/python3
"""`make test-frameworks`: unchanged scripts of PyPI's frameworks train together under trainrt, on one node and on two, and continue after a
killed worker and a requeued job, as do Ray's own examples. `python3 run_frameworks.py BUILD_DIR [WORD ...]` runs the cases whose names
contain a word, for example Lightning or killed. $RESULTS: the file for the table of results."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from boosted_trees import cases_of_trees  # noqa: E402
from cases import CLUSTER, cases_of  # noqa: E402
from data_frames import cases_of_data_frames  # noqa: E402
from environments import ready, version  # noqa: E402
from frameworks import FRAMEWORKS  # noqa: E402
from harness import *  # noqa: E402,F403
from named_states import cases_of_states  # noqa: E402
from ray_examples import EXAMPLES, cases_of_example  # noqa: E402
from ray_tune import cases_of_tune  # noqa: E402
from results import Results  # noqa: E402
from samples import cases_of_samples  # noqa: E402
from torch_checkpoints import CHECKPOINTS, cases_of_checkpoints  # noqa: E402
from trackers import cases_of_trackers  # noqa: E402
from trainer_callbacks import cases_of_callbacks  # noqa: E402
from tree_functions import cases_of_tree_functions  # noqa: E402

RESULTS = Results(os.environ.get("RESULTS"))


def version_of(framework):
    return version(framework, ready(framework))


for each in FRAMEWORKS:
    for title, function, *arguments in cases_of(each):
        add_test(f"{each.name}_{title}", RESULTS.recorded, each, title, version_of, function, *arguments)

for each in EXAMPLES:
    for title, function in cases_of_example(each):
        add_test(f"{each.name}_{title}", RESULTS.recorded, each, title, version_of, function)

for title, function in cases_of_checkpoints():
    add_test(f"{CHECKPOINTS.name}_{title}", RESULTS.recorded, CHECKPOINTS, title, version_of, function)

for each, title, function in [*cases_of_data_frames(), *cases_of_trees(), *cases_of_tree_functions(), *cases_of_callbacks()]:
    add_test(f"{each.name}_{title}", RESULTS.recorded, each, title, version_of, function)

for each, title, function in [*cases_of_states(), *cases_of_samples(), *cases_of_tune(), *cases_of_trackers()]:
    add_test(f"{each.name}_{title}", RESULTS.recorded, each, title, version_of, function)

main(teardown=CLUSTER.down)
