"""Does judging an episode by the networks of its own fold flatter the values?

    python case_studies/truth/own_folds.py worlds pick square mw-pick-place mw-shelf-place

`goalward evaluate` judges every episode by those networks of lambda-returns that never saw it. But
their targets came in part from networks that did, and the held-out loss that stops them is of it.
Here two halves of a world, A and B, are each learned from; the frame AUROC of A by networks of A
that never saw the episode stands beside that by networks that saw B alone, and the other way round.
The difference is what own folds flatter by.
"""

import argparse
from pathlib import Path

import numpy as np
from worlds import read_world

from goalward.metrics.scores.card import scorecard
from goalward.rollouts.dataset import Rollouts
from goalward.training.methods.efforts import with_effort
from goalward.values.fit import fit
from goalward.values.fitted import Fitted

METHOD = "lambda-returns"


def auroc(fitted: Fitted, rollouts: Rollouts, horizon: int, *, unseen: bool) -> float:
    steps = fitted.predict(rollouts, unseen=unseen).steps(METHOD).astype(np.float64)
    found = scorecard(steps, rollouts.endings, horizon)["frame_auroc"].over_seeds.mean.value
    assert found is not None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("worlds", nargs="+")
    parser.add_argument("--effort", default="quick")
    options = parser.parse_args()
    numbers = with_effort(options.effort, "default", {})
    print("| world | episodes | by own folds | by networks of the other half | difference |")
    print("|---|---|---|---|---|")
    differences: list[float] = []
    for name in options.worlds:
        world = read_world(options.folder, name, num_train=100)
        halves = {"A": world.train, "B": world.test}
        fits = {half: fit(data, METHOD, seeds=1, **numbers) for half, data in halves.items()}
        for half, other in (("A", "B"), ("B", "A")):
            own = auroc(fits[half], halves[half], world.horizon, unseen=True)
            far = auroc(fits[other], halves[half], world.horizon, unseen=False)
            differences.append(own - far)
            print(f"| {name} | {half} | {own:.3f} | {far:.3f} | {own - far:+.3f} |", flush=True)
    print(f"\nmean difference {np.mean(differences):+.3f}")


if __name__ == "__main__":
    main()
