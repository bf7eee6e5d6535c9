#!/usr/bin/env python3
"""Makes the tokenizers beside this file, and what Hugging Face's tokenizers make of some texts with them (pip install tokenizers==0.23.3).

    make.py FOLDER     writes NAME.json, and NAME.ids.json: a list of [text, ids with special tokens, ids without]
"""
import json
import random
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = ["The quick brown fox jumps over the lazy dog, and the dog's friends don't mind.", "It's 2024: prices rose by 3.14 % (again!) to $1,234,567.89.",
          "def train(model, data):\n    for x in data:\n        model.step(x)  # once\n", "Ünïcödé straße, naïve café; ГОСТ и Слово; 東京は日本の首都です。 한국어",
          "we'll they're I'd you've he's 'quoted' ''twice''", "aaaa bbbb   cccc\t\tdddd\r\n\r\neeee", "emoji 😀😃 and ﬁ ligatures ﬂ ½ Ⅷ"] * 20
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
MARKED = ["हिन्दी भाषा में नमस्ते", "நான் தமிழ்", "m² is 10²", "cafe\u0301 x", "a\u20dd b", "ⓐbc ① abc_def ٣٤ Ⅷ", "x\u180ey a\u200db"] * 10
ALPHABET = "abcdefghij KLMNOP 0123456789 .,;:!?'\"()[]{}<>|/\\ \t\n äöüßéè ГДЖЯ 東京日本 한국 😀 ﬁ\u0301\u0130\u200d\u00a0\u2003\x07"


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=500, special_tokens=["<|endoftext|>"], show_progress=False,
                                                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def llama3():
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=450, special_tokens=["<|begin|>"], show_progress=False,
                                                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<|begin|> $A", special_tokens=[("<|begin|>", tokenizer.token_to_id("<|begin|>"))])])
    return tokenizer


def llama2():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=600, special_tokens=special, show_progress=False))
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = state["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    return tokenizer


def metaspace():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Metaspace(prepend_scheme="first"), pre_tokenizers.Digits(individual_digits=True)])
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>", "<pad>"], show_progress=False))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return tokenizer


def bert():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def words():
    tokenizer = Tokenizer(models.BPE(unk_token="?"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Strip(), normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation(), pre_tokenizers.Digits()])
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=300, special_tokens=["?"], show_progress=False))
    return tokenizer


def whitespace():
    tokenizer = Tokenizer(models.BPE(unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"[\w'a-c]+|[^\w\s]+|\W"), "isolated"), pre_tokenizers.Whitespace()])
    tokenizer.train_from_iterator(CORPUS + MARKED, trainers.BpeTrainer(vocab_size=400, special_tokens=["?"], show_progress=False))
    return tokenizer


def accents():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(CORPUS + MARKED, trainers.WordPieceTrainer(vocab_size=400, special_tokens=["[UNK]"], show_progress=False))
    tokenizer.add_tokens(["zztop", AddedToken("É-lan", lstrip=True)])  # looked for in what is normalized
    tokenizer.add_special_tokens(["<Raw>"])
    return tokenizer


def texts(alphabet=ALPHABET):
    draw = random.Random(5)
    made = ["".join(draw.choice(alphabet) for _ in range(draw.randrange(1, 60))) for _ in range(40)]
    special = ["a<|endoftext|>b <|endoftext|>", "<|begin|>x", "x <mask> y", "[CLS] hi [SEP]", "</s> <s>", "", " ", "x" * 150]
    return CORPUS[:7] + made + special


def main(folder):
    for make in (byte_level, llama3, llama2, metaspace, bert, words, whitespace, accents):
        tokenizer = make()
        more = make in (whitespace, accents)
        given = texts(ALPHABET + "".join(MARKED[:7])) + MARKED[:7] + ["ab ZZTOP cd zztop\u0301 Zztop", "x  É-LAN e-lan y<Raw><raw>"] if more else texts()
        name = make.__name__
        (folder / f"{name}.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")
        rows = [[text, tokenizer.encode(text).ids, tokenizer.encode(text, add_special_tokens=False).ids] for text in given]
        (folder / f"{name}.ids.json").write_text(json.dumps(rows, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
