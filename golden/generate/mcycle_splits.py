"""Writes learned/mcycle_splits.csv: 20 random 90/10 splits of the 133 motorcycle rows, which come with no standard split.

Same columns as the standard splits: `split,test_row`, 0-based rows; rows that are not listed are training rows.
"""

import csv
import pathlib

import numpy as np

SEED = 133
ROWS = 133
SPLITS = 20
TEST_ROWS = 13
TARGET = pathlib.Path(__file__).resolve().parent.parent / "learned" / "mcycle_splits.csv"


def main():
    generator = np.random.Generator(np.random.PCG64(SEED))
    with open(TARGET, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["split", "test_row"])
        for split in range(SPLITS):
            for row in sorted(generator.permutation(ROWS)[:TEST_ROWS].tolist()):
                writer.writerow([split, row])


if __name__ == "__main__":
    main()
