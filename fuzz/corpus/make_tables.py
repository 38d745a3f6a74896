"""Makes the binary files of fuzz/corpus/table: small tables as another program writes them (pyarrow and gzip).

    python fuzz/corpus/make_tables.py
"""

import gzip
import pathlib

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

FOLDER = pathlib.Path(__file__).parent / "table"
TEXT = b'x,site,day,open,y\n1.5,north,2024-02-29,true,1\n,"a ""quoted"" name",2024-03-01,false,-2e3\n3,,,,0.25\n'
TABLE = pa.table({
    "x": pa.array([1.5, None, 3.0], pa.float64()),
    "small": pa.array([1, 2, None], pa.int8()),
    "single": pa.array([0.1, 0.2, 0.3], pa.float32()),
    "site": pa.array(["north", None, "south"], pa.string()),
    "level": pa.array(["a", "b", "a"], pa.string()).dictionary_encode(),
    "day": pa.array([19782, 19783, None], pa.date32()),
    "open": pa.array([True, False, None], pa.bool_()),
    "y": pa.array([1.0, -2000.0, 0.25], pa.float64()),
})  # fmt: skip
NUMBERS = pa.table({"x": pa.array([1.0, 2.0], pa.float64()), "y": pa.array([3.0, 4.0], pa.float64())})


def main():
    (FOLDER / "mixed.csv").write_bytes(TEXT)
    (FOLDER / "mixed.csv.gz").write_bytes(gzip.compress(TEXT, mtime=0))
    for name, compression in [("zstd", "zstd"), ("snappy", "snappy"), ("plain", "none")]:
        pa.parquet.write_table(TABLE, FOLDER / f"mixed-{name}.parquet", compression=compression, store_schema=False)
    pa.parquet.write_table(NUMBERS, FOLDER / "numbers.parquet", compression="none", use_dictionary=False,
                           write_statistics=False, store_schema=False)  # fmt: skip
    for name, table in [("mixed", TABLE), ("numbers", NUMBERS)]:
        with pa.ipc.new_file(FOLDER / f"{name}.arrow", table.schema) as file:
            file.write_table(table)


if __name__ == "__main__":
    main()
