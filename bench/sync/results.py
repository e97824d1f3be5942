# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""Reads what bench/sync/run has written."""
import json

from compare import Bad


def load(path):
    """The records of a file; Bad if one of its lines is none."""
    records = []
    with open(path, encoding="ascii") as f:
        for number, line in enumerate(f, 1):
            try:
                record = json.loads(line)
                record["value"] = float(record["value"])
                complete = {"bench", "unit"} <= record.keys()
            except (ValueError, KeyError, TypeError):
                complete = False
            if not complete:
                raise Bad(f"{path}, line {number}: not a result")
            records.append(record)
    return records
