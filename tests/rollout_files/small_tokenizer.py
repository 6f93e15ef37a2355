"""Writes a tokenizer of a few words beside a small model of `vision_models`."""

from pathlib import Path

import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

# As in CLIP, the token that ends a text has the highest number.
WORDS = (
    *("<pad>", "<start>", "<other>", "pick", "up", "the", "red", "blue", "cup", "bowl"),
    *("open", "close", "drawer", "door", "push", "button", "slowly", "please", "now", "<end>"),
)


def write_tokenizer(folder: Path, most_tokens: int = 8) -> Path:
    """`tokenizer.json` and `tokenizer_config.json` into the folder of a model."""
    numbers = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="<other>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<start> $A <end>",
        special_tokens=[(word, numbers[word]) for word in ("<start>", "<end>")],
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<start>",
        eos_token="<end>",
        unk_token="<other>",
        model_max_length=most_tokens,
    ).save_pretrained(folder)
    return folder
