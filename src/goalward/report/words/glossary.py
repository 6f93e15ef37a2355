"""The words of reports and summaries, each in a sentence or two, for who has not read the paper.

The page shows them, and `python -m goalward.report.words.glossary` prints them as docs/words.md.
"""

GLOSSARY: dict[str, dict[str, str]] = {
    "What was recorded": {
        "episode": "One attempt of the policy, from its start to its end. Also called a rollout.",
        "frame": "One moment of an episode: its pictures, and what the robot says of itself. From "
        "one frame to the next is a step.",
        "outcome": "How an episode ended, as it was recorded: a success, a time-out or a failure.",
        "success": "The task was done.",
        "time-out": "The clock ran out first. Nobody knows what would have come: a time-out is not "
        "a failure.",
        "failure": "The episode ended early, and the goal could no longer be reached.",
        "clock": "The steps that an episode is given. Every time-out has its own: its length.",
        "goal": "The first frame in which the task is done.",
        "task": "What the policy was told to do. A data set may have many.",
        "policy": "What moves the robot: a program that says at every step what to do next.",
    },
    "The answer": {
        "success rate": "Successes out of all episodes.",
        "95 % interval": "Where the true number probably lies. With other episodes of the same "
        "policy it would have come out a little otherwise; of 100 such intervals about 95 hold the "
        "true number.",
        "with twice the time": "What the success rate would be if every time-out were given its "
        "own clock once more.",
        "expected": "By the chances of single episodes, added up.",
        "measured": "A simulator put episodes back to where the clock ran out, and let them go on.",
        "on its way, stuck": "Time-outs whose chance of success with their clock again is at least "
        "80 %, or at most 20 %. Of those in between nobody can tell.",
    },
    "What a value says": {
        "value": "How near to success the policy is in a frame: -1 is at the goal, 1 is never. It "
        "is what can be said at that moment, not knowing what comes.",
        "steps to go": "The same number, as the steps that are left until success.",
        "in hindsight": "What can be said of a frame knowing how its episode went on.",
        "chance": "How probable success is within so many steps from a frame.",
        "standard horizon": "In so many steps the task is usually done: what nine of ten successes "
        "needed, unless it was given. Fewer steps to go are near, more are far.",
        "method": "A way to learn values from episodes. The first method of a run speaks for the "
        "policy.",
        "network": "What learns: from pictures and states of frames to their values.",
        "seed": "A network starts from random numbers. With another seed it comes out a little "
        "different: how much so is one source of doubt.",
        "encoder": "The network, not ours and not changed, that turns a picture into numbers.",
        "effort": "How much training an answer is worth: quick, normal or thorough.",
    },
    "What happened in an episode": {
        "setback": "The steps to go rise by a fifth of the longest episode or more: something went "
        "wrong.",
        "recovery": "Most of what a setback lost is made good.",
        "stall": "For a fifth of the longest episode or more the policy comes no nearer.",
        "point of no return": "From here on the goal looks out of reach until the end.",
    },
    "Whether to rely on it": {
        "held out": "Episodes that a network never learned from. Only on those can one "
        "see what its values are worth.",
        "goals seen as near": "The share of the last frames before a goal that look near.",
        "other episodes seen as far": "The share of frames of the other episodes that look far.",
        "no skill": "What somebody gets who knows nothing.",
        "AUROC": "How often a frame of a success looks nearer to the goal than a frame of another "
        "episode: 1 is always, 0.5 is a coin.",
        "calibration": "Whether chances are right: of the frames with a chance of 70 %, 70 % "
        "should succeed in time.",
        "reliability": "How far chances and what came of them are apart. Less is better.",
        "sharpness": "How much chances differ from frame to frame; 0 says the same of every frame. "
        "More is better, where they are right.",
        "Brier score": "The mean squared error of chances. Less is better; always saying the "
        "overall share is what it has to beat.",
        "truth": "What a frame is really worth: a simulator was put back into it and the policy "
        "ran on, many times.",
        "contradicted": "Values whose claims the truth of some frames shows to be wrong.",
    },
}


def glossary_markdown() -> str:
    """All words as docs/words.md has them."""
    lines = [
        "# Words",
        "",
        "The words of reports, summaries and tables. Every report has them too, under Words.",
        "`python -m goalward.report.words.glossary > docs/words.md` writes this page.",
    ]
    for title, words in GLOSSARY.items():
        lines += ["", f"## {title}", "", "| word | what it means |", "|---|---|"]
        lines += [f"| **{word}** | {meaning} |" for word, meaning in words.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(glossary_markdown(), end="")
