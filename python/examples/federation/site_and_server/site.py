"""A site: its table is a file that only its node knows, `--node-config 'site="north" table="rows.csv" target="y"'`."""

import pandas as pd

from quorate.flower import site_app


def rows(context):
    """The site's inputs and targets."""
    path, target = str(context.node_config["table"]), str(context.node_config["target"])
    table = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path)
    return table.drop(columns=target), table[target]


app = site_app(rows, min_rows=10)
