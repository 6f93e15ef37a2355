"""`goalward push`: a run to the model hub."""

from pathlib import Path

from goalward.cli.console import say


def push_command(
    run: Path,
    name: str,
    /,
    *,
    to: Path | None = None,
    private: bool = False,
    replace: bool = False,
    report: bool = True,
    licence: str | None = None,
) -> None:
    """Send a run to the model hub: networks, a card, the report, values.

    Networks and report go to a model, the values to a data set beside it. The card states the
    data, the scores with their intervals, the truth where it is known, and the limits. Anybody
    who may read it judges rollouts by its networks:
    `goalward evaluate my_rollouts --out today --values hub:lab/pick`.

    Examples:

    ```bash
    goalward push run lab/pick --to folder  # sends nothing, writes it there
    goalward push run lab/pick --private --licence apache-2.0
    goalward push run lab/pick --replace  # a new version under the same name
    ```

    Parameters
    ----------
    run
        A folder that `goalward evaluate` wrote.
    name
        Where to: organisation/name. Values go to the data set organisation/name-values.
    to
        A folder to write into instead of sending.
    private
        New repositories are for you and your organisation alone.
    replace
        The name may be taken: its files are replaced, its history stays.
    report
        With the report, without videos.
    licence
        The hub's name of the licence that the cards state, as apache-2.0 or cc-by-4.0.
    """
    from goalward.exports.hub.push import push

    places = push(
        run, name, to=to, private=private, replace=replace, report=report, licence=licence
    )
    for place in places:
        print(place)
    if to is None:
        say(f"judge rollouts by it: goalward evaluate my_rollouts --out today --values hub:{name}")
    else:
        say(f"nothing was sent; without --to it goes to {name}")
