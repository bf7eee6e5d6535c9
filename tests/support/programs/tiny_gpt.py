"""A small GPT on generated text, data-parallel, with dropout, by the Python client.
[loop] keys: epochs, step_pause (seconds)."""
import time

import torch
import trainrt
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from trainrt.train.torch import load_state, prepare_data_loader, prepare_model, save_point, save_state

TOKENS, LENGTH, WIDTH = 32, 16, 32
ctx = trainrt.context()
EPOCHS, STEP_PAUSE = ctx.config("epochs", 4), ctx.config("step_pause", 0.0)


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(TOKENS, WIDTH), nn.Parameter(torch.zeros(LENGTH, WIDTH))
        block = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, 2)
        self.head = nn.Linear(WIDTH, TOKENS)
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), float("-inf")).triu(1), persistent=False)

    def forward(self, text):
        return self.head(self.blocks(self.tokens(text) + self.positions, self.mask))


def generated_text(count):
    """Returns sequences in which each token depends on the two tokens before it, with some noise."""
    source = torch.Generator().manual_seed(4)
    text = torch.randint(TOKENS, (count, LENGTH + 1), generator=source)
    noise = torch.rand(count, LENGTH + 1, generator=source) < 0.1
    for at in range(2, LENGTH + 1):
        text[:, at] = torch.where(noise[:, at], text[:, at], (3 * text[:, at - 1] + text[:, at - 2] + 1) % TOKENS)
    return text


torch.manual_seed(2)
text = generated_text(384)
model = prepare_model(Gpt())
optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
loader = prepare_data_loader(DataLoader(TensorDataset(text), batch_size=8, shuffle=True))
at = load_state(model, optimizer, data=loader, epoch=0)
for epoch in range(at["epoch"], EPOCHS):
    for (batch,) in loader:
        loss = nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(STEP_PAUSE)
        save_point()
    with torch.no_grad():  # of the same samples in each epoch, which may have no batch left after a restart
        loss = nn.functional.cross_entropy(model(text[:16, :-1]).flatten(0, 1), text[:16, 1:].flatten())
    save_state(model, optimizer, data=loader, epoch=epoch + 1, metrics={"loss": loss.item()})
