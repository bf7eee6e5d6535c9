#!/usr/bin/python3
"""Tiny resnet18 and gpt on data made here: runs that are stopped and killed within epochs end with the same bits; the bits do not depend
on bucket sizes; tests of gradient accumulation, clipping and bf16 on the wire."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from runs.training import *  # noqa: E402,F403

IMAGES = {"train": 310, "test": 33}  # not divisible by the ranks and batches, which needs padding and uneven ends
RESNET = {"epochs": 12, "batch_size": 16, "width": 4, "lr": 0.05}
WINDOWS = {"train": 611, "test": 37}
VOCABULARY, WINDOW = 29, 17
GPT = {"epochs": 12, "batch_size": 6, "accumulate": 2, "vocab_size": VOCABULARY, "block_size": WINDOW - 1, "n_layer": 2, "n_head": 2,
       "n_embd": 32, "lr": 0.003, "dropout": 0.1, "clip_norm": 0.5}
STOPS = 2
_data = None


def write_windows(path, count):
    """Writes windows of tokens. Each token depends on the token before; one in ten is random."""
    source = random.Random(count)
    tokens = []
    for _ in range(count):
        token = source.randrange(VOCABULARY)
        for _ in range(WINDOW):
            tokens.append(token)
            token = source.randrange(VOCABULARY) if source.random() < 0.1 else (3 * token + 1) % VOCABULARY
    write_idx(path, 12, "i", (count, WINDOW), tokens)


def setup():
    global _data
    if not (BUILD / "modules/torch.so").exists():
        skip("the torch module is not built (package libtorch-dev)")
    _data = scratch("data")
    for part, count in IMAGES.items():
        write_images(_data, part, count)
    for part, count in WINDOWS.items():
        write_windows(_data / f"{part}-tokens", count)


def config_of(name, function, data, loop, **sections):
    folder = scratch()
    return write_config(folder / f"{name}.ini", {
        "run": {"name": name, "storage_path": folder / "runs", "seed": 7}, "train": {"function": function}, "loop": loop, **data, **sections})


def resnet_config(name, **loop):
    return config_of(name, "resnet18", image_sections(_data), {**RESNET, **loop})


def gpt_config(name, sections=None, **loop):
    data = {f"data.{part}": {"format": "idx", "source": _data / f"{part}-tokens"} for part in WINDOWS}
    data["data.train"]["shuffle"] = True
    return config_of(name, "gpt", data, {**GPT, **loop}, **(sections or {}))


def last_report(config):
    return reports(run_dir_of(config))[-1]


def resnet_exact(ranks):
    whole, stopped = resnet_config("whole"), resnet_config("stopped")
    check_exact(ranks, whole, stopped, RESNET["epochs"], -(-IMAGES["train"] // (ranks * RESNET["batch_size"])), STOPS)
    accuracy = last_report(whole)["test_accuracy"]
    check(accuracy > 0.5, f"test_accuracy stays low: {accuracy}")


def gpt_exact(ranks):
    whole, stopped = gpt_config("whole"), gpt_config("stopped")
    check_exact(ranks, whole, stopped, GPT["epochs"], -(-WINDOWS["train"] // (ranks * GPT["batch_size"] * GPT["accumulate"])), STOPS)
    loss = last_report(whole)["test_loss"]
    check(loss < 1.7, f"test_loss stays high: {loss}; guessing gives 3.4")


for ranks in (1, 2):
    add_test(f"resnet18_stopped_and_killed_in_epochs_on_{ranks}_ranks_ends_with_the_same_bits", resnet_exact, ranks)
    add_test(f"gpt_stopped_and_killed_in_epochs_on_{ranks}_ranks_ends_with_the_same_bits", gpt_exact, ranks)


@test
def gpt_in_bf16_stopped_and_killed_ends_with_the_same_bits_and_f32_weights():
    undisturbed, stopped = (gpt_config(name, precision="bf16", epochs=8) for name in ("whole", "stopped"))
    check_exact(1, undisturbed, stopped, 8, -(-WINDOWS["train"] // (GPT["batch_size"] * GPT["accumulate"])), 1)
    types = {kind for name, (kind, _, _) in state_of(run_dir_of(undisturbed)).items() if name.startswith("model/")}
    equal(types, {"float32"}, "types of the weights")
    check(last_report(undisturbed)["test_loss"] < 2.5, f"test_loss stays high: {last_report(undisturbed)['test_loss']}")


@test
def precision_changes_the_bits_and_the_default_is_fp32():
    runs = {name: gpt_config(name, epochs=1, **loop) for name, loop in (("default", {}), ("fp32", {"precision": "fp32"}), ("bf16", {"precision": "bf16"}))}
    for config in runs.values():
        finish(1, config)
    check_same_bits(run_dir_of(runs["fp32"]), run_dir_of(runs["default"]))
    check(state_of(run_dir_of(runs["bf16"])) != state_of(run_dir_of(runs["default"])), "bf16 has the bits of fp32")


@test
def an_unknown_precision_is_an_error_that_names_the_valid_ones():
    job = start(1, gpt_config("unknown", precision="fp8"))
    job.code = job.wait(60)
    check_exit(job, USAGE)
    for word in ("precision", "fp8", "fp32", "tf32", "bf16"):
        check(word in job.err, f"the error lacks {word!r}", job)


@test
def each_rank_has_its_own_batch_norm_statistics():
    config = resnet_config("buffers", epochs=1)
    finish(2, config)
    dtype, shape, data = state_of(run_dir_of(config))["model/bn1/running_mean"]
    equal((dtype, shape), ("float32", (2, 4)), "type and shape of model/bn1/running_mean")
    check(data[:16] != data[16:], "both ranks have the same running mean")


@test
def any_bucket_size_gives_the_same_bits():
    one, many = (gpt_config(name, {"scaling": {"bucket_size": size}}, epochs=2) for name, size in (("one", "64 MiB"), ("many", "1 KiB")))
    outputs = [finish(2, config).err for config in (one, many)]
    check("gradients were averaged in 1 bucket " in outputs[0], f"more than one bucket: {outputs[0]}")
    check("gradients were averaged in 1 bucket " not in outputs[1], f"a single bucket: {outputs[1]}")
    check_same_bits(run_dir_of(many), run_dir_of(one))


def shared_weights_exact(optimizer):
    """Three ranks, because parts of some tensors are then empty. The second run has its own copies until it is killed."""
    loop = {"epochs": 6, "weight_decay": 0.01, **optimizer}
    whole, shared, changed = gpt_config("whole", **loop), gpt_config("shared", share_weights=True, **loop), gpt_config("changed", **loop)
    for config in (whole, shared):
        job = finish(3, config)
    check("the ranks share one copy of the weights and of the optimizer's state" in job.err, "the ranks do not share the weights", job)
    check_same_bits(run_dir_of(shared), run_dir_of(whole))
    interrupt(3, changed, signal_of_all=signal.SIGKILL)
    changed.write_text(changed.read_text().replace("[loop]", "[loop]\nshare_weights = true"))
    finish(3, changed)
    check_same_bits(run_dir_of(changed), run_dir_of(whole))


for name, optimizer in {"sgd": {"optimizer": "sgd", "lr": 0.05}, "sgd_with_momentum": {"optimizer": "sgd", "lr": 0.05, "momentum": 0.9}, "adamw": {}}.items():
    add_test(f"weights_in_shared_memory_have_the_same_bits_with_{name}", shared_weights_exact, optimizer)


@test
def ranks_that_cannot_share_memory_keep_their_own_weights():
    config = gpt_config("alone", {"scaling": {"backend": "mpi"}}, epochs=1, share_weights=True)
    job = finish(2, config)
    check("loop.share_weights has no effect" in job.err, "no warning", job)


@test
def accumulated_passes_train_like_one_large_batch():
    losses = {}
    for name, loop in {"whole": {"batch_size": 12, "accumulate": 1}, "parts": {"batch_size": 4, "accumulate": 3}}.items():
        config = gpt_config(name, epochs=3, dropout=0, **loop)
        finish(2, config)
        losses[name] = last_report(config)["test_loss"]
    check(abs(losses["whole"] - losses["parts"]) < 1e-3, f"test_loss differs: {losses}")


@test
def clipping_to_a_small_norm_changes_what_sgd_learns():
    losses = {}
    for name, norm in {"free": 0, "wide": 1e9, "clipped": 1e-4}.items():
        config = gpt_config(name, epochs=2, optimizer="sgd", lr=0.1, dropout=0, clip_norm=norm)
        finish(1, config)
        losses[name] = last_report(config)["test_loss"]
    equal(losses["wide"], losses["free"], "test_loss with a norm that is never reached")
    check(losses["clipped"] > losses["free"] + 0.1, f"clipping to a tiny norm does not slow learning: {losses}")


@test
def bf16_on_the_wire_gives_different_bits_and_learns_as_well():
    native, narrow = (gpt_config(name, {"scaling": {"gradient_wire": wire}}, epochs=4) for name, wire in (("native", "native"), ("narrow", "bf16")))
    for config in (native, narrow):
        finish(2, config)
    losses = [last_report(config)["test_loss"] for config in (native, narrow)]
    check(losses[0] != losses[1], "the same bits as with f32 on the wire")
    check(abs(losses[0] - losses[1]) < 0.1, f"test_loss differs: {losses}")


def refused(words, loop):
    config = gpt_config("refused", **loop)
    job = run([TRAINRT, "--config", config])
    check(words in job.err, f"the error lacks '{words}'", job)
    check_exit(job, USAGE)


add_test("windows_longer_than_the_model_are_refused", refused, "have 17 tokens; valid are 2 to block_size + 1 = 9", {"block_size": 8})
add_test("tokens_beyond_the_vocabulary_are_refused", refused, "contains token 28; vocab_size allows 0 to 27", {"vocab_size": 28})
add_test("a_width_that_the_heads_do_not_divide_is_refused", refused, "n_embd = 33 is not a multiple of n_head", {"n_embd": 33})

main(setup)
